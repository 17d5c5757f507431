#include "ui/transcript/dropped.h"

#include <string.h>

#include "base/i18n.h"
#include "base/json.h"

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
    struct json *list = attachments ? json_parse(attachments, strlen(attachments), NULL) : NULL;
    for (const struct json *v = json_type(list) == JSON_ARRAY ? json_first(list) : NULL; v;
         v = json_next(v)) {
        struct block block;
        struct error fault;
        if (!block_from_json(v, &block, &fault))
            continue;
        buf_addf(&m->text, "\n[%s: ", _("image"));
        buf_addstr(&m->text, block.text ? block.text : "");
        buf_addstr(&m->text, "]");
        block_release(&block);
    }
    json_free(list);
}

static void turn_started(struct dropped *d, const struct event *ev)
{
    while (ev->number > 0 && d->items.len > 0 && vec_last(&d->items).seq >= ev->number)
        take_back_last(d);
    d->turn = 0;
    d->closed = true;
    struct dropped_message *m = message_of(d, ROLE_USER, ev->seq);
    add_text(m, ev->text);
    add_images(m, ev->attachments);
}

/* A turn without an answer takes its message back. */
static void turn_failed(struct dropped *d, const struct event *ev)
{
    (void)ev;
    if (d->items.len > 0 && vec_last(&d->items).role == ROLE_USER)
        take_back_last(d);
    d->closed = true;
}

static void call_started(struct dropped *d, const struct event *ev)
{
    d->turn = ev->number > 0 && ev->number <= INT32_MAX ? (int)ev->number : 0;
    if (d->items.len > 0 && vec_last(&d->items).turn == 0)
        vec_last(&d->items).turn = d->turn;
    d->closed = true;
}

static void text_complete(struct dropped *d, const struct event *ev)
{
    if (!ev->text || !*ev->text)
        return;
    struct dropped_message *m = message_of(d, ROLE_ASSISTANT, ev->seq);
    add_text(m, ev->text);
    if (ev->flag)
        add_text(m, _("(interrupted)"));
}

static void reasoning_complete(struct dropped *d, const struct event *ev)
{
    struct dropped_message *m = message_of(d, ROLE_ASSISTANT, ev->seq);
    bool first = m->text.len == 0;
    add_text(m, _("Reasoning:"));
    add_text(m, ev->flag ? _("kept hidden by the provider") : ev->text);
    if (first)
        m->said = m->text.len;
}

static void tool_requested(struct dropped *d, const struct event *ev)
{
    struct dropped_message *m = message_of(d, ROLE_ASSISTANT, ev->seq);
    add_text(m, ev->name);
    buf_addch(&m->text, ' ');
    buf_addstr(&m->text, ev->text ? ev->text : "");
}

static void tool_completed(struct dropped *d, const struct event *ev)
{
    struct dropped_message *m = message_of(d, ROLE_TOOL, ev->seq);
    add_text(m, ev->name);
    buf_addstr(&m->text, ev->flag ? _(" (failed)") : "");
    buf_addstr(&m->text, ":\n");
    buf_addstr(&m->text, ev->text ? ev->text : "");
}

void dropped_apply(struct dropped *d, const struct event *ev)
{
    static void (*const effects[EVENT_TYPE_COUNT])(struct dropped *, const struct event *) = {
        [EVENT_TURN_STARTED] = turn_started,
        [EVENT_TURN_FAILED] = turn_failed,
        [EVENT_CALL_STARTED] = call_started,
        [EVENT_TEXT_COMPLETE] = text_complete,
        [EVENT_REASONING_COMPLETE] = reasoning_complete,
        [EVENT_TOOL_CALL_REQUESTED] = tool_requested,
        [EVENT_TOOL_EXECUTION_COMPLETED] = tool_completed,
    };
    if (effects[ev->type])
        effects[ev->type](d, ev);
}
