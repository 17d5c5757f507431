/* Notices of the engine and questions to the person, as lines. */
#include "ui/app/plain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/session_operations.h"
#include "ui/app/corpora.h"
#include "ui/app/faults.h"
#include "ui/app/notices.h"
#include "ui/app/picker.h"
#include "ui/app/slash.h"
#include "ui/term/probe.h"
#include "ui/transcript/compaction_card.h"
#include "ui/transcript/item.h"

/* A line that allows a tool sooner after the question was begun before the question. */
enum { LOOK_MS = 1000 };

enum { IMPORT_TELL_MS = 5000 };

/* Questions: a tool before it runs, the draft of a summary before it is used */

bool plain_is_asked(const struct plain *p)
{
    return approval_open(&p->approval.view) || p->reviewing;
}

static struct sheet *asked_sheet(const struct plain *p)
{
    return approval_open(&p->approval.view) ? p->approval.questions.items[0].sheet : NULL;
}

bool plain_fills(const struct plain *p)
{
    return asked_sheet(p) && sheet_fills(asked_sheet(p));
}

const char *plain_question(const struct plain *p)
{
    const struct sheet *sheet = asked_sheet(p);
    if (!approval_open(&p->approval.view))
        return _("Use this summary? yes, no, or again: ");
    if (plain_fills(p))
        return _("Value (an empty line keeps the present one, - leaves it out): ");
    if (sheet && sheet->form.url)
        return _("Agree? yes, no, or cancel: ");
    if (sheet)
        return _("Send it? yes, no, cancel, or fill (in the form): ");
    if (approval_is_of_project(&p->approval.questions.items[0]))
        return _("Trust them? no, yes (in this session), or project (always): ");
    return p->approval.questions.items[0].grant ? _("Allow it? yes, no, session, or project: ")
                                                : _("Allow it? yes or no: ");
}

static void show_question(struct plain *p)
{
    if (!approval_open(&p->approval.view))
        return;
    const struct question *q = &p->approval.questions.items[0];
    auto_free char *title = approval_title(q);
    p->approval.shown_ms = clock_mono_ms();
    if (!plain_fills(p))
        plain_writef(&p->out, "%s:", title);
    if (q->guarded)
        plain_writef(&p->out, _("! keys or tiro's own files: %s"), q->guarded);
    plain_write(&p->out, q->text);
    if (plain_fills(p)) {
        const struct sheet *s = q->sheet;
        auto_free char *shown =
            form_field_text(&s->form.fields.items[s->at], s->values.items[s->at], true);
        auto_free char *value = utf8_clean_line(shown);
        plain_writef(&p->out, _("Present value: %s"), *value ? value : "-");
    }
    if (q->grant)
        plain_writef(&p->out,
                     _("With \"session\" you allow %s for this session, with \"project\" always in "
                       "this project."),
                     q->grant);
    if (!p->in.terminal)
        plain_write(&p->out, plain_question(p));
}

/* A word in the user's language or in English, or its first letter. */
static bool is_word(const char *text, const char *english, const char *local)
{
    text += strspn(text, " \t\n");
    size_t len = strcspn(text, " \t\n");
    const char *words[] = {english, local};
    if (text[len + strspn(text + len, " \t\n")] != '\0')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(text, words[i], len) == 0 && (len == 1 || len == strlen(words[i])))
            return true;
    return false;
}

/* Returns the reason behind "no:" or "no,"; NULL: the answer is another one. */
static const char *find_reason(const char *text)
{
    size_t len = strcspn(text, ":,");
    auto_free char *word = mem_strndup(text, len);
    bool no = text[len] && *word && is_word(word, "no", _("no"));
    return no ? text + len + 1 + strspn(text + len + 1, " \t\n") : NULL;
}

