#include <lmdb.h>

#if defined(__linux__)
// Hidden by the headers unless _GNU_SOURCE is set, which Swift does not.
#include <sys/types.h>
extern int fallocate(int fd, int mode, off_t offset, off_t length);
#endif
