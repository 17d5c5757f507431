/* Sessions as resources: listed in pages, and read whole. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "chat/transcript_text.h"
#include "serve/mcp_private.h"
#include "session/session_operations.h"

enum {
    PAGE = 100,            /* resources of a list */
    EVENTS_AT_ONCE = 1000, /* of a session that is read */
    TEXT_MOST = 4 << 20,   /* bytes of a text that is given whole; escaped it may be twice that */
    LIST_MS = 1000,
    TEXT_MS = 1000,
    TEMPLATES_MS = 3600 * 1000 /* how long they hold */
};

static const char *const mime_types[] = {
    [MCP_MARKDOWN] = "text/markdown", [MCP_JSON] = "application/json"};

/* --- resources/list --------------------------------------------------------------------------- */

/* Sessions that change move up among those that were used last, so that pages go by their ids. */
static int newest_id_first(const void *left, const void *right)
{
    const struct session_info *const *a = left, *const *b = right;
    return strcmp((*b)->id, (*a)->id);
}

static void on_list(struct mcp_call *c, const struct operation_answer *a)
{
    AUTO(vec_release_local) VEC(const struct session_info *) sorted = {0};
    const struct session_list_result *result = a->result;
    const char *cursor = c->state;
    struct mcp_result r;
    if (a->error.code != ERR_OK) {
        mcp_fail_with(c, &a->error);
        return;
    }
    for (size_t i = 0; i < result->sessions.items.len; i++)
        if (!cursor || strcmp(result->sessions.items.items[i].id, cursor) < 0)
            vec_push(&sorted, &result->sessions.items.items[i]);
    vec_sort(&sorted, newest_id_first);
    size_t count = sorted.len < PAGE ? sorted.len : PAGE;
    mcp_result_begin_kept(c, &r, LIST_MS);
    json_out_name(&r.out, "resources");
    json_out_open(&r.out, '[');
    for (size_t i = 0; i < count; i++) {
        const struct session_info *s = sorted.items[i];
        auto_free char *uri = mcp_uri_of(s->id, MCP_MARKDOWN);
        char when[25];
        rfc3339_format(s->updated_ms, when);
        json_out_pack(
            &r.out, "{uri:s name:s title:s description:s mimeType:s annotations:{lastModified:s}}",
            uri, s->id, s->title, s->last_line, mime_types[MCP_MARKDOWN], when);
    }
    json_out_close(&r.out, ']');
    if (count < sorted.len)
        json_out_member(&r.out, "nextCursor", sorted.items[count - 1]->id);
    mcp_result_send(c, &r);
}

static void free_state(struct mcp_call *c)
{
    free(c->state);
}

static const struct mcp_work with_text = {.free = free_state};

void mcp_resources_list(struct mcp_call *c, const struct json *params)
{
    static const struct session_filter live = {.state = SESSION_LIVE};
    const struct json *cursor = json_get(params, "cursor");
    const char *text = json_string(cursor);
    if (cursor && !(text && uuid_valid(text))) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"cursor\" is not one that was given; leave it out", NULL);
        return;
    }
    c->work = &with_text;
    c->state = mem_strdup(text);
    mcp_ask(c, &operation_session_list, &live, on_list);
}

/* --- resources/templates/list ----------------------------------------------------------------- */

void mcp_resources_templates(struct mcp_call *c, const struct json *params)
{
    struct mcp_result r;
    if (json_get(params, "cursor")) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"cursor\" is not one that was given; leave it out", NULL);
        return;
    }
    mcp_result_begin_kept(c, &r, TEMPLATES_MS);
    json_out_pack(&r.out,
                  "resourceTemplates:[{uriTemplate:s name:s description:s mimeType:s} "
                  "{uriTemplate:s name:s description:s mimeType:s}]",
                  "tiro://session/{session_id}", "session",
                  "The transcript of a session: its id, title, a unique part of its id, or "
                  "\"last\"",
                  mime_types[MCP_MARKDOWN], "tiro://session/{session_id}.json", "session events",
                  "A session with all its events", mime_types[MCP_JSON]);
    mcp_result_send(c, &r);
}

/* --- resources/read --------------------------------------------------------------------------- */

struct reading {
    char *uri, *reference;
    enum mcp_form form;
    bool begun;
    struct buf text;
    struct json_out out; /* of `text`, as JSON */
    struct transcript_text transcript;
};

static void free_reading(struct mcp_call *c)
{
    struct reading *r = c->state;
    free(r->uri);
    free(r->reference);
    buf_release(&r->text);
    transcript_text_release(&r->transcript);
    free(r);
}

static const struct mcp_work work = {.free = free_reading};

