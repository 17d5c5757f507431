#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/view/sessions_private.h"

enum {
    BESIDE_COLUMNS = 160, /* from here on the preview is beside the list */
    BESIDE_LOW = 100,     /* the same where there is no room below it */
    LIST_COLUMNS = 114,   /* that all of a session is seen in */
    PART_COLUMNS = 8      /* that a part of the header needs */
};

/* --- places --- */

static struct sessions_layout lay_out(int width, int height, int hints)
{
    struct sessions_layout l = {.width = width, .height = height, .list_cols = width};
    l.hint_rows = height > hints ? hints : 0;
    l.hint_top = height - l.hint_rows;
    l.list_rows = l.hint_top - 1;
    l.preview_top = 1;
    if (width >= (height >= SESSIONS_BELOW_ROWS ? BESIDE_COLUMNS : BESIDE_LOW)) {
        l.place = PREVIEW_RIGHT;
        l.list_cols = width * 11 / 20;
        if (width >= BESIDE_COLUMNS && l.list_cols < LIST_COLUMNS)
            l.list_cols = LIST_COLUMNS;
        l.preview_left = l.list_cols + 2; /* a line and a blank between */
        l.preview_rows = l.list_rows;
    } else if (height >= SESSIONS_BELOW_ROWS) {
        l.place = PREVIEW_BELOW;
        l.preview_rows = height / 3;
        l.list_rows -= l.preview_rows;
        l.preview_top = 1 + l.list_rows;
    }
    l.preview_cols = width - l.preview_left;
    return l;
}

static void lay_out_for(struct sessions *s, int width, int height)
{
    int before_cols = s->layout.preview_cols, before_rows = s->layout.preview_rows;
    s->layout = lay_out(width, height, sessions_hint_rows(s, width, height));
    const struct sessions_layout *l = &s->layout;
    if (l->place == PREVIEW_NONE)
        s->in_preview = false;
    else if (l->preview_cols != before_cols || l->preview_rows != before_rows)
        transcript_resize(s->preview, l->preview_cols, l->preview_rows - 1);
}

void sessions_resize(struct view *view, int width, int height)
{
    struct sessions *s = sessions_of(view);
    lay_out_for(s, width > 2 ? width : 2, height > 1 ? height : 1);
    sessions_ask(s);
}

/* --- the row of the query, or of the line that is asked for --- */

static void add_count(const struct sessions *s, struct buf *out)
{
    bool filtered = *editor_text(s->query) != '\0';
    if (!s->listed)
        return;
    if (!filtered || s->all < s->matching) {
        format_exact(out, s->matching);
        return;
    }
    struct buf matching = BUF_INIT, all = BUF_INIT;
    format_exact(&matching, s->matching);
    format_exact(&all, s->all);
    buf_addf(out, _("%s of %s"), matching.data, all.data);
    buf_release(&matching);
    buf_release(&all);
}

static size_t add_line(struct sessions *s, struct editor *line, size_t used, size_t room)
{
    int caret;
    size_t columns = edit_line(&s->rows, line, room, &caret);
    s->caret_row = 0;
    s->caret_col = (int)used + caret;
    return columns;
}

static void draw_query(struct sessions *s)
{
    size_t width = (size_t)s->layout.width, used = 1, counted;
    const char *prompt = s->input == INPUT_NONE ? NULL : sessions_input_prompt(s);
    struct buf count = BUF_INIT;
    if (!prompt)
        add_count(s, &count);
    counted = count.len > 0 ? utf8_width(count.data, count.len) + 2 : 0;
    rows_begin(&s->rows);
    rows_addstr(&s->rows, " ", STYLE_OVERLAY_TITLE, 0);
    used += rows_add_cut(&s->rows, prompt ? prompt : _("Sessions"), width / 2, STYLE_OVERLAY_TITLE);
    if (!prompt)
        used += rows_add_cut(&s->rows, " / ", width - used, STYLE_PROMPT);
    counted = counted + 8 <= width - used ? counted : 0;
    used += add_line(s, prompt ? s->line : s->query, used, width - used - counted);
    rows_pad(&s->rows, used + counted < width ? width - used - counted : 0, STYLE_OVERLAY);
    if (counted > 0) {
        rows_addstr(&s->rows, " ", STYLE_OVERLAY, 0);
        rows_addstr(&s->rows, count.data, STYLE_DIM, 0);
        rows_addstr(&s->rows, " ", STYLE_OVERLAY, 0);
    }
    buf_release(&count);
}

