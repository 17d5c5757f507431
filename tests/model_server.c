#include "tests/model_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/model_dialects.h"

/* A body longer than this goes out in big writes, unless the reply asks for a pace: its test
 * measures the client. */
#define SMALL_BODY ((size_t)64 * 1024)

struct field {
    char *name, *value;
};

/* A request as it came, kept until the server stops. */
struct record {
    char *body;
    VEC(struct field) headers;
};

struct model_server {
    struct MHD_Daemon *daemon;
    char *url;
    pthread_mutex_t lock; /* guards all that follows */
    pthread_cond_t changed;
    bool stopping;
    uint64_t releases;
    struct reply fallback;
    VEC(struct reply) queue;
    void (*respond)(void *context, const char *body, size_t len, struct reply *r);
    void *respond_context;
    VEC(struct record *) records;
    size_t requests;
    VEC(char *) names; /* ends with NULL when not empty */
    long window;
    struct reply title; /* to requests for the title of a session */
    bool titles;
};

/* One request with its reply, from the first byte to the last. Its connection owns it. */
struct exchange {
    struct model_server *server;
    int socket;
    struct buf body;
    struct reply reply;
    struct script script;
    uint64_t releases; /* of the server, when this request began */
    size_t event;      /* index of the one that is being sent */
    struct timespec due;
};

/* --- replies --------------------------------------------------------------------------------- */

static struct reply reply_clone(const struct reply *r)
{
    struct reply copy = *r;

    copy.text = mem_strdup(r->text);
    copy.reasoning = mem_strdup(r->reasoning);
    copy.tool_name = mem_strdup(r->tool_name);
    copy.tool_args = mem_strdup(r->tool_args);
    copy.tool_id = mem_strdup(r->tool_id);
    copy.raw = mem_strdup(r->raw);
    copy.error_type = mem_strdup(r->error_type);
    copy.error_message = mem_strdup(r->error_message);
    copy.retry_after = mem_strdup(r->retry_after);
    return copy;
}

static void reply_release(struct reply *r)
{
    const char *const owned[] = {r->text,       r->reasoning,     r->tool_name,
                                 r->tool_args,  r->tool_id,       r->raw,
                                 r->error_type, r->error_message, r->retry_after};

    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free((void *)(uintptr_t)owned[i]);
    *r = (struct reply){0};
}

static const struct reply hello = {.text = "Hello from the scripted model."};

/* The reply of the responder, else the next of the queue, else a copy of the default. The caller
 * holds the lock. */
static struct reply next_reply(struct model_server *s, const struct buf *body)
{
    struct reply r = {0};

    if (s->respond) {
        s->respond(s->respond_context, body->data, body->len, &r);
        return reply_clone(&r);
    }
    if (s->queue.len == 0)
        return reply_clone(&s->fallback);
    r = s->queue.items[0];
    vec_remove(&s->queue, 0, 1);
    return r;
}

/* --- recording ------------------------------------------------------------------------------- */

static enum MHD_Result keep_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    struct record *record = context;

    (void)kind;
    vec_push(&record->headers, (struct field){mem_strdup(name), mem_strdup(value ? value : "")});
    return MHD_YES;
}

static struct record *record_new(struct MHD_Connection *connection, const struct buf *body)
{
    struct record *record = mem_alloc(sizeof *record);

    record->body = mem_strndup(body->data, body->len);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, keep_header, record);
    return record;
}

static void record_free(struct record *record)
{
    for (size_t i = 0; i < record->headers.len; i++) {
        free(record->headers.items[i].name);
        free(record->headers.items[i].value);
    }
    vec_release(&record->headers);
    free(record->body);
    free(record);
}

/* --- sending --------------------------------------------------------------------------------- */

static void add_ms(struct timespec *t, int ms)
{
    t->tv_sec += ms / 1000;
    t->tv_nsec += (long)(ms % 1000) * 1000000L;
    if (t->tv_nsec >= 1000000000L) {
        t->tv_sec++;
        t->tv_nsec -= 1000000000L;
    }
}

