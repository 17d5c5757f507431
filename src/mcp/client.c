#include "mcp/client.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "mcp/client_private.h"

enum {
    DEATHS_MAX = 4,   /* in a row; then it is not started any more */
    BACK_OFF_MS = 500 /* after the first of them; doubled with each */
};

const char *mcp_state_name(enum mcp_state state)
{
    static const char *const names[] = {[MCP_STARTING] = "starting",
                                        [MCP_READY] = "ready",
                                        [MCP_ENDED] = "ended",
                                        [MCP_FAILED] = "failed"};
    return names[state];
}

static void forget_tools(struct mcp_view *v)
{
    for (size_t i = 0; i < v->tools.len; i++) {
        free(v->tools.items[i].name);
        free(v->tools.items[i].title);
        free(v->tools.items[i].description);
        free(v->tools.items[i].schema);
    }
    vec_release(&v->tools);
}

void mcp_view_release(struct mcp_view *v)
{
    forget_tools(v);
    free(v->error);
    free(v->protocol);
    free(v->name);
    free(v->server_version);
    free(v->instructions);
    free(v->log);
    *v = (struct mcp_view){0};
}

void mcp_outcome_release(struct mcp_outcome *o)
{
    free(o->text);
    json_free(o->images);
    *o = (struct mcp_outcome){0};
}

/* --- orders and news -------------------------------------------------------------------------- */

/* To the thread. */
struct order {
    enum { ORDER_CALL, ORDER_ANSWER, ORDER_TAKE, ORDER_CANCEL, ORDER_RESTART, ORDER_END } what;
    uint64_t number; /* of the call */
    enum mcp_ask call;
    char *name, *args;
};

/* From the thread. */
struct news {
    enum { NEWS_STATE, NEWS_PROGRESS, NEWS_QUESTION, NEWS_RESULT, NEWS_FAILURE } what;
    uint64_t number; /* of the call; 0: NEWS_STATE */
    char *text;
    bool is_error;
    struct json *images;
};

static void free_order(void *item)
{
    struct order *o = item;
    free(o->name);
    free(o->args);
    free(o);
}

static void free_news(void *item)
{
    struct news *n = item;
    free(n->text);
    json_free(n->images);
    free(n);
}

static void give_order(struct mcp_client *c, const struct order *order)
{
    struct order *o = mem_alloc(sizeof *o);
    *o = *order;
    mailbox_push(c->orders, o);
}

static void tell(struct mcp_client *c, const struct news *news)
{
    struct news *n = mem_alloc(sizeof *n);
    *n = *news;
    mailbox_push(c->news, n);
}

void mcp_tell_state(struct mcp_client *c, enum mcp_state state, const char *error)
{
    pthread_mutex_lock(&c->lock);
    c->view.state = state;
    c->view.version++;
    free(c->view.error);
    c->view.error = mem_strdup(error);
    if (state == MCP_FAILED) {
        forget_tools(&c->view);
        mcp_offers_release(&c->offers);
    }
    pthread_mutex_unlock(&c->lock);
    if (error)
        log_line(LOG_ERROR, "MCP server %s: %s", c->server->name, error);
    tell(c, &(struct news){.what = NEWS_STATE});
}

void mcp_tell_offers(struct mcp_client *c)
{
    pthread_mutex_lock(&c->lock);
    struct mcp_offers old = c->offers;
    c->offers = c->offered;
    c->offers.known = true;
    c->offered = old;
    pthread_mutex_unlock(&c->lock);
    mcp_offers_release(&c->offered);
    tell(c, &(struct news){.what = NEWS_STATE});
}

void mcp_tell_progress(struct mcp_client *c, const char *line)
{
    enum { WAITING_MAX = 64 }; /* that the caller has not read */
    if (c->call.number && mailbox_count(c->news, NULL) < WAITING_MAX)
        tell(c, &(struct news){NEWS_PROGRESS, c->call.number, mem_strdup(line), false, NULL});
}

static void set_asks(struct mcp_client *c, bool asks)
{
    pthread_mutex_lock(&c->lock);
    c->asks = asks;
    pthread_mutex_unlock(&c->lock);
}

void mcp_tell_question(struct mcp_client *c, const struct json *requests)
{
    set_asks(c, true);
    tell(c, &(struct news){NEWS_QUESTION, c->call.number, json_print(requests), false, NULL});
}