/* A value of the field that is asked for, or what is done with the form. */
static bool answer_form(struct plain *p, const char *text)
{
    struct sheet *sheet = asked_sheet(p);
    bool yes = is_word(text, "yes", _("yes")), no = is_word(text, "no", _("no"));
    bool cancel = is_word(text, "cancel", _("cancel")), fills = is_word(text, "fill", _("fill"));
    if (sheet_fills(sheet)) {
        auto_free char *present = sheet_typed(sheet);
        bool taken = sheet_take(sheet, !text[strspn(text, " \t\n")] ? present
                                       : strcmp(text, "-") == 0     ? ""
                                                                    : text);
        if (!taken) {
            auto_free char *fault = utf8_clean_line(sheet->fault);
            plain_write(&p->out, fault);
        }
    } else if (p->in.terminal && !no && clock_mono_ms() < p->approval.shown_ms + LOOK_MS) {
        plain_write(&p->out, _("You began that line before the question; answer it now."));
        return true;
    } else if (!*text || !(yes || no || cancel || fills)) {
        return !*text;
    } else if (no || cancel || (yes && sheet_missing(sheet) == sheet->form.fields.len)) {
        auto_free char *content = NULL, *id = mem_strdup(p->approval.questions.items[0].id);
        const struct elicitation_decide_params answer = sheet_answer(sheet,
                                                                     yes  ? ELICITATION_ACCEPT
                                                                     : no ? ELICITATION_DECLINE
                                                                          : ELICITATION_CANCEL,
                                                                     &content);
        plain_send(p, &operation_elicitation_decide, &answer);
        approval_over(&p->approval, id);
        show_question(p);
        return true;
    } else {
        sheet_show(sheet, yes ? sheet_missing(sheet) : 0);
    }
    approval_write_sheet(&p->approval);
    show_question(p);
    return true;
}

bool plain_answer(struct plain *p, const char *text)
{
    if (!text && plain_fills(p))
        sheet_show(asked_sheet(p), asked_sheet(p)->form.fields.len);
    text = text ? text : "no";
    if (asked_sheet(p))
        return answer_form(p, text);
    bool tool = approval_open(&p->approval.view);
    const char *reason = tool ? find_reason(text) : NULL;
    bool yes = is_word(text, "yes", _("yes")), no = reason || is_word(text, "no", _("no"));
    bool grants = tool && p->approval.questions.items[0].grant;
    bool project = tool && approval_is_of_project(&p->approval.questions.items[0]);
    bool always = (grants || project) && is_word(text, "project", _("project"));
    bool third = tool ? grants && is_word(text, "session", _("session"))
                      : is_word(text, "again", _("again"));
    if (!*text || !(yes || no || third || always))
        return !*text;
    if (!tool) {
        enum draft_answer decision = yes ? DRAFT_COMMIT : no ? DRAFT_REFUSE : DRAFT_AGAIN;
        p->reviewing = false;
        plain_send(p, &operation_compaction_decide,
                   &(struct compaction_decide_params){.decision = decision});
        return true;
    }
    if (p->in.terminal && !no && clock_mono_ms() < p->approval.shown_ms + LOOK_MS) {
        plain_write(&p->out, _("You began that line before the question; answer it now."));
        return true;
    }
    enum approval_answer decision = yes      ? ANSWER_ONCE
                                    : no     ? ANSWER_DENY
                                    : always ? ANSWER_PROJECT
                                             : ANSWER_SESSION;
    auto_free char *id = mem_strdup(p->approval.questions.items[0].id);
    approval_over(&p->approval, id);
    plain_send(
        p, &operation_approval_decide,
        &(struct approval_decide_params){.call = id, .decision = decision, .reason = reason});
    show_question(p);
    return true;
}

void plain_forget_questions(struct plain *p)
{
    approval_forget(&p->approval.view);
    p->reviewing = false;
}

enum { WIDTH = 160, HISTORY_TURNS = 2 };

/* The transcript */

/* Writes at most `count` rows as a wide screen shows them, without the label of the speaker. */
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

/* Writes an answer as it comes, and any other long-running item twice: its first row when it
 * begins, all rows when it ends. */
