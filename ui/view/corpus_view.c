#include "ui/view/tabs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/knowledge.h"
#include "session/corpus_operations.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/outline.h"

enum { CORPUS_VIEW_QUERY_BYTES = 1024, CORPUS_VIEW_LISTED = 500 /* rows of a level */ };

/* What a level has: one walks from corpora over the documents of one to the passages of one; at the
 * top a query finds passages, and those that the model was given stand below CITED. */
enum corpus_level { LEVEL_CORPORA, LEVEL_FOUND, LEVEL_CITED, LEVEL_DOCUMENTS, LEVEL_PASSAGES };

enum corpus_row_kind { ROW_CITED, ROW_CORPUS, ROW_FAILED, ROW_DOCUMENT, ROW_PASSAGE };

struct corpus_row {
    enum corpus_row_kind kind;
    size_t index; /* in the list of its kind */
};

struct corpus_view {
    struct view view;
    struct editor *query;
    bool writing; /* keys go to the query */

    enum corpus_level level;
    char *corpus; /* of LEVEL_DOCUMENTS and below; NULL: passages were come to from elsewhere */
    char *file;   /* of LEVEL_PASSAGES */
    int64_t document, chunk; /* likewise; the passage that is to be chosen when they come */
    enum corpus_level from;  /* where Backspace leads from passages */
    int wanted;              /* citation that is to be opened when it comes; 0: none */
    int64_t cited_before;    /* event before which `cited` was given; 0: last of all */

    struct corpus_list corpora;
    struct corpus_passages cited;
    struct corpus_found found;
    struct corpus_documents documents, failed;
    struct corpus_passages passages;
    VEC(struct corpus_row) rows_of; /* the level's */
    bool known;                     /* an answer has come */
    uint64_t asked, asked_more;     /* newest requests; 0: answered */
    struct outline *outline;

    char *progress; /* of an ingest or of vectors; NULL: none goes on */
    bool asks_remove;
    struct remark remark;

    int width, height;
    int top_rows;  /* above the list, as drawn last */
    int caret_col; /* of the query; -1: none */
    struct rows rows;
    char *text; /* that an opened row shows */
};

static inline struct corpus_view *corpus_view_of(struct view *view)
{
    return (struct corpus_view *)view;
}

static inline bool corpus_view_has_query(const struct corpus_view *v)
{
    return v->level == LEVEL_CORPORA || v->level == LEVEL_FOUND;
}

/* NULL: nothing is chosen. */
static const struct corpus_row *corpus_view_chosen(const struct corpus_view *v);
/* The passage of a row; NULL: it is none. */
static const struct corpus_passage *corpus_view_passage(const struct corpus_view *v,
                                                        const struct corpus_row *r);

/* corpus_view_rows.c */
static void corpus_view_resize(struct view *view, int width, int height);
static const struct rows *corpus_view_rows(struct view *view);
static bool corpus_view_caret(const struct view *view, int *row, int *col);
static void corpus_row_heading(void *view, size_t row, const struct outline_look *look,
                               struct rows *out);
static struct outline_text corpus_row_text(void *view, size_t row);

/* What the tab of corpora looks like. */

enum {
    HINT_ROWS = 4, /* of the tab, from which on there is a row of keys */
    WIDE = 56      /* columns, from which on passages are counted, too */
};

/* A foreign text on one row. */
static void add_clean(struct buf *out, const char *text)
{
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash && slash[1] ? slash + 1 : file;
}

/* NULL: the row is of no file. */
static const char *file_of(const struct corpus_view *v, const struct corpus_row *r)
{
    const struct corpus_passage *p = corpus_view_passage(v, r);
    return p                         ? p->file
           : r->kind == ROW_DOCUMENT ? v->documents.items.items[r->index].file
           : r->kind == ROW_FAILED   ? v->failed.items.items[r->index].file
                                     : NULL;
}

/* Whether its path ends with those parts. */
static bool ends_with(const char *file, const char *parts)
{
    size_t len = strlen(file), tail = strlen(parts);
    return len >= tail && strcmp(file + len - tail, parts) == 0 &&
           (len == tail || *parts == '/' || file[len - tail - 1] == '/');
}

/* Its name, with as much of its path as tells it from the other files of the list. */
static const char *name_among(const struct corpus_view *v, const char *file)
{
    const char *name = name_of(file);
    for (size_t i = 0; i < v->rows_of.len; i++) {
        const char *other = file_of(v, &v->rows_of.items[i]);
        while (other && strcmp(other, file) != 0 && name > file && ends_with(other, name)) {
            name -= name > file + 1 ? 2 : 1;
            while (name > file && name[-1] != '/')
                name--;
        }
    }
    return name;
}

