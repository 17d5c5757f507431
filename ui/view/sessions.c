#include "ui/view/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/session_operations.h"
#include "ui/view/browser.h"
#include "ui/view/sessions_private.h"

enum {
    LISTED = 200, /* rows that a listing may have */
    FOUND = 50,
    PREVIEWED = 40, /* events */
    OF_PROJECT = 8, /* added to the state in the number of the question */
    QUERY_BYTES = 256,
    INPUT_BYTES = 1024,
    FILE_NAME_BYTES = 100
};

char *sessions_title(const struct session_info *info)
{
    auto_free char *draft = session_title_of_draft(info);
    auto_free char *text = draft          ? mem_printf(_("Draft: %s"), draft)
                           : *info->title ? mem_strdup(info->title)
                                          : mem_strdup(_("(untitled)"));
    return utf8_clean_line(text);
}

char *sessions_file_name(const char *title)
{
    auto_free char *clean = utf8_clean_line(title);
    size_t len = utf8_cut_bytes(clean, strlen(clean), FILE_NAME_BYTES);
    for (size_t i = 0; i < len; i++)
        if (clean[i] == '/')
            clean[i] = '-';
    size_t dots = strspn(clean, ". "); /* no hidden file */
    dots = dots < len ? dots : len;
    return len > dots ? mem_printf("%.*s.md", (int)(len - dots), clean + dots)
                      : mem_strdup("session.md");
}

/* --- entries --- */

size_t sessions_count(const struct sessions *s)
{
    return s->list.items.len + s->hits.items.len;
}

struct sessions_entry sessions_entry(const struct sessions *s, size_t index)
{
    struct sessions_entry e = {0};
    size_t listed = s->list.items.len;
    if (index < listed)
        e.session = &s->list.items.items[index];
    else if (index - listed < s->hits.items.len)
        e.hit = &s->hits.items.items[index - listed];
    return e;
}

const char *sessions_selected_id(const struct sessions *s)
{
    struct sessions_entry e = sessions_entry(s, s->selected);
    return e.session ? e.session->id : e.hit ? e.hit->session_id : NULL;
}

/* The text that the search found in the selected row; NULL if the row is a session. The caller
 * frees. */
static char *found_text(const struct sessions *s)
{
    const struct search_hit *hit = sessions_entry(s, s->selected).hit;
    size_t len = hit ? strlen(hit->snippet) : 0;
    if (len == 0 || hit->len == 0 || hit->match > len || hit->len > len - hit->match)
        return NULL;
    return mem_strndup(hit->snippet + hit->match, hit->len);
}

static void select_entry(struct sessions *s, size_t index)
{
    s->selected = index;
    s->pinned = true;
    sessions_ask(s);
}

/* --- questions --- */

/* It is asked again by sessions_ask(); a request under way is withdrawn. */
static void forget_question(struct sessions *s, struct sessions_question *q)
{
    view_withdraw(&s->view, q->id);
    free(q->text);
    q->id = 0;
    q->text = NULL;
}

/* Asks unless the same was asked last. */
static void ask(struct sessions *s, struct sessions_question *q, const void *params,
                const char *text, int64_t number)
{
    if (q->text && strcmp(q->text, text) == 0 && q->number == number)
        return;
    forget_question(s, q);
    q->text = mem_strdup(text);
    q->number = number;
    q->id = view_ask(&s->view, q->operation, params, q->take);
}

static void forget_preview(struct sessions *s)
{
    session_info_release(&s->previewed);
    session_info_init(&s->previewed);
    transcript_clear(s->preview);
    forget_question(s, &s->preview_question);
}

void sessions_ask(struct sessions *s)
{
    const char *query = editor_text(s->query);
    bool blank = query[strspn(query, " \t")] == '\0';
    const struct session_filter filter = {
        .text = query,
        .state = s->shows_archived || !blank ? SESSION_ANY : SESSION_LIVE,
        .project = s->everywhere || !blank ? NULL : s->view.host->session->directory,
        .limit = LISTED};
    ask(s, &s->list_question, &filter, query, filter.state + (filter.project ? OF_PROJECT : 0));
    if (blank) {
        search_hits_release(&s->hits);
        s->hits = (struct search_hits){0};
        s->more_hits = false;
        forget_question(s, &s->search_question);
    } else {
        const struct session_search_params search = {.query = query, .limit = FOUND};
        ask(s, &s->search_question, &search, query, 0);
    }
    /* The page must hold the found message. It may begin with the first message of the user in it,
     * so behind such a message some of the answer is shown, too; behind an answer nothing. */
    const struct search_hit *hit = sessions_entry(s, s->selected).hit;
    const char *id = sessions_selected_id(s); /* may be of a hit, which the above may release */
    struct session_history_params preview = {.session = id, .newest = true, .limit = PREVIEWED};
    if (hit)
        preview.before = hit->seq + (hit->role == ROLE_USER ? PREVIEWED / 2 : 1);
    if (!id)
        forget_preview(s);
    else if (s->layout.place != PREVIEW_NONE)
        ask(s, &s->preview_question, &preview, id, preview.before);
}

