#include "tests/rpc_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "tests/suite.h"

/* --- bytes ------------------------------------------------------------------------------------ */

void rpc_client_write(struct rpc_client *c, const char *text)
{
    size_t len = strlen(text);
    int fd = c->fd >= 0 ? c->fd : c->child.in;
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno != EINTR)
            fail_msg("cannot write to the server: %s", strerror(errno));
        text += n < 0 ? 0 : n;
        len -= n < 0 ? 0 : (size_t)n;
    }
}

/* Reads all available bytes; returns false at the end. */
static bool read_more(struct rpc_client *c, int timeout_ms)
{
    char bytes[65536];
    int fd = c->fd >= 0 ? c->fd : c->child.out;
    struct buf *text = c->fd >= 0 ? &c->socket_text : &c->child.out_text;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, timeout_ms) <= 0)
        return false;
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n > 0)
        buf_add(text, bytes, (size_t)n);
    return n > 0;
}

static struct json *take_message(struct rpc_client *c)
{
    struct buf *text = c->fd >= 0 ? &c->socket_text : &c->child.out_text;
    const char *line = text->data + c->read, *end = strchr(line, '\n');
    struct error e;
    if (!end)
        return NULL;
    struct json *v = json_parse(line, (size_t)(end - line), &e);
    if (!v)
        fail_msg("no JSON: %.*s: %s", (int)(end - line), line, e.text);
    c->read += (size_t)(end - line) + 1;
    vec_push(&c->all, v);
    return v;
}

const struct json *rpc_client_next(struct rpc_client *c)
{
    int64_t deadline = clock_mono_ms() + RPC_CLIENT_MS;
    struct json *v;
    while (!(v = take_message(c))) {
        int64_t left = deadline - clock_mono_ms();
        if (left <= 0 || !read_more(c, (int)left))
            fail_msg("the server says nothing more; it said: %s%s",
                     c->fd >= 0 ? c->socket_text.data : c->child.out_text.data,
                     c->fd >= 0 ? "" : c->child.err_text.data);
    }
    return v;
}

/* --- messages --------------------------------------------------------------------------------- */

int rpc_client_ask(struct rpc_client *c, const char *method, const char *params)
{
    int id = ++c->asked;
    rpc_client_write(c, params ? support_text("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\","
                                              "\"params\":%s}\n",
                                              id, method, support_json(params))
                               : support_text("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"}\n",
                                              id, method));
    return id;
}

static bool is_answer(const struct json *v, int id)
{
    return !json_get(v, "method") && json_get_int(v, "id", -1) == id;
}

/* The first that waits and is meant, taken out; NULL: none. */
static struct json *take_waiting(struct rpc_client *c, int id)
{
    for (size_t i = 0; i < c->waiting.len; i++)
        if (is_answer(c->waiting.items[i], id)) {
            struct json *v = c->waiting.items[i];
            vec_remove(&c->waiting, i, 1);
            return v;
        }
    return NULL;
}

const struct json *rpc_client_answer(struct rpc_client *c, int id)
{
    const struct json *v = take_waiting(c, id);
    while (!v) {
        v = rpc_client_next(c);
        if (!is_answer(v, id)) {
            vec_push(&c->waiting, (struct json *)(uintptr_t)v);
            v = NULL;
        }
    }
    return v;
}

const struct json *rpc_client_call(struct rpc_client *c, const char *method, const char *params)
{
    return rpc_client_answer(c, rpc_client_ask(c, method, params));
}

const struct json *rpc_client_result(struct rpc_client *c, const char *method, const char *params)
{
    const struct json *answer = rpc_client_call(c, method, params);
    if (!json_get(answer, "result"))
        fail_msg("%s: %s", method, support_keep(json_print(answer)));
    return json_get(answer, "result");
}

void rpc_client_is_error(const struct json *answer, const char *name)
{
    const struct json *error = json_get(answer, "error");
    const char *said = json_get_string(json_get(error, "data"), "code");
    if (!said || strcmp(said, name) != 0)
        fail_msg("not %s: %s", name, support_keep(json_print(answer)));
    assert_int_equal(json_get_int(error, "code", 0), err_info(err_from_name(name))->rpc);
}