/* Both waits return false when the server stops. */
static bool wait_release(struct exchange *x)
{
    struct model_server *s = x->server;
    bool go_on;

    pthread_mutex_lock(&s->lock);
    while (!s->stopping && s->releases == x->releases)
        pthread_cond_wait(&s->changed, &s->lock);
    go_on = !s->stopping;
    pthread_mutex_unlock(&s->lock);
    return go_on;
}

/* Waits until the next event is due; the pace counts from the first event, so that delays do not
 * add up. */
static bool wait_due(struct exchange *x)
{
    struct model_server *s = x->server;
    int status = 0;
    bool go_on;

    add_ms(&x->due, x->reply.interval_ms);
    pthread_mutex_lock(&s->lock);
    while (!s->stopping && status != ETIMEDOUT)
        status = pthread_cond_timedwait(&s->changed, &s->lock, &x->due);
    go_on = !s->stopping;
    pthread_mutex_unlock(&s->lock);
    return go_on;
}

/* The end of the write that begins at `pos`. */
static size_t write_end(struct exchange *x, size_t pos, size_t max)
{
    const struct script *script = &x->script;
    bool paced = x->reply.interval_ms > 0 || script->body.len <= SMALL_BODY;
    size_t end = script->body.len;

    if (x->reply.split_bytes)
        return pos + 1;
    if (paced && x->event < script->ends.len)
        end = script->ends.items[x->event];
    if (pos < script->pause_at && end > script->pause_at)
        end = script->pause_at;
    return end - pos > max ? pos + max : end;
}

