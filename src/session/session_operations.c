#include "session/session_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/usage.h"
#include "knowledge/learned_extract.h"
#include "knowledge/project.h"
#include "memory/summary_flags.h"
#include "session/capability.h"
#include "session/conversation.h"
#include "session/import.h"
#include "session/projection.h"
#include "store/event_log.h"

enum {
    HISTORY_LIMIT = 200,
    HISTORY_MOST = 10000,
    BYTES_LEAST = 1024,
    BYTES_MOST = 8 << 20,
    EVENT_BYTES = 256 * 1024,
    SEARCH_LIMIT = 50,
    SEARCH_MOST = 1000
};
enum { INPUTS_LIMIT = 100, INPUTS_MOST = 10000 };

static const struct shape changed_shape =
    SHAPE_OF("changed session", struct session_changed,
             SHAPE_REQ(session_changed, id, "Id of the session."));

const struct shape session_params_shape =
    SHAPE_PARAMETERS(struct session_params, SESSION_FIELD(session_params));

/* --- session/list ----------------------------------------------------------------------------- */

static const char *const state_words[] = {
    [SESSION_ANY] = "any", [SESSION_LIVE] = "live", [SESSION_ARCHIVED] = "archived"};
static const struct shape_names states = {state_words, 3, -1};

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    struct session_list_result *out = result;
    struct session_filter filter = *(const struct session_filter *)params;
    auto_free char *top = filter.project && *filter.project ? project_of(filter.project) : NULL;
    filter.project = top;
    return catalog_list(&c->catalog, &filter, &out->sessions, &out->total, e);
}

const struct operation operation_session_list = {
    OPERATION("session/list", CLIENT, READ, "Lists sessions, newest first."),
    SLASH("sessions", "[WORDS]", N_("list earlier sessions")),
    COMMAND("sessions list", "", N_("list every session, newest first")),
    .params = PARAMETERS(
        session_filter,
        SHAPE_OPT(session_filter, text,
                  "Text in the title, directory, model, labels or last line; case is ignored."),
        SHAPE_OPT(session_filter, label, "Only sessions with this label.",
                  SHAPE_OPTION("-l, --label LABEL", N_("only sessions with the label"))),
        SHAPE_OPT(session_filter, directory, "Only sessions that were begun in this directory.",
                  SHAPE_OPTION("-d, --directory DIR",
                               N_("only sessions started in DIR; . is the current directory"))),
        SHAPE_OPT(
            session_filter, project,
            "Only sessions of the project of this directory: begun in the same Git repository, "
            "or without one in or below the directory."),
        SHAPE_OPT_WORD(session_filter, state, states, "Archived sessions, others, or any.",
                       .absent = SESSION_ANY),
        SHAPE_OPT(session_filter, limit, "Most sessions to give; 0: all.",
                  SHAPE_OPTION("-n, --limit N", N_("only the newest N")))),
    .result = RESULT(
        "sessions", session_list_result,
        SHAPE_REQ_LIST("sessions", session_list_result, sessions, session_info_shape,
                       "Newest first."),
        SHAPE_REQ(session_list_result, total, "Number of matching sessions, without the limit.")),
    .run = run_list,
};

/* --- session/search --------------------------------------------------------------------------- */

static bool run_search(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct session_search_params *p = params;
    struct session_search_result *out = result;
    return catalog_search(&c->catalog, p->query, p->session, p->limit, &out->matches, &out->more,
                          e);
}

const struct operation operation_session_search = {
    OPERATION("session/search", CLIENT, READ,
              "Searches the transcripts of all sessions, or of one."),
    COMMAND("sessions search", "WORD...", N_("search all transcripts for words")),
    .details = N_(
        "\"Words in quotes\" must occur in that order; the last word also matches longer words."),
    .params = PARAMETERS(
        session_search_params,
        SHAPE_REQ(session_search_params, query, "Words to find in messages and answers."),
        SHAPE_OPT_AS(SESSION_MEMBER, session_search_params, session, "Search only this session.",
                     SHAPE_OPTION("--in SESSION", N_("only in this session"))),
        SHAPE_OPT(session_search_params, limit, "Matches.", .least = 1, .most = SEARCH_MOST,
                  .absent = SEARCH_LIMIT,
                  SHAPE_OPTION("-n, --limit N", N_("at most N matches (default: 50)")))),
    .result = RESULT(
        "matches", session_search_result,
        SHAPE_REQ_LIST("matches", session_search_result, matches, search_hit_shape, "Best first."),
        SHAPE_REQ(session_search_result, more, "There are more matches than the limit.")),
    .run = run_search,
};

