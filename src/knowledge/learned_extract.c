#include "knowledge/learned_extract.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "knowledge/learned.h"
#include "knowledge/project.h"
#include "knowledge/sentences.h"
#include "memory/content.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/sql.h"

/* --- the request ------------------------------------------------------------------------------ */

void typed_messages_release(struct typed_messages *m)
{
    for (size_t i = 0; i < m->items.len; i++)
        free(m->items.items[i].text);
    vec_release(&m->items);
}

bool typed_messages_add(struct typed_messages *m, int64_t seq, const char *message)
{
    AUTO(vec_release_local) struct sentences sentences = {0};
    AUTO(buf_release) struct buf typed = BUF_INIT, masked = BUF_INIT, out = BUF_INIT;
    sentences_read(message, &sentences);
    for (size_t i = 0; i < sentences.items.len; i++) {
        const struct sentence *s = &sentences.items.items[i];
        buf_addf(&typed, "%.*s%s\n", (int)s->len, s->text, s->question ? "?" : "");
    }
    (void)secrets_mask(&masked, typed.data, typed.len);
    utf8_add_cut(&out, masked.data, masked.len, EXTRACTION_TEXT_BYTES);
    if (out.len == 0)
        return false;
    vec_push(&m->items, (struct typed_message){seq, buf_take(&out)});
    return true;
}

char *extraction_request(const struct typed_messages *m, const struct learned_items *known)
{
    struct buf out = BUF_INIT;
    struct json_out o = {.buf = &out};
    size_t first = m->items.len, bytes = 0;
    while (first > 0 && bytes + strlen(m->items.items[first - 1].text) <= EXTRACTION_BYTES)
        bytes += strlen(m->items.items[--first].text);
    json_out_open(&o, '{');
    json_out_name(&o, "messages");
    json_out_open(&o, '[');
    for (size_t i = first; i < m->items.len; i++)
        json_out_pack(&o, "{message:I text:s}", (int64_t)i + 1, m->items.items[i].text);
    json_out_close(&o, ']');
    json_out_name(&o, "known");
    json_out_open(&o, '[');
    for (size_t i = 0; i < known->items.len && i < EXTRACTION_KNOWN; i++)
        json_out_string(&o, known->items.items[i].text);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    return buf_take(&out);
}

/* --- entities as lines ------------------------------------------------------------------------ */

void entity_text_release(struct entity_text *t)
{
    free(t->name);
    free(t->type);
    vec_free_each(&t->observations);
    *t = (struct entity_text){0};
}

/* Adds one line; each byte of `from` becomes the one of `to` in its place. */
static void add_replaced(struct buf *out, const char *text, const char *from, const char *to)
{
    size_t begin = out->len;
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
    for (size_t i = begin; i < out->len; i++) {
        const char *at = strchr(from, out->data[i]);
        if (at && *at)
            out->data[i] = to[at - from];
    }
}

char *entity_text_write(const char *name, const char *type, const char *const *observations,
                        size_t count)
{
    struct buf out = BUF_INIT;
    add_replaced(&out, name, "()", "[]");
    buf_addstr(&out, " (");
    add_replaced(&out, type, "()", "[]");
    buf_addch(&out, ')');
    for (size_t i = 0; i < count; i++) {
        buf_addstr(&out, i > 0 ? "; " : ": ");
        add_replaced(&out, observations[i], ";", ",");
    }
    return buf_take(&out);
}

/* Without blanks around it; NULL: nothing is left. */
static char *trimmed(const char *begin, const char *end)
{
    while (begin < end && *begin == ' ')
        begin++;
    while (end > begin && end[-1] == ' ')
        end--;
    return end > begin ? mem_strndup(begin, (size_t)(end - begin)) : NULL;
}

bool entity_text_read(const char *line, struct entity_text *out, struct error *e)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    utf8_clean(&clean, line, strlen(line), UTF8_ONE_LINE);
    const char *open = strchr(clean.data, '('), *close = open ? strchr(open, ')') : NULL;
    const char *at = close ? close + 1 + strspn(close + 1, " ") : NULL;
    *out = (struct entity_text){0};
    if (close) {
        out->name = trimmed(clean.data, open);
        out->type = trimmed(open + 1, close);
    }
    if (!out->name || !out->type || (*at && *at != ':')) {
        entity_text_release(out);
        return err_set(e, ERR_USAGE,
                       "this is no entity; write it as NAME (TYPE): OBSERVATION; OBSERVATION");
    }
    for (at += *at == ':'; *at;) {
        const char *end = at + strcspn(at, ";");
        char *one = trimmed(at, end);
        if (one)
            vec_push(&out->observations, one);
        at = end + (*end == ';');
    }
    return true;
}

