#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "session/session_operations.h"
#include "ui/text/editor.h"
#include "ui/view/moves.h"
#include "ui/view/sessions_private.h"

/* --- what can be done with the selected session --- */

static bool take_opened(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    sessions_of(view)->opening = false;
    if (words)
        sessions_say(sessions_of(view), STYLE_ERROR, words);
    else
        view_close(view);
    return true;
}

static void ask_to_open(struct sessions *s, const struct operation *o, const void *params)
{
    s->opening = true;
    sessions_say(s, STYLE_NOTE, _("opening"));
    (void)view_ask(&s->view, o, params, take_opened);
}

/* What was found in it is looked for again once it is open. */
static void open_session(struct sessions *s, bool read_only)
{
    const struct session_open_params params = {.session = sessions_selected_id(s),
                                               .read_only = read_only};
    if (!params.session || s->opening)
        return;
    char *found = sessions_found(s);
    s->view.host->find(s->view.host->app, params.session, found);
    free(found);
    ask_to_open(s, &operation_session_open, &params);
}

/* It is open already. */
static void stay_in(struct view *view)
{
    const struct view_host *host = view->host;
    char *found = sessions_found(sessions_of(view));
    view_close(view);
    if (found)
        host->find(host->app, NULL, found);
    free(found);
}

static bool is_open(const struct sessions *s, bool read_only)
{
    const struct view_host *host = s->view.host;
    const char *id = sessions_selected_id(s);
    return id && strcmp(id, host->session->id) == 0 && *host->read_only == read_only;
}

static void resume(struct view *view)
{
    if (is_open(sessions_of(view), false))
        stay_in(view);
    else
        open_session(sessions_of(view), false);
}

static void open_read_only(struct view *view)
{
    if (is_open(sessions_of(view), true))
        stay_in(view);
    else
        open_session(sessions_of(view), true);
}

/* From a place that was found: up to there. */
static void fork_session(struct view *view)
{
    struct sessions *s = sessions_of(view);
    const struct search_hit *hit = sessions_entry(s, s->selected).hit;
    const struct session_fork_params params = {.session = sessions_selected_id(s),
                                               .at = hit ? hit->seq : 0};
    if (params.session && !s->opening)
        ask_to_open(s, &operation_session_fork, &params);
}

/* Where sessions are not kept, archiving one deletes it. */
static void archive(struct view *view)
{
    struct sessions *s = sessions_of(view);
    struct sessions_entry e = sessions_entry(s, s->selected);
    const struct session_params params = {sessions_selected_id(s)};
    if (!params.session)
        return;
    bool archived = e.session ? e.session->archived_ms > 0 : e.hit->archived;
    if (view->host->persist)
        (void)sessions_change(
            s, archived ? &operation_session_unarchive : &operation_session_archive, &params);
    else
        sessions_input_open(s, INPUT_DELETE);
}

static void show_archived(struct view *view)
{
    struct sessions *s = sessions_of(view);
    s->shows_archived = !s->shows_archived;
    sessions_say(s, STYLE_NOTE, s->shows_archived ? _("Archived sessions are shown.") : NULL);
    sessions_ask(s);
}

static void rename_session(struct view *view)
{
    sessions_input_open(sessions_of(view), INPUT_TITLE);
}

static void label(struct view *view)
{
    sessions_input_open(sessions_of(view), INPUT_LABELS);
}

static void export_selected(struct view *view)
{
    sessions_input_open(sessions_of(view), INPUT_FILE);
}

static void delete_session(struct view *view)
{
    sessions_input_open(sessions_of(view), INPUT_DELETE);
}

/* --- the screen itself --- */

static void clear_query(struct sessions *s);

static void cancel(struct view *view)
{
    struct sessions *s = sessions_of(view);
    if (s->in_preview)
        s->in_preview = false;
    else if (*editor_text(s->query))
        clear_query(s);
    else
        view_close(view);
}

static void change_side(struct view *view)
{
    struct sessions *s = sessions_of(view);
    s->in_preview = !s->in_preview && s->layout.place != PREVIEW_NONE;
}

