#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
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
    char *query = verb_join(o, 0);
    const struct learned_search_params params = {.query = query,
                                                 .scope = o->scope,
                                                 .kind = o->kind,
                                                 .tag = o->tag,
                                                 .session = o->session,
                                                 .limit = o->limit > 0 ? o->limit : 20};
    bool ok = print_result(c, o, &operation_learned_search, &params,
                           _("no learned item has one of these words"), e);
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

static const struct option history_options[] = {VERB_JSON, {0}};

static const struct verb verb_learned_history =
    VERB(operation_learned_history, run_history, .name = "history",
         .synopsis = "learned history [--json] ID",
         .help = N_("show an item and the earlier versions that it replaced"),
         .details = NAMES_AN_ITEM, .options = history_options, VERB_WORDS(1, 1, OFFER_NOTHING));

/* --- learned change --------------------------------------------------------------------------- */

enum { SHOWN_BYTES = 60 };

static void print_item(const struct learned_item *item)
{
    struct buf out = BUF_INIT;
    buf_addf(&out, "%s  %s  %s\n", item->id, learned_state_word(item->state), item->text);
    output_text(out.data);
    buf_release(&out);
}

/* Runs an operation that gives the item, and shows it. */
static bool change(struct operation_context *c, const struct verb_options *o,
                   const struct operation *operation, const void *params, struct error *e)
{
    struct learned_item item;
    if (!operation_call(c, operation, params, &item, e))
        return false;
    if (o->json)
        verb_print_json(operation, NULL, &item);
    else
        print_item(&item);
    learned_item_release(&item);
    return true;
}

static const struct option json_options[] = {VERB_JSON, {0}};

/* --- add, edit -------------------------------------------------------------------------------- */

static bool run_add(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    char *text = verb_join(o, 0);
    const struct learned_add_params params = {.text = text, .scope = o->scope};
    struct learned_add_result added;
    bool ok = operation_call(c, &operation_learned_add, &params, &added, e);
    free(text);
    if (!ok)
        return false;
    if (o->json)
        verb_print_json(&operation_learned_add, NULL, &added);
    else
        print_item(&added.item);
    learned_item_release(&added.item);
    return true;
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
    char *text = verb_join(o, 1);
    const struct learned_edit_params params = {.id = o->words.items[0], .text = text};
    bool ok = change(c, o, &operation_learned_edit, &params, e);
    free(text);
    return ok;
}

static const struct verb verb_learned_edit =
    VERB(operation_learned_edit, run_edit, .name = "edit",
         .synopsis = "learned edit [--json] ID TEXT...",
         .help = N_("change the text of an item; the old one stays as history"),
         .details = NAMES_AN_ITEM, .options = json_options, VERB_WORDS(2, CLI_MANY, OFFER_NOTHING));

/* --- accept, reject --------------------------------------------------------------------------- */

static bool run_decide(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct learned_id_params params = {.id = o->words.items[0]};
    return change(c, o, o->verb->operation, &params, e);
}

static const struct verb verb_learned_accept =
    VERB(operation_learned_accept, run_decide, .name = "accept",
         .synopsis = "learned accept [--json] ID",
         .help = N_("accept a candidate: the model is told of it"), .details = NAMES_AN_ITEM,
         .options = json_options, VERB_WORDS(1, 1, OFFER_NOTHING));

static const struct verb verb_learned_reject = VERB(
    operation_learned_reject, run_decide, .name = "reject",
    .synopsis = "learned reject [--json] ID",
    .help = N_("reject an item: the model is no longer told of it, and you are not asked again"),
    .details = NAMES_AN_ITEM, .options = json_options, VERB_WORDS(1, 1, OFFER_NOTHING));

/* --- forget ----------------------------------------------------------------------------------- */

static bool add_shown(struct operation_context *c, const char *id, struct buf *out, struct error *e)
{
    const struct learned_id_params params = {.id = id};
    struct learned_item item;
    struct buf line = BUF_INIT;
    if (!operation_call(c, &operation_learned_read, &params, &item, e))
        return false;
    buf_addf(&line, "%s  ", item.id);
    utf8_add_cut(&line, item.text, strlen(item.text), SHOWN_BYTES);
    utf8_clean(out, line.data, line.len, UTF8_ONE_LINE);
    buf_addch(out, '\n');
    buf_release(&line);
    learned_item_release(&item);
    return true;
}

static bool may_forget(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct buf text = BUF_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < o->words.len; i++)
        ok = add_shown(c, o->words.items[i], &text, e);
    buf_addf(&text,
             ngettext("Forget %zu item for good, with its history? [y/N] ",
                      "Forget %zu items for good, with their history? [y/N] ",
                      (unsigned long)o->words.len),
             o->words.len);
    ok = ok && verb_may_delete(o->yes, &text, e);
    buf_release(&text);
    return ok;
}

static bool run_forget(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct learned_forget_params params = {
        .ids = {.items = o->words.items, .len = o->words.len}};
    struct learned_forget_result gone;
    if (!may_forget(c, o, e) || !operation_call(c, &operation_learned_forget, &params, &gone, e))
        return false;
    printf(ngettext("%d item forgotten\n", "%d items forgotten\n", (unsigned long)gone.deleted),
           gone.deleted);
    return true;
}

static const struct option forget_options[] = {VERB_YES, {0}};

static const struct verb verb_learned_forget =
    VERB(operation_learned_forget, run_forget, .name = "forget",
         .synopsis = "learned forget [--yes] ID...", .help = N_("delete items for good"),
         .details = N_("Asks once; without a terminal, --yes is required. If one id is "
                       "unknown, nothing is deleted."),
         .options = forget_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

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
