/* What the engine tells, as lines. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "ui/app/faults.h"
#include "ui/app/notices.h"
#include "ui/app/plain_private.h"
#include "ui/app/slash.h"
#include "ui/term/notification.h"
#include "ui/transcript/compaction_card.h"
#include "ui/transcript/item_layout.h"
#include "ui/transcript/message_row.h"
#include "ui/view/context_view.h"

enum { WIDTH = 160, HISTORY_TURNS = 2 };

/* The transcript */

/* As a wide screen shows it, `count` rows at most, without the label of who says it. */
static void write_rows(struct plain *p, struct item *item, size_t count)
{
    size_t room = SIZE_MAX, first = (size_t)item->lead + item->label;
    size_t rows = item_lay_out(item, WIDTH, p->reasoning, &room);
    for (size_t i = first; i < rows && i - first < count; i++) {
        const struct row *r = &item->rows.list.items[i];
        size_t len = r->len;
        const char *text = item->rows.text.data + r->text;
        while (len > 0 && text[len - 1] == ' ')
            len--;
        plain_writef(&p->out, "%.*s", (int)len, text);
    }
    item_forget_rows(item);
}

static bool is_settled(const struct item *item)
{
    switch (item->kind) {
    case ITEM_ANSWER:
    case ITEM_REASONING:
        return !item->streaming;
    case ITEM_TOOL:
        return item->answered || item->given_up;
    case ITEM_COMPACTION:
        return item->card->state != CARD_RUNNING;
    default:
        return true;
    }
}

static void write_message(struct plain *p, const struct item *item)
{
    bool seen = p->in.terminal && !p->history && !p->echo;
    p->echo = false;
    if (seen)
        return;
    plain_writef(&p->out, "%s: %s", _("you"), item->text.data);
    if (item->images.len > 0)
        plain_writef(&p->out, "[%s: %s]", _("image"), item->images.data);
}

static void write_answer(struct plain *p, struct item *item)
{
    const char *text = item->text.data + p->written;
    size_t len = item->text.len > p->written ? item->text.len - p->written : 0;
    if (item->streaming)
        len = plain_ready(text, len);
    if (len > 0 && p->written == 0)
        plain_writef(&p->out, "%s:", _("tiro"));
    plain_write_piece(&p->out, text, len);
    p->written += len;
    if (item->streaming)
        return;
    plain_end_line(&p->out);
    if (item->partial && p->history)
        plain_write(&p->out, _("interrupted"));
}

/* Why an answer ends where it does is known only with the end of the run. */
static void say_interrupted(struct plain *p)
{
    size_t count = transcript_item_count(p->transcript);
    if (count > 0 && transcript_item(p->transcript, count - 1)->partial)
        plain_write(&p->out, _("interrupted"));
}

/* What takes its time is told twice: when it begins and when it is over. */
static void write_item(struct plain *p, struct item *item)
{
    bool settled = is_settled(item);
    if (item->kind == ITEM_USER)
        write_message(p, item);
    else if (item->kind == ITEM_ANSWER)
        write_answer(p, item);
    else if (settled)
        write_rows(p, item, SIZE_MAX);
    else if (item->kind != ITEM_REASONING && p->written == 0)
        write_rows(p, item, 1);
    if (!settled && p->written == 0 && item->kind != ITEM_ANSWER)
        p->written = 1;
}

/* An answer that is begun anew, or events that a retry takes back. */
static void pass_over_removed(struct plain *p)
{
    size_t count = transcript_item_count(p->transcript);
    bool gone = p->item >= count || transcript_item(p->transcript, p->item)->seq != p->writing;
    if (p->written > 0 && gone) {
        plain_end_line(&p->out);
        p->written = 0;
    }
    if (p->item > count)
        p->item = count;
}

void plain_write_transcript(struct plain *p)
{
    pass_over_removed(p);
    while (p->item < transcript_item_count(p->transcript)) {
        struct item *item = transcript_item(p->transcript, p->item);
        p->writing = item->seq;
        write_item(p, item);
        if (!is_settled(item))
            break;
        p->written = 0;
        p->item++;
    }
}

/* Events */

static void say_retry(struct plain *p, const struct event *ev)
{
    plain_writef(&p->out, _("retry %d of %d in %.1f s: %s"), ev->count, ev->limit,
                 (double)ev->number / 1000, ev->text ? ev->text : "");
}

/* Where the budget ended it, it would end again. */
static void say_failure(struct plain *p, const struct event *ev)
{
    if (!ev->name || err_from_name(ev->name) != ERR_BUDGET_EXHAUSTED)
        plain_write(&p->out, _("/retry sends the message again."));
}

