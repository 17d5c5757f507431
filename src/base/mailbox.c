#include "base/mailbox.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/die.h"
#include "base/mem.h"

enum { FIRST_CAP = 16 };

/* Under the lock holds: the pipe has one byte if `signalled`, else none; items that wait
 * unsignalled were all pushed lazily to a reader that dozes. So a push into a signalled queue costs
 * no system call, and the pipe cannot fill up. */
struct mailbox {
    pthread_mutex_t lock;
    int reader, writer;
    void (*free_item)(void *item);
    void **ring;
    size_t cap, head, len;
    bool signalled, dozes;
};

static void make_pipe_end(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        die("cannot set up a pipe");
}

struct mailbox *mailbox_new(void (*free_item)(void *item))
{
    struct mailbox *m = mem_alloc(sizeof *m);
    int ends[2];
    if (pthread_mutex_init(&m->lock, NULL) != 0 || !descriptors_pipe(ends))
        die("cannot make a pipe between threads");
    make_pipe_end(ends[0]);
    make_pipe_end(ends[1]);
    m->reader = ends[0];
    m->writer = ends[1];
    m->free_item = free_item;
    return m;
}

void mailbox_free(struct mailbox *m)
{
    if (!m)
        return;
    for (void *item; (item = mailbox_pop(m));) {
        if (m->free_item)
            m->free_item(item);
    }
    close(m->reader);
    close(m->writer);
    pthread_mutex_destroy(&m->lock);
    free(m->ring);
    free(m);
}

static void grow(struct mailbox *m)
{
    size_t cap = m->cap ? m->cap * 2 : FIRST_CAP;
    void **ring = mem_alloc(cap * sizeof *ring);
    for (size_t i = 0; i < m->len; i++)
        ring[i] = m->ring[(m->head + i) % m->cap];
    free(m->ring);
    m->ring = ring;
    m->cap = cap;
    m->head = 0;
}

static void raise_signal(struct mailbox *m)
{
    ssize_t done;
    if (m->signalled)
        return;
    m->signalled = true;
    do
        done = write(m->writer, "", 1);
    while (done < 0 && errno == EINTR);
    assert(done == 1);
    (void)done;
}

static void lower_signal(struct mailbox *m)
{
    char byte;
    ssize_t done;
    if (!m->signalled)
        return;
    m->signalled = false;
    do
        done = read(m->reader, &byte, 1);
    while (done < 0 && errno == EINTR);
    assert(done == 1);
    (void)done;
}

static void push(struct mailbox *m, void *item, bool lazily)
{
    assert(item);
    pthread_mutex_lock(&m->lock);
    if (m->len == m->cap)
        grow(m);
    m->ring[(m->head + m->len++) % m->cap] = item;
    if (!lazily || !m->dozes)
        raise_signal(m);
    pthread_mutex_unlock(&m->lock);
}

void mailbox_push(struct mailbox *m, void *item)
{
    push(m, item, false);
}

void mailbox_push_lazily(struct mailbox *m, void *item)
{
    push(m, item, true);
}

void mailbox_doze(struct mailbox *m, bool dozes)
{
    pthread_mutex_lock(&m->lock);
    m->dozes = dozes;
    if (!dozes && m->len > 0)
        raise_signal(m);
    pthread_mutex_unlock(&m->lock);
}

void *mailbox_pop(struct mailbox *m)
{
    void *item = NULL;
    pthread_mutex_lock(&m->lock);
    if (m->len) {
        item = m->ring[m->head];
        m->head = (m->head + 1) % m->cap;
        if (--m->len == 0)
            lower_signal(m);
    }
    pthread_mutex_unlock(&m->lock);
    return item;
}

size_t mailbox_len(struct mailbox *m)
{
    pthread_mutex_lock(&m->lock);
    size_t len = m->len;
    pthread_mutex_unlock(&m->lock);
    return len;
}

bool mailbox_has(struct mailbox *m, bool (*is)(const void *item))
{
    bool has = false;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->len && !has; i++)
        has = is(m->ring[(m->head + i) % m->cap]);
    pthread_mutex_unlock(&m->lock);
    return has;
}

void *mailbox_wait(struct mailbox *m, int timeout_ms)
{
    int64_t deadline = clock_mono_ms() + timeout_ms;
    int left = timeout_ms;
    for (;;) {
        void *item = mailbox_pop(m);
        if (item)
            return item;
        struct pollfd ready = {.fd = m->reader, .events = POLLIN};
        if (poll(&ready, 1, left) == 0)
            return mailbox_pop(m);
        if (timeout_ms < 0)
            continue;
        int64_t rest = deadline - clock_mono_ms();
        left = rest > 0 ? (int)rest : 0;
    }
}

int mailbox_fd(const struct mailbox *m)
{
    return m->reader;
}