/* --- session/read, session/history ------------------------------------------------------------ */

OPERATION_RUN(run_read, catalog_find(&c->catalog, ((const struct session_params *)params)->session,
                                     result, e))

const struct operation operation_session_read = {
    OPERATION("session/read", CLIENT, READ,
              "Gives the properties of a session, without its transcript."),
    .params = &session_params_shape,
    .result = &session_info_shape,
    .run = run_read,
};

static const struct shape history_result_shape =
    SHAPE_OF("history", struct session_history_result,
             SHAPE_FIELD("session", OBJECT, REQUIRED,
                         SHAPE_AT(struct session_info, struct session_history_result, session),
                         .of = &session_info_shape, .help = "The session."),
             SHAPE_FIELD("events", OWN, REQUIRED,
                         SHAPE_AT(struct event_list, struct session_history_result, events),
                         .codec = &event_list_codec,
                         .help = "Events in ascending order, as lines of stream-json."),
             SHAPE_REQ(session_history_result, more,
                       "There are more events after this page; with \"newest\": before this page."),
             SHAPE_OPT(session_history_result, large,
                       "Number of the next event, which is larger than \"bytes\"; session/event "
                       "gives it in parts."));

static bool read_forward(struct catalog *c, const struct session_history_params *p,
                         struct session_history_result *out, struct error *e)
{
    bool ok = catalog_find(c, p->session, &out->session, e) &&
              event_log_page(c->store, out->session.id, p->after, (size_t)p->limit,
                             (size_t)(p->bytes ? p->bytes : SESSION_HISTORY_BYTES), &out->events,
                             &out->more, p->bytes ? &out->large : NULL, e);
    if (ok && out->events.items.len == 0 && p->after > 0)
        ok = event_log_was_told(c->store, out->session.id, p->after, e);
    for (size_t i = 0; i < out->events.items.len; i++)
        event_pieces_skip(out->events.items.items[i], p->after);
    return ok;
}

static bool read_newest(struct catalog *c, const struct session_history_params *p,
                        struct session_history_result *out, struct error *e)
{
    return catalog_find(c, p->session, &out->session, e) &&
           event_log_tail(c->store, out->session.id, p->before, p->limit,
                          (size_t)(p->bytes ? p->bytes : SESSION_HISTORY_BYTES), &out->events,
                          &out->more, e);
}

static bool run_history(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    const struct session_history_params *p = params;
    if ((p->newest ? read_newest : read_forward)(&c->catalog, p, result, e))
        return true;
    shape_release(&history_result_shape, result);
    return false;
}

const struct operation operation_session_history = {
    OPERATION("session/history", CLIENT, READ, "Gives a page of a session's events."),
    COMMAND("sessions show", "[SESSION]", N_("show the transcript of a session (default: last)")),
    .details = NAMES_A_SESSION,
    .params = PARAMETERS(
        session_history_params, SESSION_FIELD(session_history_params),
        SHAPE_OPT(session_history_params, after,
                  "Only events after this number, and of a joined delta only the pieces after it; "
                  "0: from the first event."),
        SHAPE_OPT(session_history_params, newest,
                  "Give the last events before \"before\" instead of the events after \"after\"."),
        SHAPE_OPT(session_history_params, before,
                  "Only events before this number; 0: up to the end."),
        SHAPE_OPT(session_history_params, limit, "Most events to give.", .least = 1,
                  .most = HISTORY_MOST, .absent = HISTORY_LIMIT),
        SHAPE_OPT(session_history_params, bytes,
                  "Most bytes of events; absent: 4 MiB, or one event of any size.",
                  .least = BYTES_LEAST, .most = BYTES_MOST)),
    .result = &history_result_shape,
    .run = run_history,
};

