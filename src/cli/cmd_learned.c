#include <stdio.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "cli/output.h"
#include "cli/verb.h"

#define NAMES_AN_ITEM N_("ID is the id of an item or the start of it; list and search show ids.")

/* --- learned list ----------------------------------------------------------------------------- */

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

static void print_rows(const struct learned_items *items)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct grid g = GRID(columns);
    for (size_t i = 0; i < items->items.len; i++) {
        const struct learned_item *item = &items->items.items[i];
        grid_add(&g, item->id);
        buf_clear(&text);
        output_time(&text, item->changed_ms);
        grid_add(&g, text.data);
        grid_add(&g, learned_state_word(item->state));
        grid_add(&g, learned_scope_word(item->scope));
        grid_add(&g, learned_kind_word(item->kind));
        buf_clear(&text);
        buf_addf(&text, ngettext("%lld use", "%lld uses", (unsigned long)item->uses),
                 (long long)item->uses);
        grid_add(&g, item->uses > 0 ? text.data : _("never used"));
        grid_add(&g, item->text);
    }
    grid_print(&g);
}

/* Calls an operation that gives a list, and prints it; `nothing` when it is empty. */
static bool print_result(struct operation_context *c, const struct verb_options *o,
                         const struct operation *operation, const void *params, const char *nothing,
                         struct error *e)
{
    AUTO(learned_items_release) struct learned_items items = {0};
    if (!operation_call(c, operation, params, &items, e))
        return false;
    if (o->json)
        verb_print_json(operation, "items", &items);
    else if (items.items.len == 0)
        fprintf(stderr, "%s\n", nothing);
    else
        print_rows(&items);
    return true;
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
                        _("nothing was learned about this project; tiro learned add TEXT adds "
                          "something, --project all shows other projects"),
                        e);
}

/* clang-format off */
static const struct option list_options[] = {
    {"scope", 0, OPTION_VALUE, "SCOPE",
     N_("only project or user; or tool, history: facts from the logs of sessions"), VERB_AT(scope)},
    LEARNED_KIND,
    LEARNED_TAG,
    {"state", 0, OPTION_VALUE, "STATE", N_("only candidate, active, superseded or rejected"),
     VERB_AT(state)},
    {"project", 0, OPTION_VALUE, "DIRECTORY",
     N_("only items of the project in DIRECTORY, or all (default: the working directory's project)"), VERB_AT(project)},
    LEARNED_SESSION,
    {"unused", 0, OPTION_FLAG, NULL, N_("only active items that no session was told of yet"),
     VERB_AT(unused)},
    VERB_LIMIT('n', N_("at most N items (default: all)")),
    VERB_JSON,
    {0},
};
/* clang-format on */

static const struct verb verb_learned_list = VERB(
    operation_learned_list, run_list, .name = "list", .synopsis = "learned list [OPTION]...",
    .help = N_("list what was learned, latest change first"),
    .details = N_("A candidate waits until you accept or reject it."), .options = list_options);

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    auto_free char *query = verb_join(o, 0);
    const struct learned_search_params params = {.query = query,
                                                 .scope = o->scope,
                                                 .kind = o->kind,
                                                 .tag = o->tag,
                                                 .session = o->session,
                                                 .limit = o->limit > 0 ? o->limit : 20};
    return print_result(c, o, &operation_learned_search, &params,
                        _("no learned item has one of these words"), e);
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

