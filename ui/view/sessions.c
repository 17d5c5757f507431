#include "ui/view/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/session_operations.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/view/hints.h"
#include "ui/view/sessions_private.h"

struct sessions *sessions_of(struct view *view)
{
    return (struct sessions *)view;
}

void sessions_say(struct sessions *s, enum style style, const char *text)
{
    remark_set(&s->remark, style, text);
}

char *sessions_clean(const char *text)
{
    struct buf out = BUF_INIT;
    if (text)
        utf8_clean(&out, text, strlen(text), UTF8_ONE_LINE);
    return buf_take(&out);
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

char *sessions_found(const struct sessions *s)
{
    const struct search_hit *hit = sessions_entry(s, s->selected).hit;
    size_t len = hit ? strlen(hit->snippet) : 0;
    if (len == 0 || hit->len == 0 || hit->match > len || hit->len > len - hit->match)
        return NULL;
    return mem_strndup(hit->snippet + hit->match, hit->len);
}

void sessions_select(struct sessions *s, size_t index)
{
    s->selected = index;
    s->pinned = true;
    sessions_ask(s);
}

/* --- questions --- */

void sessions_forget_question(struct sessions *s, struct sessions_question *q)
{
    view_withdraw(&s->view, q->id);
    free(q->text);
    q->id = 0;
    q->text = NULL;
}

/* Unless that was asked last. */
static void ask(struct sessions *s, struct sessions_question *q, const void *params,
                const char *text, int64_t number)
{
    if (q->text && strcmp(q->text, text) == 0 && q->number == number)
        return;
    sessions_forget_question(s, q);
    q->text = mem_strdup(text);
    q->number = number;
    q->id = view_ask(&s->view, q->operation, params, q->take);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t")] == '\0';
}

static void forget_hits(struct sessions *s)
{
    search_hits_release(&s->hits);
    s->hits = (struct search_hits){0};
    s->more_hits = false;
    sessions_forget_question(s, &s->search_question);
}

/* A page may begin with the first message of the user's in it, and must hold what was found: behind
 * such a message some of the answer is shown, too, but nothing behind an answer. */
static int64_t preview_before(const struct sessions *s)
{
    const struct search_hit *hit = sessions_entry(s, s->selected).hit;
    if (!hit)
        return 0;
    return hit->seq + (hit->role == ROLE_USER ? SESSIONS_PREVIEWED / 2 : 1);
}

void sessions_forget_preview(struct sessions *s)
{
    session_info_release(&s->previewed);
    session_info_init(&s->previewed);
    transcript_clear(s->preview);
    sessions_forget_question(s, &s->preview_question);
}

static void ask_preview(struct sessions *s)
{
    const char *id = sessions_selected_id(s);
    const struct session_history_params params = {
        .session = id, .newest = true, .before = preview_before(s), .limit = SESSIONS_PREVIEWED};
    if (!id)
        sessions_forget_preview(s);
    else if (s->layout.place != PREVIEW_NONE)
        ask(s, &s->preview_question, &params, id, params.before);
}

void sessions_ask(struct sessions *s)
{
    const char *query = editor_text(s->query);
    bool all = s->shows_archived || !is_blank(query);
    const struct session_filter filter = {
        .text = query, .state = all ? SESSION_ANY : SESSION_LIVE, .limit = SESSIONS_LISTED};
    const struct session_search_params search = {.query = query, .limit = SESSIONS_FOUND};
    ask(s, &s->list_question, &filter, query, filter.state);
    if (!is_blank(query))
        ask(s, &s->search_question, &search, query, 0);
    else
        forget_hits(s);
    ask_preview(s);
}

/* --- answers --- */

static bool is_selected(const struct sessions *s, size_t index, const char *id, int64_t seq)
{
    struct sessions_entry e = sessions_entry(s, index);
    return e.session ? seq == 0 && strcmp(e.session->id, id) == 0
                     : e.hit->seq == seq && strcmp(e.hit->session_id, id) == 0;
}

/* The selected entry, to find it again in other lists. */
struct kept {
    char id[UUID_LEN + 1];
    int64_t seq; /* 0: a session */
};

static struct kept keep(const struct sessions *s)
{
    struct kept k = {0};
    struct sessions_entry e = sessions_entry(s, s->selected);
    if (s->pinned && sessions_selected_id(s))
        memcpy(k.id, sessions_selected_id(s), sizeof k.id);
    k.seq = e.hit ? e.hit->seq : 0;
    return k;
}

void sessions_stay_within(struct sessions *s)
{
    s->selected = moves_within((long)s->selected, sessions_count(s));
}

/* What is gone leaves its place to the one behind it. */
static void find_again(struct sessions *s, const struct kept *k)
{
    size_t count = sessions_count(s);
    for (size_t i = 0; i < count && *k->id; i++)
        if (is_selected(s, i, k->id, k->seq)) {
            s->selected = i;
            return;
        }
    if (!*k->id)
        s->selected = 0;
    sessions_stay_within(s);
}

/* A failure is told where nothing stands that the person wants to know rather. */
static bool is_answered(struct sessions *s, struct sessions_question *q, const char *words)
{
    q->id = 0;
    if (words && !s->remark.text)
        sessions_say(s, STYLE_ERROR, words);
    return !words;
}

static bool take_list(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = sessions_of(view);
    struct session_list_result *found = a->result;
    struct kept k = keep(s);
    if (!is_answered(s, &s->list_question, words))
        return true;
    session_list_release(&s->list);
    s->list = found->sessions;
    found->sessions = (struct session_list){0};
    s->matching = found->total;
    if (*editor_text(s->query) == '\0')
        s->all = found->total;
    s->listed = true;
    find_again(s, &k);
    sessions_ask(s);
    return true;
}

static bool take_hits(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = sessions_of(view);
    struct session_search_result *found = a->result;
    struct kept k = keep(s);
    if (!is_answered(s, &s->search_question, words))
        return true;
    search_hits_release(&s->hits);
    s->hits = found->matches;
    found->matches = (struct search_hits){0};
    s->more_hits = found->more;
    find_again(s, &k);
    sessions_ask(s);
    return true;
}

static void preview_draft(struct sessions *s)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "%s\n", _("Written, but not sent:"));
    utf8_clean(&text, s->previewed.draft, strlen(s->previewed.draft), UTF8_MULTILINE);
    transcript_note(s->preview, STYLE_NOTE, text.data);
    buf_release(&text);
}