/* --- session/event ---------------------------------------------------------------------------- */

static bool run_event(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    const struct session_event_params *p = params;
    struct session_event_result *out = result;
    AUTO(session_info_release) struct session_info info = {0};
    struct event_part part = {0};
    if (!catalog_find(&c->catalog, p->session, &info, e) ||
        !event_log_part(c->catalog.store, info.id, p->seq, (size_t)p->from, (size_t)p->bytes, &part,
                        e)) {
        free(part.text);
        return false;
    }
    if (p->from == 0) { /* the members of every event come before those of the payload */
        struct buf text = BUF_INIT;
        struct json_out o = {.buf = &text};
        struct event ev = {.type = part.type, .seq = p->seq, .wall_ms = part.wall_ms};
        memcpy(ev.session_id, info.id, sizeof ev.session_id);
        event_begin_line(&ev, &o);
        buf_addf(&text, "%s%s", strcmp(part.text, "{}") == 0 ? "" : ",", part.text + 1);
        mem_replace(&part.text, buf_take(&text));
    }
    *out = (struct session_event_result){
        .type = mem_strdup(event_name(part.type)), .text = part.text, .next = (int64_t)part.next};
    return true;
}

const struct operation operation_session_event = {
    OPERATION("session/event", CLIENT, READ, "Gives a part of an event; events may have any size."),
    .params = PARAMETERS(
        session_event_params, SESSION_FIELD(session_event_params),
        SHAPE_REQ(session_event_params, seq, "Number of the event.", .least = 1, .most = INT32_MAX),
        SHAPE_OPT(session_event_params, from,
                  "Position in the event: \"next\" of the previous part; 0: the beginning.",
                  .most = INT32_MAX),
        SHAPE_OPT(session_event_params, bytes, "About the most bytes to give.",
                  .least = BYTES_LEAST, .most = BYTES_MOST, .absent = EVENT_BYTES)),
    .result = RESULT(
        "part of an event", session_event_result,
        SHAPE_REQ(session_event_result, type, "Type of the event."),
        SHAPE_REQ(session_event_result, text,
                  "Text of this part; all parts together are the event's line of stream-json."),
        SHAPE_OPT(session_event_result, next,
                  "Position of the next part; absent: this was the last part.")),
    .run = run_event,
};

/* --- session/inputs --------------------------------------------------------------------------- */

static bool run_inputs(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct session_inputs_params *p = params;
    struct session_inputs_result *out = result;
    struct text_list list = {0};
    if (c->catalog.store && !event_log_inputs(c->catalog.store, p->limit, &list, e))
        return false;
    out->texts.items = list.items.items;
    out->texts.len = list.items.len;
    out->texts.cap = list.items.cap;
    return true;
}

const struct operation operation_session_inputs = {
    OPERATION("session/inputs", CLIENT, READ,
              "Gives the latest messages of the user, from all sessions."),
    .params = PARAMETERS(session_inputs_params,
                         SHAPE_OPT(session_inputs_params, limit, "Messages.", .least = 1,
                                   .most = INPUTS_MOST, .absent = INPUTS_LIMIT)),
    .result = RESULT("messages", session_inputs_result,
                     SHAPE_REQ_TEXTS(session_inputs_result, texts,
                                     "Messages, newest first, without repetitions.")),
    .run = run_inputs,
};

/* --- changes ---------------------------------------------------------------------------------- */

static const struct shape rename_shape =
    SHAPE_PARAMETERS(struct session_rename_params, SESSION_FIELD(session_rename_params),
                     SHAPE_REQ(session_rename_params, title,
                               "New title; empty: the beginning of the first message."));

static bool run_rename(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct session_rename_params *p = params;
    return catalog_rename(&c->catalog, p->session, p->title, ((struct session_changed *)result)->id,
                          e);
}