void mcp_take_back_question(struct mcp_client *c)
{
    set_asks(c, false);
    c->call.asked = NULL;
    json_free(c->call.inputs);
    c->call.inputs = NULL;
}

static void end_call(struct mcp_client *c, const struct news *news)
{
    if (c->call.asked)
        rpc_answer(c->call.asked, MCP_NO_ANSWER);
    mcp_take_back_question(c);
    free(c->call.name);
    free(c->call.args);
    c->call = (struct mcp_running){0};
    tell(c, news);
}

void mcp_tell_result(struct mcp_client *c, const struct mcp_outcome *o)
{
    end_call(c, &(struct news){NEWS_RESULT, c->call.number, o->text, o->is_error, o->images});
}

void mcp_tell_failure(struct mcp_client *c, const char *why)
{
    end_call(c, &(struct news){NEWS_FAILURE, c->call.number, mem_strdup(why), true, NULL});
}

void mcp_add_log(struct mcp_client *c, const char *bytes, size_t len)
{
    pthread_mutex_lock(&c->lock);
    buf_add(&c->log, bytes, len);
    if (c->log.len > 2 * MCP_LOG_MAX)
        buf_consume(&c->log, c->log.len - MCP_LOG_MAX);
    pthread_mutex_unlock(&c->lock);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void obey(struct mcp_client *c, struct order *o)
{
    struct error e;
    switch (o->what) {
    case ORDER_CALL:
        c->call = (struct mcp_running){
            .number = o->number, .what = o->call, .name = o->name, .args = o->args};
        o->name = o->args = NULL;
        c->wanted = true;
        if (c->peer)
            mcp_dialogue_call(c);
        break;
    case ORDER_ANSWER:
        if (c->call.number == o->number && (c->call.asked || c->call.inputs))
            mcp_dialogue_answer(c, o->args);
        break;
    case ORDER_TAKE:
        if (c->peer && c->connections == o->number && mcp_dialogue_heard(c, strlen(o->args)) &&
            !rpc_peer_take(c->peer, o->args, strlen(o->args), &e))
            mcp_dialogue_close(c, e.text);
        break;
    case ORDER_CANCEL:
        if (c->call.number != o->number)
            break;
        mcp_dialogue_cancel(c);
        mcp_tell_failure(c, "cancelled");
        break;
    case ORDER_RESTART:
    case ORDER_END:
        c->ends = c->ends || o->what == ORDER_END;
        c->wanted = c->restarts = o->what == ORDER_RESTART;
        if (c->peer)
            mcp_dialogue_close(c, NULL);
        break;
    }
}

bool mcp_hand_over(struct mcp_client *c, uint64_t connection, const char *message, size_t len)
{
    enum { WAITING_MAX = 100 }; /* messages that the thread has not taken */
    give_order(c, &(struct order){
                      .what = ORDER_TAKE, .number = connection, .args = mem_strndup(message, len)});
    return mailbox_count(c->orders, NULL) < WAITING_MAX;
}

bool mcp_take_orders(void *client)
{
    struct mcp_client *c = client;
    for (struct order *o; (o = mailbox_pop(c->orders)); free_order(o))
        obey(c, o);
    return true;
}

/* A connection has ended, and nobody ordered that. */
static void note_death(struct mcp_client *c)
{
    const char *why = c->fault ? c->fault : "it ended";
    bool was_ready = c->view.state == MCP_READY || c->view.state == MCP_ENDED;
    c->deaths++;
    c->wanted = false;
    c->not_before_ms = clock_mono_ms() + ((int64_t)BACK_OFF_MS << (c->deaths - 1));
    mcp_tell_state(c, was_ready && c->deaths < DEATHS_MAX ? MCP_ENDED : MCP_FAILED, why);
    if (c->call.number) {
        auto_free char *text = mem_printf("the server is gone: %s", why);
        mcp_tell_failure(c, text);
    }
}

/* --- the eras of servers that were started before --------------------------------------------- */

enum { REMEMBERED_MAX = 200, HASH_DIGITS = 16 };

/* "HASH legacy" of the URL, or of the command with its arguments: other ones are asked anew. */
static char *era_line(const struct mcp_server *s, enum mcp_era era)
{
    const char *first = s->url ? s->url : s->command;
    uint64_t hash = mem_hash(MEM_HASH, first, strlen(first) + 1);
    for (size_t i = 0; i < s->args.len; i++)
        hash = mem_hash(hash, s->args.items[i], strlen(s->args.items[i]) + 1);
    return mem_printf("%0*" PRIx64 " %s", HASH_DIGITS, hash,
                      era == MCP_ERA_MODERN ? "modern" : "legacy");
}

/* Returns the era that is known, from a file of the newest lines. With `anew` the era is kept (or,
 * UNKNOWN, forgotten) in place of it. A file that cannot be read or written costs the next start a
 * question. */
static enum mcp_era remember(const struct mcp_server *server, bool anew, enum mcp_era era)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    auto_free char *directory = paths_dir(PATHS_STATE), *path = paths_join(directory, "mcp-eras");
    auto_free char *line = era_line(server, era);
    AUTO(buf_release) struct buf old, all = BUF_INIT;
    enum mcp_era known = MCP_ERA_UNKNOWN;
    int count = 0;
    struct error e;
    buf_init(&old, (size_t)64 * 1024);
    pthread_mutex_lock(&lock);
    (void)paths_read_file(path, PATHS_FILE, &old, &e);
    if (era != MCP_ERA_UNKNOWN)
        buf_addf(&all, "%s\n", line);
    for (const char *at = old.data, *end; (end = strchr(at, '\n')); at = end + 1) {
        if (strncmp(at, line, HASH_DIGITS + 1) == 0)
            known = at[HASH_DIGITS + 1] == 'm' ? MCP_ERA_MODERN : MCP_ERA_LEGACY;
        else if (++count < REMEMBERED_MAX)
            buf_add(&all, at, (size_t)(end + 1 - at));
    }
    if (anew && era != known &&
        !(paths_make_dir(directory, &e) && paths_write_file(path, all.data, all.len, &e)))
        log_line(LOG_ERROR, "the era of MCP servers is not remembered: %s", e.text);
    pthread_mutex_unlock(&lock);
    return known;
}

