#include <stdio.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "ui/text/format.h"

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
        format_time(&text, item->changed_ms);
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

static void print_items(const struct verb_call *v, const void *result)
{
    const struct learned_items *items = result;
    const struct operation *o = v->verb->operation;
    if (items->items.len > 0)
        print_rows(items);
    else if (o == &operation_learned_list)
        fprintf(stderr, "%s\n",
                _("nothing was learned about this project; tiro learned add TEXT adds something, "
                  "--project all shows other projects"));
    else if (o == &operation_learned_search)
        fprintf(stderr, "%s\n", _("no learned item has one of these words"));
}

/* --- forget ----------------------------------------------------------------------------------- */

static bool run_forget(struct verb_call *v, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    struct verb_named named = {0};
    bool ok = verb_read_named(v, &operation_learned_read, "text", &named, &question, e);
    buf_addf(&question,
             ngettext("Forget %zu item for good, with its history? [y/N] ",
                      "Forget %zu items for good, with their history? [y/N] ",
                      (unsigned long)named.ids.len),
             named.ids.len);
    vec_free_each(&named.ids);
    return ok && verb_may_delete(v, &question, e) && verb_call(v, e);
}

static void print_forgotten(const struct verb_call *v, const void *result)
{
    const struct learned_forget_result *gone = result;
    (void)v;
    printf(ngettext("%d item forgotten\n", "%d items forgotten\n", (unsigned long)gone->deleted),
           gone->deleted);
}

/* --- the command --- */

static const struct verb_more more[] = {
    {&operation_learned_list, .print = print_items, .member = "items"},
    {&operation_learned_search, .print = print_items, .member = "items"},
    {&operation_learned_history, .print = print_items, .member = "items"},
    {&operation_learned_forget, .asks = true, .run = run_forget, .print = print_forgotten},
    {0},
};

VERB_GROUP(learned, "[ID]",
           N_("list and change what tiro learned from your messages for later sessions"),
           N_("The default command is list. For details: tiro learned COMMAND --help."))
