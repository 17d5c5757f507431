#include "session/operation.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "knowledge/corpora.h"
#include "session/capability.h"
#include "session/catalog.h"
#include "session/config_operations.h"
#include "session/conversation_operations.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "session/learned_operations.h"
#include "session/memories.h"
#include "session/memory_operations.h"
#include "session/notice.h"
#include "session/session_operations.h"

/* Removals that a killed process left; so many are finished when a store is opened. */
enum { REMOVALS_AT_ONCE = 64 };

static const struct operation *const rows[] = {
#define X(name) &operation_##name,
    OPERATIONS(X)
#undef X
};

const struct operation *operation_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? rows[index] : NULL;
}

const struct operation *operation_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i]->name, name) == 0)
            return rows[i];
    return NULL;
}

bool operation_is_slash(const struct operation *o, const char *name, size_t len)
{
    return (o->slash && strlen(o->slash) == len && memcmp(o->slash, name, len) == 0) ||
           (o->alias && strlen(o->alias) == len && memcmp(o->alias, name, len) == 0);
}

const char *authority_name(enum authority a)
{
    static const char *const names[] = {[AUTHORITY_TERMINAL] = "terminal",
                                        [AUTHORITY_OWNER] = "owner",
                                        [AUTHORITY_CLIENT] = "client"};
    return names[a];
}

void *operation_slash_params(const struct operation *o, const char *session, const char *arguments)
{
    char *params = o->params ? mem_alloc(o->params->size) : NULL;
    bool given = !*arguments;
    if (params)
        shape_init(o->params, params);
    for (const struct shape_field *f = params ? o->params->fields : NULL; f && f->name; f++) {
        bool names = strcmp(f->name, SESSION_MEMBER) == 0;
        if (strcmp(f->name, TURN_MEMBER) == 0 && !given) {
            char *end;
            int64_t turn = strtoll(arguments, &end, 10);
            *(int64_t *)(void *)(params + f->offset) = *end || turn < 1 ? -1 : turn;
            given = true;
        }
        if (f->type != SHAPE_STRING || (!names && given))
            continue;
        *(const char **)(void *)(params + f->offset) = names ? session : arguments;
        given = given || !names;
    }
    return params;
}

/* Appends the text with the members that stand in it in braces; "{_NAME}" is a word to
 * be translated. */
static void add_line(struct buf *out, const char *line, const struct json *members,
                     char *(*translate)(const char *word))
{
    for (const char *brace; (brace = strchr(line, '{')); line = strchr(brace, '}') + 1) {
        auto_free char *name = mem_strndup(brace + 1, strcspn(brace + 1, "}"));
        const struct json *value = json_get(members, name + (*name == '_'));
        const char *text = json_string(value);
        text = text && *name == '_' ? translate(text) : text;
        auto_free char *printed = value && !text ? json_print(value) : NULL;
        buf_add(out, line, (size_t)(brace - line));
        buf_addstr(out, text ? text : printed ? printed : "");
    }
    buf_addf(out, "%s\n", line);
}

char *operation_lines(const struct operation *o, const void *result,
                      char *(*translate)(const char *word))
{
    struct buf out = BUF_INIT;
    if (!o->line)
        return NULL;
    const char *line = translate(o->line);
    AUTO(json_free_local) struct json *whole = shape_to_json(o->result, result);
    const struct json *members = o->lines ? json_get(whole, o->lines) : whole;
    if (json_type(members) != JSON_ARRAY)
        add_line(&out, line, members, translate);
    else
        for (const struct json *element = json_first(members); element;
             element = json_next(element))
            add_line(&out, line, element, translate);
    return buf_take(&out);
}

bool operation_lasts(const struct operation *o)
{
    return o->lasting || (o->needs & NEED_WRITE && o->executor != OPERATION_IMPORT) ||
           o->executor == OPERATION_CONVERSATION;
}

/* --- needs ------------------------------------------------------------------------------------ */