/* --- the answer ------------------------------------------------------------------------------- */

void proposals_release(struct proposals *p)
{
    for (size_t i = 0; i < p->items.len; i++)
        free(p->items.items[i].text);
    vec_release(&p->items);
}

/* Takes the text. */
static void propose(struct proposals *out, enum learned_kind kind, int64_t seq, char *text)
{
    if (*text && strlen(text) <= LEARNED_TEXT_BYTES)
        vec_push(&out->items, (struct proposal){kind, seq, text});
    else
        free(text);
}

static void read_item(const struct json *v, int64_t seq, struct proposals *out)
{
    const char *text = json_get_string(v, "text"), *word = json_get_string(v, "kind");
    enum learned_kind kind = 0;
    while (kind < LEARNED_ENTITY && (!word || strcmp(word, learned_kind_word(kind)) != 0))
        kind++;
    if (!text || kind == LEARNED_ENTITY)
        return;
    struct buf line = BUF_INIT;
    utf8_clean(&line, text, strlen(text), UTF8_ONE_LINE);
    propose(out, kind, seq, buf_take(&line));
}

static void read_entity(const struct json *v, int64_t seq, struct proposals *out)
{
    const char *name = json_get_string(v, "name"), *type = json_get_string(v, "type");
    AUTO(vec_release_local) VEC(const char *) observations = {0};
    if (utf8_is_blank(name) || utf8_is_blank(type))
        return;
    for (const struct json *o = json_first(json_get(v, "observations")); o; o = json_next(o))
        if (!utf8_is_blank(json_string(o)) && observations.len < EXTRACTION_OBSERVATIONS)
            vec_push(&observations, json_string(o));
    propose(out, LEARNED_ENTITY, seq,
            entity_text_write(name, type, observations.items, observations.len));
}

bool extraction_read(const char *answer, const struct typed_messages *m, struct proposals *out,
                     struct error *e)
{
    static const struct {
        const char *name;
        void (*read)(const struct json *v, int64_t seq, struct proposals *out);
    } lists[] = {{"items", read_item}, {"entities", read_entity}};
    const char *begin = strchr(answer, '{'), *end = strrchr(answer, '}');
    struct json *v =
        begin && end > begin ? json_parse_foreign(begin, (size_t)(end - begin) + 1, NULL) : NULL;
    if (!v || json_type(v) != JSON_OBJECT) {
        json_free(v);
        return err_set(e, ERR_AGENT_ERROR, "the model's proposals are no JSON object");
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t most = out->items.len + EXTRACTION_PROPOSALS;
        const struct json *p = json_first(json_get(v, lists[i].name));
        for (; p && out->items.len < most; p = json_next(p)) {
            int64_t n = json_type(p) == JSON_OBJECT ? json_get_int(p, "message", 0) : 0;
            if (n >= 1 && (uint64_t)n <= m->items.len)
                lists[i].read(p, m->items.items[n - 1].seq, out);
        }
    }
    json_free(v);
    return true;
}

/* --- own words -------------------------------------------------------------------------------- */

struct look {
    struct buf wanted; /* " word word " */
    size_t words;
    int64_t before;    /* number of an event */
    bool typed, shown; /* the first place where it was found */
};

static size_t add_folded(struct buf *out, const char *text, size_t len)
{
    AUTO(folded_words_release) struct folded_words words = {0};
    folded_words_read(text, len, &words);
    for (size_t i = 0; i < words.items.len; i++)
        buf_addf(out, " %s", words.items.items[i].text);
    buf_addch(out, ' ');
    return words.items.len;
}

static bool has(const struct look *l, const char *text, size_t len)
{
    AUTO(buf_release) struct buf folded = BUF_INIT;
    add_folded(&folded, text, len);
    return strstr(folded.data, l->wanted.data) != NULL;
}

static bool strings_have(const struct look *l, const struct json *v)
{
    const char *text = json_string(v);
    bool found = text && has(l, text, strlen(text));
    if (json_type(v) != JSON_ARRAY && json_type(v) != JSON_OBJECT)
        return found;
    for (const struct json *m = json_first(v); m && !found; m = json_next(m))
        found = strings_have(l, m);
    return found;
}

