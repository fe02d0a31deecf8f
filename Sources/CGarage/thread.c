#include "CGarage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

_Thread_local garage_transactions garage_open;

garage_transaction garage_transaction_at(size_t index) {
  return index < GARAGE_NEAR ? garage_open.near[index] : garage_open.more[index - GARAGE_NEAR];
}

void garage_push_far_transaction(garage_transaction transaction) {
  size_t index = garage_open.count - GARAGE_NEAR;
  if (index == garage_open.more_capacity) {
    size_t capacity = index ? 2 * index : 64;
    garage_transaction *more = realloc(garage_open.more, capacity * sizeof *more);
    if (!more) abort();
    garage_open.more = more;
    garage_open.more_capacity = capacity;
  }
  garage_open.more[index] = transaction;
  garage_open.count++;
}

void garage_pop_far_transaction(void) {
  garage_open.count--;
  // Given back as soon as it is empty: threads end without a word.
  if (garage_open.count == GARAGE_NEAR) {
    free(garage_open.more);
    garage_open.more = NULL;
    garage_open.more_capacity = 0;
  }
}

static atomic_uint forks = 0;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void watch(void) { pthread_atfork(NULL, NULL, count_fork); }

void garage_watch_forks(void) { pthread_once(&watching, watch); }
uint32_t garage_fork_count(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }

static void *run_body(void *body) {
  ((void (*)(void))body)();
  return NULL;
}

static bool start(void *(*body)(void *), void *context, size_t stack_byte_count) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes)) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_byte_count) pthread_attr_setstacksize(&attributes, stack_byte_count);
  pthread_t thread;
  int code = pthread_create(&thread, &attributes, body, context);
  pthread_attr_destroy(&attributes);
  return code == 0;
}

bool garage_start_thread(void (*body)(void)) { return start(run_body, (void *)body, 0); }

bool garage_start_thread_with(void *(*body)(void *), void *context, size_t stack_byte_count) {
  return start(body, context, stack_byte_count);
}

void garage_name_thread(const char *name) {
#ifdef __APPLE__
  pthread_setname_np(name);
#elif defined(__linux__)
  prctl(PR_SET_NAME, name, 0, 0, 0);
#endif
}