/* Needs that build and configuration meet, in the order in which a lack is told. */
static const struct {
    unsigned need;
    bool (*built)(void);
    enum config_key enabled;
    bool (*tell)(bool enabled, struct error *e);
} parts[] = {
    {NEED_MEMORY, capability_memory, CONFIG_MEMORY_ENABLED, capability_need_memory},
    {NEED_GRAPH, capability_graph, CONFIG_GRAPH_ENABLED, capability_need_graph},
    {NEED_CORPORA, capability_corpora, CONFIG_CORPUS_ENABLED, capability_need_corpora},
    {NEED_LEARNED, capability_memory, CONFIG_LEARNED_ENABLED, capability_need_learned},
    {NEED_STORE, capability_store, CONFIG_SESSION_PERSIST, capability_need_store},
    {NEED_COMPACTION, capability_compaction, CONFIG_COMPACTION_ENABLED, capability_need_compaction},
};

/* Memory, graph and corpora can be read also if sessions are not saved. */
static unsigned allowed_by(const struct config *config, const struct operation *o)
{
    bool reads = (o->needs & (NEED_MEMORY | NEED_GRAPH | NEED_CORPORA)) && !(o->needs & NEED_WRITE);
    unsigned met = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].built() &&
            ((parts[i].need == NEED_STORE && reads) || config_boolean(config, parts[i].enabled)))
            met |= parts[i].need;
    return met;
}

static bool parts_are_there(unsigned lacking, struct error *e)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (lacking & parts[i].need)
            return parts[i].tell(false, e);
    return true;
}

bool operation_has(unsigned needs, const struct config *config, struct error *e)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!(needs & parts[i].need) ||
            (parts[i].built() && config_boolean(config, parts[i].enabled)))
            continue;
        (void)parts[i].tell(false, e);
        if (parts[i].built() && config_origin(config, parts[i].enabled) == CONFIG_FROM_COMMAND_LINE)
            err_set(e, e->code, "turned off on the command line of this tiro");
        return false;
    }
    return true;
}

bool operation_offered(const struct operation *o, const struct config *config, struct error *e)
{
    return parts_are_there(o->needs & ~allowed_by(config, o), e);
}

static bool needs_met(const struct operation_context *c, const struct operation *o, struct error *e)
{
    unsigned lacking = o->needs & ~(c->met | (c->stream ? NEED_STREAM : 0U));
    if (!o->run)
        return err_set(e, ERR_USAGE, "%s needs an open conversation; ask an engine for it",
                       o->name);
    if (!parts_are_there(lacking, e))
        return false;
    if (lacking & NEED_WRITE)
        return err_set(e, ERR_SESSION_STORE_ERROR, "%s writes, but the store is open for reading",
                       o->name);
    return lacking == 0 ||
           err_set(e, ERR_USAGE, "%s needs a stream to read from or to write to", o->name);
}

bool operation_call(struct operation_context *c, const struct operation *o, const void *params,
                    void *result, struct error *e)
{
    if (o->result) {
        memset(result, 0, o->result->size); /* a codec's member has no other beginning */
        shape_init(o->result, result);
    }
    return needs_met(c, o, e) && o->run(c, params, result, e);
}

/* --- what it works on ------------------------------------------------------------------------- */

static bool open_catalog(struct operation_context *c, const char *store_path, struct error *e)
{
    bool writes = c->met & NEED_WRITE;
    if (!(c->met & NEED_STORE))
        return true;
    if (!catalog_open(&c->catalog, store_path, writes ? CATALOG_WRITE : CATALOG_READ, e))
        return false;
    if (writes) {
        removal_finish_some(&c->catalog, REMOVALS_AT_ONCE);
        removal_sweep_locks(&c->catalog);
        while (catalog_purge_step(&c->catalog))
            continue;
    }
    return true;
}

