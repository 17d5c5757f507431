/* What the tab of corpora looks like. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/corpus_view_private.h"
#include "ui/view/hints.h"

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

void corpus_row_heading(void *view, size_t row, const struct outline_look *look, struct rows *out)
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

struct outline_text corpus_row_text(void *view, size_t row)
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

void corpus_view_resize(struct view *view, int width, int height)
{
    struct corpus_view *v = corpus_view_of(view);
    v->width = width > 2 ? width : 2;
    v->height = height > 1 ? height : 1;
}

const struct rows *corpus_view_rows(struct view *view)
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

bool corpus_view_caret(const struct view *view, int *row, int *col)
{
    const struct corpus_view *v = (const struct corpus_view *)view;
    *row = 1;
    *col = v->caret_col;
    return v->writing && v->caret_col >= 0;
}