static void send_text(struct mcp_call *c)
{
    struct reading *r = c->state;
    struct mcp_result result;
    if (r->form == MCP_MARKDOWN) {
        transcript_text_end(&r->transcript, &r->text);
    } else {
        json_out_close(&r->out, ']');
        json_out_close(&r->out, '}');
    }
    mcp_result_begin_kept(c, &result, TEXT_MS);
    json_out_pack(&result.out, "contents:[{uri:s mimeType:s text:s}]", r->uri, mime_types[r->form],
                  r->text.data);
    mcp_result_send(c, &result);
}

void mcp_fail_not_found(struct mcp_call *c, const char *uri)
{
    AUTO(buf_release) struct buf data = BUF_INIT;
    struct json_out o = {.buf = &data};
    json_out_pack(&o, "{uri:s}", uri);
    mcp_fail(c, c->modern ? RPC_INVALID_PARAMS : MCP_RESOURCE_NOT_FOUND, "Resource not found",
             data.data);
}

static void on_page(struct mcp_call *c, const struct operation_answer *a);

static void ask_page(struct mcp_call *c, const char *session, int64_t after)
{
    const struct session_history_params params = {
        .session = session, .after = after, .limit = EVENTS_AT_ONCE};
    mcp_ask(c, &operation_session_history, &params, on_page);
}

static void on_page(struct mcp_call *c, const struct operation_answer *a)
{
    const struct session_history_result *page = a->result;
    struct reading *r = c->state;
    if (a->error.code == ERR_SESSION_NOT_FOUND) {
        mcp_fail_not_found(c, r->uri);
        return;
    }
    if (a->error.code != ERR_OK) {
        mcp_fail_with(c, &a->error);
        return;
    }
    if (!r->begun && r->form == MCP_MARKDOWN) {
        transcript_text_head(&r->text, &page->session, &transcript_words_fixed, false);
    } else if (!r->begun) {
        json_out_open(&r->out, '{');
        json_out_name(&r->out, "session");
        shape_write(&session_info_shape, &page->session, &r->out);
        json_out_name(&r->out, "events");
        json_out_open(&r->out, '[');
    }
    r->begun = true;
    for (size_t i = 0; i < page->events.items.len; i++) {
        const struct event *ev = page->events.items.items[i];
        auto_free char *line = r->form == MCP_JSON ? event_to_line(ev) : NULL;
        if (line)
            json_out_raw(&r->out, line);
        else
            transcript_text_add(&r->transcript, &r->text, ev);
    }
    if (r->text.len > TEXT_MOST)
        mcp_fail(c, RPC_INTERNAL_ERROR,
                 "the session is too long to be given at once; read it with tiro_session_read",
                 NULL);
    else if (page->more && page->events.items.len > 0)
        ask_page(c, page->session.id, vec_last(&page->events.items)->seq);
    else
        send_text(c);
}

void mcp_resources_read(struct mcp_call *c, const struct json *params)
{
    const char *uri = json_get_string(params, "uri");
    enum mcp_form form;
    char *reference;
    if (!uri) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"uri\" is missing; give a string", NULL);
        return;
    }
    if (!mcp_uri_read(uri, &reference, &form)) {
        mcp_fail_not_found(c, uri);
        return;
    }
    struct reading *r = mem_alloc(sizeof *r);
    *r = (struct reading){
        .uri = mem_strdup(uri), .reference = reference, .form = form, .text = BUF_INIT};
    r->out.buf = &r->text;
    transcript_text_init(&r->transcript, &transcript_words_fixed);
    c->work = &work;
    c->state = r;
    ask_page(c, reference, 0);
}

/* --- subscriptions to the list of sessions and to single ones
 * -------------------------------------
 *
 * Other processes change sessions, too, so they are looked at again and again while a client
 * listens. */

enum { LOOK_MS = 1000, FOLLOWED_MOST = 1000, LISTED_MOST = 1000 };

/* A session that is followed; as it was when it was last looked at. */
struct followed {
    char *uri, *reference;
    bool known;
    int64_t last_seq, updated_ms; /* 0: there is none */
};

struct mcp_subscription {
    struct mcp *mcp;
    struct mcp_link *link;
    const char *id; /* of subscriptions/listen, JSON, the call's; NULL: resources/subscribe */
    bool told;      /* … and its beginning was */
    bool list;      /* the list is wanted */
    bool known;     /* … and was looked at */
    uint64_t seen;  /* what it was then */
    uint64_t asked; /* of the server; 0: nothing is looked at */
    size_t next;    /* that is looked at; behind the sessions the list */
    VEC(struct followed) sessions;
};

/* --- telling ---------------------------------------------------------------------------------- */

static void write_meta(struct json_out *o, const struct mcp_subscription *s)
{
    if (!s->id)
        return;
    json_out_name(o, "_meta");
    json_out_open(o, '{');
    json_out_name(o, "io.modelcontextprotocol/subscriptionId");
    json_out_raw(o, s->id);
    json_out_close(o, '}');
}

