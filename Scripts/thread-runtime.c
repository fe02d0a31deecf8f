// Tells ThreadSanitizer what Swift's own libraries do on Linux. Loaded before the tests, see sanitize.sh.
//
// They are not built with the sanitizer, which therefore misses three orders that they make, and would call a race what
// is none. The functions below stand in front of the libraries' own and add them.
//
// - A Swift mutex that is free is taken and given back by atomics in the caller's code, which the sanitizer sees. One
//   that is waited for is handed on by the kernel (a priority-inheriting futex, Swift 6.3) inside the library.
// - A value that is copied on write is written in place once nobody else holds its storage. Whoever read it let go of
//   it before: the count that goes down (a release in the sense of memory orders, as well) and the count that is found
//   to be one, or comes to none (an acquire), are that order, inside the runtime.
// - A task goes on behind what was done before its continuation was resumed. The runtime tells that by itself, but not
//   where the continuation was resumed before the task came to wait for it (Swift 6.3).
//
// Nothing more is told: taking hold of an object orders nothing, and letting go of it orders what came before only for
// who finds himself alone with it. What two threads do to one object that both of them hold stays a race.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

// What every function calls first that goes on behind an `await`: it frees the frame of what it called. Who resumes a
// task, or has it run, lets go of it for the sanitizer.
typedef __attribute__((swiftcall)) void (*dealloc_function)(void *);
__attribute__((swiftcall)) void swift_task_dealloc(void *frame);

__attribute__((swiftcall)) void swift_task_dealloc(void *frame) {
  static void *_Atomic found;
  NEXT(dealloc_function, "swift_task_dealloc")(frame);
  if (!__tsan_acquire) return;
  void *task = ((__attribute__((swiftcall)) void *(*)(void))next(&found, "swift_task_getCurrent"))();
  if (task) __tsan_acquire(task);
}

// On arm64, retain and release keep registers that C's functions do not.
#ifdef __x86_64__

typedef void (*release_function)(void *);
typedef void (*release_many_function)(void *, uint32_t);
typedef bool (*unique_function)(const void *);

// The runtime's own test: null, and a string in place of a reference to one, count nothing.
static bool is_counted(const void *object) { return (intptr_t)object > 0; }

static release_function release_one;
static release_many_function release_many;

// The object that this thread is letting go of. What it lets go of meanwhile, that object held: it was the last to hold
// it, and goes on behind all who held it before.
static __thread void *being_released;

static void *begin_release(void *object) {
  void *outer = being_released;
  if (!is_counted(object)) return outer;
  if (outer) __tsan_acquire(outer);
  __tsan_release(object);
  being_released = object;
  return outer;
}

static void ordered_release(void *object) {
  void *outer = begin_release(object);
  release_one(object);
  being_released = outer;
}

static void ordered_release_many(void *object, uint32_t count) {
  void *outer = begin_release(object);
  release_many(object, count);
  being_released = outer;
}

static void fail(const char *what) {
  fprintf(stderr, "thread-runtime: %s\n", what);
  abort();
}

// Lets a function begin with a jump to another one.
static void lead(void *function, void *to) {
  struct __attribute__((packed)) { uint8_t jump[6]; void *to; } code = {{0xff, 0x25, 0, 0, 0, 0}, to};
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)function & -page;
  size_t length = (uintptr_t)function + sizeof code - first;
  if (mprotect((void *)first, length, PROT_READ | PROT_WRITE | PROT_EXEC)) fail("code cannot be changed");
  memcpy(function, &code, sizeof code);
  if (mprotect((void *)first, length, PROT_READ | PROT_EXEC)) fail("code cannot be changed back");
}

// Most releases are made inside the runtime, where no function can be stood in front of: the functions themselves are
// changed, before any thread has begun. What they did is there once more, behind the pointers that the runtime has for
// Instruments. (Its own switch to go by these pointers is of no use: Swift 6.3 then takes short strings for objects.)
__attribute__((constructor)) static void hear_of_releases(void) {
  if (!__tsan_release) return;
  void *one = dlsym(RTLD_DEFAULT, "swift_release"), *many = dlsym(RTLD_DEFAULT, "swift_release_n");
  release_function *real_one = dlsym(RTLD_DEFAULT, "_swift_release");
  release_many_function *real_many = dlsym(RTLD_DEFAULT, "_swift_release_n");
  if (!one || !many || !real_one || !real_many) fail("this Swift runtime is not known");
  release_one = *real_one;
  release_many = *real_many;
  if ((void *)release_one == one || (void *)release_many == many) fail("this Swift runtime is not known");
  lead(one, ordered_release);
  lead(many, ordered_release_many);
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

#endif