/* Strings of JSON are compared without their escapes. */
static bool result_has(const struct look *l, const char *text)
{
    struct json *v =
        text && strchr("{[", *text) ? json_parse_foreign(text, strlen(text), NULL) : NULL;
    bool found = v ? strings_have(l, v) : text && has(l, text, strlen(text));
    json_free(v);
    return found;
}

static bool look_at(void *context, const struct event *ev)
{
    struct look *l = context;
    if (ev->seq >= l->before)
        return false;
    if (ev->type == EVENT_TURN_STARTED && ev->text) { /* it may begin with files */
        const char *end = ev->text + strlen(ev->text);
        const char *typed = ev->origin == INPUT_TYPED ? attached_files_end(ev->text) : end;
        l->shown = has(l, ev->text, (size_t)(typed - ev->text));
        l->typed = !l->shown && has(l, typed, (size_t)(end - typed));
    } else if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED) {
        l->shown = result_has(l, ev->text);
    } else if (ev->type == EVENT_MEMORY_RECALLED) {
        l->shown = result_has(l, ev->hits);
    } else if (ev->type == EVENT_TEXT_COMPLETE && ev->text && l->words >= OWN_WORDS_OF_ANSWERS) {
        l->shown = has(l, ev->text, strlen(ev->text));
    }
    return !l->typed && !l->shown;
}

bool own_words(struct store *s, const char *session_id, int64_t seq, const char *text, bool *own,
               struct error *e)
{
    struct look l = {.wanted = BUF_INIT, .before = seq};
    l.words = add_folded(&l.wanted, text, strlen(text));
    bool ok =
        l.words < OWN_WORDS_OF_TEXTS || event_log_read_whole(s, session_id, 0, look_at, &l, e);
    *own = ok && !l.shown;
    buf_release(&l.wanted);
    return ok;
}

/* --- sessions --------------------------------------------------------------------------------- */

bool learned_extract_want(struct store *s, const char *session_id, struct error *e)
{
    return sql_exec(s, e,
                    "INSERT INTO learned_extract (session, seq, waits, tries) VALUES (?1, 0, 1, 0)"
                    " ON CONFLICT (session) DO UPDATE SET waits = 1, tries = 0",
                    "t", session_id);
}

bool learned_extract_next(struct store *s, struct waiting_session *out, struct error *e)
{
    struct query q = sql_query(
        s, e,
        "SELECT x.session, x.seq FROM learned_extract x JOIN session ON session.id = x.session"
        " WHERE x.waits ORDER BY x.tries, x.session LIMIT 1",
        "");
    *out = (struct waiting_session){0};
    if (query_next(&q))
        *out =
            (struct waiting_session){query_column_text(&q, 0), sqlite3_column_int64(q.handle, 1)};
    return query_end(&q);
}

bool learned_extract_failed(struct store *s, const struct waiting_session *w, struct error *e)
{
    return sql_exec(
        s, e,
        "UPDATE learned_extract SET tries = tries + 1, waits = tries + 1 < ?2 WHERE session = ?1",
        "ti", w->id, (int64_t)EXTRACTION_TRIES);
}

struct reading {
    struct typed_messages *out;
    struct learned_locked locked; /* messages in it are passed over */
    int64_t after, last;
    int turns;
};

/* A turn that is sent again is not counted again. */
static bool take_typed(void *context, const struct event *ev)
{
    struct reading *r = context;
    r->last = ev->seq;
    if (ev->type != EVENT_TURN_STARTED || ev->number > 0 || !ev->text)
        return true;
    r->turns++;
    if (ev->seq > r->after && ev->origin == INPUT_TYPED && !learned_locked_has(&r->locked, ev->seq))
        (void)typed_messages_add(r->out, ev->seq, ev->text);
    return true;
}

bool learned_extract_read(struct store *s, const struct waiting_session *w,
                          struct typed_messages *out, int64_t *last, struct error *e)
{
    struct reading r = {.out = out, .after = w->seq, .last = w->seq};
    enum memory_access access;
    bool ok = learned_access_read(s, w->id, &access, e) &&
              learned_locked_read(s, w->id, &r.locked, e) &&
              event_log_read_whole(s, w->id, 0, take_typed, &r, e);
    learned_locked_release(&r.locked);
    if (!ok || access != MEMORY_ACCESS_WRITE || r.turns < EXTRACTION_TURNS)
        typed_messages_release(out);
    *last = r.last;
    return ok;
}

/* --- keeping proposals ------------------------------------------------------------------------ */

struct keeping {
    struct store *store;
    const struct waiting_session *session;
    const struct graph *graph;
    char *project;
    int64_t last;
    int kept;
};