static void tell(const struct mcp_subscription *s, const char *method, const char *uri)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    write_meta(&o, s);
    json_out_member(&o, "uri", uri);
    json_out_close(&o, '}');
    mcp_notify(s->link, method, text.data);
}

/* --- looking ---------------------------------------------------------------------------------- */

static void look_on(struct mcp_subscription *s);

/* Everything was looked at: changes are told from here on. A client of subscriptions/listen is told
 * first what it will hear of. The changes of tools and prompts, and addresses that are no session,
 * are left out. */
static void end_look(struct mcp_subscription *s)
{
    s->next = 0;
    if (s->id && !s->told) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        struct json_out o = {.buf = &text};
        json_out_open(&o, '{');
        write_meta(&o, s);
        json_out_name(&o, "notifications");
        json_out_open(&o, '{');
        if (s->list)
            json_out_pack(&o, "resourcesListChanged:b", true);
        if (s->sessions.len > 0) {
            json_out_name(&o, "resourceSubscriptions");
            json_out_open(&o, '[');
            for (size_t i = 0; i < s->sessions.len; i++)
                json_out_string(&o, s->sessions.items[i].uri);
            json_out_close(&o, ']');
        }
        json_out_close(&o, '}');
        json_out_close(&o, '}');
        mcp_notify(s->link, "notifications/subscriptions/acknowledged", text.data);
    }
    s->told = true;
}

/* The sum is the same for the same sessions and titles, in whatever order. */
static void on_list_seen(void *context, const struct operation_answer *a)
{
    struct mcp_subscription *s = context;
    const struct session_list_result *listed = a->error.code == ERR_OK ? a->result : NULL;
    uint64_t sum = listed ? (uint64_t)listed->total : s->seen;
    for (size_t i = 0; listed && i < listed->sessions.items.len; i++) {
        const struct session_info *info = &listed->sessions.items.items[i];
        uint64_t hash = mem_hash(MEM_HASH, info->id, strlen(info->id));
        sum += mem_hash(hash, info->title, strlen(info->title));
    }
    bool changed = s->known && sum != s->seen;
    s->asked = 0;
    s->known = s->known || listed;
    s->seen = sum;
    if (changed)
        tell(s, "notifications/resources/list_changed", NULL);
    end_look(s);
}

/* Gives whether it is another than it was. */
static bool note(struct followed *f, const struct operation_answer *a)
{
    const struct session_info *info = a->error.code == ERR_OK ? a->result : NULL;
    int64_t last_seq = info ? info->last_seq : 0, updated_ms = info ? info->updated_ms : 0;
    bool changed = f->known && (f->last_seq != last_seq || f->updated_ms != updated_ms);
    f->known = true;
    f->last_seq = last_seq;
    f->updated_ms = updated_ms;
    return changed;
}

static void on_session(void *context, const struct operation_answer *a)
{
    struct mcp_subscription *s = context;
    struct followed *f = &s->sessions.items[s->next++];
    s->asked = 0;
    if (note(f, a))
        tell(s, "notifications/resources/updated", f->uri);
    look_on(s);
}

static void look_on(struct mcp_subscription *s)
{
    static const struct session_filter live = {.state = SESSION_LIVE, .limit = LISTED_MOST};
    struct server *server = s->mcp->server;
    if (s->next < s->sessions.len) {
        const struct session_params one = {.session = s->sessions.items[s->next].reference};
        s->asked = server_ask(server, &operation_session_read, &one, on_session, s);
    } else if (s->list) {
        s->asked = server_ask(server, &operation_session_list, &live, on_list_seen, s);
    } else {
        end_look(s);
    }
}

static void look_at_all(void *context)
{
    struct mcp *m = context;
    m->watching = NULL;
    for (size_t i = 0; i < m->subscriptions.len; i++)
        if (!m->subscriptions.items[i]->asked)
            look_on(m->subscriptions.items[i]);
    if (m->subscriptions.len > 0)
        m->watching = server_after(m->server, LOOK_MS, look_at_all, m);
}

/* --- subscriptions ---------------------------------------------------------------------------- */

static struct mcp_subscription *subscription_new(struct mcp_link *l)
{
    struct mcp_subscription *s = mem_alloc(sizeof *s);
    *s = (struct mcp_subscription){.mcp = l->mcp, .link = l};
    vec_push(&l->mcp->subscriptions, s);
    return s;
}

/* The first look comes at once. */
static void begin_looking(struct mcp_subscription *s)
{
    struct mcp *m = s->mcp;
    if (!s->asked)
        look_on(s);
    if (!m->watching)
        m->watching = server_after(m->server, LOOK_MS, look_at_all, m);
}

