#include "session/learned_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "knowledge/directive.h"
#include "knowledge/learned.h"
#include "knowledge/learned_extract.h"
#include "knowledge/project.h"
#include "knowledge/session_digest.h"
#include "session/capability.h"
#include "session/memories.h"
#include "store/sessions.h"

enum { SEARCH_LIMIT = 20, SEARCH_MOST = 1000 };

#define ID(S)                                                                                      \
    SHAPE_REQ(S, id, "Id of an item, or the beginning of the id.", .least = 1,                     \
              .most = LEARNED_ID_BYTES)
#define KIND(S)                                                                                    \
    SHAPE_OPT(S, kind, "\"fact\", \"rule\", \"language\", …; absent: any.",                        \
              SHAPE_OPTION("--kind KIND",                                                          \
                           N_("only fact, rule, language, style, tone, format or emoji")))
#define TAG(S)                                                                                     \
    SHAPE_OPT(S, tag, "Only items whose text has #TAG.",                                           \
              SHAPE_OPTION("--tag TAG", N_("only texts with #TAG in them")))
#define SESSION(S)                                                                                 \
    SHAPE_OPT_AS(SESSION_MEMBER, S, session, "Only what was said in this session.",                \
                 SHAPE_OPTION("--session SESSION", N_("only what was said in this session")))
#define PROJECT_HELP                                                                               \
    "\"all\" or a directory of the project; absent: the session's directory, else the program's."
#define WORKED_IN(S)                                                                               \
    SHAPE_OPT_AS(SESSION_MEMBER, S, session,                                                       \
                 "Session whose project is used; absent: the project of the program's directory.", \
                 .least = 1)
#define ITEM_LINE "{id}  {state}  {text}"
#define READS (NEED_MEMORY | NEED_LEARNED | NEED_STORE)
#define WRITES (READS | NEED_WRITE)

static const struct shape items_shape =
    SHAPE_OF("items", struct learned_items, LEARNED_ITEMS(struct learned_items, items));

/* --- lists ------------------------------------------------------------------------------------ */

/* The word's bit in a mask; 0 for NULL. USAGE: the word is not among the names. */
static bool mask_of(const char *word, const struct shape_names *names, const char *what,
                    unsigned *mask, struct error *e)
{
    *mask = 0;
    for (int i = 0; word && i < names->count; i++)
        if (strcmp(word, names->words[i]) == 0)
            *mask = 1U << (unsigned)i;
    return !word || *mask ||
           err_set(e, ERR_USAGE, "unknown %s \"%.40s\"; give one like \"%s\" or \"%s\"", what, word,
                   names->words[0], names->words[1]);
}

/* Items of tools and history are computed from the logs of sessions, not stored. project NULL: that
 * of the directory; "all": every project. */
static bool list(struct memories *m, struct learned_filter *f, const char *project,
                 struct learned_items *out, struct error *e)
{
    bool all = project && strcmp(project, "all") == 0;
    auto_free char *path = all ? NULL : project_of(project ? project : memories_directory(m));
    f->project = path;
    if (!m->store)
        return true;
    if (!(f->scopes & (1U << LEARNED_TOOL | 1U << LEARNED_HISTORY)))
        return learned_list(m->store, f, out, e) && learned_find_messages(m->store, out, e);
    bool ok = f->scopes & 1U << LEARNED_TOOL
                  ? session_digest_tools(m->store, f->project, out, e)
                  : session_digest_sessions(m->store, f->project, NULL, 0, out, e);
    learned_filter_items(out, f);
    return ok;
}

