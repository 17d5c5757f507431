#include "serve/notification.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/vec.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

#define SESSION                                                                                    \
    SHAPE_FIELD("session_id", UUID, OPTIONAL, offsetof(struct notice, session),                    \
                .help = "Id of the session.")
#define OPTIONAL_ROW(name, member, ...) SHAPE_OPT_AS(name, notice, member, __VA_ARGS__)
#define REQUIRED_ROW(name, member, ...) SHAPE_REQ_AS(name, notice, member, __VA_ARGS__)

static bool has_error(const void *notice)
{
    return ((const struct notice *)notice)->error.code != ERR_OK;
}

#define FAULT(help_text)                                                                           \
    SHAPE_FIELD("error", OWN, OPTIONAL, SHAPE_AT(struct error, struct notice, error),              \
                .codec = &fault_codec, .there = has_error, .help = help_text)

static const char *const reason_words[] = {[PROVIDER_BY_OPTION] = "option",
                                           [PROVIDER_BY_CONFIG] = "config",
                                           [PROVIDER_BY_ENVIRONMENT] = "environment",
                                           [PROVIDER_ANSWERED] = "answered",
                                           [PROVIDER_FALLBACK] = "fallback"};
static const struct shape_names reasons = {reason_words, PROVIDER_FALLBACK + 1, -1};

static const struct shape error_shape =
    SHAPE_OF("engine_error", struct notice, SESSION, FAULT("The error."));

static const struct shape session_shape = SHAPE_OF(
    "session_changed", struct notice, SESSION,
    SHAPE_FIELD("session", OBJECT, REQUIRED, SHAPE_AT(struct session_info, struct notice, info),
                .of = &session_info_shape, .help = "Present properties of the session."),
    OPTIONAL_ROW("opened", flag, "The session was opened just now."),
    OPTIONAL_ROW("read_only", read_only, "The session is open read-only."));

static const struct shape provider_shape = SHAPE_OF(
    "session_provider", struct notice, SESSION,
    OPTIONAL_ROW("provider", provider, "Provider of the session."),
    OPTIONAL_ROW("model", model, "Model of the session; absent: not known yet."),
    SHAPE_FIELD("reason", ENUM, REQUIRED, SHAPE_AT(enum provider_reason, struct notice, reason),
                .names = &reasons, .help = "Why this provider was chosen."),
    OPTIONAL_ROW("detail", detail, "Detail of the reason."),
    OPTIONAL_ROW("effort", name, "Effort of reasoning; absent: as the provider has it."),
    OPTIONAL_ROW("efforts", args, "Words for the effort, separated by blanks; absent: none."));

static const struct shape busy_shape =
    SHAPE_OF("session_running", struct notice, SESSION,
             REQUIRED_ROW("running", flag,
                          "True: a turn or a compaction by hand runs; false: it has ended."),
             REQUIRED_ROW("ms", number, "Milliseconds since it began."));

static const struct shape event_shape =
    SHAPE_OF("session_event", struct notice, SESSION,
             SHAPE_FIELD("event", OWN, REQUIRED, SHAPE_AT(struct event *, struct notice, event),
                         .codec = &event_codec, .help = "The event, as a line of stream-json."));

static const struct shape approval_shape =
    SHAPE_OF("approval", struct notice, SESSION,
             OPTIONAL_ROW("call", text, "Id of the call, for approval/decide."),
             OPTIONAL_ROW("tool", name, "Name of the tool."),
             OPTIONAL_ROW("class", detail,
                          "Class of the tool; \"project\": no tool asks, but whether the programs "
                          "of the project in `preview` may run: \"project\" trusts them until they "
                          "change, \"once\" and \"session\" in this session."),
             SHAPE_FIELD("args", JSON, OPTIONAL, SHAPE_AT_TEXT(struct notice, args),
                         .help = "Arguments of the call."),
             OPTIONAL_ROW("preview", preview, "The difference or the command in full."),
             OPTIONAL_ROW("guarded", guarded,
                          "The file with keys or of the program itself that the call would reach."),
             OPTIONAL_ROW("grant", grant,
                          "Calls that the answers \"session\" and \"project\" allow; absent: only "
                          "this call."));

