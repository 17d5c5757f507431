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
#include "ui/text/format.h"

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
        grid_add(&g, session_short_id(s->id));
        buf_clear(&text);
        format_time(&text, s->updated_ms);
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

static void print_list(const struct verb_call *v, const void *result)
{
    const struct session_list *list = &((const struct session_list_result *)result)->sessions;
    const struct session_filter *filter = v->params;
    if (v->names) {
        for (size_t i = 0; i < list->items.len; i++) {
            const struct session_info *s = &list->items.items[i];
            AUTO(buf_release) struct buf title = BUF_INIT;
            utf8_clean(&title, s->title, strlen(s->title), UTF8_ONE_LINE);
            printf("%s\t%s\n", session_short_id(s->id), title.data);
        }
    } else if (list->items.len > 0) {
        print_rows(list);
    } else if (!config_boolean(v->context->config, CONFIG_SESSION_PERSIST)) {
        fprintf(stderr, "%s\n", _("sessions are not saved: [session] persist is false"));
    } else if (filter->state != SESSION_ANY || filter->label || filter->directory) {
        fprintf(stderr, "%s\n", _("no session matches; tiro sessions list shows all"));
    } else {
        fprintf(stderr, "%s\n", _("no sessions yet; tiro starts one"));
    }
}

static bool run_list(struct verb_call *v, struct error *e)
{
    struct session_filter *filter = v->params;
    if (v->archived && v->live)
        return err_set(e, ERR_USAGE, _("--archived and --live exclude each other; give one"));
    if (v->json && v->names)
        return err_set(e, ERR_USAGE, _("--json and --names exclude each other; give one"));
    /* Sessions store the resolved path. A directory that is gone is compared as it was written. */
    auto_free char *resolved = filter->directory ? realpath(filter->directory, NULL) : NULL;
    filter->directory = resolved ? resolved : filter->directory;
    filter->state = v->archived ? SESSION_ARCHIVED : v->live ? SESSION_LIVE : SESSION_ANY;
    return verb_call(v, e);
}

static const struct option list_options[] = {
    {"archived", 0, OPTION_FLAG, NULL, N_("only archived sessions"), VERB_AT(archived)},
    {"live", 0, OPTION_FLAG, NULL, N_("only sessions that are not archived"), VERB_AT(live)},
    {"names", 0, OPTION_FLAG, NULL,
     N_("one line per session: end of the id, tab, title; for scripts"), VERB_AT(names)},
    {0},
};

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