/* --- answers --- */

/* A failure is told unless the foot has a message that the person still needs. */
static bool is_answered(struct sessions *s, struct sessions_question *q, const char *words)
{
    q->id = 0;
    if (words && !s->remark.text)
        remark_set(&s->remark, STYLE_ERROR, words);
    return !words;
}

/* A new listing keeps the selected entry; if it is gone, the next one takes its place. */
static bool take_entries(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = (struct sessions *)view;
    bool list = a->request->operation == &operation_session_list;
    const struct search_hit *hit = sessions_entry(s, s->selected).hit;
    auto_free char *id = s->pinned ? mem_strdup(sessions_selected_id(s)) : NULL;
    int64_t seq = hit ? hit->seq : 0;
    if (!is_answered(s, list ? &s->list_question : &s->search_question, words))
        return true;
    if (list) {
        struct session_list_result *found = a->result;
        const struct session_filter *asked = a->request->params;
        if (asked->project && found->total == 0) { /* a new project: the others are shown */
            s->everywhere = true;
            sessions_ask(s);
            return true;
        }
        session_list_release(&s->list);
        s->list = found->sessions;
        found->sessions = (struct session_list){0};
        s->matching = found->total;
        if (*editor_text(s->query) == '\0')
            s->all = found->total;
        s->listed = true;
    } else {
        struct session_search_result *found = a->result;
        search_hits_release(&s->hits);
        s->hits = found->matches;
        found->matches = (struct search_hits){0};
        s->more_hits = found->more;
    }
    size_t count = sessions_count(s), i = 0;
    for (; id && i < count; i++) {
        struct sessions_entry e = sessions_entry(s, i);
        if (strcmp(e.session ? e.session->id : e.hit->session_id, id) == 0 &&
            (e.session ? 0 : e.hit->seq) == seq)
            break;
    }
    if (!id || i < count)
        s->selected = id ? i : 0;
    s->selected = moves_within((long)s->selected, count);
    sessions_ask(s);
    return true;
}

static bool take_preview(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = (struct sessions *)view;
    struct session_history_result *page = a->result;
    if (!is_answered(s, &s->preview_question, words))
        return true;
    auto_free char *found = found_text(s);
    session_info_release(&s->previewed);
    s->previewed = page->session;
    session_info_init(&page->session);
    transcript_clear(s->preview);
    for (size_t i = 0; i < page->events.items.len; i++)
        (void)transcript_apply(s->preview, page->events.items.items[i]);
    if (s->previewed.draft) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        buf_addf(&text, "%s\n", _("Written, but not sent:"));
        utf8_clean(&text, s->previewed.draft, strlen(s->previewed.draft), UTF8_MULTILINE);
        transcript_note(s->preview, STYLE_NOTE, text.data, false);
    }
    if (found)
        (void)transcript_find(s->preview, found, true);
    return true;
}

/* --- changes --- */

/* Takes a deleted session out at once: it cannot be asked for any more. */
static void forget_session(struct sessions *s, const char *id)
{
    for (size_t i = s->list.items.len; i-- > 0;)
        if (strcmp(s->list.items.items[i].id, id) == 0) {
            session_info_release(&s->list.items.items[i]);
            vec_remove(&s->list.items, i, 1);
            s->matching--;
        }
    for (size_t i = s->hits.items.len; i-- > 0;)
        if (strcmp(s->hits.items.items[i].session_id, id) == 0) {
            free(s->hits.items.items[i].title);
            free(s->hits.items.items[i].snippet);
            vec_remove(&s->hits.items, i, 1);
        }
    if (strcmp(s->previewed.id, id) == 0)
        forget_preview(s);
    s->all -= s->all > 0;
    s->selected = moves_within((long)s->selected, sessions_count(s));
}

/* The request of the input was answered; if it failed, the line stays. */
static void end_input(struct sessions *s, uint64_t id, bool done)
{
    if (s->sent != id)
        return;
    s->sent = 0;
    if (done)
        s->input = INPUT_NONE;
}

