#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "cli/signals.h"

static char *formats(void)
{
    struct buf out = BUF_INIT;
    for (int f = 0; f < EXPORT_FORMAT_COUNT; f++)
        buf_addf(&out, "%s ", export_format_name((enum export_format)f));
    return buf_take(&out);
}

static bool take_format(const struct option *self, void *at, const char *value, struct error *e)
{
    const char *names[EXPORT_FORMAT_COUNT];
    enum export_format format;
    (void)self;
    *(const char **)at = value;
    if (export_format_from_name(value, &format))
        return true;
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++)
        names[i] = export_format_name((enum export_format)i);
    return cli_unknown(_("export format"), value, names, EXPORT_FORMAT_COUNT, e);
}

static enum export_format choose_format(const struct verb_options *o, const char *path)
{
    enum export_format format = EXPORT_MARKDOWN;
    if (o->format)
        export_format_from_name(o->format, &format);
    else if (path)
        format = export_format_of_path(path);
    return format;
}

static bool run_export(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->output && strcmp(o->output, "-") != 0 ? o->output : NULL;
    struct session_export_params params = {.session = o->words.items[0],
                                           .path = path,
                                           .format = choose_format(o, path),
                                           .replace = o->force};
    if (!path)
        return verb_write_output(c, &operation_session_export, &params, NULL, e);
    return output_may_write(path, o->force, e) &&
           operation_call(c, &operation_session_export, &params, NULL, e);
}

static const struct option export_options[] = {
    {"format", 0, OPTION_VALUE, "FORMAT",
     N_("markdown, json or jsonl (default: by the ending of FILE, else markdown)"), VERB_AT(format),
     .take = take_format, .offer = {OFFER_CHOICES, .choices = formats}},
    {"output", 'o', OPTION_VALUE, "FILE", N_("write to FILE instead of standard output"),
     VERB_AT(output), .offer = {.what = OFFER_FILES}},
    VERB_FORCE,
    {0},
};

const struct verb verb_sessions_export =
    VERB(operation_session_export, run_export, .name = "export",
         .synopsis = "sessions export [OPTION]... SESSION",
         .help = N_("export a session to standard output or a file"),
         .details = N_("markdown   to read\n"
                       "json       one object; json and jsonl can be imported "
                       "again\n"
                       "jsonl      the session's properties, then one event per line"),
         .options = export_options, VERB_WORDS(1, 1, OFFER_SESSIONS));

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

static bool run_import(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct import_watch watch = {.terminal = isatty(STDERR_FILENO), .shown = -1};
    const struct session_import_params params = {.title = o->title, .directory = c->project};
    struct operation_stream stream = {.tell = tell, .wake_fd = -1, .context = &watch};
    struct session_info made;
    stream.in = input_open(o->words.items[0], e);
    if (!stream.in)
        return false;
    signals_open();
    c->stream = &stream;
    bool ok = operation_call(c, &operation_session_import, &params, &made, e);
    if (watch.shown >= 0)
        fputs("\r     \r", stderr);
    if (ok)
        sessions_print_made(&operation_session_import, &made, o->json);
    input_close(stream.in);
    return ok;
}

static const struct option import_options[] = {
    {"title", 't', OPTION_VALUE, "TITLE",
     N_("a title for the new session, if the "
        "file has none"),
     VERB_AT(title)},
    VERB_JSON,
    {0},
};

const struct verb verb_sessions_import = VERB(
    operation_session_import, run_import, .name = "import",
    .synopsis = "sessions import [OPTION]... FILE|-",
    .help = N_("import a session from a file; prints its id"),
    .details = N_("The file is an export (json, jsonl) or a list of messages in OpenAI's form;\n"
                  "- is standard input."),
    .options = import_options, VERB_WORDS(1, 1, OFFER_FILES));

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

/* A session that was deleted meanwhile is no error. */
static bool rebuild_all(struct operation_context *c, struct error *e)
{
    const struct session_filter every = {0};
    struct session_list_result found;
    if (!operation_call(c, &operation_session_list, &every, &found, e))
        return false;
    const struct session_list *list = &found.sessions;
    for (size_t i = 0; i < list->items.len; i++) {
        struct error fault = {0};
        show_progress(i + 1, list->items.len);
        if (sessions_change_one(c, &operation_session_rebuild, list->items.items[i].id, &fault) ||
            fault.code == ERR_SESSION_NOT_FOUND)
            continue;
        end_progress(list->items.len);
        sessions_add_fault(e, &fault);
    }
    end_progress(list->items.len);
    session_list_release(&found.sessions);
    return e->code == ERR_OK;
}

static bool run_rebuild(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    return o->words.len == 0
               ? rebuild_all(c, e)
               : sessions_change_one(c, &operation_session_rebuild, o->words.items[0], e);
}

const struct verb verb_sessions_rebuild =
    VERB(operation_session_rebuild, run_rebuild, .name = "rebuild",
         .synopsis = "sessions rebuild [SESSION]",
         .help = N_("rewrite the files below sessions/ for one session or for all"),
         VERB_WORDS(0, 1, OFFER_SESSIONS));