const struct operation operation_session_rename = {
    OPERATION("session/rename", CLIENT, CONVERSATION, "Changes the title of a session."),
    SLASH("rename", "TITLE", N_("change the title of this session")),
    .done = SAYS_DONE,
    COMMAND("sessions rename", "SESSION TITLE",
            N_("change the title of a session; an empty title restores the first")),
    .details = NAMES_A_SESSION,
    .params = &rename_shape,
    .result = &changed_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_rename,
    CONVERSE(rename, NOW, SESSION),
};

static const struct shape label_shape = SHAPE_PARAMETERS(
    struct session_label_params, SESSION_FIELD(session_label_params),
    SHAPE_REQ(session_label_params, changes,
              "Words: \"name\" or \"+name\" adds a label, \"-name\" removes one."));

static bool run_label(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    const struct session_label_params *p = params;
    return catalog_label(&c->catalog, p->session, p->changes,
                         ((struct session_changed *)result)->id, e);
}

const struct operation operation_session_label = {
    OPERATION("session/label", CLIENT, CONVERSATION, "Adds and removes labels of a session."),
    SLASH("label", "[+NAME -NAME]", N_("show, add or remove labels of this session")),
    .done = SAYS_DONE,
    COMMAND("sessions label", "SESSION [+]LABEL|-LABEL...",
            N_("add labels to a session, or remove them")),
    .details = NAMES_A_SESSION,
    .dashes = true,
    .params = &label_shape,
    .result = &changed_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_label,
    CONVERSE(label, NOW, SESSION),
};

static bool run_archive(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    const struct session_params *p = params;
    char *id = ((struct session_changed *)result)->id;
    bool proposes = config_boolean(c->config, CONFIG_LEARNED_ENABLED) &&
                    strcmp(config_string(c->config, CONFIG_LEARNED_EXTRACT), "off") != 0;
    struct error fault;
    if (!catalog_archive(&c->catalog, p->session, true, id, e))
        return false;
    if (proposes && !learned_extract_want(c->catalog.store, id, &fault))
        log_line(LOG_ERROR, "proposals of session %s: %s", id, fault.text);
    return true;
}

const struct operation operation_session_archive = {
    OPERATION("session/archive", CLIENT, CONVERSATION, "Archives a session."),
    SLASH("archive", "", N_("archive this session and start a new one")),
    COMMAND("sessions archive", "SESSION...", N_("archive sessions")),
    .details = NAMES_A_SESSION,
    .params = &session_params_shape,
    .result = &changed_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_archive,
    CONVERSE(archive, ENDS, SESSION),
};

static bool run_unarchive(struct operation_context *c, const void *params, void *result,
                          struct error *e)
{
    const struct session_params *p = params;
    return catalog_archive(&c->catalog, p->session, false, ((struct session_changed *)result)->id,
                           e);
}

const struct operation operation_session_unarchive = {
    OPERATION("session/unarchive", CLIENT, CONVERSATION, "Moves a session out of the archive."),
    COMMAND("sessions unarchive", "SESSION...", N_("move sessions out of the archive")),
    .details = NAMES_A_SESSION,
    .params = &session_params_shape,
    .result = &changed_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_unarchive,
    CONVERSE(unarchive, NOW, SESSION),
};

static bool run_delete(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct session_params *p = params;
    return catalog_delete(&c->catalog, p->session, ((struct session_changed *)result)->id, e);
}

const struct operation operation_session_delete = {
    OPERATION("session/delete", OWNER, CONVERSATION,
              "Deletes a session with its transcript, its files and its entries of memory."),
    COMMAND("sessions delete", "SESSION...",
            N_("delete sessions with all their messages and entries of memory")),
    .details = ASKS_ONCE,
    .params = &session_params_shape,
    .result = &changed_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_delete,
    CONVERSE(delete, ENDS, SESSION),
};

static bool run_rebuild(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    const struct session_params *p = params;
    struct session_changed *out = result;
    struct session_info info;
    if (!catalog_find(&c->catalog, p->session, &info, e))
        return false;
    memcpy(out->id, info.id, sizeof out->id);
    session_info_release(&info);
    return projection_write(&c->catalog, out->id, true, e);
}

