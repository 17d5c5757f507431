#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/verb.h"

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
     N_("project or user (default: user for how answers are to be, else project)"), VERB_AT(scope)},
    VERB_JSON,
    {0},
};

const struct verb verb_learned_add = VERB(
    operation_learned_add, run_add, .name = "add", .synopsis = "learned add [OPTION]... TEXT...",
    .help = N_("have a text told to the model in later sessions"), .options = add_options,
    VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

static bool run_edit(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    char *text = verb_join(o, 1);
    const struct learned_edit_params params = {.id = o->words.items[0], .text = text};
    bool ok = change(c, o, &operation_learned_edit, &params, e);
    free(text);
    return ok;
}

const struct verb verb_learned_edit =
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

const struct verb verb_learned_accept =
    VERB(operation_learned_accept, run_decide, .name = "accept",
         .synopsis = "learned accept [--json] ID", .help = N_("have a candidate count"),
         .details = NAMES_AN_ITEM, .options = json_options, VERB_WORDS(1, 1, OFFER_NOTHING));

const struct verb verb_learned_reject =
    VERB(operation_learned_reject, run_decide, .name = "reject",
         .synopsis = "learned reject [--json] ID",
         .help = N_("have an item count no more; it is not asked for again"),
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

const struct verb verb_learned_forget =
    VERB(operation_learned_forget, run_forget, .name = "forget",
         .synopsis = "learned forget [--yes] ID...", .help = N_("delete items for good"),
         .details = N_("Asks once; without a terminal, --yes is required. If one id is "
                       "unknown, nothing is deleted."),
         .options = forget_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));