static ssize_t send_some(void *context, uint64_t position, char *out, size_t max)
{
    struct exchange *x = context;
    const struct script *script = &x->script;
    size_t pos = (size_t)position;
    size_t end;

    if (pos == 0) {
        /* The library keeps the headers back until there is some body. A real server does not. */
        setsockopt(x->socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    }
    if (pos == script->pause_at && !wait_release(x))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (pos == script->body.len)
        return script->drop ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    while (x->event < script->ends.len && script->ends.items[x->event] <= pos) {
        x->event++;
        if (x->reply.interval_ms > 0 && !wait_due(x))
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    end = write_end(x, pos, max);
    memcpy(out, script->body.data + pos, end - pos);
    return (ssize_t)(end - pos);
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
                                 const struct buf *body)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* --- answering ------------------------------------------------------------------------------- */

/* The model that a request names; the caller frees. */
static char *model_of(const struct buf *body)
{
    AUTO(json_free_local) struct json *request = json_parse(body->data, body->len, NULL);
    const char *model = json_get_string(request, "model");
    char *copy = mem_strdup(model ? model : "scripted");

    return copy;
}

/* The next reply is the request's, which counts and is kept. */
static void begin_reply(struct MHD_Connection *connection, struct exchange *x)
{
    struct model_server *s = x->server;

    pthread_mutex_lock(&s->lock);
    x->reply = next_reply(s, &x->body);
    x->releases = s->releases;
    if (!s->respond)
        vec_push(&s->records, record_new(connection, &x->body));
    s->requests++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct exchange *x)
{
    if (x->reply.hold && !wait_release(x))
        return MHD_NO;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, (size_t)128 * 1024, send_some, x, NULL);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    x->socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, x->script.content_type);
    if (x->reply.retry_after)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, x->reply.retry_after);
    clock_gettime(CLOCK_REALTIME, &x->due);
    result = MHD_queue_response(connection, (unsigned)x->script.status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_model(struct MHD_Connection *connection, struct exchange *x,
                                    enum dialect dialect)
{
    struct model_server *s = x->server;
    auto_free char *model = model_of(&x->body);

    if (strstr(x->body.data, "You name a conversation")) {
        AUTO(buf_release) struct buf refused = BUF_INIT;
        pthread_mutex_lock(&s->lock);
        bool answers = s->titles;
        if (answers)
            vec_insert(&s->queue, 0, reply_clone(&s->title));
        pthread_mutex_unlock(&s->lock);
        buf_addstr(&refused, "{}");
        if (!answers)
            return send_text(connection, 400, &refused);
    }
    begin_reply(connection, x);
    script_build(&x->script, dialect, &x->reply, model);
    return send_reply(connection, x);
}

static enum MHD_Result answer_embeddings(struct MHD_Connection *connection, struct exchange *x,
                                         enum dialect dialect)
{
    begin_reply(connection, x);
    script_build_embeddings(&x->script, dialect, &x->reply, x->body.data, x->body.len);
    return send_reply(connection, x);
}

static enum MHD_Result answer_listing(struct MHD_Connection *connection, struct model_server *s,
                                      const char *path)
{
    bool anthropic =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "anthropic-version") != NULL;
    AUTO(buf_release) struct buf body = BUF_INIT;
    enum MHD_Result result;
    bool known;

    pthread_mutex_lock(&s->lock);
    known = listing_build(
        &body, path, anthropic,
        &(struct listing){.names = (const char *const *)s->names.items, .window = s->window});
    pthread_mutex_unlock(&s->lock);
    if (!known) {
        buf_clear(&body);
        buf_addstr(&body, "{\"error\":{\"type\":\"not_found_error\",\"message\":\"Not found\"}}");
    }
    result = send_text(connection, known ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, &body);
    return result;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *data_len, void **state)
{
    static const char *const paths[] = {[DIALECT_ANTHROPIC] = "/v1/messages",
                                        [DIALECT_OPENAI] = "/v1/chat/completions",
                                        [DIALECT_OLLAMA] = "/api/chat"};
    static const char *const embeddings[] = {
        [DIALECT_OPENAI] = "/v1/embeddings", [DIALECT_OLLAMA] = "/api/embed"};
    struct exchange *x = *state;

    (void)version;
    if (!x) {
        x = mem_alloc(sizeof *x);
        x->server = context;
        buf_init(&x->body, 0);
        *state = x;
        return MHD_YES;
    }
    if (*data_len > 0) {
        buf_add(&x->body, data, *data_len);
        *data_len = 0;
        return MHD_YES;
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(path, paths[i]) == 0 && strcmp(method, MHD_HTTP_METHOD_POST) == 0)
            return answer_model(connection, x, (enum dialect)i);
    if (strcmp(path, "/v1/responses") == 0) /* it takes raw replies alone */
        return answer_model(connection, x, DIALECT_OPENAI);
    for (size_t i = 0; i < sizeof embeddings / sizeof *embeddings; i++)
        if (embeddings[i] && strcmp(path, embeddings[i]) == 0)
            return answer_embeddings(connection, x, (enum dialect)i);
    return answer_listing(connection, x->server, path);
}

static void ended(void *context, struct MHD_Connection *connection, void **state,
                  enum MHD_RequestTerminationCode code)
{
    auto_free struct exchange *x = *state;

    (void)context, (void)connection, (void)code;
    if (!x)
        return;
    buf_release(&x->body);
    reply_release(&x->reply);
    script_release(&x->script);
    *state = NULL;
}

/* --- the server ------------------------------------------------------------------------------ */

struct model_server *model_server_start(void)
{
    struct model_server *s = mem_alloc(sizeof *s);
    const union MHD_DaemonInfo *info;

    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->fallback = reply_clone(&hello);
    struct sockaddr_in address = {.sin_family = AF_INET};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL,
        NULL, answer, s, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_NOTIFY_COMPLETED, ended, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)256 * 1024, MHD_OPTION_END);
    info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info) {
        fprintf(stderr, "The scripted model server cannot start on 127.0.0.1.\n");
        exit(1);
    }
    s->url = mem_printf("http://127.0.0.1:%u", (unsigned)info->port);
    return s;
}

