#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "cli/command_line.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/sessions.h"
#include "cli/signals.h"
#include "session/export.h"
#include "session/import.h"
#include "session/projection.h"

/* --- export ------------------------------------------------------------------------------------
 */

bool sessions_check_format(const char *name, struct error *e)
{
    const char *names[EXPORT_FORMAT_COUNT];
    enum export_format format;
    if (export_format_from_name(name, &format))
        return true;
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++)
        names[i] = export_format_name((enum export_format)i);
    return cli_unknown(_("export format"), name, names, EXPORT_FORMAT_COUNT, e);
}

static enum export_format choose_format(const struct sessions_options *o, const char *path)
{
    enum export_format format = EXPORT_MARKDOWN;
    if (o->format)
        export_format_from_name(o->format, &format);
    else if (path)
        format = export_format_of_path(path);
    return format;
}

/* A reader that goes away ends it; main() finds out and says what is to be said. */
static bool write_piece(void *context, const char *bytes, size_t len, struct error *e)
{
    return output_write(context, bytes, len) ||
           err_set_errno(e, ERR_FILE_ERROR, "%s", _("standard output cannot be written"));
}

static bool export_to_output(struct catalog *c, const char *reference, enum export_format format,
                             struct error *e)
{
    struct output output;
    output_init(&output);
    bool ok = export_session(c, reference, format, write_piece, &output, e);
    output_end(&output);
    return ok || ferror(stdout);
}

int verb_export(struct catalog *c, const struct sessions_options *o)
{
    const char *path = o->output && strcmp(o->output, "-") != 0 ? o->output : NULL;
    const char *reference = o->words.items[0];
    enum export_format format = choose_format(o, path);
    struct error e = {0};
    bool ok = path ? output_may_write(path, o->force, &e) &&
                         export_to_file(c, reference, format, path, o->force, &e)
                   : export_to_output(c, reference, format, &e);
    return ok ? 0 : cli_fail(&e);
}

/* --- import ------------------------------------------------------------------------------------
 */

struct import_watch {
    bool terminal; /* standard error is one, to show progress on */
    int shown;     /* percent; -1: none */
};

static bool tell(void *context, int percent)
{
    struct import_watch *w = context;
    if (w->terminal && percent != w->shown) {
        fprintf(stderr, "\r%d %%", percent);
        w->shown = percent;
    }
    return signals_take() == 0;
}

static bool import_file(struct catalog *c, const struct sessions_options *o, FILE *in,
                        struct session_info *info, struct error *e)
{
    struct import_watch watch = {.terminal = isatty(STDERR_FILENO), .shown = -1};
    char *directory = realpath(".", NULL);
    const struct import_options options = {
        .title = o->title, .directory = directory, .tell = tell, .context = &watch};
    signals_open();
    bool ok = import_session(c, in, &options, info, e);
    if (watch.shown >= 0)
        fputs("\r     \r", stderr);
    free(directory);
    return ok;
}

int verb_import(struct catalog *c, const struct sessions_options *o)
{
    struct session_info info = {0};
    struct error e = {0};
    FILE *in = input_open(o->words.items[0], &e);
    if (!in)
        return cli_fail(&e);
    bool ok = import_file(c, o, in, &info, &e);
    if (ok)
        sessions_print_new(&info, o->json);
    session_info_release(&info);
    input_close(in);
    return ok ? 0 : cli_fail(&e);
}

/* --- rebuild -----------------------------------------------------------------------------------
 */

static void show_progress(size_t done, size_t count)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s %zu/%zu", _("sessions"), done, count);
}

static void end_progress(size_t count)
{
    if (count > 0 && isatty(STDERR_FILENO))
        fputc('\n', stderr);
}

/* One that cannot be written does not keep the others, and one that was deleted meanwhile has no
 * files. */
static int rebuild_all(struct catalog *c)
{
    const struct session_filter every = {0};
    struct session_list list = {0};
    struct error e = {0};
    int status = 0;
    if (!catalog_list(c, &every, &list, NULL, &e))
        return cli_fail(&e);
    for (size_t i = 0; i < list.items.len; i++) {
        show_progress(i + 1, list.items.len);
        if (projection_rebuild(c, list.items.items[i].id, &e) || e.code == ERR_SESSION_NOT_FOUND)
            continue;
        end_progress(list.items.len);
        status = cli_fail(&e);
    }
    end_progress(list.items.len);
    session_list_release(&list);
    return status;
}

int verb_rebuild(struct catalog *c, const struct sessions_options *o)
{
    struct session_info info;
    struct error e = {0};
    if (o->words.len == 0)
        return rebuild_all(c);
    if (!catalog_find(c, o->words.items[0], &info, &e))
        return cli_fail(&e);
    bool ok = projection_rebuild(c, info.id, &e);
    session_info_release(&info);
    return ok ? 0 : cli_fail(&e);
}