static void take_event(struct plain *p, struct notice *n)
{
    const struct event *ev = n->event;
    bool compacts = ev->type == EVENT_COMPACTION_STARTED || ev->type == EVENT_COMPACTION_DELTA;
    p->compacting = compacts || (p->compacting && ev->type == EVENT_RETRYING);
    if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED && approval_over(&p->approval, ev->id))
        plain_show_question(p);
    transcript_apply(p->transcript, ev);
    plain_write_transcript(p);
    if (ev->type == EVENT_RETRYING)
        say_retry(p, ev);
    if (ev->type == EVENT_TURN_FAILED)
        say_failure(p, ev);
    if (ev->type == EVENT_INTERRUPTED)
        say_interrupted(p);
    p->failed = ev->type == EVENT_TURN_FAILED || (p->failed && ev->type != EVENT_TURN_STARTED);
}

/* Sessions */

static void begin_session(struct plain *p, const struct session_info *info)
{
    bool first = p->session.id[0] == '\0';
    transcript_clear(p->transcript);
    plain_forget_questions(p);
    p->item = p->written = 0;
    p->turn = 0;
    if (info->turns > 0)
        plain_writef(
            &p->out,
            ngettext("Session: %s (%d turn)", "Session: %s (%d turns)", (unsigned long)info->turns),
            info->title, info->turns);
    else if (!first)
        plain_write(&p->out, _("A new session."));
    if (info->draft && *info->draft) {
        free(p->unsent);
        p->unsent = mem_strdup(info->draft);
        plain_say_unsent(p, p->unsent);
    }
}

static void take_session(struct plain *p, struct notice *n)
{
    if (n->flag)
        begin_session(p, &n->info);
    p->read_only = n->read_only;
    session_info_release(&p->session);
    p->session = n->info;
    session_info_init(&n->info);
}

/* The last turns, for whoever goes on. */
static void write_history(struct plain *p, bool more)
{
    size_t item = transcript_item_count(p->transcript), turns = 0;
    while (item > 0 && turns < HISTORY_TURNS)
        turns += transcript_item(p->transcript, --item)->kind == ITEM_USER;
    if (more || item > 0)
        plain_write(&p->out, _("These are the last turns; /export writes the whole session to a "
                               "file."));
    p->item = item;
    p->history = true;
    plain_write_transcript(p);
    p->history = false;
}

static void take_page(struct plain *p, struct notice *n)
{
    transcript_prepend(p->transcript, n->events.items, n->events.len, n->flag);
    write_history(p, n->flag);
}

/* Lists */

static void take_provider(struct plain *p, struct notice *n)
{
    bool offline = n->provider && strcmp(n->provider, "offline") == 0;
    const char *provider = n->provider ? n->provider : "?", *model = n->model ? n->model : "?";
    char *now = mem_printf("%s/%s", provider, model);
    bool news = !p->provider || strcmp(p->provider, now) != 0;
    free(p->provider);
    p->provider = now;
    if (news && offline)
        plain_write(&p->out, notices_offline());
    else if (news)
        plain_writef(&p->out, _("Model: %s"), now);
}

static void take_lines(struct plain *p, struct notice *n)
{
    for (size_t i = 0; i < n->texts.len; i++)
        plain_write(&p->out, n->texts.items[i]);
}

/* With a line for each source of tools. */
static void tell_kind(struct plain *p, const struct context *c, enum context_kind kind)
{
    int64_t tokens = 0;
    for (size_t i = 0; i < c->parts.len; i++)
        tokens += c->parts.items[i].kind == kind ? c->parts.items[i].tokens : 0;
    if (tokens > 0)
        plain_writef(&p->out, "%s: ~%lld", context_kind_name(kind), (long long)tokens);
    for (size_t i = 0; kind == CONTEXT_TOOLS && i < c->parts.len; i++)
        if (c->parts.items[i].kind == kind)
            plain_writef(&p->out, "  %s: ~%lld", c->parts.items[i].source,
                         (long long)c->parts.items[i].tokens);
}

static void take_report(struct plain *p, struct notice *n)
{
    for (size_t i = 0; i < n->facts.len; i++)
        plain_writef(&p->out, "%s: %s", n->facts.items[i].name, n->facts.items[i].value);
}

static void take_context(struct plain *p, struct notice *n)
{
    const struct context *c = &n->context;
    for (int i = 0; i < CONTEXT_KINDS; i++)
        tell_kind(p, c, (enum context_kind)i);
    plain_writef(&p->out, _("total ~%lld tokens"), (long long)c->tokens);
    if (c->window > 0)
        plain_writef(&p->out, "%s: %lld", _("window"), (long long)c->window);
    if (c->threshold > 0)
        plain_writef(&p->out, "%s: %lld", _("threshold"), (long long)c->threshold);
}

