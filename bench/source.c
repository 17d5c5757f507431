#include "bench/source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "tests/screen.h"

struct source {
    pid_t pid;
    int reports;
    char *url;
};

/* The answer's bytes: headers, then one event after the other. */
struct answer {
    struct buf bytes;
    VEC(size_t) ends; /* where the headers and each event with text end */
    double rate;
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(99);
}

static void add_json_text(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", c);
        else if (c < 0x20)
            buf_addf(out, "\\u%04x", c);
        else
            buf_addch(out, (char)c);
    }
}

static void build_answer(struct answer *a, const char *text, size_t len, size_t piece)
{
    buf_addstr(&a->bytes,
               "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
               "Connection: close\r\n\r\n");
    vec_push(&a->ends, a->bytes.len);
    for (size_t at = 0; at < len;) {
        size_t end = at + piece < len ? at + piece : len;
        end -= utf8_incomplete_tail(text + at, end - at);
        buf_addstr(&a->bytes,
                   "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
                   "\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"");
        add_json_text(&a->bytes, text + at, end - at);
        buf_addstr(&a->bytes, "\"},\"finish_reason\":null}]}\n\n");
        vec_push(&a->ends, a->bytes.len);
        at = end;
    }
    buf_addf(&a->bytes,
             "data: {\"id\":\"c1\",\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{},"
             "\"finish_reason\":\"stop\"}]}\n\n"
             "data: {\"id\":\"c1\",\"model\":\"bench\",\"choices\":[],\"usage\":"
             "{\"prompt_tokens\":1000,\"completion_tokens\":%zu}}\n\ndata: [DONE]\n\n",
             len / 4 + 1);
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = send(fd, bytes, len, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

/* The times of one answer: of the request and of the end of its text. */
struct report {
    double asked, sent;
};

/* Reads one request to its end. Returns whether it is one for an answer (else: a listing). */
static bool read_request(int fd, bool *wants_answer, double *asked)
{
    struct buf request = BUF_INIT;
    size_t need = 0;
    char bytes[16384];
    ssize_t got = 1;
    while ((need == 0 || request.len < need) && (got = read(fd, bytes, sizeof bytes)) > 0) {
        if (request.len == 0)
            *asked = screen_clock();
        buf_add(&request, bytes, (size_t)got);
        char *end = strstr(request.data, "\r\n\r\n");
        if (need == 0 && end != NULL) {
            char *length = strstr(request.data, "Content-Length:");
            need = (size_t)(end + 4 - request.data);
            need += length != NULL && length < end ? strtoul(length + 15, NULL, 10) : 0;
        }
    }
    *wants_answer = strncmp(request.data, "POST ", 5) == 0;
    buf_release(&request);
    return got > 0;
}

static void sleep_until(double when)
{
    struct timespec at = {.tv_sec = (time_t)(when / 1e3)};
    at.tv_nsec = (long)((when - (double)at.tv_sec * 1e3) * 1e6);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        continue;
}

/* Returns when the last text went out. */
static double send_answer(int fd, const struct answer *a)
{
    size_t last = a->ends.len - 1, sent = a->ends.items[0];
    double start = screen_clock(), stamp = start;
    if (!send_all(fd, a->bytes.data, sent))
        return stamp;
    for (size_t i = a->rate > 0 ? 1 : last; i <= last; i++) {
        if (a->rate > 0)
            sleep_until(start + (double)i * 1e3 / a->rate);
        /* Flat out: all but the last event in one go, so that the stamp is the last one's. */
        size_t before = a->ends.items[i - 1];
        if (!send_all(fd, a->bytes.data + sent, before - sent))
            return stamp;
        stamp = screen_clock();
        if (!send_all(fd, a->bytes.data + before, a->ends.items[i] - before))
            return stamp;
        sent = a->ends.items[i];
    }
    send_all(fd, a->bytes.data + sent, a->bytes.len - sent);
    return stamp;
}

static _Noreturn void serve(int listener, int reports, const struct answer *a)
{
    static const char nothing[] =
        "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n"
        "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
    for (;;) {
        int one = 1, fd = accept(listener, NULL, NULL);
        bool wants_answer;
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct report report = {0};
        if (read_request(fd, &wants_answer, &report.asked) && wants_answer) {
            report.sent = send_answer(fd, a);
            if (write(reports, &report, sizeof report) != sizeof report)
                _exit(1);
        } else {
            send_all(fd, nothing, sizeof nothing - 1);
        }
        close(fd);
    }
}

int source_listen(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 256) != 0 || getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        give_up("listen");
    *port = ntohs(address.sin_port);
    return fd;
}

struct source *source_start(const char *text, size_t len, size_t piece, double rate)
{
    struct answer answer = {.bytes = BUF_INIT, .rate = rate};
    int reports[2];
    unsigned port;
    struct source *s = mem_alloc(sizeof *s);
    build_answer(&answer, text, len, piece);
    int listener = source_listen(&port);
    if (pipe(reports) != 0)
        give_up("pipe");
    s->pid = fork();
    if (s->pid < 0)
        give_up("fork");
    if (s->pid == 0) {
        close(reports[0]);
        serve(listener, reports[1], &answer);
    }
    close(listener);
    close(reports[1]);
    s->reports = reports[0];
    s->url = mem_printf("http://127.0.0.1:%u/v1", port);
    buf_release(&answer.bytes);
    vec_release(&answer.ends);
    return s;
}

void source_stop(struct source *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    close(s->reports);
    free(s->url);
    free(s);
}

const char *source_url(const struct source *s)
{
    return s->url;
}

static struct report next_report(struct source *s)
{
    struct report report;
    if (read(s->reports, &report, sizeof report) != sizeof report)
        give_up("the answering process");
    return report;
}

double source_last_byte(struct source *s)
{
    return next_report(s).sent;
}

size_t source_asked(struct source *s, double *first, double *last)
{
    size_t count = 0;
    for (struct pollfd there = {.fd = s->reports, .events = POLLIN}; poll(&there, 1, 0) > 0;) {
        *last = next_report(s).asked;
        if (count++ == 0)
            *first = *last;
    }
    return count;
}