const struct operation operation_session_rebuild = {
    OPERATION("session/rebuild", OWNER, READ,
              "Rewrites the files that are derived from a session."),
    COMMAND("sessions rebuild", "[SESSION]",
            N_("rewrite the files below sessions/ for one session or for all")),
    .params = &session_params_shape,
    .result = &changed_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_rebuild,
};

/* --- new sessions ----------------------------------------------------------------------------- */

static const struct shape fork_shape = SHAPE_PARAMETERS(
    struct session_fork_params, SESSION_FIELD(session_fork_params),
    SHAPE_OPT(session_fork_params, turn,
              "Number of a message among those of the user, from 1: it and its answer are the last "
              "to be copied; replaces \"at\"."),
    SHAPE_OPT(session_fork_params, at,
              "Number of an event of the last message to copy; 0: copy all messages."),
    SHAPE_OPT(session_fork_params, before_compaction,
              "Copy the session as it was before its last compaction; replaces \"at\"."));

static bool run_fork(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct session_fork_params *p = params;
    AUTO(session_info_release) struct session_info parent = {0};
    struct event_turn turn = {.last = p->before_compaction ? CATALOG_BEFORE_COMPACTION : p->at};
    bool ok = p->turn == 0 || (catalog_find(&c->catalog, p->session, &parent, e) &&
                               event_log_nth_turn(c->catalog.store, parent.id, p->turn, &turn, e));
    ok = ok && catalog_fork(&c->catalog, p->session, turn.last, result, e);
    if (ok)
        projection_follow(&c->catalog, ((struct session_info *)result)->id);
    return ok;
}

const struct operation operation_session_fork = {
    OPERATION("session/fork", CLIENT, CONVERSATION,
              "Begins a session with the messages of another session."),
    .line = "{id}",
    SLASH("fork", "[N]",
          N_("continue in a copy of this session (default: all of it), up to your N-th message and "
             "its answer, or ~before-compaction")),
    .done = N_("This is a copy; the original session is unchanged."),
    COMMAND("sessions fork", "SESSION",
            N_("start a session with the messages of another; prints its id")),
    .details = NAMES_A_SESSION,
    .params = &fork_shape,
    .result = &session_info_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_fork,
    CONVERSE(fork, REFUSED, SESSION),
    .opens = true,
};

static bool tell_percent(void *stream, int percent)
{
    const struct operation_stream *s = stream;
    return !s->tell || s->tell(s->context, "percent", percent, 100);
}

static bool run_import(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct session_import_params *p = params;
    const struct session_import_options options = {.title = p->title,
                                                   .directory = p->directory,
                                                   .tell = tell_percent,
                                                   .context = (void *)(uintptr_t)c->stream};
    bool ok = import_session(&c->catalog, c->stream->in, &options, result, e);
    if (ok)
        projection_follow(&c->catalog, ((struct session_info *)result)->id);
    return ok;
}

const struct operation operation_session_import = {
    OPERATION("session/import", OWNER, READ,
              "Creates a session from an export or from a list of messages in OpenAI's format."),
    .line = "{id}",
    COMMAND("sessions import", "FILE|-", N_("import a session from a file; prints its id")),
    .details = N_("The file is an export (json, jsonl) or a list of messages in OpenAI's form;\n"
                  "- is standard input."),
    .params = PARAMETERS(
        session_import_params,
        SHAPE_OPT(session_import_params, title, "Title for a text without a title.",
                  SHAPE_OPTION("-t, --title TITLE",
                               N_("a title for the new session, if the file has none"))),
        SHAPE_OPT(session_import_params, directory, "Working directory for a text that names none.",
                  .place = SHAPE_WORKS)),
    .result = &session_info_shape,
    .needs = NEED_STORE | NEED_WRITE | NEED_STREAM,
    .run = run_import,
    .content = CONTENT_IN,
};

/* --- session/export --------------------------------------------------------------------------- */

