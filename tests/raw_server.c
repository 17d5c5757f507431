#include "tests/raw_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "tests/support.h"

/* Pieces are sent together up to here, or a flood would be a trickle. */
#define BLOCK_BYTES ((size_t)256 * 1024)

struct raw_server {
    struct raw_reply *replies;     /* a copy: the thread may outlive the caller's array */
    const struct raw_reply *reply; /* that of the newest request */
    size_t count;
    char *url;
    int listener, stop[2];
    pthread_t thread;
    pthread_mutex_t lock;
    struct raw_server_state state; /* without `heard` */
    struct buf all;                /* whole requests */

    /* The thread's own. */
    int connection;   /* -1: none */
    struct buf heard; /* of a request that is not whole yet */
    struct buf block; /* the block being sent */
    size_t block_sent;
    bool answering;
    size_t left;     /* times that the piece is still to be sent */
    bool ended;      /* the end is in the block */
    int64_t next_ms; /* of the next piece */
};

static void give_up(const char *what)
{
    fprintf(stderr, "raw server: %s: %s\n", what, strerror(errno));
    abort();
}

static void hang_up(struct raw_server *s)
{
    if (s->connection >= 0)
        close(s->connection);
    s->connection = -1;
    s->answering = false;
    buf_clear(&s->heard);
}

/* Refills the block that is sent. False: not now. */
static bool next_block(struct raw_server *s)
{
    const struct raw_reply *r = s->reply;
    bool more = r->again && s->left > 0;
    if (more && clock_mono_ms() < s->next_ms)
        return false;
    buf_clear(&s->block);
    s->block_sent = 0;
    while (more && (s->block.len == 0 || (r->pause_ms == 0 && s->block.len < BLOCK_BYTES))) {
        buf_addstr(&s->block, r->again);
        s->left -= s->left < SIZE_MAX;
        more = s->left > 0;
    }
    s->next_ms = clock_mono_ms() + r->pause_ms;
    if (!more && !s->ended) {
        buf_addstr(&s->block, r->end ? r->end : "");
        s->ended = true;
    }
    return s->block.len > 0;
}

static void send_some(struct raw_server *s)
{
    ssize_t n = send(s->connection, s->block.data + s->block_sent, s->block.len - s->block_sent,
                     MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        hang_up(s);
    if (n <= 0)
        return;
    s->block_sent += (size_t)n;
    pthread_mutex_lock(&s->lock);
    s->state.sent += (size_t)n;
    pthread_mutex_unlock(&s->lock);
}

/* Whether there are bytes to send. */
static bool has_block(struct raw_server *s)
{
    if (!s->answering)
        return false;
    if (s->block_sent < s->block.len || next_block(s))
        return true;
    if (!s->ended)
        return false;
    s->answering = false;
    if (s->reply->close)
        hang_up(s);
    return false;
}

/* Removes a whole request from the received bytes. */
static bool take_request(struct raw_server *s)
{
    struct buf *heard = &s->heard;
    static const char length[] = "Content-Length: ";
    const char *end = strstr(heard->data, "\r\n\r\n");
    if (!end)
        return false;
    const char *header = strstr(heard->data, length);
    size_t body = header && header < end ? strtoul(header + strlen(length), NULL, 10) : 0;
    size_t whole = (size_t)(end + 4 - heard->data) + body;
    if (whole > heard->len)
        return false;
    pthread_mutex_lock(&s->lock);
    buf_add(&s->all, heard->data, whole);
    pthread_mutex_unlock(&s->lock);
    buf_consume(heard, whole);
    return true;
}

static void hear(struct raw_server *s)
{
    char bytes[65536];
    ssize_t n = recv(s->connection, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        hang_up(s);
        return;
    }
    if (n > 0)
        buf_add(&s->heard, bytes, (size_t)n);
    if (take_request(s)) {
        pthread_mutex_lock(&s->lock);
        size_t index = s->state.requests++;
        pthread_mutex_unlock(&s->lock);
        s->reply = &s->replies[index < s->count ? index : s->count - 1];
        s->answering = true;
        s->ended = false;
        s->left = s->reply->times > 0 ? s->reply->times : SIZE_MAX;
        s->next_ms = clock_mono_ms() + s->reply->pause_ms;
        s->block_sent = 0;
        buf_clear(&s->block);
        buf_addstr(&s->block, s->reply->begin);
    }
}

static int timeout_of(const struct raw_server *s)
{
    int64_t wait = s->next_ms - clock_mono_ms();
    return s->answering ? wait > 0 ? (int)wait : 0 : -1;
}

static void *serve(void *server)
{
    struct raw_server *s = server;
    for (;;) {
        bool sending = has_block(s);
        struct pollfd fds[] = {
            {.fd = s->stop[0], .events = POLLIN},
            {.fd = s->listener, .events = POLLIN},
            {.fd = s->connection, .events = (short)(POLLIN | (sending ? POLLOUT : 0))}};
        poll(fds, 3, sending ? -1 : timeout_of(s));
        if (fds[0].revents)
            break;
        if (s->connection >= 0 && fds[2].revents & POLLOUT)
            send_some(s);
        if (s->connection >= 0 && fds[2].revents & (POLLIN | POLLHUP | POLLERR))
            hear(s);
        if (fds[1].revents) {
            hang_up(s);
            s->connection = accept(s->listener, NULL, NULL);
            pthread_mutex_lock(&s->lock);
            s->state.connections++;
            pthread_mutex_unlock(&s->lock);
        }
    }
    hang_up(s);
    return NULL;
}

struct raw_server *raw_server_start(const struct raw_reply *replies, size_t count)
{
    struct raw_server *s = mem_alloc(sizeof *s);
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    *s = (struct raw_server){.replies = mem_alloc(count * sizeof *replies),
                             .count = count,
                             .connection = -1,
                             .heard = BUF_INIT,
                             .block = BUF_INIT,
                             .all = BUF_INIT};
    memcpy(s->replies, replies, count * sizeof *replies);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&address, &len) != 0 ||
        listen(s->listener, 8) != 0 || pipe(s->stop) != 0)
        give_up("cannot listen");
    fcntl(s->listener, F_SETFD, FD_CLOEXEC);
    s->url = mem_printf("http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    pthread_mutex_init(&s->lock, NULL);
    errno = pthread_create(&s->thread, NULL, serve, s);
    if (errno != 0)
        give_up("no thread");
    return s;
}

void raw_server_stop(struct raw_server *s)
{
    if (write(s->stop[1], "x", 1) != 1)
        give_up("cannot stop");
    pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    close(s->stop[0]);
    close(s->stop[1]);
    close(s->listener);
    buf_release(&s->heard);
    buf_release(&s->block);
    buf_release(&s->all);
    free(s->replies);
    free(s->url);
    free(s);
}

const char *raw_server_url(const struct raw_server *s)
{
    return s->url;
}

struct raw_server_state raw_server_state(struct raw_server *s)
{
    pthread_mutex_lock(&s->lock);
    struct raw_server_state state = s->state;
    state.heard = support_keep(mem_strdup(s->all.data));
    pthread_mutex_unlock(&s->lock);
    return state;
}
