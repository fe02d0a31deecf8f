#ifndef CPOWERLOSS_H
#define CPOWERLOSS_H

#include <stdint.h>

// A recorder of what a process asks of its files: each write, truncation and sync below a folder goes to a trace, in order.
//
// The program that links it defines `pwrite`, `fdatasync` and their like itself, and so the engines' shared libraries call
// these definitions, which record and go on to those of the C library. On Linux only; elsewhere nothing is recorded.

/// One entry of a trace: this head, then `path_length` bytes of a path and `payload_length` bytes of a payload.
///
/// For a rename, the payload is the new path. For a truncation, `length` is the new size.
struct power_event {
  uint64_t file;
  uint64_t offset;
  uint64_t length;
  uint32_t path_length;
  uint32_t payload_length;
  uint8_t kind;
  /// Of a write: whether it was on disk when it returned. Of an opening: whether the file was made.
  uint8_t flag;
  uint8_t unused[6];
};

/// The kinds, as characters: an opening, a write, zeros, a truncation, a sync of a file, a sync of a folder, a removal, a
/// renaming, and a note of the program itself.
enum {
  POWER_OPEN = 'O', POWER_WRITE = 'W', POWER_ZERO = 'Z', POWER_TRUNCATE = 'T', POWER_SYNC = 'S', POWER_SYNC_FOLDER = 'F',
  POWER_REMOVE = 'D', POWER_RENAME = 'R', POWER_NOTE = 'N'
};

/// Begins to record what happens to files below `folder`, which ends with "/". Returns 0, or an error number.
int power_loss_record(const char *folder, const char *trace);

/// Writes a number into the trace.
void power_loss_note(uint64_t number);

#endif