void mcp_note_era(struct mcp_client *c)
{
    c->agreed = c->era;
    if (c->known != c->era)
        (void)remember(c->server, true, c->era);
    c->known = c->era;
}

/* One connection; two, if the first one told that the server is of the older era. */
static void connect_once(struct mcp_client *c)
{
    c->known = remember(c->server, false, MCP_ERA_UNKNOWN);
    c->agreed = MCP_ERA_UNKNOWN;
    c->slow = false;
    do {
        c->connections++;
        mcp_dialogue_begin(c);
        if (c->server->url)
            mcp_run_http(c);
        else
            mcp_run_stdio(c);
        /* Old servers die of a request that they do not know. */
        if (c->phase == MCP_DISCOVERS && !c->slow && !c->server->url && !c->closes)
            c->slow = c->afresh = true;
        mcp_dialogue_end(c);
    } while (c->afresh && !c->ends && !c->restarts);
    /* The program may be another one now. */
    if (c->known != MCP_ERA_UNKNOWN && c->agreed == MCP_ERA_UNKNOWN && !c->ends && !c->restarts)
        (void)remember(c->server, true, MCP_ERA_UNKNOWN);
    if (!c->ends && !c->restarts)
        note_death(c);
}

static void *run(void *client)
{
    struct mcp_client *c = client;
    while (!c->ends) {
        if (c->restarts) {
            c->restarts = false;
            c->deaths = 0;
            c->not_before_ms = 0;
            mcp_tell_state(c, MCP_STARTING, NULL);
        }
        if (c->wanted && c->view.state == MCP_FAILED) {
            c->wanted = false;
            if (c->call.number)
                mcp_tell_failure(c, c->view.error ? c->view.error : "the server failed");
        }
        int64_t left = c->not_before_ms - clock_mono_ms();
        if (c->wanted && left <= 0) {
            connect_once(c);
            continue;
        }
        struct order *o = mailbox_wait(c->orders, c->wanted ? (int)left : -1);
        if (o) {
            obey(c, o);
            free_order(o);
        }
    }
    return NULL;
}

/* --- the other threads ------------------------------------------------------------------------ */