bool operation_open(struct operation_context *c, const struct operation *o,
                    const struct config *config, const char *store_path, const char *project,
                    struct error *e)
{
    /* a stream may come later */
    *c = (struct operation_context){.config = config,
                                    .project = project,
                                    .met = allowed_by(config, o) |
                                           (o->needs & (NEED_WRITE | NEED_STREAM))};
    if (!needs_met(c, o, e))
        return false;
    c->met &= ~(unsigned)NEED_STREAM;
    if (o->executor == OPERATION_CALLER)
        return true;
    if (!open_catalog(c, store_path, e))
        return false;
    if (o->executor == OPERATION_CORPORA)
        c->corpora = corpora_open(config, c->catalog.store, c->catalog.directory);
    else if (o->executor == OPERATION_MEMORY && (o->needs & NEED_GRAPH))
        c->graphs = graphs_new(config, c->catalog.store);
    else if (o->executor == OPERATION_MEMORY || o->executor == OPERATION_SPACE)
        c->memories = memories_new(config, c->catalog.store, c->catalog.directory, project);
    return true;
}

void operation_close(struct operation_context *c)
{
    memories_free(c->memories);
    graphs_free(c->graphs);
    corpora_close(c->corpora);
    catalog_release(&c->catalog);
}

static void *new_struct(const struct shape *shape)
{
    if (!shape)
        return NULL;
    void *made = mem_alloc(shape->size);
    shape_init(shape, made);
    return made;
}

static void free_struct(const struct shape *shape, void *made)
{
    if (made)
        shape_release(shape, made);
    free(made);
}

struct operation_request *operation_request_new(const struct operation *o, const void *params)
{
    struct operation_request *r = mem_alloc(sizeof *r);
    *r = (struct operation_request){.operation = o, .params = new_struct(o->params)};
    if (params && r->params)
        shape_copy(o->params, r->params, params);
    return r;
}

void operation_request_free(struct operation_request *r)
{
    if (!r)
        return;
    free_struct(r->operation->params, r->params);
    free(r);
}

char **operation_request_session(struct operation_request *r)
{
    const struct shape *s = r->operation->params;
    for (const struct shape_field *f = s ? s->fields : NULL; f && f->name; f++)
        if (f->type == SHAPE_STRING && strcmp(f->name, SESSION_MEMBER) == 0)
            return (char **)(void *)((char *)r->params + f->offset);
    return NULL;
}

void operation_request_name(struct operation_request *r, const char *session)
{
    char **named = operation_request_session(r), *name = mem_strdup(session);
    free(*named);
    *named = name;
}

struct operation_answer *operation_answer_new(struct operation_request *r)
{
    struct operation_answer *a = mem_alloc(sizeof *a);
    *a = (struct operation_answer){.request = r, .result = new_struct(r->operation->result)};
    return a;
}

void operation_answer_free(struct operation_answer *a)
{
    if (!a)
        return;
    free_struct(a->request->operation->result, a->result);
    free(a->text);
    operation_request_free(a->request);
    free(a);
}

void operation_answer_fail(struct operation_answer *a, const struct error *e)
{
    free_struct(a->request->operation->result, a->result);
    a->result = NULL;
    a->error = *e;
}

bool operation_answers(const struct operation_answer *a, const struct operation *o)
{
    return a->request->operation == o;
}

struct notice *notice_new(enum notice_type type)
{
    struct notice *n = mem_alloc(sizeof *n);
    n->type = type;
    n->meters.total = USAGE_UNKNOWN;
    n->meters.cost = -1;
    return n;
}

void notice_free(struct notice *n)
{
    if (!n)
        return;
    operation_answer_free(n->answer);
    event_free(n->event);
    session_info_release(&n->info);
    for (size_t i = 0; i < n->events.len; i++)
        event_free(n->events.items[i]);
    vec_release(&n->events);
    memory_stats_release(&n->stats);
    shape_release(&corpus_progress_shape, &n->progress);
    shape_release(&change_shape, &n->change);
    free(n->provider);
    free(n->model);
    free(n->detail);
    free(n->text);
    free(n->name);
    free(n->args);
    free(n->preview);
    free(n->guarded);
    free(n->grant);
    free(n);
}

void notice_name_session(struct notice *n, const char *id)
{
    size_t len = id ? strlen(id) : 0;
    memcpy(n->session, id ? id : "", len < UUID_LEN ? len : UUID_LEN);
}
