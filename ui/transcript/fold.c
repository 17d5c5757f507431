#include "ui/transcript/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/i18n.h"
#include "base/json.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/item.h"

enum {
    QUOTE_COLUMNS = 40,
    IMAGE_NAME_MAX = 200 /* bytes */
};

void fold_release(struct fold *f)
{
    for (size_t i = 0; i < f->items.len; i++)
        item_free(f->items.items[i]);
    vec_release(&f->items);
    vec_release(&f->open);
    vec_release(&f->taken_back);
    vec_release(&f->undone);
    vec_release(&f->rewinds);
    left_out_clear(&f->left_out);
}

/* --- items --- */

static bool is_spoken(enum item_kind kind)
{
    return kind == ITEM_ANSWER || kind == ITEM_REASONING || kind == ITEM_TOOL;
}

/* Whether a blank row stands before an item depends on the item before it. */
static void set_lead(struct fold *f, size_t index)
{
    struct item *item = f->items.items[index];
    const struct item *before = index ? f->items.items[index - 1] : NULL;
    bool lead = item->kind == ITEM_USER || item->kind == ITEM_COMPACTION || item->label;
    if (item->kind == ITEM_NOTE)
        lead = !before || before->kind != ITEM_NOTE;
    else if (is_spoken(item->kind) && before)
        lead |= before->kind == ITEM_ANSWER || before->kind == ITEM_NOTE ||
                before->kind == ITEM_COMPACTION;
    if (lead != item->lead)
        item->change = ITEM_CHANGED;
    item->lead = lead;
}

/* `seq` 0: that of the last event. */
static struct item *add_item(struct fold *f, enum item_kind kind, int64_t seq)
{
    bool spoken = is_spoken(kind);
    struct item *item = item_new(kind, seq ? seq : f->last_seq);
    item->label = spoken && f->need_label;
    if (spoken)
        f->need_label = false;
    vec_push(&f->items, item);
    set_lead(f, f->items.len - 1);
    return item;
}

static void remove_item(struct fold *f, size_t index)
{
    struct item *item = f->items.items[index];
    for (size_t i = f->open.len; i-- > 0;)
        if (f->open.items[i] == item)
            vec_remove(&f->open, i, 1);
    if (f->cut_off == item)
        f->cut_off = NULL;
    if (f->card == item)
        f->card = NULL;
    f->need_label |= item->label;
    vec_remove(&f->items, index, 1);
    item_free(item);
    if (index < f->items.len)
        set_lead(f, index);
    if (index < f->first_removed)
        f->first_removed = index;
}

/* Removes it wherever it stands; NULL: nothing. */
static void remove_this(struct fold *f, const struct item *item)
{
    for (size_t i = f->items.len; item && i-- > 0;)
        if (f->items.items[i] == item) {
            remove_item(f, i);
            return;
        }
}

void fold_drop_brief(struct fold *f)
{
    for (size_t i = f->items.len; i-- > 0;)
        if (f->items.items[i]->brief)
            remove_item(f, i);
}

struct item *fold_note(struct fold *f, enum style style, const char *text, int64_t seq)
{
    struct item *item = add_item(f, ITEM_NOTE, seq);
    item->style = style;
    utf8_clean(&item->text, text ? text : "", text ? strlen(text) : 0, UTF8_MULTILINE);
    return item;
}

static struct item *add_dashed(struct fold *f, const char *text, int64_t seq)
{
    auto_free char *whole = mem_printf("%s %s", glyph(GLYPH_DASH), text);
    return fold_note(f, STYLE_NOTE, whole, seq);
}

static void add_cut_off_note(struct fold *f)
{
    f->cut_off = add_dashed(f, _("interrupted; /retry sends the message again"), f->last_seq);
}

/* Adds the beginning of the message's first line, if the message is held. */
static void quote_message(const struct fold *f, int64_t seq, struct buf *out)
{
    for (size_t i = f->items.len; seq > 0 && i-- > 0;) {
        const struct item *item = f->items.items[i];
        if (item->seq != seq || (item->kind != ITEM_USER && item->kind != ITEM_ANSWER))
            continue;
        size_t line = strcspn(item->text.data, "\n"), cut;
        cut = utf8_cut_width(item->text.data, line, QUOTE_COLUMNS);
        buf_addf(out, ": %s%.*s%s%s", glyph(GLYPH_QUOTE_OPEN), (int)cut, item->text.data,
                 cut < line ? glyph(GLYPH_ELLIPSIS) : "", glyph(GLYPH_QUOTE_CLOSE));
        return;
    }
}

/* --- streamed text --- */

static bool text_delta(struct fold *f, const struct event *ev, enum item_kind kind)
{
    struct item *item = f->open.len ? vec_last(&f->open) : NULL;
    const char *text = ev->text ? ev->text : "";
    if (!item || item->kind != kind) {
        text += strspn(text, " \t\r\n"); /* models often begin with blanks */
        if (!*text)
            return false;
        item = add_item(f, kind, ev->seq);
        item->streaming = true;
        vec_push(&f->open, item);
    }
    item_append(item, text);
    return true;
}

static bool text_complete(struct fold *f, const struct event *ev, enum item_kind kind)
{
    const char *text = ev->text ? ev->text : "";
    bool redacted = kind == ITEM_REASONING && ev->flag;
    struct item *item = NULL;
    for (size_t i = 0; i < f->open.len && !item; i++)
        if (f->open.items[i]->kind == kind) {
            item = f->open.items[i];
            vec_remove(&f->open, i, 1);
        }
    if (!item && !redacted && utf8_is_blank(text))
        return false;
    if (!item)
        item = add_item(f, kind, ev->seq);
    item_set_text(item, text);
    item_end_text(item);
    if (kind == ITEM_REASONING) {
        item->hidden_text = ev->flag;
    } else if (ev->flag) {
        item->partial = f->partial = true;
        if (item->change == ITEM_SAME)
            item->change = ITEM_GROWN; /* by a row behind the text */
    }
    return true;
}

static void close_texts(struct fold *f)
{
    for (; f->open.len > 0; f->open.len--)
        item_end_text(vec_last(&f->open));
}

/* Removes the texts that are not complete. */
static void drop_open(struct fold *f)
{
    while (f->open.len > 0) {
        const struct item *item = vec_last(&f->open);
        f->open.len--;
        remove_this(f, item);
    }
}

/* --- tool calls --- */

/* `orphan`: the request is on an older page. */
static struct item *add_call(struct fold *f, const struct event *ev, const char *name, bool orphan)
{
    struct item *item = add_item(f, ITEM_TOOL, ev->seq);
    item->name = utf8_clean_line(name ? name : "?");
    item->id = mem_strdup(ev->id);
    if (!orphan && ev->text)
        utf8_clean(&item->text, ev->text, strlen(ev->text), UTF8_MULTILINE);
    item->orphan = orphan;
    return item;
}

struct item *fold_call(struct fold *f, const char *id, bool answered_too)
{
    for (size_t i = f->items.len; id && i-- > 0 && f->items.items[i]->kind != ITEM_USER;) {
        struct item *item = f->items.items[i];
        if (item->kind == ITEM_TOOL && (answered_too || !item->answered) && item->id &&
            strcmp(item->id, id) == 0)
            return item;
    }
    return NULL;
}

/* Marks the passages that are left out. Returns whether a mark changed. */
static bool mark_left_out(struct fold *f)
{
    bool changed = false;
    for (size_t i = 0; f->left_out.items.len > 0 && i < f->items.len; i++) {
        struct recalled *r = f->items.items[i]->recalled;
        for (size_t k = 0; r && k < r->hits.items.len; k++) {
            struct memory_hit *hit = &r->hits.items.items[k];
            bool marked = left_out_has(&f->left_out, hit->entry.id);
            if (marked == hit->left_out)
                continue;
            hit->left_out = marked;
            f->items.items[i]->change = ITEM_CHANGED;
            changed = true;
        }
    }
    return changed;
}

/* --- compactions --- */

/* The compaction that has no end will have none. */
static void leave_card(struct fold *f)
{
    if (f->card)
        compaction_card_set(f->card, CARD_CUT_OFF);
    f->card = NULL;
}