static void write_item(struct plain *p, struct item *item)
{
    bool settled = is_settled(item);
    if (item->kind == ITEM_USER) {
        bool seen = p->in.terminal && !p->history && !p->echo;
        p->echo = false;
        if (!seen)
            plain_writef(&p->out, "%s: %s", _("you"), item->text.data);
        if (item->images.len > 0)
            plain_writef(&p->out, "%.*s", (int)item->images.len - 1, item->images.data);
    } else if (item->kind == ITEM_ANSWER) {
        const char *text = item->text.data + p->written;
        size_t len = item->text.len > p->written ? item->text.len - p->written : 0;
        if (!settled)
            len = plain_ready(text, len);
        if (len > 0 && p->written == 0)
            plain_writef(&p->out, "%s:", _("tiro"));
        plain_write_piece(&p->out, text, len);
        p->written += len;
        if (settled)
            plain_end_line(&p->out);
        if (settled && item->partial && p->history)
            plain_write(&p->out, _("interrupted"));
    } else if (settled) {
        write_rows(p, item, SIZE_MAX);
    } else if (item->kind != ITEM_REASONING && p->written == 0) {
        write_rows(p, item, 1);
    }
    if (!settled && p->written == 0 && item->kind != ITEM_ANSWER)
        p->written = 1;
}

static void write_transcript(struct plain *p)
{
    size_t count = transcript_item_count(p->transcript);
    /* The item being written may be gone: an answer is begun anew, or a retry removes events. */
    bool gone = p->item >= count || transcript_item(p->transcript, p->item)->seq != p->writing;
    if (p->written > 0 && gone) {
        plain_end_line(&p->out);
        p->written = 0;
    }
    if (p->item > count)
        p->item = count;

    for (; p->item < count; p->item++) {
        struct item *item = transcript_item(p->transcript, p->item);
        p->writing = item->seq;
        write_item(p, item);
        if (!is_settled(item))
            break;
        p->written = 0;
    }
}

/* Events */

static void take_event(struct plain *p, struct notice *n)
{
    const struct event *ev = n->event;
    bool compacts = ev->type == EVENT_COMPACTION_STARTED || ev->type == EVENT_COMPACTION_DELTA;
    p->compacting = compacts || (p->compacting && ev->type == EVENT_RETRYING);
    if (ev->type == EVENT_TURN_STARTED)
        approval_over(&p->approval, QUESTION_OF_TRUST);
    if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED && approval_over(&p->approval, ev->id))
        show_question(p);
    transcript_apply(p->transcript, ev);
    write_transcript(p);
    size_t items = transcript_item_count(p->transcript);
    if (ev->type == EVENT_RETRYING)
        plain_writef(&p->out, _("retry %d of %d in %.1f s: %s"), ev->count, ev->limit,
                     (double)ev->number / 1000, ev->text ? ev->text : "");
    /* An exhausted budget would end the next turn, too. */
    if (ev->type == EVENT_TURN_FAILED &&
        (!ev->name || err_from_name(ev->name) != ERR_BUDGET_EXHAUSTED))
        plain_write(&p->out, _("/retry sends the message again."));
    if (ev->type == EVENT_INTERRUPTED && items > 0 &&
        transcript_item(p->transcript, items - 1)->partial)
        plain_write(&p->out, _("interrupted"));
    p->failed = ev->type == EVENT_TURN_FAILED || (p->failed && ev->type != EVENT_TURN_STARTED);
}

/* Sessions */

