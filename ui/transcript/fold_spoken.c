/* What is said in a turn: streamed text, tool calls and their results. */
#include <string.h>

#include "ui/transcript/fold.h"
#include "ui/transcript/recalled.h"

/* --- streamed text --- */

static bool delta(struct fold *f, const struct event *ev, enum item_kind kind)
{
    struct item *item = f->open.len ? vec_last(&f->open) : NULL;
    const char *text = ev->text ? ev->text : "";
    if (!item || item->kind != kind) {
        text += item_blank_front(text);
        if (!*text)
            return false;
        item = fold_add_item(f, kind, ev->seq);
        item->streaming = true;
        vec_push(&f->open, item);
    }
    item_append(item, text);
    return true;
}

bool fold_text_delta(struct fold *f, const struct event *ev)
{
    return delta(f, ev, ITEM_ANSWER);
}

bool fold_reasoning_delta(struct fold *f, const struct event *ev)
{
    return delta(f, ev, ITEM_REASONING);
}

static struct item *first_open(struct fold *f, enum item_kind kind)
{
    for (size_t i = 0; i < f->open.len; i++) {
        struct item *item = f->open.items[i];
        if (item->kind == kind) {
            vec_remove(&f->open, i, 1);
            return item;
        }
    }
    return NULL;
}

static struct item *complete(struct fold *f, const struct event *ev, enum item_kind kind)
{
    const char *text = ev->text ? ev->text : "";
    struct item *item = first_open(f, kind);
    bool redacted = kind == ITEM_REASONING && ev->flag;
    if (!item && !redacted && !text[item_blank_front(text)])
        return NULL;
    if (!item)
        item = fold_add_item(f, kind, ev->seq);
    item_set_text(item, text);
    item_end_text(item);
    return item;
}

bool fold_text_complete(struct fold *f, const struct event *ev)
{
    struct item *item = complete(f, ev, ITEM_ANSWER);
    if (item && ev->flag) {
        item->partial = f->partial = true;
        if (item->change == ITEM_SAME)
            item->change = ITEM_GROWN; /* a row behind the text */
    }
    return item != NULL;
}

bool fold_reasoning_complete(struct fold *f, const struct event *ev)
{
    struct item *item = complete(f, ev, ITEM_REASONING);
    if (item)
        item->hidden_text = ev->flag;
    return item != NULL;
}

void fold_close_texts(struct fold *f)
{
    while (f->open.len > 0) {
        item_end_text(vec_last(&f->open));
        f->open.len--;
    }
}

void fold_drop_open(struct fold *f)
{
    while (f->open.len > 0) {
        size_t i = f->items.len;
        while (i > 0 && f->items.items[i - 1] != vec_last(&f->open))
            i--;
        if (i == 0)
            f->open.len--;
        else
            fold_remove_item(f, i - 1);
    }
}

/* --- tool calls --- */

bool fold_tool_requested(struct fold *f, const struct event *ev)
{
    struct item *item = fold_add_item(f, ITEM_TOOL, ev->seq);
    item_set_call(item, ev->id, ev->name, ev->text);
    return true;
}

/* What is told of a call that is on an older page. */
static struct item *add_orphan(struct fold *f, const struct event *ev, char *name)
{
    struct event request = {.seq = ev->seq, .id = ev->id, .name = name};
    fold_tool_requested(f, &request);
    struct item *item = vec_last(&f->items);
    item->orphan = true;
    return item;
}

struct item *fold_call_of(struct fold *f, const char *id)
{
    for (size_t i = f->items.len; id && i-- > 0;) {
        struct item *item = f->items.items[i];
        if (item->kind == ITEM_USER)
            break;
        if (item->kind == ITEM_TOOL && !item->answered && item->id && strcmp(item->id, id) == 0)
            return item;
    }
    return NULL;
}

bool fold_tool_completed(struct fold *f, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "";
    struct item *item = fold_call_of(f, ev->id);
    if (!item)
        item = add_orphan(f, ev, ev->name);
    item_set_result(item, text, ev->flag, ev->number);
    return true;
}

static struct item *call_with_id(struct fold *f, const char *id)
{
    for (size_t i = f->items.len; id && i-- > 0 && f->items.items[i]->kind != ITEM_USER;) {
        struct item *item = f->items.items[i];
        if (item->kind == ITEM_TOOL && item->id && strcmp(item->id, id) == 0)
            return item;
    }
    return NULL;
}

void fold_give_recalled(struct item *call, struct recalled *recalled)
{
    recalled_free(call->recalled);
    call->recalled = recalled;
    call->change = ITEM_CHANGED;
}

bool fold_memory_recalled(struct fold *f, const struct event *ev)
{
    char name[] = "memory_search";
    struct item *item = call_with_id(f, ev->id);
    if (!ev->id)
        return false;
    if (!item)
        item = add_orphan(f, ev, name);
    fold_give_recalled(item, recalled_new(ev));
    return true;
}