static void undo_card(struct fold *f, int64_t completed)
{
    for (size_t i = f->items.len; completed > 0 && i-- > 0;)
        if (compaction_card_completed(f->items.items[i]) == completed) {
            f->items.items[i]->card->undone = true;
            f->items.items[i]->change = ITEM_CHANGED;
        }
}

/* --- rewinds --- */

static void note_rewind(struct fold *f, struct fold_rewind r)
{
    for (size_t i = 0; i < f->rewinds.len; i++)
        if (f->rewinds.items[i].seq == r.seq) {
            r.message = r.message > 0 ? r.message : f->rewinds.items[i].message;
            r.undone = r.undone || f->rewinds.items[i].undone;
            f->rewinds.items[i] = r;
            return;
        }
    vec_push(&f->rewinds, r);
}

static void mark_rewound(struct fold *f)
{
    for (size_t i = 0; f->rewinds.len > 0 && i < f->items.len; i++) {
        struct item *item = f->items.items[i];
        bool rewound = false;
        for (size_t k = 0; k < f->rewinds.len; k++) {
            const struct fold_rewind *r = &f->rewinds.items[k];
            rewound = rewound || (!r->undone && r->message > 0 && item->seq >= r->message &&
                                  item->seq < r->seq);
        }
        item->rewound = rewound;
    }
}

/* --- turns --- */

/* Removes the items of [from, to) and returns where their turn began: at its first message, if that
 * is before. A completed compaction stays. */
static int64_t take_back(struct fold *f, int64_t from, int64_t to)
{
    int64_t began = from;
    for (size_t i = f->items.len; i-- > 0 && f->items.items[i]->seq >= from;) {
        const struct item *item = f->items.items[i];
        if (item->seq >= to)
            continue;
        if (item->kind == ITEM_USER && item->from < began)
            began = item->from;
        if (!item->card || !item->card->ended)
            remove_item(f, i);
    }
    return began;
}

/* "@notes.md · 84 lines" */
static void add_attached_file(struct item *item, const struct json *block, const char *label)
{
    const char *text = json_get_string(block, "text"), *kind = json_get_string(block, "media_type");
    int64_t lines = text ? attached_file_lines(text) : 0;
    auto_free char *count =
        kind && strcmp(kind, "inode/directory") == 0
            ? mem_printf(ngettext("%lld file", "%lld files", (unsigned long)lines),
                         (long long)lines)
            : mem_printf(ngettext("%zu line", "%zu lines", (unsigned long)lines), (size_t)lines);
    utf8_clean(&item->images, label, utf8_cut_bytes(label, strlen(label), IMAGE_NAME_MAX),
               UTF8_ONE_LINE);
    buf_addf(&item->images, " %s %s\n", glyph(GLYPH_DOT), count);
}

/* The command of the turn is shown as a call of the tool that runs commands. */
static struct item *add_command(struct fold *f, int64_t seq, const char *command)
{
    AUTO(json_free_local) struct json *v = json_pack("{command:s}", command);
    auto_free char *args = json_print(v);
    return add_call(f, &(struct event){.seq = seq, .id = (char *)COMMAND_CALL, .text = args},
                    "run_command", false);
}