static bool run_show(struct verb_call *v, struct error *e)
{
    const struct operation *history = &operation_session_history;
    struct session_history_params params = {
        .session = v->words.len > 0 ? v->words.items[0] : "last", .limit = PAGE_EVENTS};
    struct show s = {.json = v->json,
                     .limit = (size_t)v->turns,
                     .words = {
                         .you = _("you"),
                         .cut_off = _("cut off"),
                         .failed = _("failed"),
                         .interrupted = _("interrupted"),
                         .bytes = _("bytes"),
                         .lines = _("lines"),
                         .files = _("files"),
                         .seconds = _("s"),
                         .unfinished = _("unfinished"),
                         .compacted = _("compacted"),
                         .compaction_failed = _("compaction failed"),
                         .compaction_undone = _("compaction undone"),
                         .rewound = _("rewound to before the message"),
                         .rewind_undone = _("rewind undone"),
                         .file_restored = _("file taken back"),
                         .file_removed = _("file removed again"),
                         .summary = _("summary"),
                         .tokens = _("tokens"),
                         .messages = _("messages"),
                         .remembered = _("stored in memory"),
                         .recalled = _("recalled"),
                         .learned = _("remembered for later sessions"),
                         .proposed = _("to be remembered?"),
                         .open_end = _("unfinished: interrupted, or still running"),
                         .time = format_time,
                     }};
    char id[UUID_LEN + 1];
    output_init(&s.output);
    transcript_text_init(&s.text, &s.words);
    bool more = true, ok = true;
    while (more && ok) {
        struct session_history_result page;
        ok = operation_call(v->context, history, &params, &page, e);
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
    {"limit", 'n', OPTION_VALUE, "N", N_("only the last N turns"), VERB_AT(turns),
     .take = cli_take_count},
    {0},
};

/* --- sessions search -------------------------------------------------------------------------- */

static void print_hits(const struct verb_call *v, const void *result)
{
    const struct session_search_result *found = result;
    AUTO(buf_release) struct buf out = BUF_INIT;
    size_t width = output_width();
    (void)v;
    for (size_t i = 0; i < found->matches.items.len; i++) {
        /* Two lines of a match: the session, and the text around the match. */
        const struct search_hit *h = &found->matches.items.items[i];
        AUTO(buf_release) struct buf line = BUF_INIT;
        buf_addf(&line, "%s  ", session_short_id(h->session_id));
        format_time(&line, h->at_ms);
        buf_addstr(&line, "  ");
        if (h->title)
            utf8_clean(&line, h->title, strlen(h->title), UTF8_ONE_LINE);
        if (h->archived)
            buf_addf(&line, " (%s)", _("archived"));
        buf_add(&out, line.data, utf8_cut_width(line.data, line.len, width));
        buf_addch(&out, '\n');

        buf_clear(&line);
        buf_addf(&line, "  %s: ", h->role == ROLE_USER ? _("you") : "tiro");
        size_t taken = utf8_width(line.data, line.len);
        const char *snippet = h->snippet ? h->snippet : "";
        size_t start = width > taken ? output_start(snippet, h->match, width - taken - 1) : 0;
        if (start > 0)
            buf_addstr(&line, "…");
        utf8_clean(&line, snippet + start, strlen(snippet + start), UTF8_ONE_LINE);
        buf_add(&out, line.data, utf8_cut_width(line.data, line.len, width));
        buf_addch(&out, '\n');
    }
    fwrite(out.data, 1, out.len, stdout);
    if (found->matches.items.len == 0)
        fprintf(stderr, "%s\n", _("no matches"));
}

static void remark_more(const struct verb_call *v, const void *result)
{
    if (((const struct session_search_result *)result)->more)
        fprintf(stderr, _("more than %d matches; --limit N shows more\n"),
                ((const struct session_search_params *)v->params)->limit);
}

/* --- sessions change -------------------------------------------------------------------------- */

/* The sessions are archived even when no model can be asked what to remember of them. */
static bool run_archive(struct verb_call *v, struct error *e)
{
    struct error fault = {0};
    int proposed;
    bool ok = verb_call(v, e);
    if (!extractor_run(v->context, &proposed, &fault))
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

static bool take_at(const struct option *self, void *call, const char *value, struct error *e)
{
    struct session_fork_params *p = ((struct verb_call *)call)->params;
    static const char turn[] = "turn:";
    bool is_turn = strncmp(value, turn, strlen(turn)) == 0;
    p->before_compaction = strcmp(value, "~before-compaction") == 0;
    return p->before_compaction || cli_number(self->name, is_turn ? value + strlen(turn) : value,
                                              INT64_MAX, is_turn ? &p->turn : &p->at, e);
}

static const struct option fork_options[] = {
    {"at", 0, OPTION_VALUE, "N",
     N_("up to the message of event N (\"seq\" of show --json), to your N-th message and its "
        "answer (turn:N), or ~before-compaction; default: all"),
     .take = take_at},
    {0},
};

/* Finds all sessions, each once, before the first is deleted: "last" is another one afterwards. */
static bool run_delete(struct verb_call *v, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    struct verb_named named = {0};
    bool ok = verb_read_named(v, &operation_session_read, "title", &named, &question, e);
    size_t count = named.ids.len;
    buf_addf(&question,
             ngettext("Delete %zu session for good? [y/N] ", "Delete %zu sessions for good? [y/N] ",
                      (unsigned long)count),
             count);
    if (ok && verb_may_delete(v, &question, e)) {
        v->words.len = 0;
        for (size_t i = 0; i < count; i++)
            vec_push(&v->words, named.ids.items[i]);
        (void)verb_call(v, e);
    }
    vec_free_each(&named.ids);
    return e->code == ERR_OK;
}

/* --- sessions export, import, rebuild --------------------------------------------------------- */

/* Takes the ending of a file, too. */
static bool take_format(const struct option *self, void *call, const char *value, struct error *e)
{
    struct verb_call *v = call;
    struct session_export_params *p = v->params;
    v->chosen = export_format_from_name(value, &p->format);
    return v->chosen || verb_take_member(self, call, value, e);
}

static const struct option export_options[] = {
    {"format", .take = take_format},
    {0},
};

static bool run_export(struct verb_call *v, struct error *e)
{
    struct session_export_params *p = v->params;
    if (p->path && strcmp(p->path, "-") == 0)
        p->path = NULL;
    if (p->path && !v->chosen)
        p->format = export_format_of_path(p->path);
    if (!p->path)
        return verb_call(v, e);
    return output_may_write(p->path, p->replace, e) &&
           operation_call(v->context, &operation_session_export, p, NULL, e);
}

static bool run_import(struct verb_call *v, struct error *e)
{
    ((struct session_import_params *)v->params)->directory = v->context->project;
    return verb_call(v, e);
}

static bool run_rebuild(struct verb_call *v, struct error *e)
{
    const struct session_filter all = {0};
    struct session_list_result found;
    if (v->words.len > 0)
        return verb_call(v, e);
    if (!operation_call(v->context, &operation_session_list, &all, &found, e))
        return false;
    bool terminal = isatty(STDERR_FILENO);
    size_t count = found.sessions.items.len;
    for (size_t i = 0; i < count; i++) {
        struct error fault = {0};
        if (terminal)
            fprintf(stderr, "\r%s %zu/%zu", _("sessions"), i + 1, count);
        /* A session that was deleted meanwhile is no error. */
        const struct session_params params = {.session = found.sessions.items.items[i].id};
        struct session_changed changed;
        if (operation_call(v->context, &operation_session_rebuild, &params, &changed, &fault) ||
            fault.code == ERR_SESSION_NOT_FOUND)
            continue;
        if (terminal)
            fputc('\n', stderr);
        verb_add_fault(e, &fault);
    }
    if (count > 0 && terminal)
        fputc('\n', stderr);
    session_list_release(&found.sessions);
    return e->code == ERR_OK;
}

/* --- the command --- */

static const struct verb_more more[] = {
    {&operation_session_list, .options = list_options, .run = run_list, .print = print_list,
     .member = "sessions"},
    {&operation_session_history, .options = show_options, .run = run_show},
    {&operation_session_search, .print = print_hits, .remark = remark_more, .member = "matches"},
    {&operation_session_archive, .run = run_archive},
    {&operation_session_delete, .asks = true, .run = run_delete},
    {&operation_session_fork, .options = fork_options},
    {&operation_session_export, .options = export_options, .run = run_export},
    {&operation_session_import, .run = run_import},
    {&operation_session_rebuild, .run = run_rebuild},
    {&operation_compaction_run, .opens = &operation_session_read, .options = verb_json_options,
     .run = verb_compact},
    {0},
};

VERB_GROUP(sessions, "[SESSION]", N_("list, show, search, fork, export and change saved sessions"),
           N_("The default command is list. For details: tiro sessions COMMAND --help."))
