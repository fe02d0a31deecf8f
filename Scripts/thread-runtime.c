// Tells ThreadSanitizer what Swift's own libraries do on Linux. Loaded before the tests, see sanitize.sh.
//
// They are not built with the sanitizer, which therefore misses two orders that they make, and would call a race what
// is none. The functions below stand in front of the libraries' own and add them.
//
// - A Swift mutex that is free is taken and given back by atomics in the caller's code, which the sanitizer sees. One
//   that is waited for is handed on by the kernel (a priority-inheriting futex, Swift 6.3) inside the library.
// - A value that is copied on write is written in place once nobody else holds its storage. Whoever read it let go of
//   it before: the count that goes down and the count that is found to be one are that order, inside the runtime.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In a program that is not sanitized, such as those that start the tests, there are none.
extern __attribute__((weak)) void __tsan_acquire(void *address);
extern __attribute__((weak)) void __tsan_release(void *address);

// What comes next under a name, looked for once; two threads that look at the same time find the same.
static void *next(void *_Atomic *found, const char *name) {
  void *function = *found;
  if (!function) *found = function = dlsym(RTLD_NEXT, name);
  return function;
}

#define NEXT(type, name)             \
  ({                                 \
    static void *_Atomic found;      \
    (type) next(&found, name);       \
  })

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*lock_function)(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*unlock_function)(__attribute__((swift_context)) void *);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) __asm__(UNLOCK);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
  NEXT(lock_function, LOCK)(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  NEXT(unlock_function, UNLOCK)(mutex);
}

// The runtime's conventions: on arm64, other than x86-64, retain and release keep registers that C's do not.
#ifdef __x86_64__

typedef void (*release_function)(void *);
typedef void (*release_many_function)(void *, uint32_t);
typedef bool (*unique_function)(const void *);

// A null reference, and a tagged pointer, counts nothing.
static bool is_counted(const void *object) { return (intptr_t)object > 0; }

static release_function release_one;
static release_many_function release_many;

static void ordered_release(void *object) {
  if (__tsan_release && is_counted(object)) __tsan_release(object);
  release_one(object);
}

static void ordered_release_many(void *object, uint32_t count) {
  if (__tsan_release && is_counted(object)) __tsan_release(object);
  release_many(object, count);
}

// Most releases are made inside the runtime, where no function can be stood in front of. It has a place for those who
// want to hear of all (`_swift_release` in the runtime's HeapObject.cpp, made for Instruments).
__attribute__((constructor)) static void hear_of_releases(void) {
  release_function *one = dlsym(RTLD_DEFAULT, "_swift_release");
  release_many_function *many = dlsym(RTLD_DEFAULT, "_swift_release_n");
  bool *is_heard =
      dlsym(RTLD_DEFAULT, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly");
  if (!__tsan_release || !one || !many || !is_heard) return;
  release_one = *one;
  release_many = *many;
  *one = ordered_release;
  *many = ordered_release_many;
  *is_heard = true;
}

static bool acquired(bool unique, const void *object) {
  if (unique && __tsan_acquire && is_counted(object)) __tsan_acquire((void *)object);
  return unique;
}

bool swift_isUniquelyReferenced_native(const void *object) {
  return acquired(NEXT(unique_function, "swift_isUniquelyReferenced_native")(object), object);
}

bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
  return acquired(NEXT(unique_function, "swift_isUniquelyReferenced_nonNull_native")(object), object);
}

// The same by the standard library's generic functions, which call the runtime's directly.
#define UNIQUE "$ss25isKnownUniquelyReferencedySbxzRlzClF"
#define UNIQUE_OPTIONAL "$ss25isKnownUniquelyReferencedySbxSgzRlzClF"
#define UNIQUE_ARRAY "$sSa21_makeMutableAndUniqueyyF"

typedef __attribute__((swiftcall)) bool (*known_function)(void **object, void *type);
typedef __attribute__((swiftcall)) void (*array_function)(void *type, __attribute__((swift_context)) void **array);

__attribute__((swiftcall)) bool known_unique(void **object, void *type) __asm__(UNIQUE);
__attribute__((swiftcall)) bool known_unique_optional(void **object, void *type) __asm__(UNIQUE_OPTIONAL);
__attribute__((swiftcall)) void unique_array(void *type, __attribute__((swift_context)) void **array)
    __asm__(UNIQUE_ARRAY);

__attribute__((swiftcall)) bool known_unique(void **object, void *type) {
  return acquired(NEXT(known_function, UNIQUE)(object, type), *object);
}

__attribute__((swiftcall)) bool known_unique_optional(void **object, void *type) {
  return acquired(NEXT(known_function, UNIQUE_OPTIONAL)(object, type), *object);
}

__attribute__((swiftcall)) void unique_array(void *type, __attribute__((swift_context)) void **array) {
  NEXT(array_function, UNIQUE_ARRAY)(type, array);
  acquired(true, *array);
}

// The last to let go frees what all the others have read.
void swift_deallocClassInstance(void *object, size_t size, size_t alignment) {
  typedef void (*dealloc_function)(void *, size_t, size_t);
  if (__tsan_acquire) __tsan_acquire(object);
  NEXT(dealloc_function, "swift_deallocClassInstance")(object, size, alignment);
}

#endif
