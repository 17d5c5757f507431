#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "chat/transcript_text.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "session/extractor.h"

/* --- sessions list ---------------------------------------------------------------------------- */

enum { TITLE_COLUMNS = 60, TITLE_LEAST = 20, MODEL_LEAST = 8, LABELS_COLUMNS = 40 };

/* clang-format off */
static const struct grid_column columns[] = {
    {0},                                                      /* the end of the id */
    {0},                                                      /* when it was updated */
    {.right = true},                                          /* turns */
    {.max = TITLE_COLUMNS, .shrink = TITLE_LEAST},
    {.shrink = MODEL_LEAST},                                  /* model */
    {0},                                                      /* archived */
    {.max = LABELS_COLUMNS},                               /* labels */
};
/* clang-format on */

static void print_rows(const struct session_list *list)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct grid g = GRID(columns);
    for (size_t i = 0; i < list->items.len; i++) {
        const struct session_info *s = &list->items.items[i];
        grid_add(&g, output_short_id(s->id));
        buf_clear(&text);
        output_time(&text, s->updated_ms);
        grid_add(&g, text.data);
        buf_clear(&text);
        buf_addf(&text, ngettext("%d turn", "%d turns", (unsigned long)s->turns), s->turns);
        grid_add(&g, text.data);
        auto_free char *draft = session_title_of_draft(s);
        auto_free char *title = draft ? mem_printf(_("Draft: %s"), draft) : NULL;
        grid_add(&g, title ? title : s->title);
        grid_add(&g, s->model);
        grid_add(&g, s->archived_ms > 0 ? _("archived") : NULL);
        grid_add(&g, s->labels);
    }
    grid_print(&g);
}

static void print_names(const struct session_list *list)
{
    for (size_t i = 0; i < list->items.len; i++) {
        const struct session_info *s = &list->items.items[i];
        AUTO(buf_release) struct buf title = BUF_INIT;
        utf8_clean(&title, s->title, strlen(s->title), UTF8_ONE_LINE);
        printf("%s\t%s\n", output_short_id(s->id), title.data);
    }
}

static bool run_list(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    if (o->archived && o->live)
        return err_set(e, ERR_USAGE, _("--archived and --live exclude each other; give one"));
    if (o->json && o->names)
        return err_set(e, ERR_USAGE, _("--json and --names exclude each other; give one"));
    /* Sessions store the resolved path. A directory that is gone is compared as it was written. */
    auto_free char *resolved = o->directory ? realpath(o->directory, NULL) : NULL;
    const struct session_filter filter = {.label = o->label,
                                          .directory = resolved ? resolved : o->directory,
                                          .state = o->archived ? SESSION_ARCHIVED
                                                   : o->live   ? SESSION_LIVE
                                                               : SESSION_ANY,
                                          .limit = o->limit};
    struct session_list_result found;
    if (!operation_call(c, &operation_session_list, &filter, &found, e))
        return false;
    if (o->json)
        verb_print_json(&operation_session_list, "sessions", &found);
    else if (o->names)
        print_names(&found.sessions);
    else if (found.sessions.items.len > 0)
        print_rows(&found.sessions);
    else if (!config_boolean(c->config, CONFIG_SESSION_PERSIST))
        fprintf(stderr, "%s\n", _("sessions are not saved: [session] persist is false"));
    else if (o->archived || o->live || o->label || o->directory)
        fprintf(stderr, "%s\n", _("no session matches; tiro sessions list shows all"));
    else
        fprintf(stderr, "%s\n", _("no sessions yet; tiro starts one"));
    session_list_release(&found.sessions);
    return true;
}

static const struct option list_options[] = {
    VERB_JSON,
    VERB_LIMIT('n', N_("only the newest N")),
    {"archived", 0, OPTION_FLAG, NULL, N_("only archived sessions"), VERB_AT(archived)},
    {"live", 0, OPTION_FLAG, NULL, N_("only sessions that are not archived"), VERB_AT(live)},
    {"label", 'l', OPTION_VALUE, "LABEL", N_("only sessions with the label"), VERB_AT(label)},
    {"directory", 'd', OPTION_VALUE, "DIR",
     N_("only sessions started in DIR; . is the current directory"), VERB_AT(directory),
     .offer = {.what = OFFER_DIRECTORIES}},
    {"names", 0, OPTION_FLAG, NULL,
     N_("one line per session: end of the id, tab, title; for scripts"), VERB_AT(names)},
    {0},
};

static const struct verb verb_sessions_list =
    VERB(operation_session_list, run_list, .name = "list", .synopsis = "sessions list [OPTION]...",
         .help = N_("list every session, newest first"), .options = list_options);

/* --- sessions show ---------------------------------------------------------------------------- */

enum { PAGE_EVENTS = 200 };

/* Writes a session page by page. Without a limit each event is written as it comes; with one, the
 * texts of the last `limit` turns are kept until the end. */
struct show {
    bool json;
    size_t limit; /* turns; 0: all */
    bool any;     /* an event was written */
    bool closed;  /* standard output takes no more */
    struct transcript_words words;
    struct transcript_text text;
    struct output output;
    VEC(struct buf) turns;
};

static void put(struct show *s, const char *text, size_t len)
{
    s->closed = s->closed || !output_write(&s->output, text, len);
}

static void put_head(struct show *s, const struct session_info *info)
{
    AUTO(buf_release) struct buf head = BUF_INIT;
    if (s->json) {
        AUTO(json_free_local) struct json *v = shape_to_json(&session_info_shape, info);
        auto_free char *text = json_print(v);
        buf_addf(&head, "{\"session\":%s,\n\"events\":[", text);
    } else {
        transcript_text_head(&head, info, &s->words, false);
    }
    put(s, head.data, head.len);
}

static void put_turn(struct show *s, struct buf *turn)
{
    if (s->json && turn->len > 0 && !s->any)
        buf_consume(turn, 1); /* the first comma */
    s->any = s->any || turn->len > 0;
    put(s, turn->data, turn->len);
    buf_clear(turn);
}

static void take_event(struct show *s, const struct event *ev)
{
    if (s->turns.len == 0 || (s->limit > 0 && ev->type == EVENT_TURN_STARTED)) {
        if (s->turns.len > 0) /* "cut off" belongs to the turn before */
            transcript_text_cut_off(&s->text, &vec_last(&s->turns));
        if (s->limit > 0 && s->turns.len == s->limit) {
            buf_release(&s->turns.items[0]);
            vec_remove(&s->turns, 0, 1);
        }
        vec_push(&s->turns, (struct buf)BUF_INIT);
    }
    struct buf *turn = &vec_last(&s->turns);
    if (s->json) {
        auto_free char *line = event_to_line(ev);
        buf_addf(turn, ",\n%s", line);
    } else {
        transcript_text_add(&s->text, turn, ev);
    }
    if (s->limit == 0)
        put_turn(s, turn);
}

static bool run_show(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct operation *history = &operation_session_history;
    struct session_history_params params = {
        .session = o->words.len > 0 ? o->words.items[0] : "last", .limit = PAGE_EVENTS};
    struct show s = {.json = o->json,
                     .limit = (size_t)o->limit,
                     .words = {
                         .you = _("you"),
                         .cut_off = _("cut off"),
                         .failed = _("failed"),
                         .interrupted = _("interrupted"),
                         .bytes = _("bytes"),
                         .seconds = _("s"),
                         .unfinished = _("unfinished"),
                         .compacted = _("compacted"),
                         .compaction_failed = _("compaction failed"),
                         .compaction_undone = _("compaction undone"),
                         .summary = _("summary"),
                         .tokens = _("tokens"),
                         .messages = _("messages"),
                         .remembered = _("stored in memory"),
                         .recalled = _("recalled"),
                         .learned = _("remembered for later sessions"),
                         .proposed = _("to be remembered?"),
                         .open_end = _("unfinished: interrupted, or still running"),
                         .time = output_time,
                     }};
    char id[UUID_LEN + 1];
    output_init(&s.output);
    transcript_text_init(&s.text, &s.words);
    bool more = true, ok = true;
    while (more && ok) {
        struct session_history_result page;
        ok = operation_call(c, history, &params, &page, e);
        if (ok && params.after == 0)
            put_head(&s, &page.session);
        for (size_t i = 0; ok && i < page.events.items.len; i++)
            take_event(&s, page.events.items.items[i]);
        if (ok && page.events.items.len > 0)
            params.after = vec_last(&page.events.items)->seq;
        more = ok && page.more && !s.closed;
        memcpy(id, page.session.id, sizeof id);
        params.session = id; /* "last" may be another one by now */
        shape_release(history->result, &page);
    }
    if (ok && !s.json && s.turns.len > 0)
        transcript_text_end(&s.text, &vec_last(&s.turns));
    for (size_t i = 0; i < s.turns.len; i++) {
        if (ok)
            put_turn(&s, &s.turns.items[i]);
        buf_release(&s.turns.items[i]);
    }
    if (ok && s.json)
        put(&s, "\n]}\n", 4);
    output_end(&s.output);
    vec_release(&s.turns);
    transcript_text_release(&s.text);
    return ok;
}

static const struct option show_options[] = {
    VERB_JSON,
    VERB_LIMIT('n', N_("only the last N turns")),
    {0},
};

static const struct verb verb_sessions_show =
    VERB(operation_session_history, run_show, .name = "show",
         .synopsis = "sessions show [OPTION]... [SESSION]",
         .help = N_("show the transcript of a session (default: last)"), .details = NAMES_A_SESSION,
         .options = show_options, VERB_WORDS(0, 1, OFFER_SESSIONS));

/* --- sessions search -------------------------------------------------------------------------- */

enum { DEFAULT_LIMIT = 50 };

/* Two lines of a match: the session, and the text around the match. */
static void add_hit(struct buf *out, const struct search_hit *h, size_t width)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    buf_addf(&line, "%s  ", output_short_id(h->session_id));
    output_time(&line, h->at_ms);
    buf_addstr(&line, "  ");
    if (h->title)
        utf8_clean(&line, h->title, strlen(h->title), UTF8_ONE_LINE);
    if (h->archived)
        buf_addf(&line, " (%s)", _("archived"));
    buf_add(out, line.data, utf8_cut_width(line.data, line.len, width));
    buf_addch(out, '\n');

    buf_clear(&line);
    buf_addf(&line, "  %s: ", h->role == ROLE_USER ? _("you") : "tiro");
    size_t taken = utf8_width(line.data, line.len);
    const char *snippet = h->snippet ? h->snippet : "";
    size_t start = width > taken ? output_start(snippet, h->match, width - taken - 1) : 0;
    if (start > 0)
        buf_addstr(&line, "…");
    utf8_clean(&line, snippet + start, strlen(snippet + start), UTF8_ONE_LINE);
    buf_add(out, line.data, utf8_cut_width(line.data, line.len, width));
    buf_addch(out, '\n');
}

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct session_search_result found;
    auto_free char *query = verb_join(o, 0);
    const struct session_search_params params = {
        .query = query, .session = o->in, .limit = o->limit > 0 ? o->limit : DEFAULT_LIMIT};
    if (!operation_call(c, &operation_session_search, &params, &found, e))
        return false;
    if (o->json) {
        verb_print_json(&operation_session_search, "matches", &found);
    } else {
        AUTO(buf_release) struct buf out = BUF_INIT;
        size_t width = output_width();
        for (size_t i = 0; i < found.matches.items.len; i++)
            add_hit(&out, &found.matches.items.items[i], width);
        fwrite(out.data, 1, out.len, stdout);
        if (found.matches.items.len == 0)
            fprintf(stderr, "%s\n", _("no matches"));
    }
    if (found.more)
        fprintf(stderr, _("more than %d matches; --limit N shows more\n"), params.limit);
    search_hits_release(&found.matches);
    return true;
}