static void subscription_free(struct mcp_subscription *s)
{
    struct mcp *m = s->mcp;
    if (s->asked)
        server_withdraw(m->server, s->asked);
    for (size_t i = 0; i < s->sessions.len; i++) {
        free(s->sessions.items[i].uri);
        free(s->sessions.items[i].reference);
    }
    vec_release(&s->sessions);
    vec_drop(&m->subscriptions, s);
    free(s);
}

void mcp_unfollow(struct mcp_link *l)
{
    if (l->followed)
        subscription_free(l->followed);
    l->followed = NULL;
}

static size_t find_followed(const struct mcp_subscription *s, const char *uri)
{
    size_t i = 0;
    while (i < s->sessions.len && strcmp(s->sessions.items[i].uri, uri) != 0)
        i++;
    return i;
}

/* False: it names no session, or there are too many. */
static bool follow(struct mcp_subscription *s, const char *uri)
{
    enum mcp_form form;
    struct followed f = {0};
    if (find_followed(s, uri) < s->sessions.len)
        return true;
    if (s->sessions.len >= FOLLOWED_MOST || !mcp_uri_read(uri, &f.reference, &form))
        return false;
    f.uri = mem_strdup(uri);
    vec_push(&s->sessions, f);
    return true;
}

/* --- resources/subscribe, resources/unsubscribe ----------------------------------------------- */

/* Whoever has the answer is told of what comes after it. */
static void subscribed(struct mcp_call *c, const struct operation_answer *a)
{
    struct mcp_subscription *s = c->link ? c->link->followed : NULL;
    size_t at = s ? find_followed(s, c->state) : 0;
    if (s && at < s->sessions.len) { /* it may have been unsubscribed */
        if (!s->sessions.items[at].known)
            (void)note(&s->sessions.items[at], a);
        begin_looking(s);
    }
    mcp_done(c, NULL);
}

void mcp_subscribe(struct mcp_call *c, const struct json *params)
{
    const char *uri = json_get_string(params, "uri");
    struct mcp_link *l = c->link;
    if (l->http) {
        mcp_fail(c, RPC_METHOD_NOT_FOUND, "Method not found", NULL);
        return;
    }
    if (!l->followed)
        l->followed = subscription_new(l);
    if (!uri || !follow(l->followed, uri)) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"uri\" names no session; give one of resources/list",
                 NULL);
        return;
    }
    c->work = &with_text;
    c->state = mem_strdup(uri);
    size_t at = find_followed(l->followed, uri);
    mcp_ask(c, &operation_session_read,
            &(struct session_params){.session = l->followed->sessions.items[at].reference},
            subscribed);
}

void mcp_unsubscribe(struct mcp_call *c, const struct json *params)
{
    struct mcp_subscription *s = c->link->followed;
    const char *uri = json_get_string(params, "uri");
    size_t at = s && uri ? find_followed(s, uri) : 0;
    if (!s || !uri || at == s->sessions.len) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"uri\" was not subscribed to", NULL);
        return;
    }
    if (s->asked) /* its place among them is that of what is looked at */
        server_withdraw(s->mcp->server, s->asked);
    s->asked = 0;
    s->next = 0;
    free(s->sessions.items[at].uri);
    free(s->sessions.items[at].reference);
    vec_remove(&s->sessions, at, 1);
    if (s->sessions.len == 0)
        mcp_unfollow(c->link);
    mcp_done(c, NULL);
}

/* --- subscriptions/listen --------------------------------------------------------------------- */

static void free_listening(struct mcp_call *c)
{
    subscription_free(c->state);
}

static const struct mcp_work listening = {.free = free_listening};

void mcp_listen(struct mcp_call *c, const struct json *params)
{
    const struct json *wanted = json_get(params, "notifications");
    if (json_type(wanted) != JSON_OBJECT) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"notifications\" is missing; give an object", NULL);
        return;
    }
    if (!c->link->hears) {
        c->link->status = 406;
        mcp_fail(c, RPC_INVALID_REQUEST, "\"Accept\" lacks text/event-stream; add it", NULL);
        return;
    }
    struct mcp_subscription *s = subscription_new(c->link);
    const struct json *uris = json_get(wanted, "resourceSubscriptions");
    s->id = c->id;
    s->list = json_get_bool(wanted, "resourcesListChanged", false);
    for (const struct json *uri = json_first(uris); uri; uri = json_next(uri))
        if (json_string(uri))
            (void)follow(s, json_string(uri));
    c->work = &listening;
    c->state = s;
    begin_looking(s);
}

void mcp_stop_listening(struct mcp_link *l)
{
    struct mcp *m = l->mcp;
    struct mcp_result r;
    mcp_unfollow(l);
    for (size_t i = m->calls.len; i-- > 0;) {
        struct mcp_call *c = m->calls.items[i];
        if (c->link != l || c->work != &listening)
            continue;
        mcp_result_begin(c, &r, "io.modelcontextprotocol/subscriptionId", c->id);
        mcp_result_send(c, &r);
    }
}