/* Restricts the filter to the session, if one is named, and works in its project. */
static bool find_session(struct memories *m, const char *reference, struct learned_filter *f,
                         struct error *e)
{
    if (!memories_work_in(m, reference, e))
        return false;
    f->session = reference ? memories_session(m) : NULL;
    return true;
}

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct learned_list_params *p = params;
    struct learned_filter f = {
        .query = p->query, .tag = p->tag, .unused = p->unused, .limit = p->limit};
    return mask_of(p->scope, &learned_scope_names, "scope", &f.scopes, e) &&
           mask_of(p->kind, &learned_kind_names, "kind", &f.kinds, e) &&
           mask_of(p->state, &learned_state_names, "state", &f.states, e) &&
           find_session(c->memories, p->session, &f, e) &&
           list(c->memories, &f, p->project, result, e);
}

const struct operation operation_learned_list = {
    OPERATION("learned/list", CLIENT, MEMORY, "Lists learned items, latest change first."),
    .lines = "items",
    .line = ITEM_LINE,
    SLASH("learned", "[WORDS]",
          N_("show learned items and those that wait for you; or: accept, reject or forget ID, "
             "restore")),
    COMMAND("learned list", "", N_("list what was learned, latest change first")),
    .details = N_("A candidate waits until you accept or reject it."),
    .params = PARAMETERS(
        learned_list_params,
        SHAPE_OPT(
            learned_list_params, query,
            "Words: gives texts with at least one of them, most words first; absent: all texts."),
        SHAPE_OPT(
            learned_list_params, scope,
            "\"project\", \"user\", \"tool\" or \"history\"; absent: the first two.",
            SHAPE_OPTION(
                "--scope SCOPE",
                N_("only project or user; or tool, history: facts from the logs of sessions"))),
        KIND(learned_list_params), TAG(learned_list_params),
        SHAPE_OPT(
            learned_list_params, state,
            "\"candidate\", \"active\", \"superseded\" or \"rejected\"; absent: any.",
            SHAPE_OPTION("--state STATE", N_("only candidate, active, superseded or rejected"))),
        SHAPE_OPT(
            learned_list_params, project, PROJECT_HELP,
            SHAPE_OPTION("--project DIRECTORY", N_("only items of the project in DIRECTORY, or all "
                                                   "(default: the working directory's project)"))),
        SESSION(learned_list_params),
        SHAPE_OPT(
            learned_list_params, unused, "Only active items that no session was told of yet.",
            SHAPE_OPTION("--unused", N_("only active items that no session was told of yet"))),
        SHAPE_OPT(learned_list_params, limit, "Most items to give.",
                  SHAPE_OPTION("-n, --limit N", N_("at most N items (default: all)")))),
    .result = &items_shape,
    .needs = READS,
    .run = run_list,
};

static bool run_search(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct learned_search_params *p = params;
    struct learned_filter f = {
        .states = 1U << LEARNED_ACTIVE, .query = p->query, .tag = p->tag, .limit = p->limit};
    return mask_of(p->scope, &learned_scope_names, "scope", &f.scopes, e) &&
           mask_of(p->kind, &learned_kind_names, "kind", &f.kinds, e) &&
           find_session(c->memories, p->session, &f, e) &&
           list(c->memories, &f, p->project, result, e);
}

const struct operation operation_learned_search = {
    OPERATION("learned/search", CLIENT, MEMORY, "Searches the active learned items."),
    .lines = "items",
    .line = ITEM_LINE,
    COMMAND("learned search", "QUERY...",
            N_("search what models are told about this project and about you")),
    .params = PARAMETERS(
        learned_search_params,
        SHAPE_REQ(learned_search_params, query, "Words; blank: the newest items."),
        SHAPE_OPT(learned_search_params, scope, "\"project\" or \"user\"; absent: both.",
                  SHAPE_OPTION("--scope SCOPE", N_("only of the project, or of the user"))),
        KIND(learned_search_params), TAG(learned_search_params),
        SHAPE_OPT(learned_search_params, project, PROJECT_HELP), SESSION(learned_search_params),
        SHAPE_OPT(learned_search_params, limit, "Most items to give.", .least = 1,
                  .most = SEARCH_MOST, .absent = SEARCH_LIMIT,
                  SHAPE_OPTION("-n, --limit N", N_("at most N items (default: 20)")))),
    .result = &items_shape,
    .needs = READS,
    .run = run_search,
};

