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

static bool export_to_output(struct operation_context *c, struct session_export_params *params,
                             struct error *e)
{
    struct output output;
    const struct operation_stream stream = {.write = write_piece, .context = &output};
    output_init(&output);
    c->stream = &stream;
    bool ok = operation_call(c, &operation_session_export, params, NULL, e);
    output_end(&output);
    return ok || ferror(stdout);
}

int verb_export(struct operation_context *c, const struct sessions_options *o)
{
    const char *path = o->output && strcmp(o->output, "-") != 0 ? o->output : NULL;
    struct session_export_params params = {.session = o->words.items[0],
                                           .path = path,
                                           .format = choose_format(o, path),
                                           .replace = o->force};
    struct error e = {0};
    bool ok = path ? output_may_write(path, o->force, &e) &&
                         operation_call(c, &operation_session_export, &params, NULL, &e)
                   : export_to_output(c, &params, &e);
    return ok ? 0 : cli_fail(&e);
}

/* --- import ------------------------------------------------------------------------------------
 */

struct import_watch {
    bool terminal; /* standard error is one, to show progress on */
    int shown;     /* percent; -1: none */
};

static bool tell(void *context, const char *what, int64_t percent, int64_t of)
{
    struct import_watch *w = context;
    (void)what, (void)of;
    if (w->terminal && percent != w->shown) {
        fprintf(stderr, "\r%d %%", (int)percent);
        w->shown = (int)percent;
    }
    return signals_take() == 0;
}

int verb_import(struct operation_context *c, const struct sessions_options *o)
{
    struct import_watch watch = {.terminal = isatty(STDERR_FILENO), .shown = -1};
    const struct session_import_params params = {.title = o->title, .directory = c->project};
    struct operation_stream stream = {.tell = tell, .wake_fd = -1, .context = &watch};
    struct session_info made;
    struct error e = {0};
    stream.in = input_open(o->words.items[0], &e);
    if (!stream.in)
        return cli_fail(&e);
    signals_open();
    c->stream = &stream;
    bool ok = operation_call(c, &operation_session_import, &params, &made, &e);
    if (watch.shown >= 0)
        fputs("\r     \r", stderr);
    if (ok)
        sessions_print_made(&operation_session_import, &made, o->json);
    input_close(stream.in);
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

static bool rebuild(struct operation_context *c, const char *session, struct error *e)
{
    const struct session_params params = {.session = session};
    struct session_changed done;
    return operation_call(c, &operation_session_rebuild, &params, &done, e);
}

/* One that cannot be written does not keep the others, and one that was deleted meanwhile has no
 * files. */
static int rebuild_all(struct operation_context *c)
{
    const struct session_filter every = {0};
    struct session_list_result found;
    struct error e = {0};
    int status = 0;
    if (!operation_call(c, &operation_session_list, &every, &found, &e))
        return cli_fail(&e);
    const struct session_list *list = &found.sessions;
    for (size_t i = 0; i < list->items.len; i++) {
        show_progress(i + 1, list->items.len);
        if (rebuild(c, list->items.items[i].id, &e) || e.code == ERR_SESSION_NOT_FOUND)
            continue;
        end_progress(list->items.len);
        status = cli_fail(&e);
    }
    end_progress(list->items.len);
    session_list_release(&found.sessions);
    return status;
}

int verb_rebuild(struct operation_context *c, const struct sessions_options *o)
{
    struct error e = {0};
    if (o->words.len == 0)
        return rebuild_all(c);
    return rebuild(c, o->words.items[0], &e) ? 0 : cli_fail(&e);
}