static void tell_archived(struct plain *p)
{
    const char *title = p->session.title;
    char *text = slash_parting(title ? title : "", p->options->engine->persist);
    plain_write(&p->out, text);
    free(text);
}

static void take_done(struct plain *p, struct notice *n)
{
    switch (n->command) {
    case COMMAND_ARCHIVE:
        tell_archived(p);
        break;
    case COMMAND_FORK:
        plain_write(&p->out, _("This is a copy; the original session is unchanged."));
        break;
    default:
        plain_write(&p->out, _("Done."));
    }
}

/* Turns */

static void ring(struct plain *p)
{
    int64_t took_ms = clock_mono_ms() - p->began_ms;
    if (p->in.terminal && notification_is_due(p->config, FOCUS_UNKNOWN, took_ms))
        plain_bell(&p->out);
}

/* What waited would follow a message that got no answer. */
static void give_back_waiting(struct plain *p)
{
    char *text = p->waiting;
    if (!p->failed || !text)
        return;
    p->waiting = NULL;
    plain_say_unsent(p, text);
    plain_keep(p, text);
}

static void take_busy(struct plain *p, struct notice *n)
{
    p->busy = p->running = n->flag;
    if (n->flag)
        return;
    p->compacting = false;
    plain_forget_questions(p);
    plain_end_line(&p->out);
    give_back_waiting(p);
    ring(p);
}

static void take_approval(struct plain *p, struct notice *n)
{
    bool first = !approval_open(&p->approval);
    if (first)
        plain_drain(p);
    approval_ask(&p->approval, n);
    if (first)
        plain_show_question(p);
}

static void take_draft(struct plain *p, struct notice *n)
{
    plain_drain(p);
    plain_review(p, n);
}

static void take_error(struct plain *p, struct notice *n)
{
    bool whole, turn = n->command == COMMAND_START_TURN || n->command == COMMAND_RETRY;
    struct doing doing = {p->busy && !turn, p->compacting, p->config};
    bool silent = n->error.code == ERR_SESSION_NOT_RUNNING || n->command == COMMAND_SAVE_DRAFT ||
                  (n->error.code == ERR_INTERRUPTED && n->command == COMMAND_COMPACT);
    if (turn || n->command == COMMAND_COMPACT)
        p->busy = p->running;
    char *words = faults_words(n, &doing, &whole);
    if (!silent)
        plain_write(&p->out, words);
    if (n->command == COMMAND_START_TURN && n->text && *n->text) {
        plain_say_unsent(p, n->text);
        plain_keep(p, mem_strdup(n->text));
    }
    free(words);
}

static void take_models(struct plain *p, struct notice *n)
{
    take_lines(p, n);
    if (n->error.code != ERR_OK)
        take_error(p, n);
}

static void take_answer(struct plain *p, struct notice *n)
{
    bool whole;
    const struct doing doing = {p->busy, p->compacting, p->config};
    if (n->answer->request->id != p->asked.id)
        return;
    if (n->answer->error.code == ERR_OK) {
        p->asked.take(p, n->answer);
        return;
    }
    char *words = faults_of_answer(n->answer, &doing, &whole);
    plain_write(&p->out, words);
    free(words);
}

static void (*const takers[])(struct plain *p, struct notice *n) = {
    [NOTICE_EVENT] = take_event,       [NOTICE_SESSION] = take_session,
    [NOTICE_ANSWER] = take_answer,     [NOTICE_PAGE] = take_page,
    [NOTICE_PROVIDER] = take_provider, [NOTICE_MODELS] = take_models,
    [NOTICE_REPORT] = take_report,     [NOTICE_BUSY] = take_busy,
    [NOTICE_APPROVAL] = take_approval, [NOTICE_DRAFT] = take_draft,
    [NOTICE_CONTEXT] = take_context,   [NOTICE_DONE] = take_done,
    [NOTICE_ERROR] = take_error,
};

static bool answers(const struct plain_asked *asked, const struct notice *n)
{
    if (n->type == NOTICE_ANSWER)
        return n->answer->request->id == asked->id;
    if (n->type == NOTICE_ERROR)
        return asked->id == 0 && n->command == asked->command;
    return asked->id == 0 && n->type == asked->answer;
}

void plain_take(struct plain *p, struct notice *n)
{
    if (p->asked.open && answers(&p->asked, n))
        p->asked.open = false;
    if ((size_t)n->type < sizeof takers / sizeof *takers && takers[n->type])
        takers[n->type](p, n);
    notice_free(n);
}
