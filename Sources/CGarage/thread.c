#include "CGarage.h"

#include <pthread.h>
#include <stdatomic.h>

static _Thread_local void *transactions = NULL;

void *garage_thread_transactions(void) { return transactions; }
void garage_set_thread_transactions(void *head) { transactions = head; }

static atomic_uint forks = 0;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void watch(void) { pthread_atfork(NULL, NULL, count_fork); }

void garage_watch_forks(void) { pthread_once(&watching, watch); }
uint32_t garage_fork_count(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }
