#include "CRawStores.h"

#if defined(__GLIBC__)
#include <malloc.h>
size_t raw_heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
void raw_heap_trim(void) { malloc_trim(0); }
#elif defined(__APPLE__)
#include <malloc/malloc.h>
size_t raw_heap_bytes(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(NULL, &statistics);
  return statistics.size_in_use;
}
void raw_heap_trim(void) {}
#else
void raw_heap_trim(void) {}
size_t raw_heap_bytes(void) { return 0; }
#endif