/* --- a row each ------------------------------------------------------------------------------- */

static void heading(const struct outline_look *look, const char *text, const char *right,
                    enum style style, struct rows *out)
{
    enum style main = look->chosen ? STYLE_SELECTED : style;
    enum style side = look->chosen ? STYLE_SELECTED : STYLE_DIM;
    size_t room = look->columns, end = utf8_width(right, strlen(right)) + 1;
    if (end == 1 || end + 16 > room)
        end = 0;
    message_row_field(out, text, room - end, main);
    if (end > 0)
        message_row_figure(out, right, end, side);
}

static void add_counts(struct buf *out, const struct corpus_info *n, bool wide)
{
    buf_addf(out, ngettext("%lld document", "%lld documents", (unsigned long)n->documents),
             (long long)n->documents);
    buf_addstr(out, wide ? ", " : " ");
    if (wide)
        buf_addf(out, ngettext("%lld passage ", "%lld passages ", (unsigned long)n->passages),
                 (long long)n->passages);
}

static void corpus_heading(const struct corpus_info *n, const struct outline_look *look,
                           struct rows *out)
{
    struct buf text = BUF_INIT, right = BUF_INIT;
    add_clean(&text, n->name);
    if (n->failed > 0)
        buf_addf(&text, " %s %lld %s", glyph(GLYPH_DOT), (long long)n->failed, _("unreadable"));
    if (n->pending)
        buf_addf(&text, " %s %s", glyph(GLYPH_DOT), _("being read"));
    add_counts(&right, n, look->columns >= WIDE);
    heading(look, text.data, right.data, STYLE_OVERLAY, out);
    buf_release(&text);
    buf_release(&right);
}

static void document_heading(const struct corpus_view *v, const struct corpus_document *d,
                             const struct outline_look *look, struct rows *out)
{
    struct buf text = BUF_INIT, right = BUF_INIT;
    add_clean(&text, name_among(v, d->file));
    if (d->error) {
        buf_addstr(&text, ": ");
        add_clean(&text, d->error);
    } else {
        buf_addf(&right, "%lld ", (long long)d->passages);
    }
    heading(look, text.data, right.data, d->error ? STYLE_WARNING : STYLE_OVERLAY, out);
    buf_release(&text);
    buf_release(&right);
}

/* "[2] kyoto.md:12  The night train …", with the score of a search. */
static void passage_heading(const struct corpus_view *v, const struct corpus_passage *p,
                            const struct outline_look *look, struct rows *out)
{
    struct buf text = BUF_INIT, right = BUF_INIT;
    if (p->number > 0)
        buf_addf(&text, "[%d] ", p->number);
    if (v->level != LEVEL_PASSAGES)
        add_clean(&text, name_among(v, p->file));
    if (p->page > 0)
        buf_addf(&text, _(" p. %lld"), (long long)p->page);
    else if (p->line > 0 && v->level == LEVEL_PASSAGES)
        buf_addf(&text, _("line %lld"), (long long)p->line);
    else if (p->line > 0)
        buf_addf(&text, ":%lld", (long long)p->line);
    buf_addstr(&text, "  ");
    utf8_add_cut(&text, p->content, strlen(p->content), 400);
    struct buf line = BUF_INIT;
    add_clean(&line, text.data);
    if (v->level == LEVEL_FOUND || v->level == LEVEL_CITED)
        buf_addf(&right, "%.2f ", p->score);
    heading(look, line.data, right.data, STYLE_OVERLAY, out);
    buf_release(&line);
    buf_release(&text);
    buf_release(&right);
}

static void corpus_row_heading(void *view, size_t row, const struct outline_look *look,
                               struct rows *out)
{
    const struct corpus_view *v = view;
    const struct corpus_row *r = &v->rows_of.items[row];
    const struct corpus_passage *p = corpus_view_passage(v, r);
    if (p) {
        passage_heading(v, p, look, out);
    } else if (r->kind == ROW_CORPUS) {
        corpus_heading(&v->corpora.items.items[r->index], look, out);
    } else if (r->kind == ROW_CITED) {
        char *count = mem_printf("%zu ", v->cited.items.len);
        heading(look, _("What the model was given last"), count, STYLE_LINK, out);
        free(count);
    } else {
        document_heading(v,
                         r->kind == ROW_FAILED ? &v->failed.items.items[r->index]
                                               : &v->documents.items.items[r->index],
                         look, out);
    }
}