static void turn_started(struct fold *f, const struct event *ev)
{
    static const char *const members[] = {"text", "path", "url", "source"}; /* with a name */
    const char *text = ev->text ? ev->text : "";
    int64_t from = ev->seq;
    fold_drop_brief(f);
    close_texts(f);
    leave_card(f);
    if (ev->number > 0) {
        struct taken_back range = {ev->number, ev->seq};
        from = take_back(f, ev->number, INT64_MAX);
        if (ev->number < f->first_seq) /* an older page drops the rest */
            vec_push(&f->taken_back, range);
    } else if (f->turn_open && !f->cut_off) {
        add_cut_off_note(f);
    }
    f->cut_off = NULL;
    struct item *item = add_item(f, ITEM_USER, ev->seq);
    item->from = from;
    utf8_clean(&item->text, text, strlen(text), UTF8_MULTILINE);
    item_keep_raw(item, text);
    AUTO(json_free_local)
    struct json *images =
        ev->attachments ? json_parse(ev->attachments, strlen(ev->attachments), NULL) : NULL;
    for (const struct json *v = json_first(images); v; v = json_next(v)) {
        const char *type = json_get_string(v, "type"), *label = json_get_string(v, "name");
        const char *name = label && *label == '@' ? label + 1 : NULL;
        if (type && strcmp(type, "text") == 0) {
            if (name) /* else of a skill: the message has its name */
                add_attached_file(item, v, label);
            continue;
        }
        for (size_t i = 0; !name && i < sizeof members / sizeof *members; i++)
            name = json_get_string(v, members[i]);
        name = name ? name : "?";
        const char *size = json_get_string(v, "id");
        buf_addf(&item->images, size ? "[%s " : "[%s: ", _("image"));
        if (size) {
            utf8_clean(&item->images, size, utf8_cut_bytes(size, strlen(size), IMAGE_NAME_MAX),
                       UTF8_ONE_LINE);
            buf_addf(&item->images, " %s ", glyph(GLYPH_DOT));
        }
        utf8_clean(&item->images, name, utf8_cut_bytes(name, strlen(name), IMAGE_NAME_MAX),
                   UTF8_ONE_LINE);
        buf_addstr(&item->images, "]\n");
    }
    f->turn_open = true;
    f->partial = false;
    f->need_label = false; /* the command is the person's */
    if (ev->origin == INPUT_COMMAND)
        (void)add_command(f, ev->seq, text + (*text == '!'));
    f->need_label = true;
}

/* "4,000" or "$0.40", by the kind of budget. */
static void add_amount(struct buf *out, const char *kind, double amount)
{
    bool whole = amount >= 0 && amount < 1e15;
    auto_free char *exact = whole ? format_exact((int64_t)amount) : mem_printf("%.3g", amount);
    if (strcmp(kind, "max_cost") == 0)
        format_cost(out, amount);
    else
        buf_addstr(out, exact);
}

/* Adds the note of an event that needs more than a fixed text. */
static void add_told_note(struct fold *f, const struct event *ev)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    AUTO(buf_release) struct buf bound = BUF_INIT;
    const char *kind = ev->name ? ev->name : "";
    size_t i = f->items.len;
    switch (ev->type) {
    case EVENT_GRAPH_CHANGED: /* by the model, unasked: the note says how to undo it */
        buf_addf(&text, ev->flag ? _("Deleted from the graph: %s") : _("Noted in the graph: %s"),
                 ev->text);
        if (ev->number > 0)
            buf_addf(&text, ngettext(" and %lld more", " and %lld more", (unsigned long)ev->number),
                     (long long)ev->number);
        buf_addstr(&text,
                   ev->flag ? _("; u in /graph restores it") : _("; d in /graph deletes it"));
        fold_note(f, STYLE_NOTE, text.data, ev->seq);
        break;
    case EVENT_LEARNED_NOTED: /* from the last message above */
        buf_addf(&text, ev->flag ? _("remembered: %s") : _("remember this? %s"),
                 ev->text ? ev->text : "");
        while (i > 0 && f->items.items[i - 1]->kind != ITEM_USER)
            i--;
        if (i > 0) {
            buf_addf(&text, " %s %s", glyph(GLYPH_DOT), _("you typed"));
            quote_message(f, f->items.items[i - 1]->seq, &text);
        }
        add_dashed(f, text.data, ev->seq)->id = mem_strdup(ev->id);
        break;
    case EVENT_REWOUND:
        buf_addstr(&text, _("rewound; from this message on nothing is sent any more, /unrewind "
                            "undoes it"));
        quote_message(f, ev->number, &text);
        add_dashed(f, text.data, ev->seq);
        break;
    case EVENT_FILE_RESTORED:
        buf_addf(&text, "%s: %s", ev->flag ? _("file removed again") : _("file taken back"),
                 ev->name);
        add_dashed(f, text.data, ev->seq);
        break;
    case EVENT_MESSAGE_PINNED:
        buf_addstr(&text, ev->flag ? _("pinned: no compaction drops this message")
                                   : _("no longer pinned"));
        quote_message(f, ev->number, &text);
        add_dashed(f, text.data, ev->seq);
        break;
    default: { /* EVENT_BUDGET_WARNING */
        add_amount(&text, kind, ev->used);
        add_amount(&bound, kind, ev->bound);
        auto_free char *whole =
            mem_printf(strstr(kind, "duration") ? _("%d %% of %s used: %s of %s seconds")
                                                : _("%d %% of %s used: %s of %s"),
                       ev->count, kind, text.data, bound.data);
        fold_note(f, STYLE_WARNING, whole, ev->seq);
    }
    }
}

