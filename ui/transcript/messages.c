#include "ui/transcript/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "base/utf8.h"
#include "ui/term/rows.h"

enum {
    LINE_BYTES = 600, /* of a first line, more than any screen is wide */
    TURN_COLUMNS = 9, /* with the blank behind it */
    TEXT_LEAST = 16   /* columns that a turn leaves to the text, or it is left out */
};

const char *message_row_who(enum role role)
{
    static const char *const names[] = {[ROLE_SYSTEM] = N_("system"),
                                        [ROLE_USER] = N_("you"),
                                        [ROLE_ASSISTANT] = N_("tiro"),
                                        [ROLE_TOOL] = N_("tool")};
    return (size_t)role < sizeof names / sizeof *names ? _(names[role]) : "";
}

const char *message_row_speaker(const struct memory_entry *e)
{
    bool named = e->speaker && *e->speaker && strcmp(e->speaker, role_name(e->role)) != 0;
    bool foreign = e->from && !e->author && e->role == ROLE_ASSISTANT; /* another agent's answer */
    return named                               ? e->speaker
           : e->author && e->role == ROLE_USER ? e->author
           : foreign                           ? e->from
                                               : message_row_who(e->role);
}

void message_row_field(struct rows *out, const char *text, size_t columns, enum style style)
{
    size_t used = rows_add_cut(out, text, columns, style);
    rows_pad(out, columns - used, style);
}

void message_row_figure(struct rows *out, const char *text, size_t columns, enum style style)
{
    size_t width = utf8_width(text, strlen(text));
    rows_pad(out, width < columns ? columns - width : 0, style);
    (void)rows_add_cut(out, text, columns, style);
}

void message_row_add(struct rows *out, const struct message_row *m, size_t who_columns,
                     size_t columns)
{
    enum style main = m->chosen ? STYLE_SELECTED : STYLE_OVERLAY;
    enum style side = m->chosen ? STYLE_SELECTED : STYLE_DIM;
    AUTO(buf_release) struct buf turn = BUF_INIT;
    AUTO(buf_release) struct buf line = BUF_INIT;
    const char *text = m->text + strspn(m->text, " \t\r\n");
    size_t len = strnlen(text, LINE_BYTES + 4), end = 0, before = 2 + who_columns + 1;
    bool has_turn = m->turn > 0 && before + TURN_COLUMNS + TEXT_LEAST <= columns;
    while (end < len && text[end] != '\n' && text[end] != '\r')
        end++;
    utf8_clean(&line, text, utf8_cut_bytes(text, end, LINE_BYTES), UTF8_ONE_LINE);
    before += has_turn ? TURN_COLUMNS : 0;
    buf_addf(&turn, _("turn %d"), m->turn);
    buf_truncate(&turn, utf8_cut_width(turn.data, turn.len, TURN_COLUMNS - 1));
    const char *mark = !m->opens ? " " : glyph(m->open ? GLYPH_UNFOLDED : GLYPH_FOLDED);
    if (before < columns) {
        rows_addstr(out, mark, side, 0);
        rows_addstr(out, " ", side, 0);
        message_row_field(out, m->who, who_columns, main);
        rows_addstr(out, " ", side, 0);
        if (has_turn)
            message_row_field(out, turn.data, TURN_COLUMNS, side);
        columns -= before;
    }
    message_row_field(out, line.data, columns, main);
}

/* --- messages out of events --- */

void dropped_release(struct dropped *d)
{
    for (size_t i = 0; i < d->items.len; i++)
        buf_release(&d->items.items[i].text);
    vec_release(&d->items);
}

/* The message that an event of this role belongs to. */
static struct dropped_message *message_of(struct dropped *d, enum role role, int64_t seq)
{
    struct dropped_message *last = d->items.len > 0 ? &vec_last(&d->items) : NULL;
    if (last && last->role == role && !d->closed)
        return last;
    vec_push(&d->items, (struct dropped_message){.role = role, .seq = seq, .turn = d->turn});
    d->closed = false;
    last = &vec_last(&d->items);
    buf_init(&last->text, 0);
    return last;
}

static void add_text(struct dropped_message *m, const char *text)
{
    if (m->text.len > 0)
        buf_addstr(&m->text, "\n\n");
    buf_addstr(&m->text, text ? text : "");
}

static void take_back_last(struct dropped *d)
{
    buf_release(&vec_last(&d->items).text);
    d->items.len--;
    d->closed = true;
}

static void add_images(struct dropped_message *m, const char *attachments)
{
    AUTO(json_free_local)
    struct json *list = attachments ? json_parse(attachments, strlen(attachments), NULL) : NULL;
    bool array = list && json_type(list) == JSON_ARRAY;
    for (const struct json *v = array ? json_first(list) : NULL; v; v = json_next(v)) {
        struct block block;
        struct error fault;
        if (!block_from_json(v, &block, &fault))
            continue;
        if (block.type != BLOCK_IMAGE) { /* of a skill: the message has its name */
            if (block.name && *block.name == '@')
                buf_addf(&m->text, "\n[%s]", block.name);
            block_release(&block);
            continue;
        }
        buf_addf(&m->text, block.id ? "\n[%s %s]" : "\n[%s: %s]", _("image"),
                 block.id     ? block.id
                 : block.text ? block.text
                              : "");
        block_release(&block);
    }
}

void dropped_apply(struct dropped *d, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "";
    struct dropped_message *m = d->items.len > 0 ? &vec_last(&d->items) : NULL;
    switch (ev->type) {
    case EVENT_TURN_STARTED:
        while (ev->number > 0 && d->items.len > 0 && vec_last(&d->items).seq >= ev->number)
            take_back_last(d);
        d->turn = 0;
        d->closed = true;
        m = message_of(d, ROLE_USER, ev->seq);
        add_text(m, text);
        add_images(m, ev->attachments);
        break;
    case EVENT_COMMAND_COMPLETED:
        if (m && m->role == ROLE_USER)
            add_text(m, text);
        break;
    case EVENT_TURN_FAILED: /* a turn without an answer takes its message back */
        if (m && m->role == ROLE_USER)
            take_back_last(d);
        d->closed = true;
        break;
    case EVENT_CALL_STARTED:
        d->turn = ev->number > 0 && ev->number <= INT32_MAX ? (int)ev->number : 0;
        if (m && m->turn == 0)
            m->turn = d->turn;
        d->closed = true;
        break;
    case EVENT_TEXT_COMPLETE:
        if (!*text)
            break;
        m = message_of(d, ROLE_ASSISTANT, ev->seq);
        add_text(m, text);
        if (ev->flag)
            add_text(m, _("(interrupted)"));
        break;
    case EVENT_REASONING_COMPLETE: {
        m = message_of(d, ROLE_ASSISTANT, ev->seq);
        bool first = m->text.len == 0;
        add_text(m, _("Reasoning:"));
        add_text(m, ev->flag ? _("kept hidden by the provider") : text);
        if (first)
            m->said = m->text.len;
        break;
    }
    case EVENT_TOOL_CALL_REQUESTED:
        m = message_of(d, ROLE_ASSISTANT, ev->seq);
        add_text(m, ev->name);
        buf_addch(&m->text, ' ');
        buf_addstr(&m->text, text);
        break;
    case EVENT_TOOL_EXECUTION_COMPLETED:
        m = message_of(d, ROLE_TOOL, ev->seq);
        add_text(m, ev->name);
        buf_addstr(&m->text, ev->flag ? _(" (failed)") : "");
        buf_addstr(&m->text, ":\n");
        buf_addstr(&m->text, text);
        break;
    default:
        break;
    }
}