static const struct shape elicitation_shape = SHAPE_OF(
    "elicitation", struct notice, SESSION,
    REQUIRED_ROW("number", number, "Number of the request, for elicitation/decide."),
    OPTIONAL_ROW("server", name, "Name of the MCP server."),
    SHAPE_FIELD("request", JSON, OPTIONAL, SHAPE_AT_TEXT(struct notice, args),
                .help =
                    "Params of MCP's elicitation/create: mode, message, requestedSchema or url."),
    OPTIONAL_ROW("over", flag, "The request was answered, or the server gave up."));

static const struct shape output_shape =
    SHAPE_OF("tool_output", struct notice, SESSION, OPTIONAL_ROW("call", text, "Id of the call."),
             OPTIONAL_ROW("text", detail,
                          "Output since the last such notification, perhaps empty; a carriage "
                          "return begins its line anew."),
             OPTIONAL_ROW("anew", flag, "Output before it is left out."),
             REQUIRED_ROW("ms", number, "Milliseconds since the command began."));

static const struct shape draft_shape = SHAPE_OF(
    "draft", struct notice, SESSION,
    OPTIONAL_ROW("text", text, "The summary, for compaction/decide."),
    OPTIONAL_ROW("mode", name, "The mode that made it."),
    OPTIONAL_ROW("model", detail, "Provider and model that wrote it."),
    REQUIRED_ROW("tokens_before", draft.tokens_before, "Tokens of the history."),
    REQUIRED_ROW("tokens_after", draft.tokens_after, "Tokens of the history after the compaction."),
    REQUIRED_ROW("messages_before", draft.messages_before, "Messages of the history."),
    REQUIRED_ROW("messages_after", draft.messages_after,
                 "Messages of the history after the compaction."));

static const struct shape memory_shape = SHAPE_OF(
    "memory_state", struct notice,
    SHAPE_FIELD("stats", OBJECT, REQUIRED, SHAPE_AT(struct memory_stats, struct notice, stats),
                .of = &memory_stats_shape, .help = "The result of memory/stats."));

static const struct shape learned_shape =
    SHAPE_OF("learned", struct notice,
             OPTIONAL_ROW("project", text, "Directory of the project whose items were counted."),
             REQUIRED_ROW("waiting", number,
                          "Number of items of the project and the user that wait for a decision."),
             OPTIONAL_ROW("proposed", flag, "A model proposed some of them just now."));

static const struct shape space_shape = SHAPE_OF(
    "space", struct notice, OPTIONAL_ROW("space", text, "Its name on this machine."),
    REQUIRED_ROW("waiting", number, "Lines that are not sent since a minute; 0: none any more."));

static const struct shape offer_shape = SHAPE_OF(
    "memory_offer", struct notice,
    REQUIRED_ROW("sessions", number,
                 "Number of older sessions that are not in memory; memory/index adds them."));

static const struct shape chore_shape =
    SHAPE_OF("chore", struct notice,
             SHAPE_FIELD("ingest", OBJECT, REQUIRED,
                         SHAPE_AT(struct corpus_progress, struct notice, progress),
                         .of = &corpus_progress_shape, .help = "Progress of the ingest."),
             OPTIONAL_ROW("embedding", flag, "Vectors of passages are being computed."),
             REQUIRED_ROW("missing", number, "Number of missing vectors."),
             FAULT("Why the ingest failed or waits."));

static const struct shape import_shape =
    SHAPE_OF("import_state", struct notice, REQUIRED_ROW("files", import.files, "Files read."),
             REQUIRED_ROW("of", import.of, "Files to be read."),
             REQUIRED_ROW("conversations", import.conversations, "Conversations that came."),
             REQUIRED_ROW("messages", import.messages, "Messages that came."),
             OPTIONAL_ROW("sources", text, "Names of the sources that they came from."));

