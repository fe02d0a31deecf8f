// What is large is asked for in large pages, where the system has them: to touch a page for the first time costs a few
// microseconds on a virtual machine, as much as encoding the objects that fit in it.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CGarage.h"
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>

void garage_use_large_pages(void *memory, size_t count) {
  const size_t page = (size_t)2 << 20;
  if (count < 2 * page) return;
  // Whole large pages alone: the advice is for the memory itself, not for what lies beside it.
  uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
  uintptr_t end = ((uintptr_t)memory + count) & ~(page - 1);
  // Only advice: a system that does not take it works as before.
  if (start < end) (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}
#else
void garage_use_large_pages(void *memory, size_t count) {
  (void)memory;
  (void)count;
}
#endif