/* --- one item --------------------------------------------------------------------------------- */

static const struct shape id_shape =
    SHAPE_PARAMETERS(struct learned_id_params, ID(learned_id_params));

static bool resolve(struct memories *m, const char *reference, char **id, struct error *e)
{
    *id = NULL;
    if (!m->store)
        return err_set(e, ERR_MEMORY_NOT_FOUND, "nothing was learned here yet");
    return learned_resolve(m->store, reference, id, e);
}

static bool run_read(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct learned_id_params *p = params;
    auto_free char *id = NULL;
    return resolve(c->memories, p->id, &id, e) && learned_get(c->memories->store, id, result, e);
}

const struct operation operation_learned_read = {
    OPERATION("learned/read", CLIENT, MEMORY, "Gives a learned item."),
    .params = &id_shape,
    .result = &learned_item_shape,
    .needs = READS,
    .run = run_read,
};

static bool run_history(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    const struct learned_id_params *p = params;
    auto_free char *id = NULL;
    return resolve(c->memories, p->id, &id, e) &&
           learned_history(c->memories->store, id, result, e);
}

const struct operation operation_learned_history = {
    OPERATION("learned/history", CLIENT, MEMORY,
              "Gives an item and the earlier versions that it replaced."),
    COMMAND("learned history", "ID", N_("show an item and the earlier versions that it replaced")),
    .details = NAMES_AN_ITEM,
    .params = &id_shape,
    .result = &items_shape,
    .needs = READS,
    .run = run_history,
};

/* Changes the item and gives its new state. */
static bool decide(struct memories *m, const char *reference,
                   bool (*change)(struct store *s, const char *id, struct error *e), void *result,
                   struct error *e)
{
    auto_free char *id = NULL;
    return resolve(m, reference, &id, e) && change(m->store, id, e) &&
           learned_get(m->store, id, result, e);
}

/* An accepted entity moves into the graph. */
static bool run_accept(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct learned_id_params *p = params;
    struct memories *m = c->memories;
    const struct graph graph = {m->store, config_string(c->config, CONFIG_MEMORY_LANGUAGE)};
    struct learned_item item;
    auto_free char *id = NULL;
    if (!resolve(m, p->id, &id, e) || !learned_get(m->store, id, &item, e))
        return false;
    if (item.kind != LEARNED_ENTITY) {
        learned_item_release(&item);
        return decide(m, p->id, learned_accept, result, e);
    }
    if (!capability_need_graph(config_boolean(c->config, CONFIG_GRAPH_ENABLED), e) ||
        !learned_keep_entity(&graph, &item, e)) {
        learned_item_release(&item);
        return false;
    }
    item.state = LEARNED_ACTIVE;
    *(struct learned_item *)result = item;
    return true;
}

const struct operation operation_learned_accept = {
    OPERATION(
        "learned/accept", OWNER, MEMORY,
        "Accepts a candidate: models are told of it; a proposed entity moves into the graph."),
    .line = ITEM_LINE,
    COMMAND("learned accept", "ID", N_("accept a candidate: the model is told of it")),
    .details = NAMES_AN_ITEM,
    .params = &id_shape,
    .result = &learned_item_shape,
    .needs = WRITES,
    .run = run_accept,
};

static bool run_reject(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct learned_id_params *p = params;
    return decide(c->memories, p->id, learned_reject, result, e);
}

const struct operation operation_learned_reject = {
    OPERATION("learned/reject", OWNER, MEMORY,
              "Rejects an item: models are no longer told of it; the item that it replaced is "
              "active again."),
    .line = ITEM_LINE,
    COMMAND("learned reject", "ID",
            N_("reject an item: the model is no longer told of it, and you are not asked again")),
    .details = NAMES_AN_ITEM,
    .params = &id_shape,
    .result = &learned_item_shape,
    .needs = WRITES,
    .run = run_reject,
};