static const char *const format_words[] = {
#define X(id, name, ending) [EXPORT_##id] = name,
    EXPORT_FORMATS(X)
#undef X
};
static const struct shape_names formats = {format_words, EXPORT_FORMAT_COUNT, -1};

static bool run_export(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct session_export_params *p = params;
    const struct operation_stream *s = c->stream;
    (void)result;
    if (p->path)
        return export_to_file(&c->catalog, p->session, p->format, p->path, p->replace, e);
    if (!s)
        return err_set(e, ERR_USAGE, "there is neither a path nor a stream to write to");
    return export_session(&c->catalog, p->session, p->format, s->write, s->context, e);
}

const struct operation operation_session_export = {
    OPERATION("session/export", OWNER, READ, "Exports a session as text."),
    SLASH("export", "[FILE]", N_("export this session to a file: .md, .json or .jsonl")),
    COMMAND("sessions export", "SESSION", N_("export a session to standard output or a file")),
    .details = N_("markdown   to read\n"
                  "json       one object; json and jsonl can be imported "
                  "again\n"
                  "jsonl      the session's properties, then one event per line\n"
                  "messages   a list of messages in OpenAI's form, for other programs"),
    .params = PARAMETERS(
        session_export_params, SESSION_FIELD(session_export_params),
        SHAPE_OPT(
            session_export_params, path, "Path of the file; absent: the text goes to the stream.",
            .place = SHAPE_WRITES,
            SHAPE_OPTION("-o, --output FILE", N_("write to FILE instead of standard output"))),
        SHAPE_OPT_WORD(
            session_export_params, format, formats, "Format of the export.",
            .absent = EXPORT_MARKDOWN,
            SHAPE_OPTION(
                "--format FORMAT",
                N_("markdown, json, jsonl or messages (default: by the ending of FILE, else "
                   "markdown)"))),
        SHAPE_OPT(session_export_params, replace, "Replace an existing file.",
                  SHAPE_OPTION("--force", N_("overwrite an existing file")))),
    .lasting = true,
    .run = run_export,
    .content = CONTENT_OUT,
};

enum { RANGES_MOST = 100000, EVENTS_LIMIT = 200, EVENTS_MOST = 1000 };

struct range {
    int64_t first, last;
};

struct ranges {
    VEC(struct range) items;
};

struct page {
    struct compaction_ledger *out;
    int64_t range_last; /* of the range that is read */
    int64_t skip;       /* events of earlier pages */
    size_t limit;
};

/* --- which events --- */

/* -1: none. JSON has doubles, and the text may be foreign. */
static int64_t read_seq(const struct json *v)
{
    int64_t n = figure_from(json_number(v, -1), FIGURE_MAX);
    return n >= 1 ? n : -1;
}

/* Ranges rise, and end before the compaction that dropped them. */
static bool read_ranges(const char *text, int64_t before, struct ranges *out)
{
    AUTO(json_free_local)
    struct json *list = text ? json_parse(text, strlen(text), NULL) : NULL;
    int64_t after = 0;
    if (json_type(list) != JSON_ARRAY)
        return false;
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        const struct json *first = json_first(v);
        struct range range = {read_seq(first), read_seq(first ? json_next(first) : NULL)};
        if (out->items.len >= RANGES_MOST || range.first <= after || range.first > range.last ||
            range.last >= before)
            return false;
        vec_push(&out->items, range);
        after = range.last;
    }
    return true;
}

/* --- reading them --- */

struct search {
    int64_t seq;
    struct event *found; /* NULL: there is no such event */
};

static bool take_one(void *search, const struct event *ev)
{
    struct search *s = search;
    if (ev->seq == s->seq && ev->type == EVENT_COMPACTION_COMPLETED)
        s->found = event_clone(ev);
    return false;
}

bool compaction_find(struct store *s, const char *session, int64_t seq, struct event **out,
                     struct error *e)
{
    struct search search = {.seq = seq};
    if (!event_log_read(s, session, seq - 1, take_one, &search, e))
        return false;
    *out = search.found;
    return search.found ||
           err_set(e, ERR_USAGE, "event %lld is not a compaction of this session", (long long)seq);
}