static const struct view_key keys[] = {{ACTION_SEND, resume},
                                       {ACTION_CANCEL, cancel},
                                       {ACTION_CLEAR, view_close},
                                       {ACTION_SESSIONS, view_close},
                                       {ACTION_COMPLETE, change_side},
                                       {ACTION_FIND_NEWER, change_side},
                                       {ACTION_SESSION_READ, open_read_only},
                                       {ACTION_SESSION_FORK, fork_session},
                                       {ACTION_SESSION_RENAME, rename_session},
                                       {ACTION_SESSION_LABEL, label},
                                       {ACTION_SESSION_ARCHIVE, archive},
                                       {ACTION_SESSION_ARCHIVED, show_archived},
                                       {ACTION_SESSION_EXPORT, export_selected},
                                       {ACTION_SESSION_DELETE, delete_session},
                                       {ACTION_NONE, NULL}};

/* --- moving --- */

/* Rows down; more than there are goes to the end. */
static void move(struct sessions *s, long by)
{
    size_t count = sessions_count(s);
    if (s->in_preview)
        (void)transcript_scroll(s->preview, (int)-by);
    else if (count > 0)
        sessions_select(s, moves_within((long)s->selected + by, count));
}

static void scroll_to_end(struct sessions *s, bool first)
{
    if (first)
        (void)transcript_scroll_to_top(s->preview);
    else
        (void)transcript_scroll_to_end(s->preview);
}

static long page(const struct sessions *s)
{
    int rows = s->in_preview ? s->layout.preview_rows - 1 : s->layout.list_rows;
    return rows > 2 ? rows - 1 : 1;
}

/* As in other lists: Emacs' keys everywhere, vi's in what is only read. */
static bool move_by_key(struct sessions *s, enum action action, const struct key *key)
{
    long by = moves_by_action(action, page(s), MOVES_WHEEL);
    if (by == 0)
        by = moves_by_control(key);
    if (by == 0 && s->in_preview)
        by = moves_is_letter(key, ' ') ? page(s) : moves_by_letter(key);
    if (s->in_preview && (by == MOVES_ALL || by == -MOVES_ALL))
        scroll_to_end(s, by < 0);
    else if (by != 0)
        move(s, by);
    return by != 0;
}

/* --- the query --- */

static void query_changed(struct sessions *s)
{
    s->selected = s->top = 0;
    s->pinned = s->in_preview = false;
    sessions_ask(s);
}

static void clear_query(struct sessions *s)
{
    editor_set(s->query, "");
    query_changed(s);
}

static void edit_query(struct sessions *s, enum action action, const struct key *key)
{
    char *before = sessions_clean(editor_text(s->query));
    sessions_edit(s->query, action, key, SESSIONS_QUERY_BYTES);
    if (strcmp(before, editor_text(s->query)) != 0)
        query_changed(s);
    free(before);
}

bool sessions_key(struct view *view, enum action action, const struct key *key)
{
    struct sessions *s = sessions_of(view);
    if (action == ACTION_HELP)
        return false;
    if (!s->opening)
        sessions_say(s, STYLE_NOTE, NULL);
    if (s->input != INPUT_NONE && action == ACTION_CLEAR)
        view_close(view);
    else if (s->input != INPUT_NONE)
        sessions_input_key(s, action, key);
    else if (!view_run_action(view, keys, action) && !move_by_key(s, action, key))
        edit_query(s, action, key);
    return true;
}

void sessions_click(struct view *view, int row, int col)
{
    struct sessions *s = sessions_of(view);
    const struct sessions_layout *l = &s->layout;
    size_t entry = col < l->list_cols ? sessions_list_at(s, row - 1) : SIZE_MAX;
    bool preview = l->place != PREVIEW_NONE && row >= l->preview_top &&
                   row < l->preview_top + l->preview_rows && col >= l->preview_left;
    if (s->input != INPUT_NONE)
        return;
    s->in_preview = preview;
    if (entry == SIZE_MAX)
        return;
    if (entry == s->selected)
        resume(view);
    else
        sessions_select(s, entry);
}