/* --- the preview --- */

/* "#label #label"; the caller frees. */
static char *label_text(const struct session_info *info)
{
    struct buf text = BUF_INIT;
    sessions_write_labels(info, &text);
    char *clean = sessions_clean(text.data);
    buf_release(&text);
    return clean;
}

static size_t add_part(struct rows *rows, char *part, size_t room)
{
    char *text = mem_printf(" %s %s", glyph(GLYPH_DOT), part);
    size_t used = *part && room >= PART_COLUMNS ? rows_add_cut(rows, text, room, STYLE_DIM) : 0;
    free(text);
    free(part);
    return used;
}

/* "Title - #label - directory - model", with a line to its end. */
static void add_header(struct sessions *s)
{
    enum style style = s->in_preview ? STYLE_OVERLAY_TITLE : STYLE_HEADING;
    size_t width = (size_t)s->layout.preview_cols, used = 0;
    const struct session_info *info = &s->previewed;
    char *title = *info->id ? sessions_title(info) : mem_strdup("");
    if (s->in_preview)
        used += rows_add_cut(&s->rows, glyph(GLYPH_POINTER), width, style);
    used += rows_add_cut(&s->rows, title, width - used, style);
    free(title);
    used += add_part(&s->rows, label_text(info), width - used);
    used += add_part(&s->rows, sessions_clean(info->directory), width - used);
    used += add_part(&s->rows, sessions_clean(info->model), width - used);
    if (used < width)
        used += rows_add_cut(&s->rows, " ", 1, STYLE_RULE);
    for (; used < width; used++)
        rows_addstr(&s->rows, glyph(GLYPH_LINE), STYLE_RULE, 0);
}

static const char *empty_preview(const struct sessions *s)
{
    if (!sessions_selected_id(s))
        return "";
    return *s->previewed.id ? _("This session has no messages.") : _("loading");
}

struct preview {
    const struct transcript_row *rows;
    size_t count;
};

/* Row `row` of it, added to the row that is begun. */
static void add_preview_row(struct sessions *s, const struct preview *p, int row)
{
    size_t width = (size_t)s->layout.preview_cols, used = 0, at = (size_t)row - 1;
    if (row == 0) {
        add_header(s);
        return;
    }
    const struct transcript_row *rows = p->rows;
    if (at < p->count) {
        rows_append(&s->rows, rows[at].rows, rows[at].index);
        used = rows_width(rows[at].rows, rows[at].index);
    } else if (at == 0) {
        used = rows_add_cut(&s->rows, empty_preview(s), width, STYLE_DIM);
    }
    rows_pad(&s->rows, used < width ? width - used : 0, STYLE_OVERLAY);
}

static void draw_middle(struct sessions *s)
{
    const struct sessions_layout *l = &s->layout;
    struct preview p = {0};
    if (l->place != PREVIEW_NONE)
        p.rows = transcript_rows(s->preview, &p.count);
    for (int row = 0; row < l->list_rows; row++) {
        rows_begin(&s->rows);
        sessions_list_row(s, &s->rows, row);
        if (l->place != PREVIEW_RIGHT)
            continue;
        rows_addstr(&s->rows, glyph(GLYPH_BAR), STYLE_RULE, 0);
        rows_addstr(&s->rows, " ", STYLE_OVERLAY, 0);
        add_preview_row(s, &p, row);
    }
    for (int row = 0; l->place == PREVIEW_BELOW && row < l->preview_rows; row++) {
        rows_begin(&s->rows);
        add_preview_row(s, &p, row);
    }
}

const struct rows *sessions_rows(struct view *view)
{
    struct sessions *s = sessions_of(view);
    lay_out_for(s, s->layout.width, s->layout.height); /* a message may have come or gone */
    rows_clear(&s->rows);
    sessions_list_view(s);
    draw_query(s);
    draw_middle(s);
    sessions_draw_hints(s);
    return &s->rows;
}

bool sessions_caret(const struct view *view, int *row, int *col)
{
    const struct sessions *s = (const struct sessions *)view;
    *row = s->caret_row;
    *col = s->caret_col;
    return true;
}