/* The turn was completed, or failed, or was interrupted: texts are complete, calls and a compaction
 * that have no end will have none, and a note may say why it ended. */
static void end_turn(struct fold *f, const struct event *ev)
{
    static const char *const notes[] = {
        [STOP_MAX_TOKENS] = N_("the answer ends here because it reached its length limit"),
        [STOP_REFUSAL] = N_("the model declined to answer"),
        [STOP_CONTEXT_EXCEEDED] = N_("the conversation fills the model's context window"),
    };
    const char *reason = ev->text && *ev->text ? ev->text : ev->name;
    bool budget = ev->name && strcmp(ev->name, err_info(ERR_BUDGET_EXHAUSTED)->name) == 0;
    bool failed = ev->type == EVENT_TURN_FAILED, completed = ev->type == EVENT_TURN_COMPLETED;
    close_texts(f);
    leave_card(f);
    for (size_t i = f->items.len; i-- > 0 && f->items.items[i]->kind != ITEM_USER;) {
        struct item *item = f->items.items[i];
        if (item->kind != ITEM_TOOL || item->answered || item->given_up)
            continue;
        item->given_up = true;
        item->change = ITEM_CHANGED;
    }
    f->turn_open = false;
    /* the error says why the answer ends; "interrupted" would be a second, wrong reason */
    for (size_t i = f->items.len; failed && f->partial && i-- > 0;)
        if (f->items.items[i]->partial) {
            f->items.items[i]->partial = f->partial = false;
            f->items.items[i]->change = ITEM_CHANGED;
        }
    f->partial = f->partial && !failed;
    auto_free char *text =
        failed && budget ? mem_printf("%s\n%s", _("The budget is used up."), reason) : NULL;
    if (failed)
        fold_note(f, STYLE_ERROR, text ? text : reason, ev->seq);
    else if (!completed && !f->partial)
        add_dashed(f, _("interrupted"), ev->seq);
    else if (completed && (size_t)ev->stop_reason < sizeof notes / sizeof *notes &&
             notes[ev->stop_reason])
        add_dashed(f, _(notes[ev->stop_reason]), ev->seq);
    else if (completed && ev->stop_reason == STOP_END_TURN && ev->text && utf8_is_blank(ev->text))
        fold_note(f, STYLE_NOTE, _("(empty answer)"), ev->seq);
}

/* --- events --- */