static bool take_preview(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = sessions_of(view);
    struct session_history_result *page = a->result;
    if (!is_answered(s, &s->preview_question, words))
        return true;
    char *found = sessions_found(s);
    session_info_release(&s->previewed);
    s->previewed = page->session;
    session_info_init(&page->session);
    transcript_clear(s->preview);
    for (size_t i = 0; i < page->events.items.len; i++)
        (void)transcript_apply(s->preview, page->events.items.items[i]);
    if (s->previewed.draft)
        preview_draft(s);
    if (found)
        (void)transcript_find(s->preview, found, true);
    free(found);
    return true;
}

/* Faster than the answer: the session is there, who answers in it is not. */
static void notice(struct view *view, struct notice *n)
{
    if (n->type == NOTICE_SESSION && n->flag && sessions_of(view)->opening)
        view_close(view);
}

/* --- the view --- */

static void free_view(struct view *view)
{
    struct sessions *s = sessions_of(view);
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
    remark_release(&s->remark);
    free(s);
}

static const struct view_ops ops = {
    .layer = VIEW_COVER,
    .free = free_view,
    .key = sessions_key,
    .click = sessions_click,
    .resize = sessions_resize,
    .rows = sessions_rows,
    .caret = sessions_caret,
    .notice = notice,
};

struct view *sessions_new(const struct view_host *host, const char *query)
{
    struct sessions *s = mem_alloc(sizeof *s);
    s->view = (struct view){.ops = &ops, .host = host};
    s->query = editor_new();
    s->line = editor_new();
    s->preview = transcript_new();
    session_info_init(&s->previewed);
    session_info_init(&s->target);
    rows_init(&s->rows);
    s->all = -1;
    s->list_question =
        (struct sessions_question){.operation = &operation_session_list, .take = take_list};
    s->search_question =
        (struct sessions_question){.operation = &operation_session_search, .take = take_hits};
    s->preview_question =
        (struct sessions_question){.operation = &operation_session_history, .take = take_preview};
    editor_set(s->query, query);
    sessions_ask(s);
    return &s->view;
}

/* At once: what is gone cannot be asked for. */
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
        sessions_forget_preview(s);
    s->all -= s->all > 0;
    sessions_stay_within(s);
}

/* At once: the next key may be the same one, and would do the same again. */
static void mark(struct sessions *s, const char *id, int64_t archived_ms)
{
    for (size_t i = 0; i < s->list.items.len; i++)
        if (strcmp(s->list.items.items[i].id, id) == 0)
            s->list.items.items[i].archived_ms = archived_ms;
    for (size_t i = 0; i < s->hits.items.len; i++)
        if (strcmp(s->hits.items.items[i].session_id, id) == 0)
            s->hits.items.items[i].archived = archived_ms > 0;
}

