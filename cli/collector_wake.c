/* collector_wake.c: turns the store's futex into a descriptor that can be polled. */
#include "cli/collector_wake.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/error.h"

static void *wait_and_tell(void *argument)
{
    struct wake *wake = argument;
    /* Release: pairs with the acquire in wait_until_ready. */
    __atomic_store_n(&wake->ready, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &wake->ready, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    uint32_t told = __atomic_load_n(wake->word, __ATOMIC_ACQUIRE);
    for (;;) {
        /* In this order: when the word has the value that wake_stop gave it, stop is seen too. Both
         * acquire: pair with the releases in wake_stop and in the processes that wake us. */
        uint32_t now = __atomic_load_n(wake->word, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&wake->stop, __ATOMIC_ACQUIRE))
            return NULL;
        if (now != told) {
            told = now;
            uint64_t one = 1;
            while (write(wake->fd, &one, sizeof(one)) < 0 && errno == EINTR)
                continue;
        }
        /* Returns at once with EAGAIN when the word has changed since. */
        syscall(SYS_futex, wake->word, FUTEX_WAIT, now, NULL, NULL, 0);
    }
}

static void wait_until_ready(struct wake *wake)
{
    while (!__atomic_load_n(&wake->ready, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &wake->ready, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

bool wake_start(struct wake *wake, uint32_t *word, int fd, struct error *error)
{
    *wake = (struct wake){.word = word, .fd = fd};
    if (wake->fd < 0)
        wake->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake->fd < 0) {
        error_set_errno(error, NULL, errno, "cannot make an eventfd");
        return false;
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread inherits the mask */
    int failed = pthread_create(&wake->thread, &attributes, wait_and_tell, wake);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed)
        error_set_errno(error, NULL, failed, "cannot start a thread");
    else
        wait_until_ready(wake);
    wake->is_running = !failed;
    return !failed;
}

void wake_stop(struct wake *wake)
{
    if (!wake->is_running)
        return;
    /* Release: pairs with the acquire in wait_and_tell. */
    __atomic_store_n(&wake->stop, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(wake->word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, wake->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    pthread_join(wake->thread, NULL);
    wake->is_running = false;
}

void wake_clear(const struct wake *wake)
{
    uint64_t count;
    while (read(wake->fd, &count, sizeof(count)) < 0 && errno == EINTR)
        continue;
}