static struct outline_text corpus_row_text(void *view, size_t row)
{
    struct corpus_view *v = view;
    const struct corpus_row *r = &v->rows_of.items[row];
    const struct corpus_passage *p = corpus_view_passage(v, r);
    struct buf text = BUF_INIT;
    if (r->kind == ROW_FAILED) {
        const struct corpus_document *d = &v->failed.items.items[r->index];
        buf_addf(&text, "%s\n%s", d->file, d->error ? d->error : "");
    } else if (p) {
        buf_addf(&text, "%s\n", p->file);
        if (p->heading && *p->heading)
            buf_addf(&text, "%s\n", p->heading);
        buf_addf(&text, "\n%s", p->content);
    } else {
        return (struct outline_text){0};
    }
    free(v->text);
    v->text = buf_take(&text);
    return (struct outline_text){v->text, false};
}

/* --- above and below -------------------------------------------------------------------------- */

static void title_row(const struct corpus_view *v, struct rows *out)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, " %s", _("Corpora"));
    if ((v->level == LEVEL_DOCUMENTS ||
         (v->level == LEVEL_PASSAGES && v->from == LEVEL_DOCUMENTS)) &&
        v->corpus) {
        buf_addstr(&text, " > ");
        add_clean(&text, v->corpus);
    }
    if (v->level == LEVEL_CITED)
        buf_addf(&text, " > %s", _("given to the model"));
    if (v->level == LEVEL_PASSAGES && v->file) {
        buf_addstr(&text, " > ");
        add_clean(&text, name_of(v->file));
    }
    if (v->level == LEVEL_FOUND && v->known)
        buf_addf(&text,
                 ngettext(" %s %lld passage searched", " %s %lld passages searched",
                          (unsigned long)v->found.searched),
                 glyph(GLYPH_DOT), (long long)v->found.searched);
    if (v->progress)
        buf_addf(&text, " %s %s", glyph(GLYPH_DOT), v->progress);
    rows_begin(out);
    message_row_field(out, text.data, (size_t)v->width, STYLE_OVERLAY_TITLE);
    buf_release(&text);
}

static void query_row(struct corpus_view *v, struct rows *out)
{
    size_t width = (size_t)v->width;
    int caret;
    rows_begin(out);
    size_t used = rows_add_cut(out, " / ", width, STYLE_PROMPT);
    size_t columns = edit_line(out, v->query, width - used, &caret);
    rows_pad(out, width - used - columns, STYLE_OVERLAY);
    int at = (int)used + caret;
    v->caret_col = v->writing ? (at < v->width ? at : v->width - 1) : -1;
}

static const char *empty_text(const struct corpus_view *v)
{
    if (!v->known)
        return _("loading");
    if (v->level == LEVEL_FOUND)
        return _("Nothing found.");
    if (v->level == LEVEL_CORPORA)
        return _("There is no corpus. /corpus add NAME PATH or tiro corpus add makes one.");
    return _("There is nothing here.");
}

static void empty_rows(const struct corpus_view *v, int height, struct rows *out)
{
    remark_rows(out, empty_text(v), STYLE_DIM, (size_t)v->width, height);
}

static const struct hint in_query[] = {{ACTION_DOWN, NULL, N_("to the list")},
                                       {ACTION_PANE_NEXT, NULL, N_("next tab")},
                                       {ACTION_CANCEL, NULL, N_("close")},
                                       {ACTION_HELP, NULL, N_("help")}};
static const struct hint in_list[] = {
    {ACTION_SEND, NULL, N_("open")},
    {ACTION_MEMORY_QUERY, NULL, N_("search")},
    {ACTION_MEMORY_RESTORE, NULL, N_("update|read files that have changed")},
    {ACTION_MEMORY_FORGET, NULL, N_("remove|take it out of the corpus; files stay")},
    {ACTION_CANCEL, NULL, N_("back")},
    {ACTION_PANE_NEXT, NULL, N_("next tab")}};
static const struct hint in_passages[] = {
    {ACTION_SEND, NULL, N_("unfold")},
    {ACTION_MEMORY_EDIT, NULL, N_("editor|open the file in your editor")},
    {ACTION_MEMORY_OPEN, NULL, N_("whole document")},
    {ACTION_MEMORY_QUERY, NULL, N_("search")},
    {ACTION_CANCEL, NULL, N_("back")},
    {ACTION_PANE_NEXT, NULL, N_("next tab")}};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static void question_text(const struct corpus_view *v, struct buf *out)
{
    const struct corpus_row *r = corpus_view_chosen(v);
    char *name =
        remark_name(r->kind == ROW_CORPUS   ? v->corpora.items.items[r->index].name
                    : r->kind == ROW_FAILED ? name_of(v->failed.items.items[r->index].file)
                                            : name_of(v->documents.items.items[r->index].file));
    buf_addf(out, _("Remove %s from the corpus? The files stay. y/n"), name);
    free(name);
}

