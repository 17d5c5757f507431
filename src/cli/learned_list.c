#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/grid.h"
#include "cli/output.h"
#include "cli/verb.h"

enum { ID_COLUMNS = 24, DAY_COLUMNS = 11, TEXT_LEAST = 20, STATE_COLUMNS = 12 };

/* clang-format off */
static const struct grid_column columns[] = {
    {.max = ID_COLUMNS},
    {.shrink = DAY_COLUMNS},                                  /* when it last changed */
    {.max = STATE_COLUMNS},
    {0},                                                      /* scope */
    {0},                                                      /* kind */
    {0},                                                      /* uses */
    {.shrink = TEXT_LEAST, .first = true},
};
/* clang-format on */

static void add_row(struct grid *g, const struct learned_item *item)
{
    struct buf text = BUF_INIT;
    grid_add(g, item->id);
    output_time(&text, item->changed_ms);
    grid_add(g, text.data);
    grid_add(g, learned_state_word(item->state));
    grid_add(g, learned_scope_word(item->scope));
    grid_add(g, learned_kind_word(item->kind));
    buf_clear(&text);
    if (item->uses > 0)
        buf_addf(&text, ngettext("%lld use", "%lld uses", (unsigned long)item->uses),
                 (long long)item->uses);
    grid_add(g, text.len > 0 ? text.data : _("never used"));
    grid_add(g, item->text);
    buf_release(&text);
}

static void print_rows(const struct learned_items *items, const char *nothing)
{
    struct grid g = GRID(columns);
    if (items->items.len == 0) {
        fprintf(stderr, "%s\n", nothing);
        return;
    }
    for (size_t i = 0; i < items->items.len; i++)
        add_row(&g, &items->items.items[i]);
    grid_print(&g);
}

static bool print_result(struct operation_context *c, const struct verb_options *o,
                         const struct operation *operation, const void *params, const char *nothing,
                         struct error *e)
{
    struct learned_items items = {0};
    bool ok = operation_call(c, operation, params, &items, e);
    if (ok && o->json)
        verb_print_json(operation, "items", &items);
    else if (ok)
        print_rows(&items, nothing);
    learned_items_release(&items);
    return ok;
}

#define LEARNED_SCOPE                                                                              \
    {                                                                                              \
        "scope", 0, OPTION_VALUE, "SCOPE", N_("only of the project, or of the user"),              \
            VERB_AT(scope)                                                                         \
    }
#define LEARNED_TAG                                                                                \
    {                                                                                              \
        "tag", 0, OPTION_VALUE, "TAG", N_("only texts with #TAG in them"), VERB_AT(tag)            \
    }
#define LEARNED_SESSION                                                                            \
    {                                                                                              \
        "session", 0, OPTION_VALUE, "SESSION", N_("only what was said in this session"),           \
            VERB_AT(session), .offer = {                                                           \
                .what = OFFER_SESSIONS                                                             \
            }                                                                                      \
    }
#define LEARNED_KIND                                                                               \
    {                                                                                              \
        "kind", 0, OPTION_VALUE, "KIND",                                                           \
            N_("only fact, rule, language, style, tone, format or emoji"), VERB_AT(kind)           \
    }

static bool run_list(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct learned_list_params params = {.scope = o->scope,
                                               .kind = o->kind,
                                               .state = o->state,
                                               .tag = o->tag,
                                               .project = o->project,
                                               .session = o->session,
                                               .unused = o->unused,
                                               .limit = o->limit};
    return print_result(c, o, &operation_learned_list, &params,
                        _("nothing was learned of this project; tiro learned add TEXT adds "
                          "something, --project all shows other projects"),
                        e);
}

/* clang-format off */
static const struct option list_options[] = {
    {"scope", 0, OPTION_VALUE, "SCOPE",
     N_("only project or user; or tool, history: what the logs of sessions say"), VERB_AT(scope)},
    LEARNED_KIND,
    LEARNED_TAG,
    {"state", 0, OPTION_VALUE, "STATE", N_("only candidate, active, superseded or rejected"),
     VERB_AT(state)},
    {"project", 0, OPTION_VALUE, "DIRECTORY",
     N_("of the project there, or all (default: the working directory's)"), VERB_AT(project)},
    LEARNED_SESSION,
    {"unused", 0, OPTION_FLAG, NULL, N_("only what counts and no session was told of"),
     VERB_AT(unused)},
    VERB_LIMIT('n', N_("at most N items (default: all)")),
    VERB_JSON,
    {0},
};
/* clang-format on */

const struct verb verb_learned_list = VERB(
    operation_learned_list, run_list, .name = "list", .synopsis = "learned list [OPTION]...",
    .help = N_("list what was learned, what changed last first"),
    .details = N_("A candidate waits until you accept or reject it."), .options = list_options);

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    char *query = verb_join(o, 0);
    const struct learned_search_params params = {.query = query,
                                                 .scope = o->scope,
                                                 .kind = o->kind,
                                                 .tag = o->tag,
                                                 .session = o->session,
                                                 .limit = o->limit > 0 ? o->limit : 20};
    bool ok = print_result(c, o, &operation_learned_search, &params,
                           _("nothing that was learned has one of these words"), e);
    free(query);
    return ok;
}

static const struct option search_options[] = {
    LEARNED_SCOPE,
    LEARNED_KIND,
    LEARNED_TAG,
    LEARNED_SESSION,
    VERB_LIMIT('n', N_("at most N items (default: 20)")),
    VERB_JSON,
    {0},
};

const struct verb verb_learned_search =
    VERB(operation_learned_search, run_search, .name = "search",
         .synopsis = "learned search [OPTION]... QUERY...",
         .help = N_("search what models are told of this project and of you"),
         .options = search_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

static bool run_history(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct learned_id_params params = {.id = o->words.items[0]};
    return print_result(c, o, &operation_learned_history, &params, "", e);
}

static const struct option history_options[] = {VERB_JSON, {0}};

const struct verb verb_learned_history =
    VERB(operation_learned_history, run_history, .name = "history",
         .synopsis = "learned history [--json] ID",
         .help = N_("show an item and what it took the place of"), .details = NAMES_AN_ITEM,
         .options = history_options, VERB_WORDS(1, 1, OFFER_NOTHING));