/* --- adding and editing ----------------------------------------------------------------------- */

static bool run_add(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct learned_add_params *p = params;
    struct learned_add_result *out = result;
    struct memories *m = c->memories;
    enum learned_added how;
    struct learned_item item = {.state = LEARNED_ACTIVE, .origin = LEARNED_ADDED};
    const struct sentence whole = {.text = p->text, .len = strlen(p->text)};
    struct directive d;
    bool user = p->scope && strcmp(p->scope, "user") == 0;
    if (!memories_work_in(m, p->session, e))
        return false;
    if (p->scope && !user && strcmp(p->scope, "project") != 0)
        return err_set(e, ERR_USAGE, "unknown scope \"%.40s\"; give project or user", p->scope);
    /* A text that is a directive gets the directive's kind and text; any other text is a fact. */
    item.kind = directive_of(&whole, &d) ? d.kind : LEARNED_FACT;
    item.text = d.text ? d.text : mem_strdup(p->text);
    item.scope = learned_scope_of(item.kind);
    if (p->scope)
        item.scope = user ? LEARNED_USER : LEARNED_PROJECT;
    item.project = item.scope == LEARNED_PROJECT ? project_of(memories_directory(m)) : NULL;
    /* A session without a row is left out: it may never get one. */
    AUTO(session_info_release) struct session_info info = {0};
    struct error fault;
    const char *session = memories_session(m);
    if (session && sessions_get(m->store, session, &info, &fault))
        item.session_id = mem_strdup(session);
    bool ok = learned_add(m->store, &item, &out->item, &how, e);
    out->known = ok && how == LEARNED_IS_KNOWN;
    learned_item_release(&item);
    return ok;
}

const struct operation operation_learned_add = {
    OPERATION("learned/add", OWNER, MEMORY, "Remembers a text for later sessions."),
    .lines = "item",
    .line = ITEM_LINE,
    SLASH("remember", "TEXT", N_("keep a text and tell it to the model in later sessions")),
    COMMAND("learned add", "TEXT...", N_("add a text that the model is told in later sessions")),
    .params = PARAMETERS(
        learned_add_params, SHAPE_REQ(learned_add_params, text, "What to remember."),
        SHAPE_OPT(
            learned_add_params, scope, "\"project\" or \"user\"; absent: derived from the text.",
            SHAPE_OPTION(
                "--scope SCOPE",
                N_("project or user (default: user for the style of answers, else project)"))),
        WORKED_IN(learned_add_params)),
    .result = RESULT(
        "added item", learned_add_result,
        SHAPE_FIELD("item", OBJECT, REQUIRED, offsetof(struct learned_add_result, item),
                    .of = &learned_item_shape, .help = "The item that was added, or that existed."),
        SHAPE_REQ(learned_add_result, known, "The item existed already.")),
    .needs = WRITES,
    .run = run_add,
};

static bool run_edit(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct learned_edit_params *p = params;
    auto_free char *id = NULL;
    return resolve(c->memories, p->id, &id, e) &&
           learned_edit(c->memories->store, id, p->text, e) &&
           learned_get(c->memories->store, id, result, e);
}

const struct operation operation_learned_edit = {
    OPERATION("learned/edit", OWNER, MEMORY,
              "Changes the text of an item; the old one stays as history."),
    .line = ITEM_LINE,
    COMMAND("learned edit", "ID TEXT...",
            N_("change the text of an item; the old one stays as history")),
    .details = NAMES_AN_ITEM,
    .params = PARAMETERS(learned_edit_params, ID(learned_edit_params),
                         SHAPE_REQ(learned_edit_params, text, "The new text.")),
    .result = &learned_item_shape,
    .needs = WRITES,
    .run = run_edit,
};

/* --- forgetting ------------------------------------------------------------------------------- */