static void mark_archived(struct sessions *s, const char *id)
{
    s->shows_archived = true; /* the same key takes it back */
    mark(s, id, clock_wall_ms());
}

static void mark_live(struct sessions *s, const char *id)
{
    mark(s, id, 0);
}

static const struct change {
    const struct operation *operation;
    const char *said; /* for gettext */
    void (*show)(struct sessions *s, const char *id);
} changes[] = {
    {&operation_session_rename, N_("Renamed."), NULL},
    {&operation_session_label, N_("The labels are changed."), NULL},
    {&operation_session_archive, N_("Archived."), mark_archived},
    {&operation_session_unarchive, N_("Moved out of the archive."), mark_live},
    {&operation_session_delete, N_("Deleted."), forget_session},
};

static void show_change(struct sessions *s, const struct change *c, const char *id)
{
    sessions_say(s, STYLE_NOTE, _(c->said));
    if (c->show)
        c->show(s, id);
    sessions_forget_question(s, &s->list_question);
    sessions_forget_question(s, &s->search_question);
    sessions_forget_question(s, &s->preview_question);
    s->pinned = true;
    sessions_ask(s);
}

static bool take_change(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = sessions_of(view);
    const struct session_changed *changed = a->result;
    sessions_input_answered(s, a->request->id, !words);
    if (words)
        sessions_say(s, STYLE_ERROR, words);
    for (size_t i = 0; i < sizeof changes / sizeof *changes && !words; i++)
        if (operation_answers(a, changes[i].operation))
            show_change(s, &changes[i], changed->id);
    return true;
}

uint64_t sessions_change(struct sessions *s, const struct operation *o, const void *params)
{
    s->pinned = true;
    return view_ask(&s->view, o, params, take_change);
}

enum { FILE_NAME_BYTES = 100, TITLE_COLUMNS = 40 /* of a question */ };

/* --- what stands there at first --- */

static char *first_title(const struct session_info *target)
{
    return sessions_clean(target->title);
}

static char *first_labels(const struct session_info *target)
{
    return sessions_clean(target->labels);
}

char *sessions_file_name(const char *title)
{
    char *clean = sessions_clean(title);
    size_t len = utf8_cut_bytes(clean, strlen(clean), FILE_NAME_BYTES);
    for (size_t i = 0; i < len; i++)
        if (clean[i] == '/')
            clean[i] = '-';
    size_t dots = strspn(clean, ". "); /* no hidden file */
    dots = dots < len ? dots : len;
    char *name = len > dots ? mem_printf("%.*s.md", (int)(len - dots), clean + dots)
                            : mem_strdup("session.md");
    free(clean);
    return name;
}

static char *first_file(const struct session_info *target)
{
    return sessions_file_name(target->title);
}

/* --- what is asked for with it: the request's id; 0: there is nothing to do --- */

static uint64_t rename_to(struct sessions *s, const char *text)
{
    const struct session_rename_params params = {s->target.id, text};
    if (strcmp(s->target.title, text) == 0)
        return 0;
    return sessions_change(s, &operation_session_rename, &params);
}

static bool has_word(const char *words, const char *word, size_t len)
{
    while (*(words += strspn(words, " "))) {
        size_t n = strcspn(words, " ");
        if (n == len && memcmp(words, word, len) == 0)
            return true;
        words += n;
    }
    return false;
}

/* The line holds the labels as they shall be: what it no longer has is taken away. */
static uint64_t label_as(struct sessions *s, const char *text)
{
    struct buf words = BUF_INIT;
    const char *labels = s->target.labels ? s->target.labels : "", *old = labels;
    if (strcmp(labels, text) == 0)
        return 0;
    while (*(old += strspn(old, " "))) {
        size_t len = strcspn(old, " ");
        if (!has_word(text, old, len))
            buf_addf(&words, "-%.*s ", (int)len, old);
        old += len;
    }
    buf_addstr(&words, text);
    const struct session_label_params params = {s->target.id, words.data};
    uint64_t id = sessions_change(s, &operation_session_label, &params);
    buf_release(&words);
    return id;
}

static bool take_export(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = sessions_of(view);
    const struct session_export_params *p = a->request->params;
    char *done = words ? NULL : mem_printf(_("Exported to %s."), p->path);
    sessions_input_answered(s, a->request->id, !words);
    sessions_say(s, words ? STYLE_ERROR : STYLE_NOTE, words ? words : done);
    free(done);
    return true;
}

