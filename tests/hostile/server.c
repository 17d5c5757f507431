#include "tests/hostile/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "tests/hostile/mode.h"

#define MAX_REQUEST ((size_t)256 * 1024 * 1024)
#define GOOD_MODEL "good-model"

const char *const target_names[TARGET_COUNT] = {"chat", "listing", "embedding"};

struct hostile_server {
    const struct form *form;
    const struct mode *mode;
    enum target target;
    const char *key;
    int listener, other; /* sockets; nobody may come to the other */
    int wake[2];
    char *url;
    pthread_t thread;
    VEC(pthread_t) threads;
    VEC(int) sockets; /* of the peers; -1 when closed */
    pthread_mutex_t mutex;
    long step, steps;
    size_t count;
    atomic_bool stopping, behaves, strayed;
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "hostile: %s: %s\n", what, strerror(errno));
    exit(99);
}

/* --- bytes of a peer -------------------------------------------------------------------------- */

static bool stopped(const struct peer *p)
{
    return atomic_load(&p->server->stopping);
}

static bool send_all(struct peer *p, const char *bytes, size_t len)
{
    while (len > 0 && !stopped(p)) {
        ssize_t sent = send(p->fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        bytes += sent < 0 ? 0 : sent;
        len -= sent < 0 ? 0 : (size_t)sent;
    }
    return !stopped(p);
}

bool peer_send(struct peer *p, const void *bytes, size_t len)
{
    bool breaks = p->left >= 0 && (size_t)p->left <= len;
    if (breaks)
        len = (size_t)p->left;
    p->left -= p->left < 0 ? 0 : (long)len;
    return send_all(p, bytes, len) && !breaks;
}

bool peer_say(struct peer *p, const char *text)
{
    return peer_send(p, text, strlen(text));
}

/* Sends whole blocks, since a unit may be one byte. */
bool peer_repeat(struct peer *p, const char *unit, size_t count)
{
    AUTO(buf_release) struct buf block = BUF_INIT;
    size_t units = 0;
    while (block.len < 65536 && (count == 0 || units < count)) {
        buf_addstr(&block, unit);
        units++;
    }
    bool ok = true;
    for (size_t left = count; ok && (count == 0 || left > 0);) {
        size_t now = count == 0 || left > units ? units : left;
        ok = peer_send(p, block.data, now * strlen(unit));
        left -= count == 0 ? 0 : now;
    }
    return ok;
}

/* Detects a client that has gone, unless the client has sent more bytes before. */
bool peer_pause(struct peer *p, int ms)
{
    char byte;
    struct pollfd polls = {.fd = p->fd, .events = POLLIN};
    if (poll(&polls, 1, ms) == 0)
        return !stopped(p);
    if (recv(p->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0)
        return false;
    polls.events = 0;
    return poll(&polls, 1, ms) == 0 && !stopped(p);
}

bool peer_events(struct peer *p, const char *format, const char *const *values)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    form_events(&out, p->form, format, values);
    return peer_send(p, out.data, out.len);
}

void peer_reset(struct peer *p)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

bool peer_head(struct peer *p, int status, const char *type, const char *more)
{
    auto_free char *head = mem_printf(
        "HTTP/1.1 %d Hostile\r\nContent-Type: %s\r\nConnection: close\r\n"
        "%s\r\n",
        status, type, more);
    return peer_say(p, head);
}

void peer_reply(struct peer *p, int status, const char *type, const char *more, struct buf *body)
{
    if (peer_head(p, status, type, more))
        (void)peer_send(p, body->data, body->len);
    buf_release(body);
}

/* --- correct answers -------------------------------------------------------------------------- */

static const char *request_path(const struct peer *p, char *out, size_t size)
{
    const char *start = strchr(p->request.data, ' ');
    size_t len = start == NULL ? 0 : strcspn(start + 1, " ?\r\n");
    snprintf(out, size, "%.*s", (int)len, start == NULL ? "" : start + 1);
    return out;
}

static enum target target_of(const struct peer *p)
{
    char path[256];
    request_path(p, path, sizeof path);
    if (strcmp(path, "/v1/messages") == 0 || strcmp(path, "/v1/chat/completions") == 0 ||
        strcmp(path, "/api/chat") == 0)
        return TARGET_CHAT;
    return strcmp(path, "/v1/embeddings") == 0 || strcmp(path, "/api/embed") == 0 ? TARGET_EMBEDDING
                                                                                  : TARGET_LISTING;
}

void peer_good_body(struct peer *p, struct buf *out)
{
    struct script script;
    const struct reply reply = {.text =
                                    atomic_load(&p->server->behaves) ? HOSTILE_WELL : HOSTILE_GOOD};
    const char *body = strstr(p->request.data, "\r\n\r\n");
    if (p->target == TARGET_LISTING) {
        char path[256];
        const struct listing listing = {.names = VALUES(GOOD_MODEL), .window = 100000};
        (void)listing_build(out, request_path(p, path, sizeof path),
                            p->form->dialect == DIALECT_ANTHROPIC, &listing);
        return;
    }
    if (p->target == TARGET_CHAT)
        script_build(&script, p->form->dialect, &reply, GOOD_MODEL);
    else
        script_build_embeddings(&script, p->form->dialect, &reply, body == NULL ? "" : body + 4,
                                body == NULL ? 0 : strlen(body + 4));
    buf_add(out, script.body.data, script.body.len);
    script_release(&script);
}

const char *peer_good_type(const struct peer *p)
{
    return p->target == TARGET_CHAT ? p->form->type : "application/json";
}

static void answer_well(struct peer *p)
{
    struct buf body = BUF_INIT;
    peer_good_body(p, &body);
    p->left = -1;
    peer_reply(p, body.len > 0 ? 200 : 404, peer_good_type(p), "", &body);
}

/* --- connections ------------------------------------------------------------------------------ */

/* Bytes of the whole request as its head tells; 0: the head is not whole. */
static size_t request_size(const struct buf *request)
{
    const char *end = strstr(request->data, "\r\n\r\n");
    if (end == NULL)
        return 0;
    size_t size = (size_t)(end + 4 - request->data);
    for (const char *line = request->data; line < end; line = strchr(line, '\n') + 1)
        if (strncasecmp(line, "content-length:", 15) == 0)
            size += strtoul(line + 15, NULL, 10);
    return size;
}

static bool read_request(struct peer *p)
{
    static const size_t most = 65536;
    auto_free char *bytes = mem_alloc(most);
    size_t size = 0;
    bool ok = true;
    while (ok && (size == 0 || p->request.len < size)) {
        ssize_t got = recv(p->fd, bytes, most, 0);
        ok = got > 0 && buf_try_add(&p->request, bytes, (size_t)got) && !stopped(p);
        size = size > 0 ? size : request_size(&p->request);
    }
    return ok;
}

static void serve(struct peer *p)
{
    struct hostile_server *s = p->server;
    bool behaves = atomic_load(&s->behaves);
    bool deaf = (p->mode->flags & MODE_DEAF) != 0 && !behaves;
    if (!deaf && !read_request(p))
        return;
    p->target = deaf ? s->target : target_of(p);
    bool hostile = !behaves && p->target == s->target;
    if (hostile) {
        pthread_mutex_lock(&s->mutex);
        p->ordinal = s->count++;
        p->step = s->step;
        if (s->steps == 0 && p->mode->steps != NULL)
            s->steps = p->mode->steps(p);
        pthread_mutex_unlock(&s->mutex);
    }
    if (hostile && (p->ordinal == 0 || !(p->mode->flags & MODE_ONCE)))
        p->mode->serve(p);
    else
        answer_well(p);
}

struct arrival {
    struct hostile_server *server;
    int fd;
    size_t place;
};

static void *peer_thread(void *context)
{
    auto_free struct arrival *a = context;
    struct hostile_server *s = a->server;
    struct peer p = {
        .fd = a->fd, .server = s, .mode = s->mode, .form = s->form, .key = s->key, .left = -1};
    buf_init(&p.request, MAX_REQUEST);
    serve(&p);
    pthread_mutex_lock(&s->mutex);
    s->sockets.items[a->place] = -1;
    pthread_mutex_unlock(&s->mutex);
    /* Without this, unread bytes from the client would turn the end into a reset. */
    struct linger at_once = {0};
    socklen_t len = sizeof at_once;
    getsockopt(p.fd, SOL_SOCKET, SO_LINGER, &at_once, &len);
    if (!at_once.l_onoff) {
        shutdown(p.fd, SHUT_WR);
        (void)peer_pause(&p, 200);
    }
    close(p.fd);
    buf_release(&p.request);
    return NULL;
}

static void accept_peer(struct hostile_server *s)
{
    int fd = accept(s->listener, NULL, NULL);
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    struct arrival *a = mem_alloc(sizeof *a);
    *a = (struct arrival){.server = s, .fd = fd, .place = s->sockets.len};
    pthread_mutex_lock(&s->mutex);
    vec_push(&s->sockets, fd);
    pthread_mutex_unlock(&s->mutex);
    pthread_t thread;
    if (pthread_create(&thread, NULL, peer_thread, a) != 0)
        give_up("pthread_create");
    vec_push(&s->threads, thread);
}

static void *accept_thread(void *context)
{
    struct hostile_server *s = context;
    struct pollfd polls[] = {{.fd = s->listener, .events = POLLIN},
                             {.fd = s->other, .events = POLLIN},
                             {.fd = s->wake[0], .events = POLLIN}};
    while (!atomic_load(&s->stopping)) {
        if (poll(polls, 3, -1) < 0)
            continue;
        if (polls[0].revents & POLLIN)
            accept_peer(s);
        if (polls[1].revents & POLLIN) {
            atomic_store(&s->strayed, true);
            close(accept(s->other, NULL, NULL));
        }
        /* A socket that does not listen yet tells so without an end. */
        if (polls[0].revents & POLLHUP) {
            char byte;
            (void)!read(s->wake[0], &byte, 1);
        }
    }
    return NULL;
}

static int bound_socket(bool listens)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        (listens && listen(fd, 64) != 0))
        give_up("a socket");
    return fd;
}