static bool take_change(struct view *view, struct operation_answer *a, const char *words)
{
    static const struct {
        const struct operation *operation;
        const char *said;
    } changes[] = {{&operation_session_rename, N_("Renamed.")},
                   {&operation_session_label, N_("The labels are changed.")},
                   {&operation_session_archive, N_("Archived.")},
                   {&operation_session_unarchive, N_("Moved out of the archive.")},
                   {&operation_session_delete, N_("Deleted.")}};
    struct sessions *s = (struct sessions *)view;
    const struct operation *done = NULL;
    const char *said = words;
    end_input(s, a->request->id, !words);
    for (size_t i = 0; i < sizeof changes / sizeof *changes && !words; i++)
        if (operation_answers(a, changes[i].operation)) {
            done = changes[i].operation;
            said = _(changes[i].said);
        }
    remark_set(&s->remark, words ? STYLE_ERROR : STYLE_NOTE, said);
    if (words)
        return true;
    const char *id = ((const struct session_changed *)a->result)->id;
    bool archived = done == &operation_session_archive;
    if (archived)
        s->shows_archived = true; /* the same key takes it back */
    bool marked = archived || done == &operation_session_unarchive;
    /* At once: the next key may be the same one, and would do the same again. */
    for (size_t i = 0; marked && i < s->list.items.len; i++)
        if (strcmp(s->list.items.items[i].id, id) == 0)
            s->list.items.items[i].archived_ms = archived ? clock_wall_ms() : 0;
    for (size_t i = 0; marked && i < s->hits.items.len; i++)
        if (strcmp(s->hits.items.items[i].session_id, id) == 0)
            s->hits.items.items[i].archived = archived;
    if (done == &operation_session_delete)
        forget_session(s, id);
    forget_question(s, &s->list_question);
    forget_question(s, &s->search_question);
    forget_question(s, &s->preview_question);
    s->pinned = true;
    sessions_ask(s);
    return true;
}

static uint64_t change(struct sessions *s, const struct operation *o, const void *params)
{
    s->pinned = true;
    return view_ask(&s->view, o, params, take_change);
}

static bool take_export(struct view *view, struct operation_answer *a, const char *words)
{
    const struct session_export_params *p = a->request->params;
    auto_free char *done = words ? NULL : mem_printf(_("Exported to %s."), p->path);
    end_input((struct sessions *)view, a->request->id, !words);
    remark_set(&((struct sessions *)view)->remark, words ? STYLE_ERROR : STYLE_NOTE,
               words ? words : done);
    return true;
}

/* --- the line that is asked for --- */

static void open_input(struct sessions *s, enum sessions_input input)
{
    struct sessions_entry e = sessions_entry(s, s->selected);
    const struct session_info *known = e.session;
    if (!e.session && !e.hit)
        return;
    /* a found place knows less of its session than a row of the list */
    if (e.hit && strcmp(s->previewed.id, e.hit->session_id) == 0)
        known = &s->previewed;
    session_info_release(&s->target);
    if (known) {
        s->target = session_info_clone(known);
    } else {
        session_info_init(&s->target);
        memcpy(s->target.id, e.hit->session_id, sizeof s->target.id);
        free(s->target.title);
        s->target.title = mem_strdup(e.hit->title ? e.hit->title : "");
    }
    s->input = input;
    s->sent = 0;
    s->pinned = true;
    auto_free char *first = input == INPUT_FILE     ? sessions_file_name(s->target.title)
                            : input == INPUT_TITLE  ? utf8_clean_line(s->target.title)
                            : input == INPUT_LABELS ? utf8_clean_line(s->target.labels)
                                                    : NULL;
    editor_set(s->line, first);
}

/* The line has the labels as they shall be: those that it lacks are removed. 0: nothing changes. */
static uint64_t send_labels(struct sessions *s, const char *text)
{
    AUTO(buf_release) struct buf words = BUF_INIT;
    const char *labels = s->target.labels ? s->target.labels : "", *old = labels;
    if (strcmp(labels, text) == 0)
        return 0;
    while (*(old += strspn(old, " "))) {
        size_t len = strcspn(old, " ");
        bool stays = false;
        for (const char *word = text; *(word += strspn(word, " ")); word += strcspn(word, " "))
            stays = stays || (strcspn(word, " ") == len && memcmp(word, old, len) == 0);
        if (!stays)
            buf_addf(&words, "-%.*s ", (int)len, old);
        old += len;
    }
    buf_addstr(&words, text);
    return change(s, &operation_session_label,
                  &(struct session_label_params){s->target.id, words.data});
}

