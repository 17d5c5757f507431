#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "cli/input.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "ui/text/format.h"

static bool run_export(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->output ? o->output : o->words.len > 0 ? o->words.items[0] : "-";
    if (o->output && o->words.len > 0)
        return err_set(e, ERR_USAGE, _("give FILE once: with -o or without"));
    struct memory_export_result exported;
    return strcmp(path, "-") == 0
               ? verb_write_output(c, &operation_memory_export, NULL, &exported, e)
               : verb_write_file(c, &operation_memory_export, path, o->force, &exported, e);
}

static const struct option export_options[] = {
    {"output", 'o', OPTION_VALUE, "FILE", N_("write to FILE instead of standard output"),
     VERB_AT(output), .offer = {.what = OFFER_FILES}},
    VERB_FORCE,
    {0},
};

const struct verb verb_memory_export =
    VERB(operation_memory_export, run_export, .name = "export",
         .synopsis = "memory export [--force] [-o FILE | FILE]",
         .help = N_("export every entry to standard output or a file, one JSON object per "
                    "line"),
         .options = export_options, VERB_WORDS(0, 1, OFFER_FILES, .first = true));

struct watch {
    bool terminal; /* standard error is one, to show progress on */
    bool shown;
};

static void add_entries(struct buf *out, int64_t count)
{
    struct buf number = BUF_INIT;
    format_exact(&number, count);
    buf_addf(out, ngettext("%s entry", "%s entries", (unsigned long)count), number.data);
    buf_release(&number);
}

static bool tell(void *context, const char *what, int64_t stored, int64_t of)
{
    struct watch *w = context;
    (void)what, (void)of;
    if (w->terminal) {
        struct buf text = BUF_INIT;
        add_entries(&text, stored);
        fprintf(stderr, "\r%s", text.data);
        buf_release(&text);
        w->shown = true;
    }
    return signals_take() == 0;
}

static void say_imported(int64_t stored)
{
    struct buf text = BUF_INIT;
    add_entries(&text, stored);
    printf(_("%s added"), text.data);
    putchar('\n');
    buf_release(&text);
}

static bool import_stream(struct operation_context *c, FILE *in, const char *name, struct error *e)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .in = in, .name = name, .tell = tell, .wake_fd = -1, .context = &watch};
    struct memory_import_result imported;
    signals_open();
    c->stream = &stream;
    bool ok = operation_call(c, &operation_memory_import, NULL, &imported, e);
    if (watch.shown)
        fputc('\n', stderr);
    if (ok || imported.stored > 0)
        say_imported(imported.stored);
    if (ok && imported.stored == 0 && imported.lines > 0)
        fprintf(stderr, "%s\n", _("no new entries"));
    return ok;
}

static bool run_import(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->words.items[0];
    FILE *in = input_open(path, e);
    bool ok = in && import_stream(c, in, in == stdin ? _("standard input") : path, e);
    if (in)
        input_close(in);
    return ok;
}

const struct verb verb_memory_import =
    VERB(operation_memory_import, run_import, .name = "import", .synopsis = "memory import FILE|-",
         .help = N_("import entries, one JSON object per line"),
         .details = N_(
             "A line is {\"id\", \"session_id\", \"turn\", \"seq\", \"role\", "
             "\"speaker\", \"created_at\",\n"
             "\"content\", \"pinned\", \"edited\"}; session_id, role, created_at and content are "
             "required.\n"
             "Entries of a session must be in its order. Entries that exist already are "
             "skipped; - is\n"
             "standard input."),
         VERB_WORDS(1, 1, OFFER_FILES, .first = true));