static int port_of(int fd)
{
    struct sockaddr_in at = {0};
    socklen_t len = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &len);
    return ntohs(at.sin_port);
}

struct hostile_server *hostile_server_start(const struct form *form, const struct mode *mode,
                                            enum target target, const char *key)
{
    struct hostile_server *s = mem_alloc(sizeof *s);
    s->form = form;
    s->mode = mode;
    s->target = target;
    s->key = key;
    s->listener = bound_socket(!(mode->flags & MODE_REFUSE));
    s->other = bound_socket(true);
    s->url = mem_printf("http://127.0.0.1:%d", port_of(s->listener));
    pthread_mutex_init(&s->mutex, NULL);
    if (pipe(s->wake) != 0 || pthread_create(&s->thread, NULL, accept_thread, s) != 0)
        give_up("a server");
    return s;
}

static void wake(struct hostile_server *s)
{
    if (write(s->wake[1], "", 1) != 1)
        give_up("a pipe");
}

void hostile_server_stop(struct hostile_server *s)
{
    atomic_store(&s->stopping, true);
    wake(s);
    pthread_join(s->thread, NULL);
    pthread_mutex_lock(&s->mutex);
    for (size_t i = 0; i < s->sockets.len; i++)
        if (s->sockets.items[i] >= 0)
            shutdown(s->sockets.items[i], SHUT_RDWR);
    pthread_mutex_unlock(&s->mutex);
    for (size_t i = 0; i < s->threads.len; i++)
        pthread_join(s->threads.items[i], NULL);
    close(s->listener);
    close(s->other);
    close(s->wake[0]);
    close(s->wake[1]);
    pthread_mutex_destroy(&s->mutex);
    vec_release(&s->threads);
    vec_release(&s->sockets);
    free(s->url);
    free(s);
}

const char *hostile_server_url(const struct hostile_server *s)
{
    return s->url;
}

void hostile_server_set_step(struct hostile_server *s, long step)
{
    pthread_mutex_lock(&s->mutex);
    s->step = step;
    s->count = 0;
    pthread_mutex_unlock(&s->mutex);
}

void hostile_server_behave(struct hostile_server *s, bool well)
{
    if (well && (s->mode->flags & MODE_REFUSE)) {
        if (listen(s->listener, 64) != 0)
            give_up("listen");
        wake(s);
    }
    atomic_store(&s->behaves, well);
}

long hostile_server_steps(struct hostile_server *s)
{
    pthread_mutex_lock(&s->mutex);
    long steps = s->steps;
    pthread_mutex_unlock(&s->mutex);
    return steps;
}

bool hostile_server_strayed(struct hostile_server *s)
{
    return atomic_load(&s->strayed);
}

int peer_other_port(const struct peer *p)
{
    return port_of(p->server->other);
}

int peer_port(const struct peer *p)
{
    return port_of(p->server->listener);
}