/* The line stays until its request is answered. */
static void input_key(struct sessions *s, enum action action, const struct key *key)
{
    const char *text = editor_text(s->line), *id = s->target.id;
    enum sessions_input input = s->input;
    bool asks = input == INPUT_DELETE, mine;
    bool sends = asks ? hint_answer(action, key) == HINT_YES : action == ACTION_SEND && !s->sent;
    if (action == ACTION_CANCEL || (asks && hint_answer(action, key) == HINT_NO))
        s->input = INPUT_NONE;
    else if (!sends && !asks && !s->sent) /* a text that was sent is not changed any more */
        (void)browser_edit(s->line, INPUT_BYTES, action, key, &mine);
    else if (!sends)
        return;
    else if (input == INPUT_TITLE && strcmp(s->target.title, text) != 0)
        s->sent = change(s, &operation_session_rename, &(struct session_rename_params){id, text});
    else if (input == INPUT_LABELS)
        s->sent = send_labels(s, text);
    else if (asks)
        (void)change(s, &operation_session_delete, &(struct session_params){id});
    else if (input == INPUT_FILE && *text)
        s->sent = view_ask(&s->view, &operation_session_export,
                           &(struct session_export_params){
                               .session = id, .path = text, .format = export_format_of_path(text)},
                           take_export);
    if (sends && s->sent == 0)
        s->input = INPUT_NONE;
    if (s->input == INPUT_NONE)
        s->sent = 0;
}

/* --- opening --- */

static bool take_opened(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    ((struct sessions *)view)->opening = false;
    if (words)
        remark_set(&((struct sessions *)view)->remark, STYLE_ERROR, words);
    else
        view_close(view);
    return true;
}

static void ask_to_open(struct sessions *s, const struct operation *o, const void *params)
{
    s->opening = true;
    remark_set(&s->remark, STYLE_NOTE, _("opening"));
    (void)view_ask(&s->view, o, params, take_opened);
}

/* The text that was found is looked for again in the open session. */
static void open_session(struct sessions *s, bool read_only)
{
    const struct view_host *host = s->view.host;
    const struct session_open_params params = {.session = sessions_selected_id(s),
                                               .read_only = read_only};
    auto_free char *found = found_text(s);
    if (!params.session)
        return;
    if (strcmp(params.session, host->session->id) == 0 && *host->read_only == read_only) {
        view_close(&s->view);
        if (found)
            host->find(host->app, NULL, found);
    } else if (!s->opening) {
        host->find(host->app, params.session, found);
        ask_to_open(s, &operation_session_open, &params);
    }
}

/* --- keys --- */

static void query_changed(struct sessions *s)
{
    s->selected = s->top = 0;
    s->pinned = s->in_preview = false;
    sessions_ask(s);
}

static bool act(struct sessions *s, enum action action)
{
    struct sessions_entry e = sessions_entry(s, s->selected);
    const char *id = sessions_selected_id(s);
    const struct session_params params = {id};
    const struct session_fork_params fork = {.session = id, .at = e.hit ? e.hit->seq : 0};
    bool archived = e.session ? e.session->archived_ms > 0 : e.hit && e.hit->archived;
    switch (action) {
    case ACTION_SEND:
    case ACTION_SESSION_READ:
        open_session(s, action == ACTION_SESSION_READ);
        break;
    case ACTION_CANCEL:
        if (s->in_preview) {
            s->in_preview = false;
        } else if (*editor_text(s->query)) {
            editor_set(s->query, "");
            query_changed(s);
        } else {
            view_close(&s->view);
        }
        break;
    case ACTION_CLEAR:
    case ACTION_SESSIONS:
        view_close(&s->view);
        break;
    case ACTION_COMPLETE:
    case ACTION_FIND_NEWER:
        s->in_preview = !s->in_preview && s->layout.place != PREVIEW_NONE;
        break;
    case ACTION_SESSION_FORK: /* a found place is forked up to there */
        if (id && !s->opening)
            ask_to_open(s, &operation_session_fork, &fork);
        break;
    case ACTION_SESSION_ARCHIVE: /* where sessions are not kept, this deletes one */
        if (!s->view.host->persist)
            open_input(s, INPUT_DELETE);
        else if (id)
            (void)change(s, archived ? &operation_session_unarchive : &operation_session_archive,
                         &params);
        break;
    case ACTION_SESSION_ARCHIVED:
        s->shows_archived = !s->shows_archived;
        remark_set(&s->remark, STYLE_NOTE,
                   s->shows_archived ? _("Archived sessions are shown.") : NULL);
        sessions_ask(s);
        break;
    case ACTION_SESSION_PROJECT:
        s->everywhere = !s->everywhere;
        remark_set(&s->remark, STYLE_NOTE,
                   s->everywhere ? _("The sessions of all projects are shown.") : NULL);
        query_changed(s);
        break;
    case ACTION_SESSION_RENAME:
        open_input(s, INPUT_TITLE);
        break;
    case ACTION_SESSION_LABEL:
        open_input(s, INPUT_LABELS);
        break;
    case ACTION_SESSION_EXPORT:
        open_input(s, INPUT_FILE);
        break;
    case ACTION_SESSION_DELETE:
        open_input(s, INPUT_DELETE);
        break;
    default:
        return false;
    }
    return true;
}