static bool take_event(void *page, const struct event *ev)
{
    /* Events that make messages, begin or end their turns, or take a turn back. */
    static const bool makes_message[EVENT_TYPE_COUNT] = {
        [EVENT_TURN_STARTED] = true,
        [EVENT_TURN_FAILED] = true,
        [EVENT_CALL_STARTED] = true,
        [EVENT_TEXT_COMPLETE] = true,
        [EVENT_REASONING_COMPLETE] = true,
        [EVENT_TOOL_CALL_REQUESTED] = true,
        [EVENT_TOOL_EXECUTION_COMPLETED] = true,
        [EVENT_COMMAND_COMPLETED] = true,
    };
    struct page *p = page;
    if (ev->seq > p->range_last)
        return false;
    if (!makes_message[ev->type])
        return true;
    if (p->skip > 0) {
        p->skip--;
        return true;
    }
    p->out->more = p->out->events.items.len == p->limit;
    if (!p->out->more)
        vec_push(&p->out->events.items, event_clone(ev));
    return !p->out->more;
}

/* --- compaction/ledger ------------------------------------------------------------------------ */

static const struct shape ledger_result_shape = SHAPE_OF(
    "ledger", struct compaction_ledger,
    SHAPE_FIELD("completed", OWN, REQUIRED,
                SHAPE_AT(struct event *, struct compaction_ledger, completed),
                .codec = &event_codec, .help = "The compaction, as a line of stream-json."),
    SHAPE_FIELD("events", OWN, REQUIRED,
                SHAPE_AT(struct event_list, struct compaction_ledger, events),
                .codec = &event_list_codec, .help = "Events of the dropped messages."),
    SHAPE_REQ(compaction_ledger, more, "There are more events after this page."),
    SHAPE_REQ(compaction_ledger, quotes_forgotten,
              "The summary quotes forgotten entries of memory."));

static bool run_ledger(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct compaction_ledger_params *p = params;
    struct compaction_ledger *out = result;
    struct page page = {.out = out, .skip = p->place, .limit = (size_t)p->limit};
    AUTO(session_info_release) struct session_info info = {0};
    AUTO(vec_release_local) struct ranges ranges = {0};
    struct store *s = c->catalog.store;
    bool ok = catalog_find(&c->catalog, p->session, &info, e) &&
              compaction_find(s, info.id, p->seq, &out->completed, e);
    if (ok && !read_ranges(out->completed->compaction.dropped, out->completed->seq, &ranges))
        ok = err_set(e, ERR_SESSION_STORE_ERROR,
                     "the messages that this compaction dropped cannot be read; see tiro doctor");
    for (size_t i = 0; ok && i < ranges.items.len && !out->more; i++) {
        page.range_last = ranges.items.items[i].last;
        ok = event_log_read(s, info.id, ranges.items.items[i].first - 1, take_event, &page, e);
    }
    ok = ok &&
         (!capability_memory() || summary_flagged(s, info.id, p->seq, &out->quotes_forgotten, e));
    if (!ok)
        shape_release(&ledger_result_shape, result);
    return ok;
}

const struct operation operation_compaction_ledger = {
    OPERATION("compaction/ledger", CLIENT, READ,
              "Gives a page of the events of the messages that a compaction dropped."),
    .params = PARAMETERS(compaction_ledger_params, SESSION_FIELD(compaction_ledger_params),
                         SHAPE_REQ(compaction_ledger_params, seq,
                                   "Number of the compaction's event compaction_completed.",
                                   .least = 1, .most = FIGURE_MAX),
                         SHAPE_OPT(compaction_ledger_params, place,
                                   "Number of events to skip: those of earlier pages."),
                         SHAPE_OPT(compaction_ledger_params, limit, "Most events to give.",
                                   .least = 1, .most = EVENTS_MOST, .absent = EVENTS_LIMIT)),
    .result = &ledger_result_shape,
    .run = run_ledger,
};
