#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "ui/text/editor.h"
#include "ui/transcript/messages.h"
#include "ui/view/memory_view_private.h"

void edit_release(struct pane_edit *e)
{
    free(e->id);
    free(e->original);
    editor_free(e->editor);
    *e = (struct pane_edit){0};
}

static void clear(struct pane_edit *e)
{
    free(e->id);
    free(e->original);
    e->id = e->original = NULL;
    e->reading = 0;
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

/* Keys wait for it, so the person is where he was. */
static bool take_text(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    const struct memory_entry *entry = a->result;
    if (words)
        return pane_fail(p, words);
    p->edit.reading = 0;
    editor_start(p->edit.editor, entry->content);
    p->edit.original = mem_strdup(editor_text(p->edit.editor));
    p->place = IN_EDITOR;
    ahead_replay(p);
    return true;
}

/* What was changed and left comes back first, were it of another entry: nothing is lost. */
void edit_open(struct memory_view *p)
{
    const struct memory_read_params params = {.id = pane_hit(p)->entry.id};
    struct pane_edit *e = &p->edit;
    if (!params.id)
        return;
    bool same = e->id && strcmp(e->id, params.id) == 0;
    bool left = is_changed(e);
    if (left && !same)
        pane_say(p, STYLE_WARNING, _("another entry has unsaved changes: this one"));
    if (left || (same && e->original)) {
        p->place = IN_EDITOR;
        return;
    }
    edit_give_up(p);
    clear(e);
    e->id = mem_strdup(params.id);
    e->reading = view_ask(&p->view, &operation_memory_read, &params, take_text);
}

bool edit_waits(const struct memory_view *p)
{
    return p->edit.reading != 0;
}

void edit_give_up(struct memory_view *p)
{
    if (!edit_waits(p))
        return;
    view_withdraw(&p->view, p->edit.reading);
    clear(&p->edit);
}

/* --- ending --- */

static void go_back(struct memory_view *p)
{
    p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
}

void edit_saved(struct memory_view *p, bool done)
{
    p->edit.saving = false;
    if (!done)
        return;
    if (p->place == IN_EDITOR)
        go_back(p);
    clear(&p->edit);
}

static void save(struct view *view)
{
    struct memory_view *p = pane_of(view);
    struct pane_edit *e = &p->edit;
    if (e->saving)
        return;
    if (is_blank(editor_text(e->editor))) {
        pane_say(p, STYLE_WARNING, _("an empty text cannot be saved"));
    } else if (!is_changed(e)) {
        go_back(p);
        clear(e);
    } else {
        e->saving = true;
        pane_save(p, e->id, editor_text(e->editor));
    }
}

static void leave(struct view *view)
{
    struct memory_view *p = pane_of(view);
    struct buf key = BUF_INIT, text = BUF_INIT;
    go_back(p);
    if (!is_changed(&p->edit)) {
        clear(&p->edit);
        return;
    }
    keymap_describe_first(view->host->keymap, ACTION_MEMORY_EDIT, &key);
    buf_addf(&text, _("not saved; %s continues editing"), key.len > 0 ? key.data : "-");
    pane_say(p, STYLE_NOTE, text.data);
    buf_release(&key);
    buf_release(&text);
}

static void take_back(struct view *view)
{
    struct pane_edit *e = &pane_of(view)->edit;
    if (!is_changed(e))
        leave(view);
    else if (!e->saving)
        editor_set(e->editor, e->original);
}

static void edit_outside(struct view *view)
{
    view->host->edit_outside(view->host->app, pane_of(view)->edit.editor);
}

static const struct view_key keys[] = {{ACTION_SEND, save},
                                       {ACTION_CANCEL, leave},
                                       {ACTION_CLEAR, take_back},
                                       {ACTION_EXTERNAL, edit_outside},
                                       {ACTION_NONE, NULL}};

/* While it is saved, its text is what was sent. */
bool edit_in_pane(struct view *view, enum action action, const struct key *key)
{
    struct memory_view *p = pane_of(view);
    struct pane_edit *e = &p->edit;
    int page = p->layout.lower_rows > 3 ? p->layout.lower_rows - 2 : 1;
    if (view_run_action(view, keys, action))
        return true;
    if (pane_passes(action))
        return false;
    if (editor_move(e->editor, action, page))
        return true;
    if (key->code == K_PASTE)
        editor_paste(e->editor, key->text, strlen(key->text));
    else
        (void)editor_take_key(e->editor, action, key);
    return true;
}

/* --- what it looks like --- */

void edit_rows(struct memory_view *p, struct rows *out)
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