static bool apply(struct fold *f, const struct event *ev)
{
    bool open = f->open.len > 0 || (ev->type == EVENT_RETRYING && f->card);
    struct item *call;
    switch (ev->type) {
    case EVENT_TURN_STARTED:
        turn_started(f, ev);
        return true;
    case EVENT_TEXT_DELTA:
        return text_delta(f, ev, ITEM_ANSWER);
    case EVENT_REASONING_DELTA:
        return text_delta(f, ev, ITEM_REASONING);
    case EVENT_TEXT_COMPLETE:
        return text_complete(f, ev, ITEM_ANSWER);
    case EVENT_REASONING_COMPLETE:
        return text_complete(f, ev, ITEM_REASONING);
    case EVENT_TOOL_CALL_REQUESTED:
        add_call(f, ev, ev->name, false);
        return true;
    case EVENT_TOOL_EXECUTION_COMPLETED:
        call = fold_call(f, ev->id, false);
        item_set_result(call ? call : add_call(f, ev, ev->name, true), ev);
        return true;
    case EVENT_COMMAND_COMPLETED:
        call = fold_call(f, COMMAND_CALL, false);
        if (!call)
            call = add_call(f, &(struct event){.seq = ev->seq, .id = (char *)COMMAND_CALL},
                            "run_command", true);
        item_set_result(call, ev);
        return true;
    case EVENT_MEMORY_RECALLED:
        call = fold_call(f, ev->id, true);
        call = call ? call : add_call(f, ev, ev->id ? "memory_search" : "recalled", true);
        call->answered = call->answered || !ev->id;
        recalled_free(call->recalled);
        call->recalled = recalled_new(ev);
        call->recalled->hints = f->hints;
        call->change = ITEM_CHANGED;
        (void)mark_left_out(f);
        return true;
    case EVENT_MEMORY_LEFT_OUT:
        left_out_note(&f->left_out, ev->id ? ev->id : "", ev->seq, ev->flag);
        return mark_left_out(f);
    case EVENT_CALL_COMPLETED:
        close_texts(f);
        return open;
    case EVENT_RETRYING:
        drop_open(f);
        if (f->card)
            compaction_card_restart(f->card);
        return open;
    case EVENT_COMPACTION_STARTED:
    case EVENT_COMPACTION_DELTA:
    case EVENT_COMPACTION_COMPLETED:
    case EVENT_COMPACTION_FAILED:
        if (ev->type == EVENT_COMPACTION_STARTED)
            leave_card(f);
        if (!f->card) { /* its beginning may be on an older page */
            f->card = add_item(f, ITEM_COMPACTION, ev->seq);
            f->card->card->hints = f->hints;
        }
        compaction_card_apply(f->card, ev);
        if (ev->type == EVENT_COMPACTION_COMPLETED || ev->type == EVENT_COMPACTION_FAILED)
            f->card = NULL;
        return true;
    case EVENT_COMPACTION_UNDONE:
        undo_card(f, ev->number);
        vec_push(&f->undone, ev->number);
        add_dashed(f,
                   _("compaction undone; the messages that it replaced are sent to the model "
                     "again"),
                   ev->seq);
        return true;
    case EVENT_REWOUND:
        note_rewind(f, (struct fold_rewind){.message = ev->number, .seq = ev->seq});
        mark_rewound(f);
        add_told_note(f, ev);
        return true;
    case EVENT_REWIND_UNDONE:
        note_rewind(f, (struct fold_rewind){.seq = ev->number, .undone = true});
        mark_rewound(f);
        add_dashed(f, _("rewind undone; its messages are sent to the model again"), ev->seq);
        return true;
    case EVENT_FILE_RESTORED:
    case EVENT_MESSAGE_PINNED:
    case EVENT_GRAPH_CHANGED:
    case EVENT_LEARNED_NOTED:
    case EVENT_BUDGET_WARNING:
        add_told_note(f, ev);
        return true;
    case EVENT_WARNING:
        fold_note(f, STYLE_WARNING, ev->text && *ev->text ? ev->text : ev->name, ev->seq);
        return true;
    case EVENT_TURN_COMPLETED:
    case EVENT_TURN_FAILED:
    case EVENT_INTERRUPTED:
        end_turn(f, ev);
        return true;
    default:
        return false;
    }
}

bool fold_apply(struct fold *f, const struct event *ev)
{
    if (ev->seq > 0 && ev->seq <= f->last_seq)
        return false;
    if (f->first_seq == 0)
        f->first_seq = ev->seq;
    if (ev->type != EVENT_TURN_STARTED && ev->type != EVENT_MEMORY_LEFT_OUT)
        remove_this(f, f->cut_off); /* the turn goes on after all */
    bool changed = apply(f, ev);
    if (ev->seq > 0)
        f->last_seq = ev->seq;
    return changed;
}

/* --- older pages --- */

/* Drops the items that a retry on this page took back. */
static void drop_taken_back(struct fold *f, struct fold *older)
{
    size_t kept = 0;
    for (size_t r = 0; r < f->taken_back.len; r++) {
        struct taken_back range = f->taken_back.items[r];
        int64_t began = take_back(older, range.from, range.to);
        for (size_t i = 0; i < f->items.len; i++)
            if (f->items.items[i]->kind == ITEM_USER && f->items.items[i]->from == range.from)
                f->items.items[i]->from = began;
        if (range.from < older->first_seq)
            f->taken_back.items[kept++] = range;
    }
    f->taken_back.len = kept;
}

