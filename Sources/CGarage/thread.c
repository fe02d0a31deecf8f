#include "CGarage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// The few that threads have open at a time stand here; more than those, which costs an allocation, behind `more`.
enum { NEAR = 8 };
static _Thread_local struct {
  size_t count, more_capacity;
  garage_transaction near[NEAR];
  garage_transaction *more;
} open;

size_t garage_transaction_count(void) { return open.count; }

garage_transaction garage_transaction_at(size_t index) {
  return index < NEAR ? open.near[index] : open.more[index - NEAR];
}

static void push_far(garage_transaction transaction) {
  size_t index = open.count - NEAR;
  if (index == open.more_capacity) {
    size_t capacity = index ? 2 * index : 64;
    garage_transaction *more = realloc(open.more, capacity * sizeof *more);
    if (!more) abort();
    open.more = more;
    open.more_capacity = capacity;
  }
  open.more[index] = transaction;
}

void garage_push_transaction(const void *lifetime, bool is_write) {
  garage_transaction transaction = {lifetime, is_write};
  if (open.count < NEAR) {
    open.near[open.count] = transaction;
  } else {
    push_far(transaction);
  }
  open.count++;
}

void garage_pop_transaction(void) {
  open.count--;
  // Given back as soon as it is empty: threads end without a word.
  if (open.count == NEAR && open.more) {
    free(open.more);
    open.more = NULL;
    open.more_capacity = 0;
  }
}

static atomic_uint forks = 0;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void watch(void) { pthread_atfork(NULL, NULL, count_fork); }

void garage_watch_forks(void) { pthread_once(&watching, watch); }
uint32_t garage_fork_count(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }
