#include "ui/view/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/session_operations.h"
#include "ui/view/moves.h"
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