const struct notification *notification_of(enum notice_type type)
{
    static const struct notification rows[NOTICE_TYPES] = {
        [NOTICE_ERROR] = {"engine/error", "An activity that no request started has failed.",
                          &error_shape},
        [NOTICE_SESSION] = {"session/changed", "A session was opened, or its properties changed.",
                            &session_shape},
        [NOTICE_PROVIDER] = {"session/provider",
                             "Provider and model of a session, and why they were chosen.",
                             &provider_shape},
        [NOTICE_BUSY] = {"session/running", "A turn or a compaction by hand began or ended.",
                         &busy_shape},
        [NOTICE_EVENT] = {"session/event", "An event of a session.", &event_shape},
        [NOTICE_APPROVAL] = {"approval/requested",
                             "A tool asks before it runs; it is over when tool_execution_completed "
                             "comes.",
                             &approval_shape},
        [NOTICE_ELICITATION] = {"elicitation/requested",
                                "An MCP server has a form for a person, or a page to open.",
                                &elicitation_shape},
        [NOTICE_OUTPUT] = {"tool/output",
                           "Output of a command that runs, which no log has; the whole result "
                           "comes with tool_execution_completed.",
                           &output_shape},
        [NOTICE_DRAFT] = {"draft/requested",
                          "A draft summary waits; it is over when compaction_completed or "
                          "compaction_failed comes.",
                          &draft_shape},
        [NOTICE_MEMORY_STATE] = {"memory/state", "Progress of memory's indexing.", &memory_shape},
        [NOTICE_LEARNED] = {"learned/changed", "The learned items have changed.", &learned_shape},
        [NOTICE_MEMORY_OFFER] = {"memory/offered",
                                 "Older sessions are not in memory; sent once per start.",
                                 &offer_shape},
        [NOTICE_CORPORA_STATE] = {"chore/progress", "Progress of the ingest of a corpus.",
                                  &chore_shape},
        [NOTICE_IMPORT_STATE] = {"import/progress", "Progress of import/run, some times a second.",
                                 &import_shape},
        [NOTICE_SPACE_STATE] = {"space/waiting", "Lines for a shared space wait for long.",
                                &space_shape},
    };
    return &rows[type];
}

char *notice_json(const struct notice *n)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(notification_of(n->type)->shape, n, &o);
    return buf_take(&text);
}

enum {
    PAGE_EVENTS = 200,
    ROOM_BYTES = RPC_OUTPUT_MAX / 4, /* that may wait: an event finds room behind them */
    FULL_MS = 50,                    /* until a slow reader is asked again */
    AGAIN_MAX = 3 /* readings of a log that lacks what was told; then it does not keep that */
};

struct subscription {
    struct subscriptions *all;
    char session[UUID_LEN + 1];
    int64_t seen;  /* number of the newest event that was told */
    bool replays;  /* the log is being read */
    uint64_t page; /* that was asked for; 0: none */
    struct timer *wait;
    int again;
};

struct subscriptions {
    struct server *server;
    const struct rpc_peer *peer;
    const struct subscription_sink *sink;
    void *context;
    struct listener *listener;
    VEC(struct subscription *) items;
    bool every;
};

static struct subscription *find_subscription(const struct subscriptions *s, const char *session)
{
    for (size_t i = 0; i < s->items.len; i++)
        if (strcmp(s->items.items[i]->session, session) == 0)
            return s->items.items[i];
    return NULL;
}

/* --- what comes ------------------------------------------------------------------------------- */

static void on_notice(void *context, const struct notice *n)
{
    struct subscriptions *s = context;
    struct subscription *one = find_subscription(s, n->session);
    if (!one && !s->every && *n->session)
        return;
    if (one && n->type == NOTICE_EVENT) {
        if (one->replays || n->event->seq <= one->seen)
            return;
        one->seen = n->event->seq;
    }
    s->sink->tell(s->context, n);
}

/* --- what the log has ------------------------------------------------------------------------- */

static void tell_event(struct subscription *one, struct event *borrowed)
{
    struct notice n = {.type = NOTICE_EVENT, .event = borrowed};
    memcpy(n.session, one->session, sizeof n.session);
    one->seen = borrowed->seq;
    one->all->sink->tell(one->all->context, &n);
}

static bool has_room(const struct subscriptions *s)
{
    size_t waits;
    (void)rpc_peer_output(s->peer, &waits);
    return waits < ROOM_BYTES;
}

static void ask_page(void *subscription);

