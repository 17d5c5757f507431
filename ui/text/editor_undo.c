
#include "ui/text/editor_private.h"

enum { UNDO_MAX = 1000 };

static void edit_release(struct edit *edit)
{
    buf_release(&edit->removed);
    buf_release(&edit->inserted);
}

static void drop_edits(struct editor *e, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++)
        edit_release(&e->edits.items[i]);
    vec_remove(&e->edits, from, count);
}

void editor_undo_forget(struct editor *e)
{
    drop_edits(e, 0, e->edits.len);
    e->done = 0;
    e->open_group = false;
}

void editor_undo_release(struct editor *e)
{
    editor_undo_forget(e);
    vec_release(&e->edits);
}

static void change(struct editor *e, size_t pos, size_t old_len, const char *text, size_t len)
{
    buf_splice(&e->text, pos, old_len, text, len);
    editor_layout_changed(e, pos, old_len, len);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static bool continues_word(const struct edit *last, size_t from, const char *text, size_t len)
{
    const struct buf *typed = &last->inserted;
    if (last->pos + typed->len != from || typed->len == 0 || len == 0)
        return false;
    return is_blank(*text) || !is_blank(typed->data[typed->len - 1]);
}

/* Lets the last step take the edit in. */
static bool join(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                 enum edit_group group)
{
    struct edit *last = e->done ? &e->edits.items[e->done - 1] : NULL;
    if (!e->open_group || !last || last->group != group || group == GROUP_ALONE)
        return false;
    const char *gone = e->text.data + from;
    if (group == GROUP_TYPED && from == to && continues_word(last, from, text, len)) {
        buf_add(&last->inserted, text, len);
        return true;
    }
    if (group != GROUP_ERASED || (to != last->pos && from != last->pos))
        return false;
    buf_splice(&last->removed, to == last->pos ? 0 : last->removed.len, 0, gone, to - from);
    last->pos = from;
    return true;
}

void editor_edit(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                 enum edit_group group)
{
    if (from == to && len == 0)
        return;
    drop_edits(e, e->done, e->edits.len - e->done);
    if (!join(e, from, to, text, len, group)) {
        struct edit edit = {from, BUF_INIT, BUF_INIT, e->caret, group};
        buf_add(&edit.removed, e->text.data + from, to - from);
        buf_add(&edit.inserted, text, len);
        if (e->edits.len == UNDO_MAX)
            drop_edits(e, 0, 1);
        vec_push(&e->edits, edit);
        e->done = e->edits.len;
    }
    e->open_group = true;
    change(e, from, to - from, text, len);
    e->caret = editor_border(e, from + len);
}

bool editor_undo(struct editor *e)
{
    if (e->done == 0)
        return false;
    const struct edit *edit = &e->edits.items[--e->done];
    change(e, edit->pos, edit->inserted.len, edit->removed.data, edit->removed.len);
    e->caret = edit->caret_before;
    e->open_group = false;
    return true;
}

bool editor_redo(struct editor *e)
{
    if (e->done == e->edits.len)
        return false;
    const struct edit *edit = &e->edits.items[e->done++];
    change(e, edit->pos, edit->removed.len, edit->inserted.data, edit->inserted.len);
    e->caret = editor_border(e, edit->pos + edit->inserted.len);
    e->open_group = false;
    return true;
}