struct mcp_client *mcp_client_make(const struct mcp_server *server, const char *directory)
{
    struct mcp_client *c = mem_alloc(sizeof *c);
    c->server = server;
    c->directory = mem_strdup(directory);
    c->orders = mailbox_new(free_order);
    c->news = mailbox_new(free_news);
    pthread_mutex_init(&c->lock, NULL);
    buf_init(&c->log, 0);
    c->wakeup =
        (struct wakeup){.fd = mailbox_fd(c->orders), .go_on = mcp_take_orders, .context = c};
    return c;
}

struct mcp_client *mcp_client_new(const struct mcp_server *server, const char *directory,
                                  const struct http_reach *reach, unsigned elicits)
{
    struct mcp_client *c = mcp_client_make(server, directory);
    c->ca_file = mem_strdup(reach->ca_file);
    c->reach = (struct http_reach){c->ca_file, reach->connect_timeout_ms};
    c->elicits = elicits;
    c->wanted = true;
    c->threaded = thread_start(&c->thread, run, c);
    if (!c->threaded)
        mcp_tell_state(c, MCP_FAILED, "no thread can be started for it");
    return c;
}

void mcp_client_end(struct mcp_client *c)
{
    give_order(c, &(struct order){.what = ORDER_END});
}

void mcp_client_restart(struct mcp_client *c)
{
    give_order(c, &(struct order){.what = ORDER_RESTART});
}

void mcp_client_free(struct mcp_client *c)
{
    if (!c)
        return;
    mcp_client_end(c);
    if (c->threaded)
        pthread_join(c->thread, NULL);
    free(c->call.name);
    free(c->call.args);
    json_free(c->call.inputs);
    free(c->fault);
    mcp_view_release(&c->view);
    mcp_offers_release(&c->offers);
    mcp_offers_release(&c->offered);
    buf_release(&c->log);
    pthread_mutex_destroy(&c->lock);
    mailbox_free(c->orders);
    mailbox_free(c->news);
    free(c->ca_file);
    free(c->directory);
    free(c);
}

const struct mcp_server *mcp_client_server(const struct mcp_client *c)
{
    return c->server;
}

uint64_t mcp_client_version(struct mcp_client *c)
{
    pthread_mutex_lock(&c->lock);
    uint64_t version = c->view.version;
    pthread_mutex_unlock(&c->lock);
    return version;
}

void mcp_client_view(struct mcp_client *c, struct mcp_view *out)
{
    struct buf log = BUF_INIT;
    pthread_mutex_lock(&c->lock);
    const struct mcp_view *v = &c->view;
    *out = (struct mcp_view){.state = v->state,
                             .version = v->version,
                             .error = mem_strdup(v->error),
                             .protocol = mem_strdup(v->protocol),
                             .name = mem_strdup(v->name),
                             .server_version = mem_strdup(v->server_version),
                             .instructions = mem_strdup(v->instructions),
                             .left_out = v->left_out,
                             .has_resources = v->has_resources};
    for (size_t i = 0; i < v->tools.len; i++) {
        struct mcp_tool_info t = v->tools.items[i];
        t.name = mem_strdup(t.name);
        t.title = mem_strdup(t.title);
        t.description = mem_strdup(t.description);
        t.schema = mem_strdup(t.schema);
        vec_push(&out->tools, t);
    }
    size_t skip = c->log.len > MCP_LOG_MAX ? c->log.len - MCP_LOG_MAX : 0;
    utf8_clean(&log, c->log.data + skip, c->log.len - skip, UTF8_MULTILINE);
    pthread_mutex_unlock(&c->lock);
    out->log = buf_take(&log);
}

/* NULL: the time is over, or *stopped: the wakeup said so. */
static struct news *wait_for_news(struct mcp_client *c, int64_t deadline_ms,
                                  const struct wakeup *wakeup, bool *stopped)
{
    for (;;) {
        struct news *n = mailbox_pop(c->news);
        int64_t left = deadline_ms - clock_mono_ms();
        if (n || left <= 0)
            return n;
        struct pollfd p[] = {{.fd = mailbox_fd(c->news), .events = POLLIN},
                             {.fd = wakeup ? wakeup->fd : -1, .events = POLLIN}};
        int ready = poll(p, 2, wakeup_timeout(wakeup, left < INT_MAX ? (int)left : INT_MAX));
        if (((ready > 0 && p[1].revents != 0) || wakeup_late(wakeup)) &&
            !wakeup->go_on(wakeup->context)) {
            *stopped = true;
            return NULL;
        }
    }
}

