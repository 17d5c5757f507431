/* Where things are in the pane, and its last row. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/memory_view_private.h"

enum {
    BADGE_ROWS = 8, /* of the pane, from which on there is a row for the badge */
    HALF_ROWS = 16, /* from which on the preview leaves the list its half */
    HINT_ROWS = 5,  /* from which on there is a row of keys */
    SLOW_MS = 250   /* an answer that takes longer is seen to be waited for */
};

static int end_rows(const struct memory_view *p)
{
    const struct pane_layout *l = &p->layout;
    return remark_height(p->remark.text, (size_t)l->width, l->height, HINT_ROWS);
}

/* It is there as soon as its keys are meant for it. */
static bool has_editor(const struct memory_view *p)
{
    return p->place == IN_EDITOR || edit_waits(p);
}

static struct pane_layout lay_out(const struct memory_view *p, bool badge)
{
    struct pane_layout l = {.width = p->layout.width, .height = p->layout.height};
    bool lower = p->preview.open || has_editor(p);
    l.hint_rows = end_rows(p);
    int top = 1 + badge, bottom = l.height - l.hint_rows;
    l.query_row = p->tab == TAB_MEMORY && top < bottom ? top : -1;
    l.list_top = top + (l.query_row >= 0);
    l.list_rows = bottom > l.list_top ? bottom - l.list_top : 0;
    if (!lower)
        return l;
    int left = l.height >= HALF_ROWS ? l.list_rows / 2 : 0;
    left -= left % list_part_row_height(p);
    l.lower_top = l.list_top + left;
    l.lower_rows = l.list_rows - left;
    l.list_rows = left;
    return l;
}

void pane_resize(struct view *view, int width, int height)
{
    struct memory_view *p = pane_of(view);
    p->layout.width = width > 2 ? width : 2;
    p->layout.height = height > 1 ? height : 1;
}

/* --- keys --- */

static const struct hint in_query[] = {
    {ACTION_DOWN, NULL, N_("to the matches")},
    {ACTION_PANE_NEXT, NULL, N_("next tab")},
    {ACTION_CANCEL, NULL, N_("close")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_COMPLETE, NULL, N_("to the message")},
    {ACTION_NONE, "\"two words\" -word", N_("exact phrase, without word")}};

static const struct hint in_list[] = {
    {ACTION_SEND, NULL, N_("show in full")},
    {ACTION_MEMORY_OPEN, NULL, N_("go to message|open the conversation at this message")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_INSERT, NULL, N_("quote|quote it in your message")},
    {ACTION_MEMORY_PIN, NULL, N_("pin|pin it: it comes before equal matches; again: no longer")},
    {ACTION_MEMORY_EDIT, NULL, N_("edit|change its text")},
    {ACTION_MEMORY_FORGET, NULL, N_("forget|delete it from memory")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")},
    {ACTION_MEMORY_SCOPE, NULL,
     N_("scope|where to search: everywhere, in this project, in this session")},
    {ACTION_MEMORY_ORIGIN, NULL,
     N_("origin|only entries from compactions, from sessions, or imported")},
    {ACTION_MEMORY_SORT, NULL, N_("sort|by score or by date")},
    {ACTION_MEMORY_QUERY, NULL, N_("search|change what is searched for")}};

static const struct hint in_empty_list[] = {
    {ACTION_MEMORY_QUERY, NULL, N_("search|change what is searched for")},
    {ACTION_MEMORY_SCOPE, NULL,
     N_("scope|where to search: everywhere, in this project, in this session")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")},
    {ACTION_COMPLETE, NULL, N_("to the message")}};

static const struct hint in_preview[] = {
    {ACTION_CANCEL, NULL, N_("back")},
    {ACTION_MEMORY_OPEN, NULL, N_("go to message|open the conversation at this message")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_INSERT, NULL, N_("quote|quote it in your message")},
    {ACTION_NONE, "n N", N_("next, previous|the next entry and the one before")},
    {ACTION_MEMORY_FIGURES, NULL, N_("figures|the numbers behind the score")},
    {ACTION_MEMORY_EDIT, NULL, N_("edit|change its text")}};

static const struct hint in_editor[] = {{ACTION_SEND, NULL, N_("save")},
                                        {ACTION_CANCEL, NULL, N_("close")},
                                        {ACTION_EXTERNAL, NULL, "$EDITOR"},
                                        {ACTION_CLEAR, NULL, N_("undo changes")}};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void hint_part(struct memory_view *p, struct rows *out)
{
    static const struct {
        const struct hint *hints;
        size_t count;
    } places[] = {[IN_QUERY] = {in_query, COUNT(in_query)},
                  [IN_LIST] = {in_list, COUNT(in_list)},
                  [IN_PREVIEW] = {in_preview, COUNT(in_preview)},
                  [IN_EDITOR] = {in_editor, COUNT(in_editor)}};
    size_t width = (size_t)p->layout.width;
    int rows = p->layout.hint_rows;
    enum pane_place place = has_editor(p) ? IN_EDITOR : p->place;
    if (p->remark.text)
        remark_rows(out, p->remark.text, p->remark.style, width, rows);
    else if (p->focused && place == IN_LIST && pane_count(p) == 0)
        hints_rows(out, p->view.host->keymap, in_empty_list, COUNT(in_empty_list), width, rows);
    else if (p->focused)
        hints_rows(out, p->view.host->keymap, places[place].hints, places[place].count, width,
                   rows);
    else
        hints_elsewhere(out, p->view.host->keymap, width, rows);
}

/* --- all of it --- */

static void lower_part(struct memory_view *p, struct rows *out)
{
    if (p->layout.lower_rows <= 0)
        return;
    if (has_editor(p))
        edit_rows(p, out);
    else
        preview_rows(p, out);
}

int64_t pane_due(const struct view *view)
{
    const struct memory_view *p = (const struct memory_view *)view;
    return p->open && p->behind && p->searching != 0 && !p->slow ? p->behind_ms + SLOW_MS : 0;
}

const struct rows *pane_rows(struct view *view)
{
    struct memory_view *p = pane_of(view);
    bool warns = false;
    int64_t due = pane_due(view);
    if (!p->focused) /* the person went elsewhere: keys that waited are off */
        ahead_drop(p);
    p->slow = p->slow || (due > 0 && clock_mono_ms() >= due);
    char *badge = p->layout.height >= BADGE_ROWS ? pane_badge(p, &warns) : NULL;
    p->layout = lay_out(p, badge != NULL);
    p->caret_row = -1;
    rows_clear(&p->rows);
    head_rows(p, &p->rows, badge, warns);
    if (p->layout.query_row >= 0)
        head_query(p, &p->rows);
    if (p->layout.list_rows > 0)
        list_part_rows(p, &p->rows);
    lower_part(p, &p->rows);
    if (p->layout.hint_rows > 0)
        hint_part(p, &p->rows);
    if (p->focused && p->tab == TAB_ASKED)
        asked_seen(p);
    free(badge);
    return &p->rows;
}