/* Emacs' keys move everywhere, vi's letters in the preview. */
static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct sessions *s = (struct sessions *)view;
    int rows = s->in_preview ? s->layout.preview_rows - 1 : s->layout.list_rows;
    long page = rows > 2 ? rows - 1 : 1, by = moves_by_action(action, page, MOVES_WHEEL);
    bool mine;
    if (!s->opening)
        remark_set(&s->remark, STYLE_NOTE, NULL);
    if (action == ACTION_HELP)
        return false;
    if (s->input != INPUT_NONE && action == ACTION_CLEAR) {
        view_close(view);
        return true;
    }
    if (s->input != INPUT_NONE) {
        input_key(s, action, key);
        return true;
    }
    if (act(s, action))
        return true;
    by = by != 0 ? by : moves_by_control(key);
    if (by == 0 && s->in_preview)
        by = moves_is_letter(key, ' ') ? page : moves_by_letter(key);
    if (by == 0 && browser_edit(s->query, QUERY_BYTES, action, key, &mine))
        query_changed(s);
    else if (by != 0 && !s->in_preview && sessions_count(s) > 0)
        select_entry(s, moves_within((long)s->selected + by, sessions_count(s)));
    else if (s->in_preview)
        (void)transcript_scroll(s->preview, (int)-by);
    return true;
}

static void click(struct view *view, int row, int col)
{
    struct sessions *s = (struct sessions *)view;
    const struct sessions_layout *l = &s->layout;
    size_t entry = col < l->list_cols ? sessions_list_at(s, row - 1) : SIZE_MAX;
    if (s->input != INPUT_NONE)
        return;
    s->in_preview = l->place != PREVIEW_NONE && row >= l->preview_top &&
                    row < l->preview_top + l->preview_rows && col >= l->preview_left;
    if (entry == SIZE_MAX)
        return;
    if (entry == s->selected)
        open_session(s, false);
    else
        select_entry(s, entry);
}

/* --- the view --- */

/* Before the answer to the request: the session is open, its provider may not be. */
static void notice(struct view *view, struct notice *n)
{
    if (n->type == NOTICE_SESSION && n->flag && ((struct sessions *)view)->opening)
        view_close(view);
}

static void free_view(struct view *view)
{
    struct sessions *s = (struct sessions *)view;
    editor_free(s->query);
    editor_free(s->line);
    free(s->list_question.text);
    free(s->search_question.text);
    free(s->preview_question.text);
    session_list_release(&s->list);
    search_hits_release(&s->hits);
    transcript_free(s->preview);
    session_info_release(&s->previewed);
    session_info_release(&s->target);
    rows_release(&s->rows);
    free(s->remark.text);
    free(s);
}

struct view *sessions_new(const struct view_host *host, const char *query)
{
    static const struct view_ops ops = {
        .layer = VIEW_COVER,
        .free = free_view,
        .key = take_key,
        .click = click,
        .rows = sessions_rows,
        .notice = notice,
    };
    struct sessions *s = mem_alloc(sizeof *s);
    *s = (struct sessions){
        .view = {.ops = &ops, .host = host},
        .query = editor_new(),
        .line = editor_new(),
        .preview = transcript_new(),
        .all = -1,
        .list_question = {.operation = &operation_session_list, .take = take_entries},
        .search_question = {.operation = &operation_session_search, .take = take_entries},
        .preview_question = {.operation = &operation_session_history, .take = take_preview}};
    session_info_init(&s->previewed);
    session_info_init(&s->target);
    rows_init(&s->rows);
    editor_set(s->query, query);
    sessions_ask(s);
    return &s->view;
}
