#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CGarage.h"

#include <pthread.h>

// The lowest address that the calling thread's stack may reach; found once for each thread.
static _Thread_local uintptr_t lowest = 0;

static uintptr_t find_lowest(void) {
#if defined(__APPLE__)
  pthread_t thread = pthread_self();
  return (uintptr_t)pthread_get_stackaddr_np(thread) - pthread_get_stacksize_np(thread);
#elif defined(__linux__)
  pthread_attr_t attributes;
  void *base = NULL;
  size_t size = 0, guard = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
  pthread_attr_getstack(&attributes, &base, &size);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return (uintptr_t)base + guard;
#else
  return 1;
#endif
}

size_t garage_stack_remaining(void) {
  if (lowest == 0) lowest = find_lowest();
  if (lowest == 1) return SIZE_MAX;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here > lowest ? here - lowest : 0;
}