static void take_session(struct plain *p, struct notice *n)
{
    const struct session_info *info = &n->info;
    bool first = p->session.id[0] == '\0';
    if (n->flag) {
        transcript_clear(p->transcript);
        plain_forget_questions(p);
        p->item = p->written = 0;
    }
    if (n->flag && p->asked.open)
        plain_send(p, &operation_skill_list, NULL);
    else if (n->flag) /* a line that is piped may begin with the name of one */
        plain_ask(p, &operation_skill_list, NULL, NULL);
    if (n->flag && info->turns > 0)
        plain_writef(
            &p->out,
            ngettext("Session: %s (%d turn)", "Session: %s (%d turns)", (unsigned long)info->turns),
            info->title, info->turns);
    else if (n->flag && !first)
        plain_write(&p->out, _("A new session."));
    if (n->flag && info->draft && *info->draft) {
        free(p->unsent);
        p->unsent = mem_strdup(info->draft);
        plain_say_unsent(p, p->unsent);
    }
    p->read_only = n->read_only;
    session_info_release(&p->session);
    p->session = n->info;
    session_info_init(&n->info);
}

/* Writes the last turns of a session that is opened. */
static void take_page(struct plain *p, struct notice *n)
{
    transcript_prepend(p->transcript, n->events.items, n->events.len, n->flag);
    size_t item = transcript_item_count(p->transcript), turns = 0;
    while (item > 0 && turns < HISTORY_TURNS)
        turns += transcript_item(p->transcript, --item)->kind == ITEM_USER;
    if (n->flag || item > 0)
        plain_write(&p->out, _("These are the last turns; /export writes the whole session to a "
                               "file."));
    p->item = item;
    p->history = true;
    write_transcript(p);
    p->history = false;
}

/* Providers */

static void take_provider(struct plain *p, struct notice *n)
{
    bool offline = n->provider && strcmp(n->provider, "offline") == 0;
    const char *provider = n->provider ? n->provider : "?", *model = n->model ? n->model : "?";
    char *now = mem_printf("%s/%s", provider, model);
    bool news = *model && (!p->provider || strcmp(p->provider, now) != 0); /* "": not known yet */
    free(p->provider);
    p->provider = now;
    if (news && offline)
        plain_write(&p->out, notices_offline());
    else if (news)
        plain_writef(&p->out, _("Model: %s"), now);
}

/* Turns */

static void take_busy(struct plain *p, struct notice *n)
{
    p->busy = p->running = n->flag;
    if (n->flag)
        return;
    p->compacting = false;
    plain_forget_questions(p);
    plain_end_line(&p->out);
    char *text = p->waiting;
    if (p->failed && text) { /* it would follow a message that got no answer */
        p->waiting = NULL;
        plain_keep(p, text);
    }
    int64_t took_ms = clock_mono_ms() - p->began_ms;
    if (p->in.terminal && notification_is_due(p->config, FOCUS_UNKNOWN, took_ms))
        plain_bell(&p->out);
}

/* Answers */

static void say_fault(struct plain *p, const struct fault *f, bool turn)
{
    bool whole;
    struct doing doing = {p->busy && !turn, p->compacting, p->config};
    auto_free char *words = faults_words(f, &doing, &whole);
    plain_write(&p->out, words);
}

void plain_take_models(struct plain *p, struct operation_answer *a)
{
    const struct models_result *m = a->result;
    const char *next = picker_next_models(a, p->session.provider);
    for (size_t i = 0; i < m->models.len; i++) {
        auto_free char *facts = picker_model_text(&m->models.items[i]);
        auto_free char *line = mem_printf("%s/%s%s%s", m->provider, m->models.items[i].name,
                                          *facts ? "  " : "", facts);
        plain_write(&p->out, line);
    }
    if (m->fault.code != ERR_OK) {
        auto_free char *whose = mem_printf("%s:", m->provider ? m->provider : "");
        plain_write(&p->out, whose);
        say_fault(p, &(struct fault){.error = &m->fault}, false);
    }
    if (next)
        plain_ask(p, &operation_models_list, &(struct models_params){.provider = next},
                  plain_take_models);
}