const struct json *rpc_client_error(struct rpc_client *c, const char *method, const char *params,
                                    const char *name)
{
    const struct json *answer = rpc_client_call(c, method, params);
    rpc_client_is_error(answer, name);
    return json_get(answer, "error");
}

static bool is_told(const struct json *v, const char *method, const char *type)
{
    const char *named = json_get_string(v, "method");
    const struct json *params = json_get(v, "params");
    const char *event = json_get_string(json_get(params, "event"), "type");
    if (!event) /* of the Agent Client Protocol */
        event = json_get_string(json_get(params, "update"), "sessionUpdate");
    return named && strcmp(named, method) == 0 && (!type || (event && strcmp(event, type) == 0));
}

const struct json *rpc_client_told(struct rpc_client *c, const char *method, const char *type)
{
    for (;;) {
        const struct json *v = NULL;
        if (c->waiting.len > 0) {
            v = c->waiting.items[0];
            vec_remove(&c->waiting, 0, 1);
        }
        if (!v)
            v = rpc_client_next(c);
        if (is_told(v, method, type))
            return json_get(v, "params");
    }
}

bool rpc_client_was_told(struct rpc_client *c, const char *method, const char *type)
{
    for (size_t i = 0; i < c->waiting.len; i++)
        if (is_told(c->waiting.items[i], method, type))
            return true;
    return false;
}

/* --- lifecycle -------------------------------------------------------------------------------- */

void rpc_client_start_raw(struct rpc_client *c, const char *const *args)
{
    VEC(const char *) argv = {0};
    *c = (struct rpc_client){.fd = -1};
    vec_push(&argv, support_program());
    vec_push(&argv, "serve");
    for (; *args; args++)
        vec_push(&argv, *args);
    vec_push(&argv, NULL);
    support_start(&c->child, argv.items);
    vec_release(&argv);
}

static bool connects(void *client)
{
    struct rpc_client *c = client;
    return connect(c->fd, (const struct sockaddr *)&c->address, sizeof c->address) == 0;
}

void rpc_client_connect_raw(struct rpc_client *c, const char *path)
{
    *c = (struct rpc_client){.fd = socket(AF_UNIX, SOCK_STREAM, 0),
                             .address.sun_family = AF_UNIX,
                             .socket_text = BUF_INIT};
    assert_true(strlen(path) < sizeof c->address.sun_path);
    memcpy(c->address.sun_path, path, strlen(path) + 1);
    assert_true(support_wait_until(connects, c, RPC_CLIENT_MS));
}

static void initialize(struct rpc_client *c)
{
    const struct json *v =
        rpc_client_result(c, "initialize", "{'client_info':{'name':'test','version':'1'}}");
    assert_string_equal(json_get_string(json_get(v, "server_info"), "name"), "tiro");
}

void rpc_client_start(struct rpc_client *c, const char *const *args)
{
    VEC(const char *) all = {0};
    vec_push(&all, "--stdio");
    for (; *args; args++)
        vec_push(&all, *args);
    vec_push(&all, NULL);
    rpc_client_start_raw(c, all.items);
    vec_release(&all);
    initialize(c);
}

void rpc_client_connect(struct rpc_client *c, const char *path)
{
    rpc_client_connect_raw(c, path);
    initialize(c);
}

int rpc_client_stop(struct rpc_client *c, int signal_number)
{
    struct json *v;
    kill(c->child.pid, signal_number);
    c->status = support_finish(&c->child, NULL);
    c->stopped = true;
    while ((v = take_message(c)))
        vec_push(&c->waiting, v);
    return c->status;
}

int rpc_client_end(struct rpc_client *c)
{
    int status = 0;
    if (c->fd >= 0) {
        close(c->fd);
        buf_release(&c->socket_text);
    } else {
        status = c->stopped ? c->status : support_finish(&c->child, NULL);
        if (status != 0 && !c->stopped)
            print_message("%s\n", c->child.err_text.data);
        support_release(&c->child);
    }
    for (size_t i = 0; i < c->all.len; i++)
        json_free(c->all.items[i]);
    vec_release(&c->all);
    vec_release(&c->waiting);
    c->child.pid = 0;
    return status;
}