static void stop_reading(struct subscription *one)
{
    server_withdraw(one->all->server, one->page);
    server_cancel_timer(one->all->server, one->wait);
    one->page = 0;
    one->wait = NULL;
}

static void end_subscription(struct subscription *one)
{
    stop_reading(one);
    vec_drop(&one->all->items, one);
    free(one);
}

/* Tells a page of the log and asks for the next one, or goes on with the tail and what is told. */
static void on_page(void *context, const struct operation_answer *a)
{
    struct subscription *one = context;
    const struct session_history_result *page = a->result;
    const struct tails *tails = server_tails(one->all->server);
    int64_t kept = tails_kept(tails, one->session), had = one->seen;
    one->page = 0;
    if (a->error.code != ERR_OK) {
        struct subscriptions *all = one->all;
        char session[UUID_LEN + 1];
        memcpy(session, one->session, sizeof session);
        end_subscription(one);
        all->sink->failed(all->context, session, &a->error);
        return;
    }
    bool more = page->more;
    for (size_t i = 0; i < page->events.items.len; i++) {
        struct event *ev = page->events.items.items[i];
        if (kept > 0 && ev->seq > kept) {
            more = false; /* a piece that the tail has, which may be joined in the log */
            break;
        }
        if (!has_room(one->all)) {
            more = true;
            break;
        }
        tell_event(one, ev);
    }
    one->again = one->seen > had || more ? 0 : one->again + 1;
    if (more || (kept > one->seen && one->again < AGAIN_MAX)) {
        ask_page(one);
        return;
    }
    struct event *tail = tails_after(tails, one->session, one->seen);
    if (tail)
        tell_event(one, tail);
    event_free(tail);
    one->replays = false;
    if (one->all->sink->live)
        one->all->sink->live(one->all->context, one->session);
}

static void ask_page(void *subscription)
{
    struct subscription *one = subscription;
    struct subscriptions *s = one->all;
    one->wait = NULL;
    if (!has_room(s)) {
        one->wait = server_after(s->server, FULL_MS, ask_page, one);
        return;
    }
    const struct session_history_params p = {
        .session = one->session, .after = one->seen, .limit = PAGE_EVENTS};
    one->page = server_ask(s->server, &operation_session_history, &p, on_page, one);
}

/* --- the list --------------------------------------------------------------------------------- */

struct subscriptions *subscriptions_new(struct server *s, const struct rpc_peer *peer,
                                        const struct subscription_sink *sink, void *context)
{
    struct subscriptions *made = mem_alloc(sizeof *made);
    *made = (struct subscriptions){.server = s, .peer = peer, .sink = sink, .context = context};
    made->listener = server_listen(s, on_notice, made);
    return made;
}

void subscriptions_free(struct subscriptions *s)
{
    if (!s)
        return;
    while (s->items.len > 0)
        end_subscription(vec_last(&s->items));
    vec_release(&s->items);
    server_unlisten(s->server, s->listener);
    free(s);
}

bool subscriptions_add(struct subscriptions *s, const char *session, int64_t since)
{
    struct subscription *one = session ? find_subscription(s, session) : NULL;
    bool is_new = session && !one;
    if (!session)
        s->every = true;
    if (!is_new && since == SUBSCRIBE_NOW)
        return false;
    if (is_new) {
        one = mem_alloc(sizeof *one);
        one->all = s;
        memcpy(one->session, session, strnlen(session, UUID_LEN));
        vec_push(&s->items, one);
    }
    stop_reading(one);
    one->replays = since != SUBSCRIBE_NOW;
    one->seen = one->replays ? since : 0;
    one->again = 0;
    if (one->replays)
        ask_page(one);
    return is_new;
}

bool subscriptions_remove(struct subscriptions *s, const char *session)
{
    struct subscription *one = session ? find_subscription(s, session) : NULL;
    if (one)
        end_subscription(one);
    if (!session)
        s->every = false;
    return one;
}

