#include "bench/stamped.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "bench/source.h"
#include "tests/screen.h"

struct stamped {
    pid_t pid;
    char *url;
};

/* A request that is being answered. */
struct reply {
    int fd;
    int left;    /* pieces; 0 at first, while the request comes in */
    double next; /* when the next one goes out, screen_clock() */
    bool begun;
};

struct work {
    int listener, pieces;
    double interval; /* ms */
    VEC(struct reply) replies;
};

/* The text is far smaller than the socket's buffer, so one write sends it all. */
static bool put(int fd, const char *text)
{
    size_t len = strlen(text);
    return send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static const char chunk[] =
    "data: {\"id\":\"c\",\"model\":\"bench\",\"choices\":[{\"index\":0,"
    "\"delta\":%s,\"finish_reason\":%s}]}\n\n";

static bool send_piece(struct reply *r)
{
    char delta[64], text[256];
    snprintf(delta, sizeof delta, "{\"content\":\"@%.3f \"}", screen_clock());
    snprintf(text, sizeof text, chunk, delta, "null");
    return put(r->fd, text);
}

static void send_end(struct reply *r)
{
    char text[256];
    snprintf(text, sizeof text, chunk, "{}", "\"stop\"");
    (void)(put(r->fd, text) && put(r->fd, "data: [DONE]\n\n"));
}

/* The small requests of the benchmark come in one piece; a body that is cut off is read away. */
static bool begin(const struct work *w, struct reply *r)
{
    char bytes[65536];
    ssize_t got = read(r->fd, bytes, sizeof bytes);
    if (got <= 0)
        return false;
    if (r->begun)
        return true;
    r->begun = true;
    if (strncmp(bytes, "POST ", 5) != 0) {
        (void)put(r->fd,
                  "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n"
                  "Content-Type: application/json\r\nConnection: close\r\n\r\n{}");
        return false;
    }
    r->left = w->pieces;
    r->next = screen_clock() + w->interval;
    return put(r->fd,
               "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
               "Connection: close\r\n\r\n");
}

/* False: it is over. */
static bool go_on(const struct work *w, struct reply *r, short revents)
{
    if (revents && !begin(w, r))
        return false;
    while (r->left > 0 && r->next <= screen_clock()) {
        r->next += w->interval;
        if (!send_piece(r))
            return false;
        if (--r->left == 0) {
            send_end(r);
            return false;
        }
    }
    return true;
}

static int next_timeout(const struct work *w)
{
    double next = 1e300, now = screen_clock();
    for (size_t i = 0; i < w->replies.len; i++)
        if (w->replies.items[i].left > 0 && w->replies.items[i].next < next)
            next = w->replies.items[i].next;
    return next > 1e299 ? -1 : next <= now ? 0 : (int)(next - now) + 1;
}

static void take_connection(struct work *w)
{
    int one = 1, fd = accept(w->listener, NULL, NULL);
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    vec_push(&w->replies, (struct reply){.fd = fd});
}

static _Noreturn void work(struct work *w)
{
    VEC(struct pollfd) fds = {0};
    for (;;) {
        vec_clear(&fds);
        vec_push(&fds, (struct pollfd){.fd = w->listener, .events = POLLIN});
        for (size_t i = 0; i < w->replies.len; i++)
            vec_push(&fds, (struct pollfd){.fd = w->replies.items[i].fd, .events = POLLIN});
        (void)poll(fds.items, (nfds_t)fds.len, next_timeout(w));
        for (size_t i = w->replies.len; i-- > 0;)
            if (!go_on(w, &w->replies.items[i], fds.items[i + 1].revents)) {
                close(w->replies.items[i].fd);
                vec_remove(&w->replies, i, 1);
            }
        if (fds.items[0].revents)
            take_connection(w);
    }
}

struct stamped *stamped_start(int pieces, double rate)
{
    unsigned port;
    struct stamped *s = mem_alloc(sizeof *s);
    struct work w = {.pieces = pieces, .interval = 1e3 / rate};
    w.listener = source_listen(&port);
    s->pid = fork();
    if (s->pid < 0) {
        perror("bench: fork");
        exit(99);
    }
    if (s->pid == 0)
        work(&w);
    close(w.listener);
    s->url = mem_printf("http://127.0.0.1:%u/v1", port);
    return s;
}

void stamped_stop(struct stamped *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    free(s->url);
    free(s);
}

const char *stamped_url(const struct stamped *s)
{
    return s->url;
}

double stamped_age(const char *text)
{
    return text && *text == '@' ? screen_clock() - strtod(text + 1, NULL) : -1;
}