/* *known: the graph has all of the entity, or the text is no entity. */
static bool is_in_graph(const struct keeping *k, const char *text, bool *known, struct error *e)
{
    AUTO(entity_text_release) struct entity_text t = {0};
    struct graph_part part = {0};
    *known = true;
    if (!entity_text_read(text, &t, &(struct error){0}))
        return true;
    const struct graph_names names = {.names = {.items = (const char **)&t.name, .len = 1}};
    bool ok = graph_open(k->graph, &names, &part, e);
    const struct graph_entity *there = part.entities.len > 0 ? &part.entities.items[0] : NULL;
    *known = there != NULL;
    for (size_t i = 0; there && i < t.observations.len; i++) {
        bool found = false;
        for (size_t o = 0; !found && o < there->observations.len; o++)
            found = strcmp(there->observations.items[o].content, t.observations.items[i]) == 0;
        *known = *known && found;
    }
    graph_part_release(&part);
    return ok;
}

static bool keep(struct keeping *k, const struct proposal *p, struct error *e)
{
    struct learned_item kept = {.id = NULL};
    struct learned_item item = {.scope = learned_scope_of(p->kind),
                                .kind = p->kind,
                                .state = LEARNED_CANDIDATE,
                                .origin = LEARNED_EXTRACTED,
                                .text = p->text,
                                .session_id = k->session->id,
                                .seq = p->seq};
    enum learned_added how;
    bool known = false, own;
    if (p->kind == LEARNED_ENTITY && !k->graph)
        return true;
    if ((p->kind == LEARNED_ENTITY && !is_in_graph(k, p->text, &known, e)) ||
        !own_words(k->store, k->session->id, k->last + 1, p->text, &own, e))
        return false;
    if (known || !own)
        return true;
    if (item.scope == LEARNED_PROJECT)
        item.project = k->project;
    bool ok = learned_add(k->store, &item, &kept, &how, e);
    k->kept += ok && how == LEARNED_IS_NEW;
    learned_item_release(&kept);
    return ok;
}

/* A proposal whose text cannot be kept does not hold up the others. */
bool learned_extract_keep(struct store *s, const struct waiting_session *w, int64_t last,
                          const struct proposals *p, const struct graph *graph, int *kept,
                          struct error *e)
{
    struct session_info info = {0};
    bool began;
    *kept = 0;
    if (!sessions_get(s, w->id, &info, e))
        return false;
    struct keeping k = {.store = s,
                        .session = w,
                        .graph = graph,
                        .project = project_of(info.directory ? info.directory : "/"),
                        .last = last};
    bool ok = store_enter(s, &began, e);
    if (ok) {
        for (size_t i = 0; ok && i < p->items.len; i++) {
            struct error fault = {0};
            ok = keep(&k, &p->items.items[i], &fault) || fault.code == ERR_USAGE;
            if (!ok)
                *e = fault;
        }
        ok = ok && sql_exec(s, e,
                            "UPDATE learned_extract SET waits = 0, tries = 0, seq = ?2"
                            " WHERE session = ?1",
                            "ti", w->id, last);
        ok = store_leave(s, began, ok, e);
    }
    *kept = ok ? k.kept : 0;
    session_info_release(&info);
    free(k.project);
    return ok;
}

bool learned_keep_entity(const struct graph *g, const struct learned_item *item, struct error *e)
{
    AUTO(entity_text_release) struct entity_text t = {0};
    const struct graph_by by = {item->session_gone ? NULL : item->session_id, item->seq};
    struct graph_part created = {0};
    struct graph_added added = {0};
    struct learned_items gone = {0};
    bool began;
    if (!entity_text_read(item->text, &t, e) || !store_enter(g->store, &began, e))
        return false;
    const char *id = item->id, **observations = (const char **)t.observations.items;
    size_t count = t.observations.len;
    struct graph_new_entity entity = {t.name, t.type, {.items = observations, .len = count}};
    struct graph_new_observations more = {t.name, {.items = observations, .len = count}};
    bool ok =
        graph_create(g, &(struct graph_create){.entities = {&entity, 1, 1}}, &by, &created, e);
    if (ok && created.entities.len == 0 && count > 0) /* it was there */
        ok = graph_observe(g, &(struct graph_observe){.observations = {&more, 1, 1}}, &by, &added,
                           e);
    ok = store_leave(g->store, began, ok && learned_forget(g->store, &id, 1, &gone, e), e);
    graph_part_release(&created);
    shape_release(&graph_added_shape, &added);
    learned_items_release(&gone);
    return ok;
}