static uint64_t export_to(struct sessions *s, const char *text)
{
    const struct session_export_params params = {
        .session = s->target.id, .path = text, .format = export_format_of_path(text)};
    return *text ? view_ask(&s->view, &operation_session_export, &params, take_export) : 0;
}

static uint64_t delete_it(struct sessions *s, const char *text)
{
    const struct session_params params = {s->target.id};
    (void)text;
    return sessions_change(s, &operation_session_delete, &params);
}

static const struct {
    const char *prompt; /* for gettext */
    char *(*first)(const struct session_info *target);
    uint64_t (*ask)(struct sessions *s, const char *text);
} inputs[] = {[INPUT_TITLE] = {N_("Title: "), first_title, rename_to},
              [INPUT_LABELS] = {N_("Labels: "), first_labels, label_as},
              [INPUT_FILE] = {N_("Export to: "), first_file, export_to},
              [INPUT_DELETE] = {NULL, NULL, delete_it}};

/* --- the line --- */

/* A place that was found tells less of its session than a row of the list. */
static void set_target(struct sessions *s)
{
    struct sessions_entry e = sessions_entry(s, s->selected);
    session_info_release(&s->target);
    session_info_init(&s->target);
    if (e.session) {
        session_info_release(&s->target);
        s->target = session_info_clone(e.session);
    } else if (e.hit && strcmp(s->previewed.id, e.hit->session_id) == 0) {
        session_info_release(&s->target);
        s->target = session_info_clone(&s->previewed);
    } else if (e.hit) {
        memcpy(s->target.id, e.hit->session_id, sizeof s->target.id);
        free(s->target.title);
        s->target.title = mem_strdup(e.hit->title ? e.hit->title : "");
    }
}

void sessions_input_open(struct sessions *s, enum sessions_input input)
{
    if (!sessions_selected_id(s))
        return;
    set_target(s);
    s->input = input;
    s->sent = 0;
    s->pinned = true;
    char *first = inputs[input].first ? inputs[input].first(&s->target) : NULL;
    editor_set(s->line, first);
    free(first);
}

void sessions_input_close(struct sessions *s)
{
    s->input = INPUT_NONE;
    s->sent = 0;
}

const char *sessions_input_prompt(const struct sessions *s)
{
    return inputs[s->input].prompt ? _(inputs[s->input].prompt) : NULL;
}

char *sessions_input_question(const struct sessions *s)
{
    char *title = sessions_title(&s->target);
    size_t len = strlen(title), cut = utf8_cut_width(title, len, TITLE_COLUMNS);
    char *question = mem_printf(_("Delete \"%.*s%s\" for good? y/n"), (int)cut, title,
                                cut < len ? glyph(GLYPH_ELLIPSIS) : "");
    free(title);
    return question;
}

static void send(struct sessions *s)
{
    s->sent = inputs[s->input].ask(s, editor_text(s->line));
    if (s->sent == 0) /* else the line stays until it is known what became of it */
        sessions_input_close(s);
}

void sessions_input_answered(struct sessions *s, uint64_t id, bool done)
{
    if (s->sent != id)
        return;
    s->sent = 0;
    if (done)
        sessions_input_close(s);
}

void sessions_edit(struct editor *line, enum action action, const struct key *key, size_t max)
{
    size_t len = editor_len(line);
    if (action == ACTION_NEWLINE)
        return;
    if (key->code == K_PASTE && len < max) {
        struct buf clean = BUF_INIT;
        utf8_clean(&clean, key->text, strcspn(key->text, "\r\n"), UTF8_ONE_LINE);
        editor_paste(line, clean.data, utf8_cut_bytes(clean.data, clean.len, max - len));
        buf_release(&clean);
    } else if (key->code != K_PASTE && (action != ACTION_NONE || len < max)) {
        (void)editor_take_key(line, action, key);
    }
}

static void answer_key(struct sessions *s, const struct key *key)
{
    if (hint_is_letter(key, _("y"))) {
        send(s);
        sessions_input_close(s);
    } else if (hint_is_letter(key, _("n"))) {
        sessions_input_close(s);
    }
}

void sessions_input_key(struct sessions *s, enum action action, const struct key *key)
{
    if (action == ACTION_CANCEL)
        sessions_input_close(s);
    else if (s->input == INPUT_DELETE)
        answer_key(s, key);
    else if (s->sent)
        ; /* what is being done is not changed any more */
    else if (action == ACTION_SEND)
        send(s);
    else
        sessions_edit(s->line, action, key, SESSIONS_INPUT_BYTES);
}

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