static bool is_waiting(struct mcp_client *c, bool for_offers)
{
    pthread_mutex_lock(&c->lock);
    enum mcp_state state = c->view.state;
    bool waiting = state == MCP_STARTING || (for_offers && state == MCP_READY && !c->offers.known);
    pthread_mutex_unlock(&c->lock);
    return waiting;
}

static bool wait_while(struct mcp_client *c, bool for_offers, int64_t deadline_ms,
                       const struct wakeup *wakeup)
{
    bool stopped = false;
    for (struct news *n; is_waiting(c, for_offers); free_news(n))
        if (!(n = wait_for_news(c, deadline_ms, wakeup, &stopped)))
            return false;
    return true;
}

bool mcp_client_wait(struct mcp_client *c, int64_t deadline_ms, const struct wakeup *wakeup)
{
    return wait_while(c, false, deadline_ms, wakeup);
}

bool mcp_client_wait_offers(struct mcp_client *c, int64_t deadline_ms, const struct wakeup *wakeup)
{
    return wait_while(c, true, deadline_ms, wakeup);
}

void mcp_client_set_asker(struct mcp_client *c, const struct mcp_asker *asker)
{
    c->asker = asker ? *asker : (struct mcp_asker){0};
}

static bool asks(void *client)
{
    struct mcp_client *c = client;
    pthread_mutex_lock(&c->lock);
    bool waits = c->asks;
    pthread_mutex_unlock(&c->lock);
    return waits;
}

/* Asks the person all that the server wants to know; returns the time that took. */
static int64_t ask_person(struct mcp_client *c, const struct news *n)
{
    const int64_t begun_ms = clock_mono_ms();
    AUTO(json_free_local) struct json *requests = json_parse(n->text, strlen(n->text), NULL);
    AUTO(json_free_local) struct json *answers = json_new_object();
    for (const struct json *r = json_first(requests); r; r = json_next(r)) {
        auto_free char *answer =
            c->asker.ask && asks(c) ? c->asker.ask(c->asker.context, json_get(r, "params"), asks, c)
                                    : mem_strdup(MCP_NO_ANSWER);
        json_set(answers, json_name(r), json_parse(answer, strlen(answer), NULL));
    }
    give_order(
        c, &(struct order){.what = ORDER_ANSWER, .number = n->number, .args = json_print(answers)});
    return clock_mono_ms() - begun_ms;
}

bool mcp_client_call(struct mcp_client *c, enum mcp_ask what, const char *name,
                     const struct json *args, int64_t deadline_ms, const struct wakeup *wakeup,
                     void (*progress)(void *context, const char *line), void *context,
                     struct mcp_outcome *out, struct error *e)
{
    const char *server = c->server->name;
    const uint64_t number = ++c->numbers;
    bool stopped = false;
    if (!c->threaded)
        return err_set(e, ERR_AGENT_ERROR, "%s: no thread can be started for it", server);
    give_order(c, &(struct order){.what = ORDER_CALL,
                                  .number = number,
                                  .call = what,
                                  .name = mem_strdup(name),
                                  .args = args ? json_print(args) : mem_strdup("{}")});
    for (struct news *n; (n = wait_for_news(c, deadline_ms, wakeup, &stopped)); free_news(n)) {
        if (n->number != number) /* of a call that was given up */
            continue;
        if (n->what == NEWS_PROGRESS) {
            if (progress)
                progress(context, n->text);
            continue;
        }
        if (n->what == NEWS_QUESTION) {
            deadline_ms += ask_person(c, n);
            continue;
        }
        bool has_result = n->what == NEWS_RESULT;
        if (has_result)
            *out = (struct mcp_outcome){n->text, n->images, n->is_error};
        else
            err_set(e, ERR_AGENT_ERROR, "%s: %s", server, n->text);
        n->text = has_result ? NULL : n->text;
        n->images = NULL;
        free_news(n);
        return has_result;
    }
    give_order(c, &(struct order){.what = ORDER_CANCEL, .number = number});
    return stopped ? err_set(e, ERR_INTERRUPTED, "interrupted")
                   : err_set(e, ERR_AGENT_ERROR, "%s did not answer in time", server);
}
