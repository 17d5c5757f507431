/* Sessions as resources: listed in pages, and read whole. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "chat/transcript_text.h"
#include "serve/mcp_admit.h"
#include "serve/mcp_private.h"
#include "serve/mcp_uri.h"
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

static void write_resource(struct json_out *o, const struct session_info *s)
{
    char *uri = mcp_uri_of(s->id, MCP_MARKDOWN);
    char when[25];
    rfc3339_format(s->updated_ms, when);
    json_out_open(o, '{');
    json_out_member(o, "uri", uri);
    json_out_member(o, "name", s->id);
    json_out_member(o, "title", s->title);
    json_out_member(o, "description", s->last_line);
    json_out_member(o, "mimeType", mime_types[MCP_MARKDOWN]);
    json_out_name(o, "annotations");
    json_out_open(o, '{');
    json_out_member(o, "lastModified", when);
    json_out_close(o, '}');
    json_out_close(o, '}');
    free(uri);
}

static void write_page(struct json_out *o, const struct session_list *all, const char *cursor)
{
    VEC(const struct session_info *) sorted = {0};
    for (size_t i = 0; i < all->items.len; i++)
        if (!cursor || strcmp(all->items.items[i].id, cursor) < 0)
            vec_push(&sorted, &all->items.items[i]);
    vec_sort(&sorted, newest_id_first);
    size_t count = sorted.len < PAGE ? sorted.len : PAGE;
    json_out_name(o, "resources");
    json_out_open(o, '[');
    for (size_t i = 0; i < count; i++)
        write_resource(o, sorted.items[i]);
    json_out_close(o, ']');
    if (count < sorted.len)
        json_out_member(o, "nextCursor", sorted.items[count - 1]->id);
    vec_release(&sorted);
}

static void on_list(struct mcp_call *c, const struct operation_answer *a)
{
    const struct session_list_result *result = a->result;
    struct mcp_result r;
    if (a->error.code != ERR_OK) {
        mcp_fail_with(c, &a->error);
        return;
    }
    mcp_result_begin_kept(c, &r, LIST_MS);
    write_page(&r.out, &result->sessions, c->state);
    mcp_result_send(c, &r);
}

static void free_state(struct mcp_call *c)
{
    free(c->state);
}

static const struct mcp_work listing = {.free = free_state};

void mcp_resources_list(struct mcp_call *c, const struct json *params)
{
    static const struct session_filter live = {.state = SESSION_LIVE};
    const struct json *cursor = json_get(params, "cursor");
    const char *text = json_string(cursor);
    if (cursor && !(text && uuid_valid(text))) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"cursor\" is not one that was given; leave it out", NULL);
        return;
    }
    c->work = &listing;
    c->state = mem_strdup(text);
    mcp_ask(c, &operation_session_list, &live, on_list);
}

/* --- resources/templates/list ----------------------------------------------------------------- */

static void write_template(struct json_out *o, const char *uri, const char *name,
                           const char *description, enum mcp_form form)
{
    json_out_open(o, '{');
    json_out_member(o, "uriTemplate", uri);
    json_out_member(o, "name", name);
    json_out_member(o, "description", description);
    json_out_member(o, "mimeType", mime_types[form]);
    json_out_close(o, '}');
}

void mcp_resources_templates(struct mcp_call *c, const struct json *params)
{
    struct mcp_result r;
    if (json_get(params, "cursor")) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"cursor\" is not one that was given; leave it out", NULL);
        return;
    }
    mcp_result_begin_kept(c, &r, TEMPLATES_MS);
    json_out_name(&r.out, "resourceTemplates");
    json_out_open(&r.out, '[');
    write_template(&r.out, "tiro://session/{session_id}", "session",
                   "The transcript of a session: its id, title, a unique part of its id, or "
                   "\"last\"",
                   MCP_MARKDOWN);
    write_template(&r.out, "tiro://session/{session_id}.json", "session events",
                   "A session with all its events", MCP_JSON);
    json_out_close(&r.out, ']');
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

static void begin_text(struct reading *r, const struct session_info *session)
{
    r->begun = true;
    if (r->form == MCP_MARKDOWN) {
        transcript_text_head(&r->text, session, &transcript_words_fixed, false);
        return;
    }
    json_out_open(&r->out, '{');
    json_out_name(&r->out, "session");
    shape_write(&session_info_shape, session, &r->out);
    json_out_name(&r->out, "events");
    json_out_open(&r->out, '[');
}

static void add_event(struct reading *r, const struct event *ev)
{
    if (r->form == MCP_MARKDOWN) {
        transcript_text_add(&r->transcript, &r->text, ev);
        return;
    }
    char *line = event_to_line(ev);
    json_out_raw(&r->out, line);
    free(line);
}

static void end_text(struct reading *r)
{
    if (r->form == MCP_MARKDOWN) {
        transcript_text_end(&r->transcript, &r->text);
        return;
    }
    json_out_close(&r->out, ']');
    json_out_close(&r->out, '}');
}

static void send_text(struct mcp_call *c)
{
    struct reading *r = c->state;
    struct mcp_result result;
    struct json_out *o = &result.out;
    end_text(r);
    mcp_result_begin_kept(c, &result, TEXT_MS);
    json_out_name(o, "contents");
    json_out_open(o, '[');
    json_out_open(o, '{');
    json_out_member(o, "uri", r->uri);
    json_out_member(o, "mimeType", mime_types[r->form]);
    json_out_member(o, "text", r->text.data);
    json_out_close(o, '}');
    json_out_close(o, ']');
    mcp_result_send(c, &result);
}

static void fail_not_found(struct mcp_call *c, const char *uri)
{
    struct buf data = BUF_INIT;
    struct json_out o = {.buf = &data};
    json_out_open(&o, '{');
    json_out_member(&o, "uri", uri);
    json_out_close(&o, '}');
    mcp_fail(c, c->modern ? RPC_INVALID_PARAMS : MCP_RESOURCE_NOT_FOUND, "Resource not found",
             data.data);
    buf_release(&data);
}

static void fail_reading(struct mcp_call *c, const struct error *e)
{
    struct reading *r = c->state;
    if (e->code == ERR_SESSION_NOT_FOUND)
        fail_not_found(c, r->uri);
    else
        mcp_fail_with(c, e);
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
    if (a->error.code != ERR_OK) {
        fail_reading(c, &a->error);
        return;
    }
    if (!r->begun)
        begin_text(r, &page->session);
    for (size_t i = 0; i < page->events.items.len; i++)
        add_event(r, page->events.items.items[i]);
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
        fail_not_found(c, uri);
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
