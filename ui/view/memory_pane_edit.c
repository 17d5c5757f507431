#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "ui/text/edit_keys.h"
#include "ui/transcript/message_row.h"
#include "ui/view/memory_pane_private.h"

void edit_release(struct pane_edit *e)
{
    free(e->id);
    free(e->original);
    editor_free(e->editor);
    *e = (struct pane_edit){0};
}

static void forget(struct pane_edit *e)
{
    free(e->id);
    free(e->original);
    e->id = e->original = NULL;
    e->saving = false;
    editor_start(e->editor, NULL);
}

static bool is_changed(const struct pane_edit *e)
{
    return e->original && strcmp(e->original, editor_text(e->editor)) != 0;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* --- beginning --- */

/* What was changed and left comes back first, were it of another entry: nothing is lost. */
void edit_open(struct memory_pane *p)
{
    const struct memory_hit *hit = pane_hit(p);
    struct pane_edit *e = &p->edit;
    if (!hit || !hit->entry.id)
        return;
    bool same = e->id && strcmp(e->id, hit->entry.id) == 0;
    bool left = is_changed(e);
    if (left && !same)
        memory_pane_say(p, STYLE_WARNING, _("another entry has unsaved changes: this one"));
    if (left || (same && e->original)) {
        p->place = IN_EDITOR;
        return;
    }
    forget(e);
    e->id = mem_strdup(hit->entry.id);
    pane_send(p, COMMAND_MEMORY_SHOW, e->id, NULL, 0);
}

bool edit_waits(const struct memory_pane *p)
{
    return p->edit.id && !p->edit.original;
}

void edit_give_up(struct memory_pane *p)
{
    if (edit_waits(p))
        forget(&p->edit);
}

/* Keys wait for it, so the person is where he was. */
void edit_take(struct memory_pane *p, const struct memory_entry *entry)
{
    struct pane_edit *e = &p->edit;
    if (!edit_waits(p) || strcmp(e->id, entry->id) != 0)
        return;
    editor_start(e->editor, entry->content);
    e->original = mem_strdup(editor_text(e->editor));
    p->place = IN_EDITOR;
}

/* --- ending --- */

static void go_back(struct memory_pane *p)
{
    p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
}

void edit_over(struct memory_pane *p, bool done)
{
    struct pane_edit *e = &p->edit;
    e->saving = false;
    if (!done && !edit_waits(p)) /* else its text does not come */
        return;
    if (p->place == IN_EDITOR)
        go_back(p);
    forget(e);
}

static enum memory_result save(struct memory_pane *p)
{
    struct pane_edit *e = &p->edit;
    if (e->saving)
        return MEMORY_STAYS;
    if (is_blank(editor_text(e->editor))) {
        memory_pane_say(p, STYLE_WARNING, _("an empty text cannot be saved"));
    } else if (!is_changed(e)) {
        go_back(p);
        forget(e);
    } else {
        e->saving = true;
        pane_send(p, COMMAND_MEMORY_EDIT, e->id, editor_text(e->editor), 0);
    }
    return MEMORY_STAYS;
}

static enum memory_result leave(struct memory_pane *p)
{
    struct buf key = BUF_INIT, text = BUF_INIT;
    go_back(p);
    if (!is_changed(&p->edit)) {
        forget(&p->edit);
        return MEMORY_STAYS;
    }
    keymap_describe_first(p->host.keymap, ACTION_MEMORY_EDIT, &key);
    buf_addf(&text, _("not saved; %s continues editing"), key.len > 0 ? key.data : "-");
    memory_pane_say(p, STYLE_NOTE, text.data);
    buf_release(&key);
    buf_release(&text);
    return MEMORY_STAYS;
}

static enum memory_result take_back(struct memory_pane *p)
{
    if (!is_changed(&p->edit))
        return leave(p);
    if (!p->edit.saving)
        editor_set(p->edit.editor, p->edit.original);
    return MEMORY_STAYS;
}

static enum memory_result outside(struct memory_pane *p)
{
    (void)p;
    return MEMORY_EXTERNAL;
}

static enum memory_result close_pane(struct memory_pane *p)
{
    (void)p;
    return MEMORY_CLOSED;
}

static enum memory_result write_message(struct memory_pane *p)
{
    (void)p;
    return MEMORY_WRITE;
}

static const struct {
    enum action action;
    enum memory_result (*run)(struct memory_pane *p);
} acts[] = {{ACTION_SEND, save},
            {ACTION_CANCEL, leave},
            {ACTION_CLEAR, take_back},
            {ACTION_EXTERNAL, outside},
            {ACTION_MEMORY, close_pane},
            {ACTION_COMPLETE, write_message},
            {ACTION_FIND_NEWER, write_message}};

/* While it is saved, its text is what was sent. */
enum memory_result edit_in_pane(struct memory_pane *p, enum action action, const struct key *key)
{
    struct pane_edit *e = &p->edit;
    int page = p->layout.lower_rows > 3 ? p->layout.lower_rows - 2 : 1;
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (acts[i].action == action)
            return acts[i].run(p);
    if (pane_passes(action))
        return MEMORY_PASS;
    if (edit_text_move(e->editor, action, page))
        return MEMORY_STAYS;
    if (key->code == K_PASTE)
        editor_paste(e->editor, key->text, strlen(key->text));
    else
        (void)edit_key(e->editor, action, key);
    return MEMORY_STAYS;
}

struct editor *memory_pane_editor(struct memory_pane *p)
{
    return p->edit.editor;
}

/* --- what it looks like --- */

void edit_rows(struct memory_pane *p, struct rows *out)
{
    const char *title = edit_waits(p)    ? _("loading")
                        : p->edit.saving ? _("saving")
                                         : _("edit entry");
    size_t width = (size_t)p->layout.width;
    int height = p->layout.lower_rows - 1;
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY_TITLE, 0);
    message_row_field(out, title, width - 1, STYLE_OVERLAY_TITLE);
    if (height < 1)
        return;
    struct editor_view view = editor_layout(p->edit.editor, width > 3 ? (int)width - 2 : 1, height);
    p->caret_row = p->layout.lower_top + 1 + view.caret_row;
    p->caret_col = 1 + view.caret_col;
    for (int i = 0; i < height; i++) {
        size_t at = view.top + (size_t)i, used = 1;
        rows_begin(out);
        rows_addstr(out, " ", STYLE_EDITOR, 0);
        if (at < view.row_count) {
            rows_append(out, view.rows, at);
            used += rows_width(view.rows, at);
        }
        message_row_field(out, "", used < width ? width - used : 0, STYLE_EDITOR);
    }
}
