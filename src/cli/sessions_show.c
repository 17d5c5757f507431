#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "chat/transcript_text.h"
#include "cli/output.h"
#include "cli/verb.h"

enum { PAGE_EVENTS = 200 };

/* A session on its way out: the text of each turn, the oldest of which go when there is a limit. */
struct show {
    bool json;
    size_t limit;                    /* turns; 0: all, each is printed as it comes */
    bool any;                        /* an event is */
    bool closed;                     /* standard output takes no more */
    const struct session_info *info; /* of the page that is there */
    struct transcript_words words;
    struct transcript_text text;
    struct output output;
    VEC(struct buf) turns;
};

static struct transcript_words local_words(void)
{
    return (struct transcript_words){
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
    };
}

static void put(struct show *s, const char *text, size_t len)
{
    s->closed = s->closed || !output_write(&s->output, text, len);
}

static void put_head(struct show *s)
{
    struct buf head = BUF_INIT;
    if (s->json) {
        struct json *v = shape_to_json(&session_info_shape, s->info);
        char *text = json_print(v);
        buf_addf(&head, "{\"session\":%s,\n\"events\":[", text);
        free(text);
        json_free(v);
    } else {
        transcript_text_head(&head, s->info, &s->words, false);
    }
    put(s, head.data, head.len);
    buf_release(&head);
}

static void put_turn(struct show *s, struct buf *turn)
{
    if (s->json && turn->len > 0 && !s->any)
        buf_consume(turn, 1); /* the first comma */
    s->any = s->any || turn->len > 0;
    put(s, turn->data, turn->len);
    buf_clear(turn);
}

/* That the turn before was cut off is a part of that turn. */
static void begin_turn(struct show *s)
{
    if (s->turns.len > 0)
        transcript_text_cut_off(&s->text, &vec_last(&s->turns));
    if (s->limit > 0 && s->turns.len == s->limit) {
        buf_release(&s->turns.items[0]);
        vec_remove(&s->turns, 0, 1);
    }
    struct buf turn = BUF_INIT;
    vec_push(&s->turns, turn);
}

static void add_event(struct show *s, const struct event *ev)
{
    struct buf *turn = &vec_last(&s->turns);
    if (s->json) {
        char *line = event_to_line(ev);
        buf_addf(turn, ",\n%s", line);
        free(line);
    } else {
        transcript_text_add(&s->text, turn, ev);
    }
}

static void take_event(struct show *s, const struct event *ev)
{
    if (s->turns.len == 0 || (s->limit > 0 && ev->type == EVENT_TURN_STARTED))
        begin_turn(s);
    add_event(s, ev);
    if (s->limit == 0)
        put_turn(s, &s->turns.items[0]);
}

static void put_rest(struct show *s)
{
    if (!s->json && s->turns.len > 0)
        transcript_text_end(&s->text, &vec_last(&s->turns));
    for (size_t i = 0; i < s->turns.len; i++)
        put_turn(s, &s->turns.items[i]);
    if (s->json)
        put(s, "\n]}\n", 4);
}

static void show_release(struct show *s)
{
    for (size_t i = 0; i < s->turns.len; i++)
        buf_release(&s->turns.items[i]);
    vec_release(&s->turns);
    transcript_text_release(&s->text);
}

/* False when the last page is taken, or nobody reads any more. */
static bool take_page(struct show *s, struct session_history_params *next,
                      const struct session_history_result *page)
{
    s->info = &page->session;
    if (next->after == 0)
        put_head(s);
    for (size_t i = 0; i < page->events.items.len; i++)
        take_event(s, page->events.items.items[i]);
    if (page->events.items.len > 0)
        next->after = vec_last(&page->events.items)->seq;
    return page->more && !s->closed;
}

static bool run_show(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct operation *history = &operation_session_history;
    struct session_history_params params = {
        .session = o->words.len > 0 ? o->words.items[0] : "last", .limit = PAGE_EVENTS};
    struct show s = {.json = o->json, .limit = (size_t)o->limit, .words = local_words()};
    struct session_history_result page = {0};
    char id[UUID_LEN + 1];
    output_init(&s.output);
    transcript_text_init(&s.text, &s.words);
    bool more = true, ok = true;
    while (more && ok) {
        ok = operation_call(c, history, &params, &page, e);
        more = ok && take_page(&s, &params, &page);
        memcpy(id, page.session.id, sizeof id);
        params.session = id; /* "last" may be another one by now */
        shape_release(history->result, &page);
    }
    if (ok)
        put_rest(&s);
    output_end(&s.output);
    show_release(&s);
    return ok;
}

static const struct option options[] = {
    VERB_JSON,
    VERB_LIMIT('n', N_("only the last N turns")),
    {0},
};

const struct verb verb_sessions_show =
    VERB(operation_session_history, run_show, .name = "show",
         .synopsis = "sessions show [OPTION]... [SESSION]",
         .help = N_("show the transcript of a session (default: last)"), .details = NAMES_A_SESSION,
         .options = options, VERB_WORDS(0, 1, OFFER_SESSIONS));