enum question_step question_step(const struct notice *n)
{
    if (n->type == NOTICE_APPROVAL || n->type == NOTICE_DRAFT ||
        (n->type == NOTICE_ELICITATION && !n->flag))
        return QUESTION_BEGINS;
    if (n->type == NOTICE_ELICITATION)
        return QUESTION_ENDS;
    bool idle = n->type == NOTICE_BUSY && !n->flag;
    bool done =
        n->type == NOTICE_EVENT &&
        (n->event->type == EVENT_TURN_STARTED || n->event->type == EVENT_TOOL_EXECUTION_COMPLETED ||
         n->event->type == EVENT_COMPACTION_COMPLETED || n->event->type == EVENT_COMPACTION_FAILED);
    return idle || done ? QUESTION_ENDS : QUESTION_STAYS;
}

void questions_note(struct questions *q, const struct notice *n)
{
    enum question_step step = question_step(n);
    if (step == QUESTION_STAYS)
        return;
    for (size_t i = q->items.len; i-- > 0;)
        if (strcmp(q->items.items[i].session, n->session) == 0) {
            free(q->items.items[i].params);
            vec_remove(&q->items, i, 1);
        }
    if (step == QUESTION_ENDS)
        return;
    struct question asked = {.method = notification_of(n->type)->method, .params = notice_json(n)};
    memcpy(asked.session, n->session, sizeof asked.session);
    vec_push(&q->items, asked);
}

void tails_release(struct tails *t)
{
    for (size_t i = 0; i < t->items.len; i++) {
        buf_release(&t->items.items[i].text);
        vec_release(&t->items.items[i].pieces);
    }
    vec_release(&t->items);
}

static struct tail *find_tail(const struct tails *t, const char *session)
{
    for (size_t i = 0; i < t->items.len; i++)
        if (strcmp(t->items.items[i].session, session) == 0)
            return &t->items.items[i];
    return NULL;
}

static void begin(struct tail *t, int64_t kept)
{
    t->kept = kept;
    buf_clear(&t->text);
    vec_clear(&t->pieces);
}

/* Deltas of one kind are one text; when another kind begins, the log has them. */
void tails_note(struct tails *t, const struct notice *n)
{
    const struct event *ev = n->type == NOTICE_EVENT ? n->event : NULL;
    struct tail *tail = find_tail(t, ev ? ev->session_id : n->session);
    if (ev && !tail) {
        struct tail made = {.text = BUF_INIT};
        memcpy(made.session, ev->session_id, sizeof made.session);
        vec_push(&t->items, made);
        tail = &vec_last(&t->items);
    }
    if (ev && event_is_delta(ev->type)) {
        bool goes_on =
            tail->type == ev->type && tail->count == ev->count && tail->limit == ev->limit;
        if (!goes_on && tail->pieces.len > 0)
            begin(tail, vec_last(&tail->pieces).seq);
        tail->type = ev->type;
        tail->count = ev->count;
        tail->limit = ev->limit;
        buf_addstr(&tail->text, ev->text ? ev->text : "");
        vec_push(&tail->pieces, (struct tail_piece){ev->seq, ev->wall_ms, tail->text.len});
    } else if (ev) {
        begin(tail, ev->seq);
    } else if (n->type == NOTICE_BUSY && !n->flag && tail) {
        buf_release(&tail->text);
        vec_release(&tail->pieces);
        vec_remove(&t->items, (size_t)(tail - t->items.items), 1);
    }
}

int64_t tails_kept(const struct tails *t, const char *session)
{
    const struct tail *tail = find_tail(t, session);
    return tail ? tail->kept : 0;
}

struct event *tails_after(const struct tails *t, const char *session, int64_t after)
{
    const struct tail *tail = find_tail(t, session);
    size_t first = 0;
    while (tail && first < tail->pieces.len && tail->pieces.items[first].seq <= after)
        first++;
    if (!tail || first == tail->pieces.len)
        return NULL;
    const struct tail_piece *last = &vec_last(&tail->pieces);
    size_t begins = first > 0 ? tail->pieces.items[first - 1].end : 0;
    struct event *ev = event_new(tail->type);
    ev->seq = last->seq;
    ev->wall_ms = last->wall_ms;
    ev->count = tail->count;
    ev->limit = tail->limit;
    ev->text = mem_strndup(tail->text.data + begins, tail->text.len - begins);
    memcpy(ev->session_id, tail->session, sizeof ev->session_id);
    return ev;
}