static bool run_forget(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct learned_forget_params *p = params;
    struct learned_forget_result *out = result;
    struct memories *m = c->memories;
    struct learned_items gone = {0};
    struct text_list ids = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->ids.len; i++) {
        char *id;
        ok = resolve(m, p->ids.items[i], &id, e);
        if (ok)
            vec_push(&ids.items, id);
    }
    ok = ok &&
         learned_forget(m->store, (const char *const *)ids.items.items, ids.items.len, &gone, e);
    vec_free_each(&ids.items);
    if (!ok)
        return false;
    (void)store_settle(m->store); /* a desk tries again after a failure, a command does not */
    for (size_t i = 0; i < gone.items.len; i++)
        out->deleted += !gone.items.items[i].replaced_by;
    vec_push(&m->unlearned, gone);
    return true;
}

const struct operation operation_learned_forget = {
    OPERATION("learned/forget", OWNER, MEMORY,
              "Deletes items and their history for good; if one id is unknown, none is deleted."),
    .done = SAYS_DONE,
    COMMAND("learned forget", "ID...", N_("delete items for good")),
    .details = ASKS_FOR_ALL,
    .params = PARAMETERS(learned_forget_params,
                         SHAPE_REQ_TEXTS(learned_forget_params, ids,
                                         "Ids of items, or beginnings of ids.", .least = 1)),
    .result = RESULT("forgotten items", learned_forget_result,
                     SHAPE_REQ(learned_forget_result, deleted, "Items.")),
    .needs = WRITES,
    .run = run_forget,
};

static bool run_restore(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    struct memories *m = c->memories;
    (void)params;
    if (m->unlearned.len == 0)
        return err_set(e, ERR_MEMORY_NOT_FOUND, "there is no forgotten item to restore");
    struct learned_items *last = &vec_last(&m->unlearned);
    if (!learned_restore(m->store, last, e) ||
        !learned_get(m->store, last->items.items[0].id, result, e))
        return false;
    learned_items_release(last);
    m->unlearned.len--;
    return true;
}

const struct operation operation_learned_restore = {
    OPERATION("learned/restore", OWNER, MEMORY,
              "Restores the items that were last forgotten in this process."),
    .line = ITEM_LINE,
    .result = &learned_item_shape,
    .needs = WRITES,
    .run = run_restore,
};

/* --- figures ---------------------------------------------------------------------------------- */

static bool run_stats(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    const struct learned_stats_params *p = params;
    struct memories *m = c->memories;
    struct learned_counts counts = {0};
    if (!memories_work_in(m, p->session, e))
        return false;
    auto_free char *project = project_of(memories_directory(m));
    bool ok = !m->store || learned_count(m->store, project, &counts, e);
    *(struct learned_stats *)result = (struct learned_stats){counts.active, counts.candidates,
                                                             counts.superseded, counts.rejected};
    return ok;
}

struct notice *learned_notice(struct store *s, const char *directory, bool proposed)
{
    struct notice *n = notice_new(NOTICE_LEARNED);
    struct learned_counts counts = {0};
    struct error e;
    char *project = project_of(directory);
    if (!learned_count(s, project, &counts, &e))
        log_line(LOG_ERROR, "learned memory: %s", e.text);
    n->text = project;
    n->number = counts.candidates;
    n->flag = proposed;
    return n;
}

const struct operation operation_learned_stats = {
    OPERATION("learned/stats", CLIENT, MEMORY,
              "Counts the learned items of a project and of the user."),
    .params = PARAMETERS(learned_stats_params, WORKED_IN(learned_stats_params)),
    .result = RESULT("figures", learned_stats,
                     SHAPE_REQ(learned_stats, active, "Items that models are told of."),
                     SHAPE_REQ(learned_stats, candidates,
                               "Items that wait until the user accepts or rejects them."),
                     SHAPE_REQ(learned_stats, superseded, "Items that were replaced."),
                     SHAPE_REQ(learned_stats, rejected, "Items that are not asked for again.")),
    .needs = READS,
    .run = run_stats,
};
