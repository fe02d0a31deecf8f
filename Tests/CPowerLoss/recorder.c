#define _GNU_SOURCE
#include "CPowerLoss.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef __linux__

int power_loss_record(const char *folder, const char *trace) { return ENOTSUP; }
void power_loss_note(uint64_t number) {}

#else

enum { max_files = 4096, max_path = 4096 };

static struct {
  pthread_mutex_t lock;
  char folder[max_path];
  int trace;
  // By descriptor: the file's number, 0 where it is none of those that are recorded.
  uint64_t files[max_files];
  // Whether writes through it wait for the disk, and whether it is a folder.
  uint8_t waits[max_files], folders[max_files];
  // Counts files that were made: the numbers of inodes are used again.
  uint64_t made;
  struct { uint64_t inode, file; } known[max_files];
  int known_count;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .trace = -1};

// The C library's own function of the name that follows in the list of libraries.
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void put(const void *bytes, size_t length) {
  static __typeof__(&write) real;
  if (!real) real = REAL(write);
  const char *next = bytes;
  while (length > 0) {
    ssize_t count = real(state.trace, next, length);
    // A trace with a gap would be worse than none.
    if (count <= 0) abort();
    next += count;
    length -= (size_t)count;
  }
}

static void record(struct power_event event, const char *path, const void *payload, size_t payload_length) {
  event.path_length = path ? (uint32_t)strlen(path) : 0;
  event.payload_length = (uint32_t)payload_length;
  put(&event, sizeof event);
  if (path) put(path, event.path_length);
  if (payload_length) put(payload, payload_length);
}