static void take_answer(struct plain *p, struct notice *n)
{
    struct operation_answer *a = n->answer;
    bool starts = operation_answers(a, &operation_turn_start);
    bool turn = starts || operation_answers(a, &operation_turn_retry);
    bool compaction = operation_answers(a, &operation_compaction_run);
    plain_taker *take = NULL;
    if (p->asked.open && p->asked.id == a->request->id) {
        take = p->asked.take;
        p->asked.open = false;
    }
    if (a->error.code == ERR_OK) {
        if (operation_answers(a, &operation_skill_list))
            (void)slash_know_skills(a->result);
        if (take)
            take(p, a);
        return;
    }
    bool background = operation_answers(a, &operation_turn_background);
    bool silent = (a->error.code == ERR_SESSION_NOT_RUNNING && !background) ||
                  (operation_answers(a, &operation_skill_list) && !take) ||
                  operation_answers(a, &operation_session_set_draft) ||
                  (a->error.code == ERR_INTERRUPTED && compaction);
    struct fault fault = {&a->error, a->request->operation, a->request->params};
    if (!silent)
        say_fault(p, &fault, turn);
    if (turn || compaction)
        p->busy = p->running;
    const struct turn_start_params *params = starts ? a->request->params : NULL;
    if (params && params->text && *params->text)
        plain_keep(p, mem_strdup(params->text));
}

void plain_take(struct plain *p, struct notice *n)
{
    auto_free char *text = NULL;
    unsigned long sessions = (unsigned long)n->number;
    bool asked = approval_open(&p->approval.view);
    switch (n->type) {
    case NOTICE_ANSWER:
        take_answer(p, n);
        break;
    case NOTICE_EVENT:
        take_event(p, n);
        break;
    case NOTICE_SESSION:
        take_session(p, n);
        break;
    case NOTICE_PAGE:
        take_page(p, n);
        break;
    case NOTICE_PROVIDER:
        take_provider(p, n);
        break;
    case NOTICE_BUSY:
        take_busy(p, n);
        break;
    case NOTICE_APPROVAL:
    case NOTICE_ELICITATION:
        if (!asked)
            plain_drain(p);
        approval_ask(&p->approval, n);
        if (!asked)
            show_question(p); /* where a form is over, there may be none */
        break;
    case NOTICE_DRAFT:
        plain_drain(p);
        p->reviewing = true;
        plain_write(&p->out, _("Draft of the summary:"));
        plain_write(&p->out, n->text ? n->text : "");
        plain_writef(&p->out, _("With it the next request has about %lld tokens, instead of %lld."),
                     (long long)n->draft.tokens_after, (long long)n->draft.tokens_before);
        if (!p->in.terminal)
            plain_write(&p->out, plain_question(p));
        break;
    case NOTICE_ERROR:
        say_fault(p, &(struct fault){.error = &n->error}, false);
        break;
    case NOTICE_IMPORT_STATE:
        if (!plain_imports(p) || clock_mono_ms() - p->import_told_ms < IMPORT_TELL_MS)
            break;
        p->import_told_ms = clock_mono_ms();
        plain_writef(&p->out, _("Reading: %lld of %lld files, %lld messages so far."),
                     (long long)n->import.files, (long long)n->import.of,
                     (long long)n->import.messages);
        break;
    case NOTICE_MEMORY_OFFER:
        plain_writef(&p->out,
                     ngettext("%lu earlier conversation is not in memory yet; /index all "
                              "indexes it, /index none leaves it out.",
                              "%lu earlier conversations are not in memory yet; /index all "
                              "indexes them, /index none leaves them out.",
                              sessions),
                     sessions);
        break;
    case NOTICE_TASKS:
        p->tasks = n->meters.tasks;
        text = notices_task(n);
        if (text)
            plain_write(&p->out, text);
        break;
    case NOTICE_CORPORA_STATE:
        text = corpora_state_text(n, _("'tiro corpus show --failed NAME' says why"));
        if (text)
            plain_write(&p->out, text);
        break;
    default:
        break;
    }
    /* The session of the start is open or has failed to open: lines may be taken. */
    if (n->type == NOTICE_PROVIDER || n->type == NOTICE_ERROR)
        p->asked.open = p->asked.open && p->asked.id != 0;
    notice_free(n);
}
