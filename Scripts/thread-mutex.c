// Tells ThreadSanitizer what `Synchronization.Mutex` does on Linux. Loaded before the tests, see sanitize.sh.
//
// A Swift mutex that is free is taken and given back by atomics in the caller's code, which the sanitizer sees. One that
// is waited for is handed on by the kernel (a priority-inheriting futex, Swift 6.3) inside the standard library, which
// it does not: it would call every two threads that meet at a mutex a race. These two functions stand in front of the
// library's own and add the order.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*lock_function)(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*unlock_function)(__attribute__((swift_context)) void *);

// In a program that is not sanitized, such as those that start the tests, there are none.
extern __attribute__((weak)) void __tsan_acquire(void *address);
extern __attribute__((weak)) void __tsan_release(void *address);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) __asm__(UNLOCK);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
  ((lock_function)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  ((unlock_function)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