static const struct option search_options[] = {
    VERB_JSON,
    VERB_LIMIT('n', N_("at most N matches (default: 50)")),
    {"in", 0, OPTION_VALUE, "SESSION", N_("only in this session"), VERB_AT(in),
     .offer = {.what = OFFER_SESSIONS}},
    {0},
};

static const struct verb verb_sessions_search =
    VERB(operation_session_search, run_search, .name = "search",
         .synopsis = "sessions search [OPTION]... WORD...",
         .help = N_("search all transcripts for words"),
         .details = N_("\"Words in quotes\" must occur in that order; the last word also matches "
                       "longer words."),
         .options = search_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

/* --- sessions change -------------------------------------------------------------------------- */

static bool change(struct operation_context *c, const struct operation *o, const void *params,
                   struct error *e)
{
    struct session_changed changed;
    return operation_call(c, o, params, &changed, e);
}

static bool run_rename(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct session_rename_params params = {.session = o->words.items[0],
                                                 .title = o->words.items[1]};
    return change(c, &operation_session_rename, &params, e);
}

static const struct verb verb_sessions_rename =
    VERB(operation_session_rename, run_rename, .name = "rename",
         .synopsis = "sessions rename SESSION TITLE",
         .help = N_("change the title of a session; an empty title restores the first"),
         .details = NAMES_A_SESSION, VERB_WORDS(2, 2, OFFER_SESSIONS, .first = true));

static bool run_label(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    auto_free char *changes = verb_join(o, 1);
    const struct session_label_params params = {.session = o->words.items[0], .changes = changes};
    return change(c, &operation_session_label, &params, e);
}

static const struct verb verb_sessions_label =
    VERB(operation_session_label, run_label, .name = "label",
         .synopsis = "sessions label SESSION [+]LABEL|-LABEL...",
         .help = N_("add labels to a session, or remove them"), .details = NAMES_A_SESSION,
         VERB_WORDS(2, CLI_MANY, OFFER_SESSIONS, .first = true), .dashes = true);

static bool change_one(struct operation_context *c, const struct operation *o, const char *session,
                       struct error *e)
{
    const struct session_params params = {.session = session};
    return change(c, o, &params, e);
}

/* Keeps the last error; prints the one before. */
static void add_fault(struct error *e, const struct error *fault)
{
    if (e->code != ERR_OK)
        cli_fail(e);
    *e = *fault;
}

/* After an error the other sessions are changed nevertheless. */
static bool change_each(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    for (size_t i = 0; i < o->words.len; i++) {
        struct error fault = {0};
        if (!change_one(c, o->verb->operation, o->words.items[i], &fault))
            add_fault(e, &fault);
    }
    return e->code == ERR_OK;
}

/* The sessions are archived even when no model can be asked what to remember of them. */
static bool run_archive(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct error fault = {0};
    int proposed;
    bool ok = change_each(c, o, e);
    if (!extractor_run(c, &proposed, &fault))
        fprintf(stderr,
                _("tiro: no model could propose what to remember; tiro tries again at the next "
                  "start: %s\n"),
                fault.text);
    if (proposed > 0)
        fprintf(stderr,
                ngettext("%d item waits to be remembered; a model proposed it. tiro learned list "
                         "shows it.\n",
                         "%d items wait to be remembered; a model proposed some. tiro learned list "
                         "shows them.\n",
                         (unsigned long)proposed),
                proposed);
    return ok;
}

static const struct verb verb_sessions_archive =
    VERB(operation_session_archive, run_archive, .name = "archive",
         .synopsis = "sessions archive SESSION...", .help = N_("archive sessions"),
         .details = NAMES_A_SESSION, VERB_WORDS(1, CLI_MANY, OFFER_SESSIONS));

static const struct verb verb_sessions_unarchive = VERB(
    operation_session_unarchive, change_each, .name = "unarchive",
    .synopsis = "sessions unarchive SESSION...", .help = N_("move sessions out of the archive"),
    .details = NAMES_A_SESSION, VERB_WORDS(1, CLI_MANY, OFFER_SESSIONS));

static void print_id(const void *result)
{
    puts(((const struct session_info *)result)->id);
}

static bool run_fork(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct session_fork_params params = {
        .session = o->words.items[0], .at = o->at, .before_compaction = o->before_compaction};
    return verb_show(c, o, &operation_session_fork, &params, NULL, print_id, e);
}

static bool take_at(const struct option *self, void *options, const char *value, struct error *e)
{
    struct verb_options *o = options;
    o->before_compaction = strcmp(value, "~before-compaction") == 0;
    return o->before_compaction || cli_number(self->name, value, INT64_MAX, &o->at, e);
}

static const struct option fork_options[] = {
    {"at", 0, OPTION_VALUE, "N",
     N_("up to the message of event N (\"seq\" of show --json), or ~before-compaction; default: "
        "all"),
     .take = take_at},
    VERB_JSON,
    {0},
};

static const struct verb verb_sessions_fork =
    VERB(operation_session_fork, run_fork, .name = "fork",
         .synopsis = "sessions fork [OPTION]... SESSION",
         .help = N_("start a session with the messages of another; prints its id"),
         .details = NAMES_A_SESSION, .options = fork_options, VERB_WORDS(1, 1, OFFER_SESSIONS));

static bool is_among(const struct session_list *list, const char *id)
{
    for (size_t i = 0; i < list->items.len; i++)
        if (strcmp(list->items.items[i].id, id) == 0)
            return true;
    return false;
}

/* Finds all sessions, each once, before the first is deleted: "last" is another one afterwards. */
static bool run_delete(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    AUTO(session_list_release) struct session_list list = {0};
    AUTO(buf_release) struct buf question = BUF_INIT;
    for (size_t i = 0; i < o->words.len; i++) {
        struct session_info info;
        const struct session_params params = {.session = o->words.items[i]};
        if (!operation_call(c, &operation_session_read, &params, &info, e))
            return false;
        if (is_among(&list, info.id)) {
            session_info_release(&info);
            continue;
        }
        vec_push(&list.items, info);
        buf_addf(&question, "%s  ", output_short_id(info.id));
        utf8_clean(&question, info.title, strlen(info.title), UTF8_ONE_LINE);
        buf_addch(&question, '\n');
    }
    size_t count = list.items.len;
    buf_addf(&question,
             ngettext("Delete %zu session for good? [y/N] ", "Delete %zu sessions for good? [y/N] ",
                      (unsigned long)count),
             count);
    if (!verb_may_delete(o->yes, &question, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct error fault = {0};
        if (!change_one(c, &operation_session_delete, list.items.items[i].id, &fault))
            add_fault(e, &fault);
    }
    return e->code == ERR_OK;
}

static const struct verb verb_sessions_delete =
    VERB(operation_session_delete, run_delete, .name = "delete",
         .synopsis = "sessions delete [--yes] SESSION...",
         .help = N_("delete sessions with all their messages and entries of memory"),
         .details = N_("Asks once; without a terminal, --yes is required."),
         .options = verb_yes_options, VERB_WORDS(1, CLI_MANY, OFFER_SESSIONS));

/* --- sessions export, import, rebuild --------------------------------------------------------- */

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

static bool run_export(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->output && strcmp(o->output, "-") != 0 ? o->output : NULL;
    struct session_export_params params = {
        .session = o->words.items[0], .path = path, .format = EXPORT_MARKDOWN, .replace = o->force};
    if (o->format)
        export_format_from_name(o->format, &params.format);
    else if (path)
        params.format = export_format_of_path(path);
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

static const struct verb verb_sessions_export =
    VERB(operation_session_export, run_export, .name = "export",
         .synopsis = "sessions export [OPTION]... SESSION",
         .help = N_("export a session to standard output or a file"),
         .details = N_("markdown   to read\n"
                       "json       one object; json and jsonl can be imported "
                       "again\n"
                       "jsonl      the session's properties, then one event per line"),
         .options = export_options, VERB_WORDS(1, 1, OFFER_SESSIONS));

struct import_watch {
    bool terminal; /* standard error is one: progress is shown on it */
    int shown;     /* percent; -1: none */
};

static bool show_import(void *context, const char *what, int64_t percent, int64_t of)
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
    struct operation_stream stream = {.tell = show_import, .wake_fd = -1, .context = &watch};
    AUTO(session_info_release) struct session_info imported = {0};
    stream.in = input_open(o->words.items[0], e);
    if (!stream.in)
        return false;
    signals_open();
    c->stream = &stream;
    bool ok = operation_call(c, &operation_session_import, &params, &imported, e);
    c->stream = NULL;
    if (watch.shown >= 0)
        fputs("\r     \r", stderr);
    if (ok && o->json)
        verb_print_json(&operation_session_import, NULL, &imported);
    else if (ok)
        print_id(&imported);
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

static const struct verb verb_sessions_import = VERB(
    operation_session_import, run_import, .name = "import",
    .synopsis = "sessions import [OPTION]... FILE|-",
    .help = N_("import a session from a file; prints its id"),
    .details = N_("The file is an export (json, jsonl) or a list of messages in OpenAI's form;\n"
                  "- is standard input."),
    .options = import_options, VERB_WORDS(1, 1, OFFER_FILES));

static bool run_rebuild(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    if (o->words.len > 0)
        return change_one(c, &operation_session_rebuild, o->words.items[0], e);
    const struct session_filter all = {0};
    struct session_list_result found;
    if (!operation_call(c, &operation_session_list, &all, &found, e))
        return false;
    bool terminal = isatty(STDERR_FILENO);
    size_t count = found.sessions.items.len;
    for (size_t i = 0; i < count; i++) {
        struct error fault = {0};
        if (terminal)
            fprintf(stderr, "\r%s %zu/%zu", _("sessions"), i + 1, count);
        /* A session that was deleted meanwhile is no error. */
        if (change_one(c, &operation_session_rebuild, found.sessions.items.items[i].id, &fault) ||
            fault.code == ERR_SESSION_NOT_FOUND)
            continue;
        if (terminal)
            fputc('\n', stderr);
        add_fault(e, &fault);
    }
    if (count > 0 && terminal)
        fputc('\n', stderr);
    session_list_release(&found.sessions);
    return e->code == ERR_OK;
}

static const struct verb verb_sessions_rebuild =
    VERB(operation_session_rebuild, run_rebuild, .name = "rebuild",
         .synopsis = "sessions rebuild [SESSION]",
         .help = N_("rewrite the files below sessions/ for one session or for all"),
         VERB_WORDS(0, 1, OFFER_SESSIONS));

/* --- the command --- */

static const struct cli_command *const verbs[] = {
    &verb_sessions_list.command,      &verb_sessions_show.command,
    &verb_sessions_search.command,    &verb_sessions_rename.command,
    &verb_sessions_label.command,     &verb_sessions_archive.command,
    &verb_sessions_unarchive.command, &verb_sessions_fork.command,
    &verb_sessions_compact.command,   &verb_sessions_delete.command,
    &verb_sessions_export.command,    &verb_sessions_import.command,
    &verb_sessions_rebuild.command,   NULL,
};

const struct cli_command cmd_sessions = {
    .name = "sessions",
    .synopsis = "sessions [COMMAND] [OPTION]... [SESSION]",
    .help = N_("list, show, search, fork, export and change saved sessions"),
    .details = N_("The default command is list. For details: tiro sessions COMMAND --help."),
    .verbs = verbs,
    .run = cli_run_verb,
};
