/* Files that tools have changed since the point of a rewind, each with its difference to then:
 * taken back one by one or all at once, or left as they are. */
#include "ui/view/restore_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "ui/view/browser.h"

struct restore_view {
    struct browser b;
    struct session_files list; /* behind the files are the commands, as entries of the list */
};

static const struct restorable *file_at(const struct browser *b, size_t index)
{
    const struct session_files *list = &((const struct restore_view *)b)->list;
    return index < list->files.len ? &list->files.items[index] : NULL;
}

/* --- entries ---------------------------------------------------------------------------------- */

static int64_t entry_id(const struct browser *b, size_t index)
{
    const struct restorable *r = file_at(b, index);
    return r ? browser_hash(0, r->path) : (int64_t)index;
}

static void entry(const struct browser *b, size_t index, struct browser_entry *out)
{
    const struct session_files *list = &((const struct restore_view *)b)->list;
    const struct restorable *r = file_at(b, index);
    buf_addch(&out->left, ' ');
    if (!r) {
        out->style = STYLE_DIM;
        buf_addf(&out->left, "%s: ", _("not covered"));
        browser_clean(&out->left, list->commands.items[index - list->files.len]);
        return;
    }
    out->style = r->state == RESTORABLE_READY ? STYLE_OVERLAY : STYLE_WARNING;
    browser_clean(&out->left, r->path);
    if (r->removes)
        buf_addf(&out->left, " %s %s", glyph(GLYPH_DOT), _("is removed"));
    if (r->state == RESTORABLE_CHANGED)
        buf_addf(&out->left, " %s %s", glyph(GLYPH_DOT), _("changed meanwhile"));
    if (r->state == RESTORABLE_LOST)
        buf_addf(&out->left, " %s %s", glyph(GLYPH_DOT), _("not covered"));
    else
        buf_addf(&out->right, "+%lld -%lld ", (long long)r->added, (long long)r->removed);
}

static bool entry_text(const struct browser *b, size_t index, struct buf *out)
{
    const struct restorable *r = file_at(b, index);
    const char *text = !r ? NULL : r->difference ? r->difference : r->why;
    buf_addstr(out, text ? text : "");
    return out->len > 0;
}

static const struct browser_columns columns = {entry_id, entry, entry_text, NULL};

/* --- requests --------------------------------------------------------------------------------- */

static void show_list(struct restore_view *v, struct operation_answer *a)
{
    browser_take(a, &v->list);
    v->b.known = true;
    browser_fill(&v->b.main, v->list.files.len + v->list.commands.len);
}

static bool take_list(struct view *view, struct operation_answer *a, const char *words)
{
    struct restore_view *v = (struct restore_view *)view;
    if (browser_came(&v->b, words))
        show_list(v, a);
    if (!words && v->list.files.len == 0)
        view_close(view);
    return true;
}

static void refresh(struct browser *b)
{
    browser_ask(b, &operation_session_changes, NULL, take_list);
}

/* Names the first of several files that was not taken back. */
static const char *done(struct browser *b, struct operation_answer *a)
{
    const struct session_files *list = a->result;
    const char *why = NULL;
    (void)b;
    for (size_t i = 0; i < list->files.len && !why; i++)
        if (list->files.items[i].state == RESTORABLE_FAILED)
            why = list->files.items[i].why;
    return why ? why : _("Taken back.");
}

/* Path "": all files that are as the tools left them. */
static void take_back(struct browser *b, const char *path)
{
    const struct session_restore_params params = {.file = path};
    (void)view_ask(&b->view, &operation_session_restore, &params, browser_changed);
}

static bool act(struct browser *b, enum action action)
{
    size_t at = browser_chosen(b);
    const struct restorable *r = at == SIZE_MAX ? NULL : file_at(b, at);
    if (action == ACTION_ITEM_ACCEPT)
        take_back(b, "");
    else if (action == ACTION_MEMORY_RESTORE && r && r->state != RESTORABLE_LOST)
        take_back(b, r->path);
    else if (action == ACTION_MEMORY_RESTORE)
        remark_set(&b->remark, STYLE_NOTE, r ? r->why : _("What a command did is not covered."));
    else /* keys of lists that have a query or delete */
        return action == ACTION_MEMORY_QUERY || action == ACTION_MEMORY_FORGET;
    return true;
}

/* --- the view --------------------------------------------------------------------------------- */

static void title(const struct browser *b, struct buf *out)
{
    size_t count = ((const struct restore_view *)b)->list.files.len;
    buf_addf(out, " %s", _("Take back what tools did to files?"));
    if (b->known)
        buf_addf(out, ngettext(" %s %zu file", " %s %zu files", (unsigned long)count),
                 glyph(GLYPH_DOT), count);
}

static const char *empty(const struct browser *b)
{
    (void)b;
    return _("No file differs from then.");
}

static struct hint_table hints(const struct browser *b)
{
    static const struct hint in_list[] = {
        {ACTION_ITEM_ACCEPT, NULL,
         N_("take back all|take back all files that nobody else changed")},
        {ACTION_MEMORY_RESTORE, NULL,
         N_("this one|take back this file, also one that was changed meanwhile")},
        {ACTION_CANCEL, NULL, N_("leave them")},
        {ACTION_SEND, NULL, N_("difference")},
        {ACTION_HELP, NULL, N_("help")},
        {ACTION_LEFT, NULL, N_("|leave them")}};
    (void)b;
    return HINTS(in_list, (COMMON_OUTLINE & ~COMMON_CLOSE) | COMMON_BACK);
}

static bool has_query(const struct browser *b)
{
    (void)b;
    return false;
}

static void leave(struct browser *b)
{
    view_close(&b->view);
}

static const struct browser_table table = {
    .act = act,
    .done = done,
    .title = title,
    .empty = empty,
    .hints = hints,
    .has_query = has_query,
    .back = leave,
    .refresh = refresh,
};

static void free_view(struct view *view)
{
    struct restore_view *v = (struct restore_view *)view;
    shape_release(operation_session_changes.result, &v->list);
    browser_release(&v->b);
    free(v);
}

struct view *restore_view_new(const struct view_host *host, struct operation_answer *answer)
{
    static const struct view_ops ops = {BROWSER_OPS, .of_session = true, .free = free_view};
    struct restore_view *v = mem_alloc(sizeof *v);
    browser_init(&v->b, host, &ops, &table, &columns);
    show_list(v, answer);
    return &v->b.view;
}
