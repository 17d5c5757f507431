#include "ui/view/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
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

/* --- commands --- */

struct command *sessions_command(enum command_type type, const char *id, const char *text)
{
    struct command *c = command_new(type, text);
    c->name = mem_strdup(id);
    return c;
}

void sessions_send(struct sessions *s, struct command *c)
{
    view_send(&s->view, c);
}

/* --- questions --- */

static bool is_answered(const struct sessions_question *q, const char *text, int64_t number)
{
    return !q->stale && q->answered && strcmp(q->answered, text) == 0 && q->number == number;
}

static void ask(struct sessions *s, struct sessions_question *q, const char *text, int64_t number)
{
    if (q->waiting || is_answered(q, text, number))
        return;
    struct command *c = command_new(q->type, text);
    c->limit = q->limit;
    c->number = number;
    free(q->asked);
    q->asked = mem_strdup(text);
    q->number = number;
    q->waiting = true;
    q->stale = false;
    sessions_send(s, c);
}

void sessions_settle(struct sessions_question *q)
{
    free(q->answered);
    q->answered = mem_strdup(q->asked);
    q->waiting = false;
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
    free(s->search_question.answered);
    s->search_question.answered = NULL;
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
    free(s->preview_question.answered);
    s->preview_question.answered = NULL;
}

static void ask_preview(struct sessions *s)
{
    const char *id = sessions_selected_id(s);
    if (!id && *s->previewed.id)
        sessions_forget_preview(s);
    if (s->layout.place != PREVIEW_NONE && id)
        ask(s, &s->preview_question, id, preview_before(s));
}

void sessions_ask(struct sessions *s)
{
    const char *query = editor_text(s->query);
    ask(s, &s->list_question, query, 0);
    if (!is_blank(query))
        ask(s, &s->search_question, query, 0);
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
    size_t count = sessions_count(s);
    if (s->selected >= count)
        s->selected = count > 0 ? count - 1 : 0;
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

static bool is_wanted(const struct sessions *s, const struct sessions_question *q)
{
    return strcmp(q->asked, editor_text(s->query)) == 0;
}

static void take_list(struct sessions *s, struct notice *n)
{
    struct kept k = keep(s);
    session_list_release(&s->list);
    s->list = n->sessions;
    n->sessions = (struct session_list){0};
    s->matching = n->number;
    if (*n->text == '\0')
        s->all = n->number;
    find_again(s, &k);
}

static void take_hits(struct sessions *s, struct notice *n)
{
    struct kept k = keep(s);
    search_hits_release(&s->hits);
    s->hits = n->hits;
    n->hits = (struct search_hits){0};
    s->more_hits = n->flag;
    find_again(s, &k);
}

static void preview_draft(struct sessions *s)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "%s\n", _("Written, but not sent:"));
    utf8_clean(&text, s->previewed.draft, strlen(s->previewed.draft), UTF8_MULTILINE);
    transcript_note(s->preview, STYLE_NOTE, text.data);
    buf_release(&text);
}

static void take_preview(struct sessions *s, struct notice *n)
{
    char *found = sessions_found(s);
    session_info_release(&s->previewed);
    s->previewed = n->info;
    session_info_init(&n->info);
    transcript_clear(s->preview);
    for (size_t i = 0; i < n->events.len; i++)
        (void)transcript_apply(s->preview, n->events.items[i]);
    if (s->previewed.draft)
        preview_draft(s);
    if (found)
        (void)transcript_find(s->preview, found, true);
    free(found);
}

static void take_answer(struct sessions *s, const struct sessions_question *q, struct notice *n)
{
    if (n->type == NOTICE_LIST && is_wanted(s, q))
        take_list(s, n);
    else if (n->type == NOTICE_SEARCH && is_wanted(s, q))
        take_hits(s, n);
    else if (n->type == NOTICE_PREVIEW && sessions_selected_id(s) &&
             strcmp(n->text, sessions_selected_id(s)) == 0)
        take_preview(s, n);
}

static void take_listing(struct sessions *s, struct notice *n)
{
    struct sessions_question *q = n->type == NOTICE_LIST     ? &s->list_question
                                  : n->type == NOTICE_SEARCH ? &s->search_question
                                                             : &s->preview_question;
    if (!n->text || !q->waiting || strcmp(q->asked, n->text) != 0)
        return; /* somebody else's, or asked before the screen was closed and opened again */
    bool outdated = q->stale; /* read before the change that made it so, perhaps */
    sessions_settle(q);
    if (!outdated)
        take_answer(s, q, n);
    sessions_ask(s);
}

static bool notice(struct view *view, struct notice *n, const char *words)
{
    struct sessions *s = sessions_of(view);
    switch (n->type) {
    case NOTICE_LIST:
    case NOTICE_SEARCH:
    case NOTICE_PREVIEW:
        take_listing(s, n);
        return false;
    case NOTICE_DONE:
        return sessions_done(s, n);
    case NOTICE_ERROR:
        return sessions_failed(s, n->command, words);
    case NOTICE_SESSION:
        if (n->flag && s->opening)
            view_close(view);
        return false;
    default:
        return false;
    }
}

/* --- the view --- */

static void release_question(struct sessions_question *q)
{
    free(q->asked);
    free(q->answered);
}

static void free_view(struct view *view)
{
    struct sessions *s = sessions_of(view);
    editor_free(s->query);
    editor_free(s->line);
    release_question(&s->list_question);
    release_question(&s->search_question);
    release_question(&s->preview_question);
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
    s->view = (struct view){&ops, host};
    s->query = editor_new();
    s->line = editor_new();
    s->preview = transcript_new();
    session_info_init(&s->previewed);
    session_info_init(&s->target);
    rows_init(&s->rows);
    s->all = -1;
    s->list_question = (struct sessions_question){.type = COMMAND_LIST, .limit = SESSIONS_LISTED};
    s->search_question =
        (struct sessions_question){.type = COMMAND_SEARCH, .limit = SESSIONS_FOUND};
    s->preview_question =
        (struct sessions_question){.type = COMMAND_PREVIEW, .limit = SESSIONS_PREVIEWED};
    editor_set(s->query, query);
    sessions_ask(s);
    return &s->view;
}
