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

static bool export_to_file(struct memories *m, const char *path, bool replace, struct error *e)
{
    struct whole_file file;
    int64_t written;
    if (!output_may_write(path, replace, e) || !whole_file_begin(&file, path, replace, e))
        return false;
    bool ok = memories_export(m, write_to_file, &file, &written, e) && whole_file_finish(&file, e);
    whole_file_drop(&file);
    return ok;
}

/* A reader that goes away ends it; main() finds out and says what is to be said. */
static bool write_piece(void *output, const char *bytes, size_t len, struct error *e)
{
    return output_write(output, bytes, len) ||
           err_set_errno(e, ERR_FILE_ERROR, "%s", _("standard output cannot be written"));
}

static bool export_to_output(struct memories *m, struct error *e)
{
    struct output output;
    int64_t written;
    output_init(&output);
    bool ok = memories_export(m, write_piece, &output, &written, e);
    output_end(&output);
    return ok || ferror(stdout);
}

int verb_memory_export(struct memories *m, const struct memory_options *o)
{
    const char *path = o->words.len > 0 ? o->words.items[0] : "-";
    struct error e = {0};
    bool ok =
        strcmp(path, "-") == 0 ? export_to_output(m, &e) : export_to_file(m, path, o->force, &e);
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

static bool tell(void *context, int64_t lines, int64_t stored)
{
    struct watch *w = context;
    (void)lines;
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

static int import_file(struct memories *m, FILE *in, const char *name)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct import_progress progress = {.tell = tell, .context = &watch};
    struct error e = {0};
    int64_t lines, stored;
    signals_open();
    bool ok = memories_import(m, in, name, &progress, &lines, &stored, &e);
    if (watch.shown)
        fputc('\n', stderr);
    if (ok || stored > 0)
        say_imported(stored);
    if (ok && stored == 0 && lines > 0)
        fprintf(stderr, "%s\n", _("no new entries"));
    return ok ? 0 : cli_fail(&e);
}

int verb_memory_import(struct memories *m, const struct memory_options *o)
{
    const char *path = o->words.items[0];
    struct error e = {0};
    FILE *in = input_open(path, &e);
    if (!in)
        return cli_fail(&e);
    int status = import_file(m, in, in == stdin ? _("standard input") : path);
    input_close(in);
    return status;
}