void model_server_stop(struct model_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    MHD_stop_daemon(s->daemon);

    for (size_t i = 0; i < s->queue.len; i++)
        reply_release(&s->queue.items[i]);
    vec_release(&s->queue);
    reply_release(&s->title);
    for (size_t i = 0; i < s->records.len; i++)
        record_free(s->records.items[i]);
    vec_release(&s->records);
    vec_free_each(&s->names);
    reply_release(&s->fallback);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->url);
    free(s);
}

const char *model_server_url(const struct model_server *s)
{
    return s->url;
}

void model_server_queue(struct model_server *s, const struct reply *r)
{
    struct reply copy = reply_clone(r);

    pthread_mutex_lock(&s->lock);
    vec_push(&s->queue, copy);
    pthread_mutex_unlock(&s->lock);
}

void model_server_set_default(struct model_server *s, const struct reply *r)
{
    struct reply copy = reply_clone(r ? r : &hello);

    pthread_mutex_lock(&s->lock);
    reply_release(&s->fallback);
    s->fallback = copy;
    pthread_mutex_unlock(&s->lock);
}

void model_server_set_title(struct model_server *s, const struct reply *r)
{
    pthread_mutex_lock(&s->lock);
    reply_release(&s->title);
    s->titles = r;
    if (r)
        s->title = reply_clone(r);
    pthread_mutex_unlock(&s->lock);
}

void model_server_set_responder(struct model_server *s,
                                void (*respond)(void *context, const char *body, size_t len,
                                                struct reply *r),
                                void *context)
{
    pthread_mutex_lock(&s->lock);
    s->respond = respond;
    s->respond_context = context;
    pthread_mutex_unlock(&s->lock);
}

void model_server_release(struct model_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->releases++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void model_server_set_window(struct model_server *s, long tokens)
{
    pthread_mutex_lock(&s->lock);
    s->window = tokens;
    pthread_mutex_unlock(&s->lock);
}

void model_server_set_models(struct model_server *s, const char *const *names)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->names.len; i++)
        free(s->names.items[i]);
    vec_clear(&s->names);
    for (; names && *names; names++)
        vec_push(&s->names, mem_strdup(*names));
    vec_push(&s->names, NULL);
    pthread_mutex_unlock(&s->lock);
}

/* --- recorded requests ----------------------------------------------------------------------- */

size_t model_server_requests(struct model_server *s)
{
    size_t count;

    pthread_mutex_lock(&s->lock);
    count = s->requests;
    pthread_mutex_unlock(&s->lock);
    return count;
}

static const struct record *record_at(struct model_server *s, size_t index)
{
    const struct record *record = NULL;

    pthread_mutex_lock(&s->lock);
    if (index < s->records.len)
        record = s->records.items[index];
    pthread_mutex_unlock(&s->lock);
    return record;
}

const char *model_server_body(struct model_server *s, size_t index)
{
    const struct record *record = record_at(s, index);

    return record ? record->body : NULL;
}

const char *model_server_header(struct model_server *s, size_t index, const char *name)
{
    const struct record *record = record_at(s, index);

    for (size_t i = 0; record && i < record->headers.len; i++)
        if (strcasecmp(record->headers.items[i].name, name) == 0)
            return record->headers.items[i].value;
    return NULL;
}

bool model_server_wait(struct model_server *s, size_t requests, int timeout_ms)
{
    struct timespec until;
    int status = 0;
    bool came;

    clock_gettime(CLOCK_REALTIME, &until);
    add_ms(&until, timeout_ms);
    pthread_mutex_lock(&s->lock);
    while (s->requests < requests && status != ETIMEDOUT)
        status = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    came = s->requests >= requests;
    pthread_mutex_unlock(&s->lock);
    return came;
}