static const struct verb verb_learned_search =
    VERB(operation_learned_search, run_search, .name = "search",
         .synopsis = "learned search [OPTION]... QUERY...",
         .help = N_("search what models are told about this project and about you"),
         .options = search_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

static bool run_history(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct learned_id_params params = {.id = o->words.items[0]};
    return print_result(c, o, &operation_learned_history, &params, "", e);
}

static const struct verb verb_learned_history =
    VERB(operation_learned_history, run_history, .name = "history",
         .synopsis = "learned history [--json] ID",
         .help = N_("show an item and the earlier versions that it replaced"),
         .details = NAMES_AN_ITEM, .options = verb_json_options, VERB_WORDS(1, 1, OFFER_NOTHING));

/* --- learned add and edit --------------------------------------------------------------------- */

static void print_item(const void *result)
{
    const struct learned_item *item = result;
    AUTO(buf_release) struct buf out = BUF_INIT;
    buf_addf(&out, "%s  %s  %s\n", item->id, learned_state_word(item->state), item->text);
    output_text(out.data);
}

static void print_added(const void *result)
{
    print_item(&((const struct learned_add_result *)result)->item);
}

static bool run_add(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    auto_free char *text = verb_join(o, 0);
    const struct learned_add_params params = {.text = text, .scope = o->scope};
    return verb_show(c, o, &operation_learned_add, &params, NULL, print_added, e);
}

static const struct option add_options[] = {
    {"scope", 0, OPTION_VALUE, "SCOPE",
     N_("project or user (default: user for the style of answers, else project)"), VERB_AT(scope)},
    VERB_JSON,
    {0},
};

static const struct verb verb_learned_add = VERB(
    operation_learned_add, run_add, .name = "add", .synopsis = "learned add [OPTION]... TEXT...",
    .help = N_("add a text that the model is told in later sessions"), .options = add_options,
    VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

static bool run_edit(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    auto_free char *text = verb_join(o, 1);
    const struct learned_edit_params params = {.id = o->words.items[0], .text = text};
    return verb_show(c, o, &operation_learned_edit, &params, NULL, print_item, e);
}

static const struct verb verb_learned_edit = VERB(
    operation_learned_edit, run_edit, .name = "edit",
    .synopsis = "learned edit [--json] ID TEXT...",
    .help = N_("change the text of an item; the old one stays as history"),
    .details = NAMES_AN_ITEM, .options = verb_json_options, VERB_WORDS(2, CLI_MANY, OFFER_NOTHING));

/* --- accept, reject --------------------------------------------------------------------------- */

static bool run_decide(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct learned_id_params params = {.id = o->words.items[0]};
    return verb_show(c, o, o->verb->operation, &params, NULL, print_item, e);
}

static const struct verb verb_learned_accept =
    VERB(operation_learned_accept, run_decide, .name = "accept",
         .synopsis = "learned accept [--json] ID",
         .help = N_("accept a candidate: the model is told of it"), .details = NAMES_AN_ITEM,
         .options = verb_json_options, VERB_WORDS(1, 1, OFFER_NOTHING));

static const struct verb verb_learned_reject = VERB(
    operation_learned_reject, run_decide, .name = "reject",
    .synopsis = "learned reject [--json] ID",
    .help = N_("reject an item: the model is no longer told of it, and you are not asked again"),
    .details = NAMES_AN_ITEM, .options = verb_json_options, VERB_WORDS(1, 1, OFFER_NOTHING));

/* --- forget ----------------------------------------------------------------------------------- */

static bool run_forget(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    for (size_t i = 0; i < o->words.len; i++) {
        const struct learned_id_params params = {.id = o->words.items[i]};
        struct learned_item item;
        if (!operation_call(c, &operation_learned_read, &params, &item, e))
            return false;
        verb_add_deleted(&question, item.id, item.text);
        learned_item_release(&item);
    }
    buf_addf(&question,
             ngettext("Forget %zu item for good, with its history? [y/N] ",
                      "Forget %zu items for good, with their history? [y/N] ",
                      (unsigned long)o->words.len),
             o->words.len);
    const struct learned_forget_params params = {
        .ids = {.items = o->words.items, .len = o->words.len}};
    struct learned_forget_result gone;
    if (!verb_may_delete(o->yes, &question, e) ||
        !operation_call(c, &operation_learned_forget, &params, &gone, e))
        return false;
    printf(ngettext("%d item forgotten\n", "%d items forgotten\n", (unsigned long)gone.deleted),
           gone.deleted);
    return true;
}

static const struct verb verb_learned_forget =
    VERB(operation_learned_forget, run_forget, .name = "forget",
         .synopsis = "learned forget [--yes] ID...", .help = N_("delete items for good"),
         .details = N_("Asks once; without a terminal, --yes is required. If one id is "
                       "unknown, nothing is deleted."),
         .options = verb_yes_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

/* --- the command --- */

static const struct cli_command *const verbs[] = {
    &verb_learned_list.command,   &verb_learned_search.command, &verb_learned_history.command,
    &verb_learned_add.command,    &verb_learned_edit.command,   &verb_learned_accept.command,
    &verb_learned_reject.command, &verb_learned_forget.command, NULL,
};

const struct cli_command cmd_learned = {
    .name = "learned",
    .synopsis = "learned [COMMAND] [OPTION]... [ID]",
    .help = N_("list and change what tiro learned from your messages for later sessions"),
    .details = N_("The default command is list. For details: tiro learned COMMAND --help."),
    .verbs = verbs,
    .run = cli_run_verb,
};