int power_loss_record(const char *folder, const char *trace) {
  if (strlen(folder) >= max_path) return ENAMETOOLONG;
  int descriptor = open(trace, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno;
  pthread_mutex_lock(&state.lock);
  strcpy(state.folder, folder);
  state.trace = descriptor;
  pthread_mutex_unlock(&state.lock);
  return 0;
}

void power_loss_note(uint64_t number) {
  pthread_mutex_lock(&state.lock);
  if (state.trace >= 0) record((struct power_event){.kind = POWER_NOTE, .length = number}, NULL, NULL, 0);
  pthread_mutex_unlock(&state.lock);
}

// The path below the folder; NULL where it is not below it, or nothing is recorded. What processes only share in memory
// does not outlive the power.
static const char *recorded_path(const char *path) {
  if (state.trace < 0) return NULL;
  size_t length = strlen(state.folder);
  // The folder itself, with its "/" or without.
  if (strncmp(path, state.folder, length - 1) != 0) return NULL;
  const char *rest = path + length - 1;
  if (*rest == 0) return "";
  if (*rest != '/') return NULL;
  rest += 1;
  size_t rest_length = strlen(rest);
  if (rest_length >= 4 && strcmp(rest + rest_length - 4, "-shm") == 0) return NULL;
  if (rest_length >= 8 && strcmp(rest + rest_length - 8, "lock.mdb") == 0) return NULL;
  return rest;
}

static uint64_t file_number(uint64_t inode, int is_made) {
  for (int i = 0; i < state.known_count; i++) {
    if (state.known[i].inode != inode) continue;
    if (is_made) state.known[i].file = ++state.made;
    return state.known[i].file;
  }
  if (state.known_count == max_files) abort();
  state.known[state.known_count].inode = inode;
  state.known[state.known_count].file = ++state.made;
  return state.known[state.known_count++].file;
}

static void opened(int descriptor, const char *path, int flags, int is_made) {
  if (descriptor < 0 || descriptor >= max_files) {
    if (descriptor >= max_files && state.trace >= 0) abort();
    return;
  }
  state.files[descriptor] = 0;
  const char *name = recorded_path(path);
  struct stat facts;
  if (!name || fstat(descriptor, &facts) != 0) return;
  uint64_t file = file_number(facts.st_ino, is_made);
  state.files[descriptor] = file;
  state.waits[descriptor] = (flags & (O_DSYNC | O_SYNC)) != 0;
  state.folders[descriptor] = S_ISDIR(facts.st_mode);
  if (!S_ISDIR(facts.st_mode)) {
    record((struct power_event){.kind = POWER_OPEN, .file = file, .flag = (uint8_t)is_made}, name, NULL, 0);
  }
}

// The number of the file behind a descriptor; 0 where it is not recorded.
static uint64_t file_of(int descriptor) {
  return state.trace >= 0 && descriptor >= 0 && descriptor < max_files ? state.files[descriptor] : 0;
}

#define OPEN(name)                                                            \
  int name(const char *path, int flags, ...) {                                \
    va_list rest;                                                             \
    va_start(rest, flags);                                                    \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;   \
    va_end(rest);                                                             \
    pthread_mutex_lock(&state.lock);                                          \
    int is_made = (flags & O_CREAT) && access(path, F_OK) != 0;               \
    int descriptor = REAL(name)(path, flags, mode);                           \
    int error = errno;                                                        \
    opened(descriptor, path, flags, is_made);                                 \
    if (descriptor >= 0 && (flags & O_TRUNC) && file_of(descriptor))          \
      record((struct power_event){.kind = POWER_TRUNCATE, .file = file_of(descriptor)}, NULL, NULL, 0); \
    pthread_mutex_unlock(&state.lock);                                        \
    errno = error;                                                            \
    return descriptor;                                                        \
  }
OPEN(open)
OPEN(open64)

int close(int descriptor) {
  pthread_mutex_lock(&state.lock);
  if (descriptor >= 0 && descriptor < max_files) state.files[descriptor] = 0;
  pthread_mutex_unlock(&state.lock);
  return REAL(close)(descriptor);
}

static void wrote(int descriptor, const void *bytes, ssize_t count, off_t offset) {
  uint64_t file = file_of(descriptor);
  if (!file || count <= 0) return;
  record(
    (struct power_event){.kind = POWER_WRITE, .file = file, .offset = (uint64_t)offset, .flag = state.waits[descriptor]},
    NULL, bytes, (size_t)count);
}

#define PWRITE(name, offset_type)                                                              \
  ssize_t name(int descriptor, const void *bytes, size_t length, offset_type offset) {         \
    pthread_mutex_lock(&state.lock);                                                           \
    ssize_t count = REAL(name)(descriptor, bytes, length, offset);                             \
    int error = errno;                                                                         \
    wrote(descriptor, bytes, count, (off_t)offset);                                            \
    pthread_mutex_unlock(&state.lock);                                                         \
    errno = error;                                                                             \
    return count;                                                                              \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int descriptor, const void *bytes, size_t length) {
  // Without the lock where nothing is recorded: a write to a pipe may wait for its reader.
  if (!file_of(descriptor)) return REAL(write)(descriptor, bytes, length);
  pthread_mutex_lock(&state.lock);
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  ssize_t count = REAL(write)(descriptor, bytes, length);
  int error = errno;
  wrote(descriptor, bytes, count, offset);
  pthread_mutex_unlock(&state.lock);
  errno = error;
  return count;
}

ssize_t writev(int descriptor, const struct iovec *parts, int part_count) {
  if (!file_of(descriptor)) return REAL(writev)(descriptor, parts, part_count);
  pthread_mutex_lock(&state.lock);
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  ssize_t count = REAL(writev)(descriptor, parts, part_count);
  int error = errno;
  ssize_t left = count;
  for (int i = 0; i < part_count && left > 0; i++) {
    ssize_t length = left < (ssize_t)parts[i].iov_len ? left : (ssize_t)parts[i].iov_len;
    wrote(descriptor, parts[i].iov_base, length, offset);
    offset += length;
    left -= length;
  }
  pthread_mutex_unlock(&state.lock);
  errno = error;
  return count;
}

#define TRUNCATE(name, offset_type)                                                            \
  int name(int descriptor, offset_type length) {                                               \
    pthread_mutex_lock(&state.lock);                                                           \
    int result = REAL(name)(descriptor, length);                                               \
    int error = errno;                                                                         \
    if (result == 0 && file_of(descriptor))                                                    \
      record((struct power_event){.kind = POWER_TRUNCATE, .file = file_of(descriptor), .length = (uint64_t)length}, \
             NULL, NULL, 0);                                                                   \
    pthread_mutex_unlock(&state.lock);                                                         \
    errno = error;                                                                             \
    return result;                                                                             \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

// Of these, those that give room back as holes; the others only reserve it.
#define FALLOCATE(name, offset_type)                                                           \
  int name(int descriptor, int mode, offset_type offset, offset_type length) {                 \
    pthread_mutex_lock(&state.lock);                                                           \
    int result = REAL(name)(descriptor, mode, offset, length);                                 \
    int error = errno;                                                                         \
    if (result == 0 && (mode & FALLOC_FL_PUNCH_HOLE) && file_of(descriptor))                   \
      record((struct power_event){.kind = POWER_ZERO, .file = file_of(descriptor), .offset = (uint64_t)offset,  \
                                  .length = (uint64_t)length}, NULL, NULL, 0);                 \
    pthread_mutex_unlock(&state.lock);                                                         \
    errno = error;                                                                             \
    return result;                                                                             \
  }
FALLOCATE(fallocate, off_t)
FALLOCATE(fallocate64, off64_t)

#define SYNC(name)                                                                             \
  int name(int descriptor) {                                                                   \
    pthread_mutex_lock(&state.lock);                                                           \
    int result = REAL(name)(descriptor);                                                       \
    int error = errno;                                                                         \
    uint64_t file = file_of(descriptor);                                                       \
    if (result == 0 && file)                                                                   \
      record((struct power_event){.kind = state.folders[descriptor] ? POWER_SYNC_FOLDER : POWER_SYNC, .file = file}, \
             NULL, NULL, 0);                                                                   \
    pthread_mutex_unlock(&state.lock);                                                         \
    errno = error;                                                                             \
    return result;                                                                             \
  }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
  pthread_mutex_lock(&state.lock);
  int result = REAL(unlink)(path);
  int error = errno;
  const char *name = result == 0 ? recorded_path(path) : NULL;
  if (name) record((struct power_event){.kind = POWER_REMOVE}, name, NULL, 0);
  pthread_mutex_unlock(&state.lock);
  errno = error;
  return result;
}

int rename(const char *from, const char *to) {
  pthread_mutex_lock(&state.lock);
  int result = REAL(rename)(from, to);
  int error = errno;
  const char *name = result == 0 ? recorded_path(from) : NULL;
  const char *new_name = result == 0 ? recorded_path(to) : NULL;
  if (name && new_name) record((struct power_event){.kind = POWER_RENAME}, name, new_name, strlen(new_name));
  pthread_mutex_unlock(&state.lock);
  errno = error;
  return result;
}

#endif
