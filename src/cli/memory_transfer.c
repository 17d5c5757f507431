#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/whole_file.h"
#include "cli/command_line.h"
#include "cli/input.h"
#include "cli/memory.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "ui/text/format.h"

/* --- export ----------------------------------------------------------------------------------- */

static bool write_to_file(void *file, const char *bytes, size_t len, struct error *e)
{
    return whole_file_write(file, bytes, len, e);
}

static bool export_by(struct operation_context *c,
                      bool (*write)(void *, const char *, size_t, struct error *), void *context,
                      struct error *e)
{
    const struct operation_stream stream = {.write = write, .wake_fd = -1, .context = context};
    struct memory_export_result exported;
    c->stream = &stream;
    return operation_call(c, &operation_memory_export, NULL, &exported, e);
}

static bool export_to_file(struct operation_context *c, const char *path, bool replace,
                           struct error *e)
{
    struct whole_file file;
    if (!output_may_write(path, replace, e) || !whole_file_begin(&file, path, replace, e))
        return false;
    bool ok = export_by(c, write_to_file, &file, e) && whole_file_finish(&file, e);
    whole_file_drop(&file);
    return ok;
}

/* A reader that goes away ends it; main() finds out and says what is to be said. */
static bool write_piece(void *output, const char *bytes, size_t len, struct error *e)
{
    return output_write(output, bytes, len) ||
           err_set_errno(e, ERR_FILE_ERROR, "%s", _("standard output cannot be written"));
}

static bool export_to_output(struct operation_context *c, struct error *e)
{
    struct output output;
    output_init(&output);
    bool ok = export_by(c, write_piece, &output, e);
    output_end(&output);
    return ok || ferror(stdout);
}

int verb_memory_export(struct operation_context *c, const struct memory_options *o)
{
    const char *path = o->words.len > 0 ? o->words.items[0] : "-";
    struct error e = {0};
    bool ok =
        strcmp(path, "-") == 0 ? export_to_output(c, &e) : export_to_file(c, path, o->force, &e);
    return ok ? 0 : cli_fail(&e);
}

/* --- import ----------------------------------------------------------------------------------- */

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

static int import_file(struct operation_context *c, FILE *in, const char *name)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .in = in, .name = name, .tell = tell, .wake_fd = -1, .context = &watch};
    struct memory_import_result imported;
    struct error e = {0};
    signals_open();
    c->stream = &stream;
    bool ok = operation_call(c, &operation_memory_import, NULL, &imported, &e);
    if (watch.shown)
        fputc('\n', stderr);
    if (ok || imported.stored > 0)
        say_imported(imported.stored);
    if (ok && imported.stored == 0 && imported.lines > 0)
        fprintf(stderr, "%s\n", _("no new entries"));
    return ok ? 0 : cli_fail(&e);
}

int verb_memory_import(struct operation_context *c, const struct memory_options *o)
{
    const char *path = o->words.items[0];
    struct error e = {0};
    FILE *in = input_open(path, &e);
    if (!in)
        return cli_fail(&e);
    int status = import_file(c, in, in == stdin ? _("standard input") : path);
    input_close(in);
    return status;
}