/* What stands in place of the keys; false: nothing does. */
static bool foot_text(const struct corpus_view *v, struct buf *out, enum style *style)
{
    bool asks = v->asks_remove && corpus_view_chosen(v);
    *style = asks ? STYLE_WARNING : v->remark.style;
    if (asks)
        question_text(v, out);
    else if (v->remark.text)
        buf_addstr(out, v->remark.text);
    return asks || v->remark.text;
}

static void hint_rows(struct corpus_view *v, struct rows *out, int rows)
{
    const struct keymap *keys = v->view.host->keymap;
    size_t width = (size_t)v->width;
    bool passages = v->level != LEVEL_CORPORA && v->level != LEVEL_DOCUMENTS;
    if (!view_has_keyboard(&v->view))
        hints_elsewhere(out, keys, width, rows);
    else if (v->writing)
        hints_rows(out, keys, in_query, COUNT(in_query), width, rows);
    else if (passages)
        hints_rows(out, keys, in_passages, COUNT(in_passages), width, rows);
    else
        hints_rows(out, keys, in_list, COUNT(in_list), width, rows);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void corpus_view_resize(struct view *view, int width, int height)
{
    struct corpus_view *v = corpus_view_of(view);
    v->width = width > 2 ? width : 2;
    v->height = height > 1 ? height : 1;
}

static const struct rows *corpus_view_rows(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    bool has_query = corpus_view_has_query(v);
    struct buf foot = BUF_INIT;
    enum style style;
    bool says = foot_text(v, &foot, &style);
    int feet = remark_height(says ? foot.data : NULL, (size_t)v->width, v->height, HINT_ROWS);
    int body = v->height - feet - (has_query ? 2 : 1);
    rows_clear(&v->rows);
    v->caret_col = -1;
    title_row(v, &v->rows);
    if (has_query && v->height > 1)
        query_row(v, &v->rows);
    v->top_rows = (int)v->rows.list.len;
    if (body > 0 && v->rows_of.len == 0) {
        empty_rows(v, body, &v->rows);
    } else if (body > 0) {
        outline_resize(v->outline, v->width, body);
        outline_rows(v->outline, &v->rows);
    }
    if (feet > 0 && says)
        remark_rows(&v->rows, foot.data, style, (size_t)v->width, feet);
    else if (feet > 0)
        hint_rows(v, &v->rows, feet);
    buf_release(&foot);
    return &v->rows;
}

static bool corpus_view_caret(const struct view *view, int *row, int *col)
{
    const struct corpus_view *v = (const struct corpus_view *)view;
    *row = 1;
    *col = v->caret_col;
    return v->writing && v->caret_col >= 0;
}

/* What the tab of corpora asks, holds and is answered, and its keys. */

static void say(struct corpus_view *v, enum style style, const char *text)
{
    remark_set(&v->remark, style, text);
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct corpus_row *corpus_view_chosen(const struct corpus_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return chosen < v->rows_of.len ? &v->rows_of.items[chosen] : NULL;
}

static const struct corpus_passage *corpus_view_passage(const struct corpus_view *v,
                                                        const struct corpus_row *r)
{
    if (!r || r->kind != ROW_PASSAGE)
        return NULL;
    return v->level == LEVEL_CITED   ? &v->cited.items.items[r->index]
           : v->level == LEVEL_FOUND ? &v->found.items.items[r->index]
                                     : &v->passages.items.items[r->index];
}

/* FNV-1a: texts as the outline wants to know its entries. */
static int64_t hash(int64_t seed, const char *text)
{
    uint64_t h = 14695981039346656037U ^ (uint64_t)seed;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211U;
    return (int64_t)h;
}

static int64_t row_key(void *view, size_t row)
{
    const struct corpus_view *v = view;
    const struct corpus_row *r = &v->rows_of.items[row];
    const struct corpus_passage *p = corpus_view_passage(v, r);
    int64_t level = (int64_t)v->level << 8 | (int64_t)r->kind;
    if (p)
        return hash(level + p->number * 977 + p->chunk * 31, p->file);
    if (r->kind == ROW_CORPUS)
        return hash(level, v->corpora.items.items[r->index].name);
    if (r->kind == ROW_DOCUMENT)
        return hash(level, v->documents.items.items[r->index].file);
    return r->kind == ROW_FAILED ? hash(level, v->failed.items.items[r->index].file) : level;
}

static void add_rows(struct corpus_view *v, enum corpus_row_kind kind, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vec_push(&v->rows_of, (struct corpus_row){kind, i});
}

static void list_rows(struct corpus_view *v)
{
    vec_clear(&v->rows_of);
    switch (v->level) {
    case LEVEL_CORPORA:
        add_rows(v, ROW_CITED, v->cited.items.len > 0);
        add_rows(v, ROW_CORPUS, v->corpora.items.len);
        break;
    case LEVEL_FOUND:
        add_rows(v, ROW_PASSAGE, v->found.items.len);
        break;
    case LEVEL_CITED:
        add_rows(v, ROW_PASSAGE, v->cited.items.len);
        break;
    case LEVEL_DOCUMENTS:
        add_rows(v, ROW_FAILED, v->failed.items.len);
        add_rows(v, ROW_DOCUMENT, v->documents.items.len);
        break;
    case LEVEL_PASSAGES:
        add_rows(v, ROW_PASSAGE, v->passages.items.len);
        break;
    }
    outline_fill(v->outline, v->rows_of.len);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* The result becomes the view's. */
static void take(const struct shape *shape, void *to, struct operation_answer *a)
{
    shape_release(shape, to);
    memcpy(to, a->result, shape->size);
    memset(a->result, 0, shape->size);
}

static bool tell_fault(struct corpus_view *v, const char *words)
{
    if (words)
        say(v, STYLE_ERROR, words);
    else
        v->known = true;
    return words != NULL;
}

static bool take_corpora(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = corpus_view_of(view);
    v->asked = 0;
    if (!tell_fault(v, words)) {
        take(&corpus_list_shape, &v->corpora, a);
        list_rows(v);
    }
    return true;
}

static bool take_found(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = corpus_view_of(view);
    v->asked = 0;
    if (tell_fault(v, words))
        return true;
    take(&corpus_found_shape, &v->found, a);
    if (v->found.badge)
        say(v, STYLE_NOTE, v->found.badge);
    list_rows(v);
    return true;
}

static void open_level(struct corpus_view *v, enum corpus_level level);

/* Opens the citation that was asked for by its number. */
static void open_wanted(struct corpus_view *v)
{
    int wanted = v->wanted;
    v->wanted = 0;
    for (size_t i = 0; i < v->cited.items.len && wanted > 0; i++)
        if (v->cited.items.items[i].number == wanted) {
            open_level(v, LEVEL_CITED);
            outline_choose(v->outline, i);
            outline_open(v->outline, i);
            v->writing = false;
            return;
        }
    if (wanted > 0)
        say(v, STYLE_NOTE, _("The model was given no passage with this number."));
}

static bool take_cited(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = corpus_view_of(view);
    v->asked_more = 0;
    if (words)
        return true; /* the session is not kept yet */
    take(&corpus_passages_shape, &v->cited, a);
    if (v->level == LEVEL_CORPORA || v->level == LEVEL_CITED)
        list_rows(v);
    open_wanted(v);
    return true;
}

static bool take_documents(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = corpus_view_of(view);
    const struct corpus_documents_query *asked = a->request->params;
    v->asked = 0;
    if (tell_fault(v, words))
        return true;
    take(&corpus_documents_shape, asked->failed ? &v->failed : &v->documents, a);
    list_rows(v);
    return true;
}

static bool take_passages(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = corpus_view_of(view);
    v->asked = 0;
    if (tell_fault(v, words))
        return true;
    take(&corpus_passages_shape, &v->passages, a);
    list_rows(v);
    for (size_t i = 0; i < v->passages.items.len; i++)
        if (v->passages.items.items[i].chunk == v->chunk) {
            outline_choose(v->outline, i);
            outline_open(v->outline, i);
        }
    return true;
}

/* --- asking ----------------------------------------------------------------------------------- */

static void ask_cited(struct corpus_view *v)
{
    const struct session_info *session = v->view.host->session;
    if (session && session->id[0])
        v->asked_more = view_ask(&v->view, &operation_corpus_cited,
                                 &(struct corpus_cited){session->id, v->cited_before}, take_cited);
}

static void ask_top(struct corpus_view *v)
{
    const char *text = editor_text(v->query);
    view_withdraw(&v->view, v->asked);
    if (utf8_is_blank(text)) {
        v->asked = view_ask(&v->view, &operation_corpus_list, NULL, take_corpora);
        ask_cited(v);
    } else {
        v->asked = view_ask(
            &v->view, &operation_corpus_search,
            &(struct corpus_search){.query = text, .top_k = CORPUS_TOP_K_MOST, .hybrid_weight = -1},
            take_found);
    }
}

static void ask_documents(struct corpus_view *v)
{
    struct corpus_documents_query query = {
        .name = v->corpus, .failed = true, .limit = CORPUS_VIEW_LISTED};
    (void)view_ask(&v->view, &operation_corpus_documents, &query, take_documents);
    query.failed = false;
    v->asked = view_ask(&v->view, &operation_corpus_documents, &query, take_documents);
}

static void ask_passages(struct corpus_view *v)
{
    const struct corpus_passages_query query = {
        .document = v->document,
        .from = v->chunk > CORPUS_VIEW_LISTED / 2 ? v->chunk - CORPUS_VIEW_LISTED / 2 : 0,
        .limit = CORPUS_VIEW_LISTED};
    v->asked = view_ask(&v->view, &operation_corpus_passages, &query, take_passages);
}

static void ask_again(struct corpus_view *v)
{
    if (v->level == LEVEL_DOCUMENTS)
        ask_documents(v);
    else if (v->level == LEVEL_PASSAGES)
        ask_passages(v);
    else if (v->level == LEVEL_CITED)
        ask_cited(v);
    else
        ask_top(v);
}

/* --- walking ---------------------------------------------------------------------------------- */

static void open_level(struct corpus_view *v, enum corpus_level level)
{
    v->level = level;
    v->writing = v->writing && corpus_view_has_query(v);
    v->asks_remove = false;
    list_rows(v);
    if (v->rows_of.len > 0)
        outline_choose(v->outline, 0);
}

static void open_corpus(struct corpus_view *v, const char *name)
{
    char *copy = mem_strdup(name);
    free(v->corpus);
    v->corpus = copy;
    shape_release(&corpus_documents_shape, &v->documents);
    shape_release(&corpus_documents_shape, &v->failed);
    v->known = false;
    open_level(v, LEVEL_DOCUMENTS);
    ask_documents(v);
}

static void open_document(struct corpus_view *v, int64_t document, const char *file, int64_t chunk)
{
    char *copy = mem_strdup(file);
    free(v->file);
    v->file = copy;
    v->document = document;
    v->chunk = chunk;
    v->from = v->level;
    shape_release(&corpus_passages_shape, &v->passages);
    v->known = false;
    open_level(v, LEVEL_PASSAGES);
    ask_passages(v);
}

static void choose(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    const struct corpus_row *r = corpus_view_chosen(v);
    if (!r)
        return;
    if (r->kind == ROW_CITED)
        open_level(v, LEVEL_CITED);
    else if (r->kind == ROW_CORPUS)
        open_corpus(v, v->corpora.items.items[r->index].name);
    else if (r->kind == ROW_DOCUMENT)
        open_document(v, v->documents.items.items[r->index].id,
                      v->documents.items.items[r->index].file, -1);
    else
        (void)outline_toggle(v->outline);
}

/* The passage within its document. */
static void open_source(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    const struct corpus_passage *p = corpus_view_passage(v, corpus_view_chosen(v));
    if (p && v->level != LEVEL_PASSAGES)
        open_document(v, p->document, p->file, p->chunk);
    else if (!p)
        say(v, STYLE_NOTE, _("No passage is selected."));
}

static void open_top(struct corpus_view *v)
{
    open_level(v, utf8_is_blank(editor_text(v->query)) ? LEVEL_CORPORA : LEVEL_FOUND);
}

/* At the top stands what was given last of all. */
static void leave_cited(struct corpus_view *v)
{
    bool older = v->cited_before > 0;
    v->cited_before = 0;
    open_top(v);
    if (older)
        ask_cited(v);
}

static void back(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    if (v->level == LEVEL_PASSAGES)
        open_level(v, v->from);
    else if (v->level == LEVEL_CITED)
        leave_cited(v);
    else if (v->level == LEVEL_DOCUMENTS)
        open_top(v);
    else
        v->writing = true;
}

static void to_query(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    while (!corpus_view_has_query(v))
        back(view);
    v->writing = true;
}

/* --- the editor ------------------------------------------------------------------------------- */

/* All that is known of the page, or the passage alone. */
static char *page_text(const struct corpus_view *v, const struct corpus_passage *p)
{
    struct buf text = BUF_INIT;
    bool within = v->level == LEVEL_PASSAGES && p->page > 0;
    for (size_t i = 0; within && i < v->passages.items.len; i++)
        if (v->passages.items.items[i].page == p->page)
            buf_addf(&text, "%s\n\n", v->passages.items.items[i].content);
    if (!within)
        buf_addstr(&text, p->content);
    return buf_take(&text);
}

static void open_in_editor(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    const struct corpus_row *r = corpus_view_chosen(v);
    const struct corpus_passage *p = corpus_view_passage(v, r);
    if (p) {
        char *text = page_text(v, p);
        view->host->open_file(view->host->app, p->file, p->line, text);
        free(text);
    } else if (r && r->kind == ROW_DOCUMENT && !v->documents.items.items[r->index].given) {
        view->host->open_file(view->host->app, v->documents.items.items[r->index].file, 1, NULL);
    } else {
        say(v, STYLE_NOTE, _("No passage is selected."));
    }
}

/* --- removing and updating -------------------------------------------------------------------- */

static const char *removable(const struct corpus_view *v, const char **file)
{
    const struct corpus_row *r = corpus_view_chosen(v);
    *file = NULL;
    if (r && r->kind == ROW_CORPUS)
        return v->corpora.items.items[r->index].name;
    if (r && r->kind == ROW_DOCUMENT)
        *file = v->documents.items.items[r->index].file;
    else if (r && r->kind == ROW_FAILED)
        *file = v->failed.items.items[r->index].file;
    return *file ? v->corpus : NULL;
}

static bool removed(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = corpus_view_of(view);
    (void)a;
    say(v, words ? STYLE_ERROR : STYLE_NOTE,
        words ? words : _("Removed; the files stay as they are."));
    if (!words)
        ask_again(v);
    return true;
}

static void ask_remove(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    const char *file;
    v->asks_remove = removable(v, &file) != NULL;
    if (!v->asks_remove)
        say(v, STYLE_NOTE, _("No corpus and no document is selected."));
}

static void answer_key(struct corpus_view *v, enum action action, const struct key *key)
{
    const char *file, *name = removable(v, &file);
    enum hint_answer answer = hint_answer(action, key);
    if (answer == HINT_NO_ANSWER)
        return;
    v->asks_remove = false;
    if (answer == HINT_YES && name)
        (void)view_ask(&v->view, &operation_corpus_remove, &(struct corpus_remove){name, file},
                       removed);
}

static bool updated(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = corpus_view_of(view);
    const struct corpus_progress *p = a->result;
    if (words)
        say(v, STYLE_ERROR, words);
    else if (p->asks)
        say(v, STYLE_WARNING,
            _("More than 1,000 files or 100 MB for the embedding endpoint: tiro corpus update "
              "asks."));
    else
        say(v, STYLE_NOTE, _("Looking for changed files."));
    return true;
}

static void update(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    const struct corpus_row *r = corpus_view_chosen(v);
    const char *name = r && r->kind == ROW_CORPUS    ? v->corpora.items.items[r->index].name
                       : v->level == LEVEL_DOCUMENTS ? v->corpus
                                                     : NULL;
    if (name)
        (void)view_ask(view, &operation_corpus_update, &(struct corpus_add){.name = name}, updated);
    else
        say(v, STYLE_NOTE, _("No corpus and no document is selected."));
}

/* --- keys ------------------------------------------------------------------------------------- */

static const struct view_key letters[] = {
    {ACTION_MEMORY_OPEN, open_source},  {ACTION_MEMORY_EDIT, open_in_editor},
    {ACTION_MEMORY_FORGET, ask_remove}, {ACTION_MEMORY_RESTORE, update},
    {ACTION_MEMORY_QUERY, to_query},    {ACTION_NONE, NULL}};

static const struct view_key of_list[] = {{ACTION_SEND, choose},    {ACTION_TOGGLE, choose},
                                          {ACTION_RIGHT, choose},   {ACTION_CANCEL, back},
                                          {ACTION_BACKSPACE, back}, {ACTION_LEFT, back},
                                          {ACTION_NONE, NULL}};

static bool list_key(struct corpus_view *v, enum action action, const struct key *key)
{
    enum action letter = keymap_find_in(v->view.host->keymap, key, KEYS_PANE);
    if (view_run_action(&v->view, letters, letter) || view_run_action(&v->view, of_list, action))
        return true;
    if (action == ACTION_UP && corpus_view_has_query(v) &&
        (v->rows_of.len == 0 || outline_chosen(v->outline) == 0)) {
        v->writing = true;
        return true;
    }
    return outline_key(v->outline, action, key);
}

static void look_for(struct corpus_view *v)
{
    open_level(v, utf8_is_blank(editor_text(v->query)) ? LEVEL_CORPORA : LEVEL_FOUND);
    ask_top(v);
}

static bool query_key(struct corpus_view *v, enum action action, const struct key *key)
{
    if (action == ACTION_SEND || action == ACTION_DOWN || action == ACTION_PAGE_DOWN) {
        v->writing = false;
        return true;
    }
    if (action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN)
        return outline_key(v->outline, action, key);
    if (action == ACTION_CANCEL || (action == ACTION_CLEAR && editor_len(v->query) == 0))
        return false;
    char *before = mem_strdup(editor_text(v->query));
    bool mine = edit_line_key(v->query, CORPUS_VIEW_QUERY_BYTES, action, key);
    if (strcmp(before, editor_text(v->query)) != 0)
        look_for(v);
    free(before);
    return mine;
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct corpus_view *v = corpus_view_of(view);
    if (v->asks_remove) {
        answer_key(v, action, key);
        return true;
    }
    say(v, STYLE_NOTE, NULL);
    return v->writing ? query_key(v, action, key) : list_key(v, action, key);
}

static void click(struct view *view, int row, int col)
{
    struct corpus_view *v = corpus_view_of(view);
    (void)col;
    if (v->asks_remove)
        return;
    if (corpus_view_has_query(v) && row > 0 && row < v->top_rows) {
        v->writing = true;
        return;
    }
    size_t before = outline_chosen(v->outline);
    bool was_writing = v->writing;
    v->writing = false;
    const struct corpus_row *r = corpus_view_chosen(v);
    bool opens = r && r->kind != ROW_PASSAGE && r->kind != ROW_FAILED;
    if (outline_click(v->outline, row - v->top_rows) && outline_chosen(v->outline) == before &&
        !was_writing && opens)
        choose(view);
}

/* --- the view --------------------------------------------------------------------------------- */

static void take_state(struct corpus_view *v, const struct notice *n)
{
    bool over = n->flag ? n->number == 0 : n->progress.finished || n->error.code != ERR_OK;
    free(v->progress);
    v->progress = NULL;
    if (n->error.code != ERR_OK)
        say(v, STYLE_ERROR, n->error.text);
    else if (!over && n->flag)
        v->progress = mem_printf(_("vectors: %lld to go"), (long long)n->number);
    else if (!over)
        v->progress = mem_printf(_("%s: file %lld of %lld"), n->progress.corpus,
                                 (long long)n->progress.done, (long long)n->progress.files);
    if (over || v->level == LEVEL_CORPORA)
        ask_again(v);
}

/* The model may have been given passages. */
static void notice(struct view *view, struct notice *n)
{
    struct corpus_view *v = corpus_view_of(view);
    if (n->type == NOTICE_CORPORA_STATE)
        take_state(v, n);
    else if (n->type == NOTICE_EVENT && n->event->type == EVENT_TOOL_EXECUTION_COMPLETED &&
             n->event->name && strncmp(n->event->name, "rag_", 4) == 0)
        ask_cited(v);
    else if (n->type == NOTICE_SESSION && n->flag)
        ask_cited(v);
}

void corpus_view_show(struct view *view, const char *query)
{
    struct corpus_view *v = corpus_view_of(view);
    int number = 0;
    long long before = 0;
    v->cited_before = 0;
    if (query && sscanf(query, "[%d]@%lld", &number, &before) >= 1) {
        v->wanted = number;
        v->cited_before = before;
        to_query(view);
        editor_set(v->query, "");
        open_level(v, LEVEL_CORPORA);
    } else if (query && *query) {
        to_query(view);
        editor_set(v->query, query);
        v->writing = false;
        open_level(v, LEVEL_FOUND);
    }
    ask_again(v);
}

static void free_view(struct view *view)
{
    struct corpus_view *v = corpus_view_of(view);
    shape_release(&corpus_list_shape, &v->corpora);
    shape_release(&corpus_passages_shape, &v->cited);
    shape_release(&corpus_found_shape, &v->found);
    shape_release(&corpus_documents_shape, &v->documents);
    shape_release(&corpus_documents_shape, &v->failed);
    shape_release(&corpus_passages_shape, &v->passages);
    vec_release(&v->rows_of);
    outline_free(v->outline);
    editor_free(v->query);
    remark_release(&v->remark);
    rows_release(&v->rows);
    free(v->corpus);
    free(v->file);
    free(v->progress);
    free(v->text);
    free(v);
}

static const struct view_ops ops = {
    .layer = VIEW_PANE,
    .free = free_view,
    .key = take_key,
    .click = click,
    .resize = corpus_view_resize,
    .rows = corpus_view_rows,
    .caret = corpus_view_caret,
    .notice = notice,
};

struct view *corpus_view_new(const struct view_host *host)
{
    struct corpus_view *v = mem_alloc(sizeof *v);
    const struct outline_host rows = {row_key, corpus_row_text, corpus_row_heading, v};
    *v = (struct corpus_view){.view = {.ops = &ops, .host = host},
                              .query = editor_new(),
                              .writing = true,
                              .width = 1,
                              .height = 1};
    v->outline = outline_new(&rows);
    rows_init(&v->rows);
    return &v->view;
}
