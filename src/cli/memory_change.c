#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/verb.h"
#include "ui/term/tty.h"

static bool run_pin(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct memory_pin_params params = {.id = o->words.items[0],
                                             .pinned = o->verb == &verb_memory_pin};
    return operation_call(c, &operation_memory_pin, &params, NULL, e);
}

const struct verb verb_memory_pin =
    VERB(operation_memory_pin, run_pin, .name = "pin", .synopsis = "memory pin ID",
         .help = N_("rank an entry above equal matches, and keep later copies from "
                    "replacing it"),
         .details = NAMES_AN_ENTRY, VERB_WORDS(1, 1, OFFER_NOTHING));

const struct verb verb_memory_unpin =
    VERB(operation_memory_pin, run_pin, .name = "unpin", .synopsis = "memory unpin ID",
         .help = N_("unpin an entry"), .details = NAMES_AN_ENTRY, VERB_WORDS(1, 1, OFFER_NOTHING));

static bool write_anew(const struct verb_options *o, const struct memory_entry *entry,
                       struct buf *out, struct error *e)
{
    if (o->content) {
        buf_addstr(out, o->content);
        return true;
    }
    if (!isatty(STDIN_FILENO))
        return input_read(out, e);
    return external_editor_run(entry->content, out, e);
}

static bool check_content(const struct buf *text, struct error *e)
{
    if (memchr(text->data, '\0', text->len))
        return err_set(e, ERR_USAGE, _("the text contains a NUL character; remove it"));
    if (text->len > MEMORY_CONTENT_BYTES)
        return err_set(e, ERR_USAGE, _("the text is longer than %d MiB; shorten it"),
                       MEMORY_CONTENT_BYTES >> 20);
    return utf8_valid(text->data, text->len) ||
           err_set(e, ERR_USAGE, _("the text is not UTF-8; convert it"));
}

/* The newline with which editors and shells end a file is no part of the text. */
static bool same_text(const struct buf *text, const char *old)
{
    size_t len = text->len;
    while (len > 0 && text->data[len - 1] == '\n')
        len--;
    return len == strlen(old) && memcmp(text->data, old, len) == 0;
}

static bool read_entry(struct operation_context *c, const char *id, struct memory_entry *out,
                       struct error *e)
{
    const struct memory_read_params params = {.id = id};
    return operation_call(c, &operation_memory_read, &params, out, e);
}

static bool change_entry(struct operation_context *c, const struct verb_options *o,
                         const struct memory_entry *entry, struct buf *text, struct error *e)
{
    if (!write_anew(o, entry, text, e) || !check_content(text, e))
        return false;
    if (same_text(text, entry->content)) {
        fprintf(stderr, "%s\n", _("the text was not changed"));
        return true;
    }
    const struct memory_edit_params params = {.id = entry->id, .content = text->data};
    return operation_call(c, &operation_memory_edit, &params, NULL, e);
}

static bool run_edit(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct memory_entry entry = {0};
    struct buf text;
    buf_init(&text, MEMORY_CONTENT_BYTES);
    bool ok = read_entry(c, o->words.items[0], &entry, e) && change_entry(c, o, &entry, &text, e);
    memory_entry_release(&entry);
    buf_release(&text);
    return ok;
}

static const struct option edit_options[] = {
    {"content", 0, OPTION_VALUE, "TEXT",
     N_("the new text; without it, your editor opens, or standard input is read if it is not a "
        "terminal"),
     VERB_AT(content)},
    {0},
};

const struct verb verb_memory_edit =
    VERB(operation_memory_edit, run_edit, .name = "edit",
         .synopsis = "memory edit [--content TEXT] ID", .help = N_("change the text of an entry"),
         .details = NAMES_AN_ENTRY, .options = edit_options, VERB_WORDS(1, 1, OFFER_NOTHING));

enum { SHOWN_BYTES = 60 };

static void add_shown(const struct memory_entry *entry, struct buf *out)
{
    struct buf line = BUF_INIT;
    buf_addf(&line, "%s  ", entry->id);
    utf8_add_cut(&line, entry->content, strlen(entry->content), SHOWN_BYTES);
    utf8_clean(out, line.data, line.len, UTF8_ONE_LINE);
    buf_addch(out, '\n');
    buf_release(&line);
}

/* All that are named; false where one is unknown. */
static bool describe_all(struct operation_context *c, const struct verb_options *o, struct buf *out,
                         struct error *e)
{
    for (size_t i = 0; i < o->words.len; i++) {
        struct memory_entry entry = {0};
        if (!read_entry(c, o->words.items[i], &entry, e))
            return false;
        add_shown(&entry, out);
        memory_entry_release(&entry);
    }
    return true;
}

static bool may_delete(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct buf text = BUF_INIT;
    bool ok = describe_all(c, o, &text, e);
    buf_addf(&text,
             ngettext("Delete %zu entry for good? [y/N] ", "Delete %zu entries for good? [y/N] ",
                      (unsigned long)o->words.len),
             o->words.len);
    ok = ok && verb_may_delete(o->yes, &text, e);
    buf_release(&text);
    return ok;
}

static void say_deleted(const struct memory_forget_result *gone)
{
    printf(ngettext("%d entry deleted\n", "%d entries deleted\n", (unsigned long)gone->deleted),
           gone->deleted);
    if (gone->summaries > 0)
        printf(ngettext("%d summary quotes deleted text and is marked\n",
                        "%d summaries quote deleted text and are marked\n",
                        (unsigned long)gone->summaries),
               gone->summaries);
}

static bool run_delete(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct memory_forget_params params = {
        .ids = {.items = o->words.items, .len = o->words.len}};
    struct memory_forget_result gone;
    if (!may_delete(c, o, e) || !operation_call(c, &operation_memory_forget, &params, &gone, e))
        return false;
    say_deleted(&gone);
    return true;
}

static const struct option delete_options[] = {VERB_YES, {0}};

const struct verb verb_memory_delete =
    VERB(operation_memory_forget, run_delete, .name = "delete",
         .synopsis = "memory delete [--yes] ID...", .help = N_("delete entries for good"),
         .details = N_("Asks once; without a terminal, --yes is required. If one id is "
                       "unknown, nothing is deleted."),
         .options = delete_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));