/* A compaction that the border cut goes on in the first one of this page; else it has no end. */
static void join_cards(struct fold *f, struct fold *older)
{
    struct item *first = NULL;
    for (size_t i = 0; i < f->items.len && !first; i++)
        first = f->items.items[i]->card ? f->items.items[i] : NULL;
    if (older->card && first && !first->card->started) {
        first->card->started = older->card->card->started;
        older->card->card->started = NULL;
        first->seq = older->card->seq;
        first->change = ITEM_CHANGED;
        remove_this(older, older->card);
    } else {
        leave_card(older);
    }
}

/* The turn at the border goes on on this page, or it ended without a word before. */
static void join_turns(struct fold *f, struct fold *older)
{
    struct item *first = f->items.len ? f->items.items[0] : NULL;
    if (!first || !older->turn_open)
        return;
    if (first->kind == ITEM_USER) {
        close_texts(older);
        add_cut_off_note(older);
        return;
    }
    drop_open(older); /* they are complete on this page */
    /* results on this page belong to calls on the older one */
    for (size_t i = 0; i < f->items.len && f->items.items[i]->kind != ITEM_USER;) {
        struct item *orphan = f->items.items[i];
        struct item *call = orphan->orphan ? fold_call(older, orphan->id, false) : NULL;
        if (!call) {
            i++;
            continue;
        }
        if (orphan->recalled) {
            recalled_free(call->recalled);
            call->recalled = orphan->recalled;
        }
        orphan->recalled = NULL;
        buf_release(&call->result);
        buf_release(&call->difference);
        call->result = orphan->result;
        call->difference = orphan->difference;
        call->changed = orphan->changed;
        orphan->result = orphan->difference = (struct buf)BUF_INIT;
        call->result_lines = orphan->result_lines;
        call->ms = orphan->ms;
        call->answered = true;
        call->failed = orphan->failed;
        remove_item(f, i);
    }
    first = f->items.len ? f->items.items[0] : NULL;
    if (first && first->label && !older->need_label) {
        first->label = false;
        first->change = ITEM_CHANGED;
    }
}

size_t fold_prepend(struct fold *f, struct event *const *events, size_t count, bool more)
{
    struct fold older = FOLD_INIT;
    older.hints = f->hints;
    for (size_t i = 0; i < count; i++)
        fold_apply(&older, events[i]);
    if (f->last_seq == 0) { /* the first page: the conversation stands where it ends */
        close_texts(&older);
        if (older.card)
            compaction_card_set(older.card, CARD_CUT_OFF);
        if (older.turn_open)
            add_cut_off_note(&older);
        f->last_seq = older.last_seq;
        f->need_label = older.need_label;
        f->turn_open = older.turn_open;
        f->partial = older.partial;
        f->cut_off = older.cut_off;
        f->card = older.card;
    } else {
        join_cards(f, &older);
        join_turns(f, &older);
        drop_taken_back(f, &older);
    }
    for (size_t i = 0; i < f->undone.len; i++)
        undo_card(&older, f->undone.items[i]);
    for (size_t i = 0; i < older.undone.len; i++)
        vec_push(&f->undone, older.undone.items[i]);
    for (size_t i = 0; i < older.taken_back.len; i++)
        vec_push(&f->taken_back, older.taken_back.items[i]);
    f->more = more;
    if (older.first_seq)
        f->first_seq = older.first_seq;
    size_t added = older.items.len;
    if (added > 0) {
        vec_reserve(&f->items, f->items.len + added);
        vec_move_(f->items.items, added, 0, f->items.len, sizeof *f->items.items);
        memcpy(f->items.items, older.items.items, added * sizeof *f->items.items);
        f->items.len += added;
    }
    older.items.len = 0;
    if (added < f->items.len)
        set_lead(f, added);
    for (size_t i = 0; i < older.left_out.items.len; i++) {
        const struct left_out_entry *e = &older.left_out.items.items[i];
        left_out_note(&f->left_out, e->id, e->seq, e->holds);
    }
    (void)mark_left_out(f);
    for (size_t i = 0; i < older.rewinds.len; i++)
        note_rewind(f, older.rewinds.items[i]);
    mark_rewound(f);
    fold_release(&older);
    return added;
}
