#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/compaction_card.h"
#include "ui/transcript/messages.h"
#include "ui/view/compaction_detail_private.h"
#include "ui/view/hints.h"

enum { WHO_MOST = 12 };

/* --- entries --- */

static size_t who_columns(void)
{
    size_t columns = 0;
    for (int r = ROLE_USER; r <= ROLE_TOOL; r++) {
        const char *who = message_row_who((enum role)r);
        size_t width = utf8_width(who, strlen(who));
        columns = width > columns ? width : columns;
    }
    return columns < WHO_MOST ? columns : WHO_MOST;
}

/* Those that are listed may be but the first pages of all. */
static int64_t dropped_count(const struct compaction_detail *d)
{
    int64_t listed = (int64_t)d->dropped.items.len, all = d->completed->compaction.messages_dropped;
    return d->more || d->waiting ? (all > listed ? all : listed) : listed;
}

static bool is_summarised(const struct compaction_detail *d)
{
    const char *mode = d->completed->compaction.effective_mode;
    bool only_marked = mode && strcmp(mode, "recency_preserving") == 0;
    return !only_marked && d->completed->text && *d->completed->text;
}

static void write_dropped(const struct compaction_detail *d, unsigned long count,
                          const char *figure, struct buf *out)
{
    if (is_summarised(d))
        buf_addf(out, ngettext("%s message summarised", "%s messages summarised", count), figure);
    else
        buf_addf(out, ngettext("%s message dropped", "%s messages dropped", count), figure);
}

static void write_heading(const struct compaction_detail *d, enum detail_kind kind, struct buf *out)
{
    int64_t count = kind == DETAIL_SHORTENED_HEADING ? (int64_t)d->shortened.items.len
                    : kind == DETAIL_DROPPED_HEADING ? dropped_count(d)
                                                     : 0;
    struct buf figure = BUF_INIT;
    format_exact(&figure, count);
    if (kind == DETAIL_SUMMARY)
        buf_addstr(out, _("Summary"));
    else if (kind == DETAIL_SHORTENED_HEADING)
        buf_addf(out,
                 ngettext("%s message shortened", "%s messages shortened", (unsigned long)count),
                 figure.data);
    else if (kind == DETAIL_DROPPED_HEADING)
        write_dropped(d, (unsigned long)count, figure.data, out);
    else
        buf_addstr(out, _("loading"));
    buf_release(&figure);
}

static void add_heading(const struct compaction_detail *d, enum detail_kind kind,
                        const struct outline_look *look, struct rows *out)
{
    enum style style = look->chosen          ? STYLE_SELECTED
                       : kind == DETAIL_MORE ? STYLE_DIM
                                             : STYLE_HEADING;
    struct buf text = BUF_INIT;
    if (kind == DETAIL_SUMMARY)
        buf_addf(&text, "%s ", glyph(look->open ? GLYPH_UNFOLDED : GLYPH_FOLDED));
    write_heading(d, kind, &text);
    message_row_field(out, text.data, look->columns, style);
    buf_release(&text);
}

void detail_heading(void *detail, size_t entry, const struct outline_look *look, struct rows *out)
{
    const struct compaction_detail *d = detail;
    const struct dropped_message *m = detail_message(d, entry);
    if (!m) {
        add_heading(d, d->entries.items[entry].kind, look, out);
        return;
    }
    const struct message_row row = {message_row_who(m->role), m->turn,    m->text.data + m->said,
                                    m->text.len > 0,          look->open, look->chosen};
    message_row_add(out, &row, who_columns(), look->columns);
}

/* --- head and hints --- */

static void draw_title(struct compaction_detail *d)
{
    rows_begin(&d->rows);
    rows_addstr(&d->rows, " ", STYLE_OVERLAY_TITLE, 0);
    size_t used =
        1 + rows_add_cut(&d->rows, _("Compaction"), (size_t)d->width - 1, STYLE_OVERLAY_TITLE);
    message_row_field(&d->rows, "", (size_t)d->width - used, STYLE_OVERLAY);
}

/* At most a third of the screen. */
static void draw_outcome(struct compaction_detail *d)
{
    struct rows card;
    int most = d->height / 3;
    rows_init(&card);
    if (d->card)
        compaction_card_rows(&card, d->card, d->width);
    for (size_t i = 0; i < card.list.len && (int)i < most; i++) {
        size_t used = rows_width(&card, i);
        rows_copy(&d->rows, &card, i);
        message_row_field(&d->rows, "", (size_t)d->width - used, STYLE_OVERLAY);
    }
    rows_release(&card);
    if (d->quotes_forgotten && most > 1)
        remark_row(&d->rows, _("this summary quotes a memory entry that you deleted"),
                   STYLE_WARNING, (size_t)d->width);
}

static void draw_hints(struct compaction_detail *d)
{
    static const struct hint hints[] = {
        {ACTION_SEND, NULL, N_("unfold")},
        {ACTION_CANCEL, NULL, N_("close")},
        {ACTION_JUMP, NULL, N_("jump|show the message in the conversation")},
        {ACTION_CARD_MEMORY, NULL, N_("memory entries|show what memory keeps of it")},
        {ACTION_PAGE_DOWN, NULL, N_("page")},
        {ACTION_HELP, NULL, N_("help")}};
    size_t width = (size_t)d->width;
    if (d->remark.text)
        remark_row(&d->rows, d->remark.text, d->remark.style, width);
    else
        hints_rows(&d->rows, d->view.host->keymap, hints, sizeof hints / sizeof *hints, width, 1);
}

void detail_resize(struct view *view, int width, int height)
{
    struct compaction_detail *d = (struct compaction_detail *)view;
    d->width = width > 2 ? width : 2;
    d->height = height > 1 ? height : 1;
}

static void want_what_comes_near(struct compaction_detail *d)
{
    size_t chosen = outline_chosen(d->outline);
    if (chosen != SIZE_MAX && chosen + 2 * (size_t)d->height >= d->entries.len)
        detail_want_more(d);
}

const struct rows *detail_rows(struct view *view)
{
    struct compaction_detail *d = (struct compaction_detail *)view;
    rows_clear(&d->rows);
    draw_title(d);
    draw_outcome(d);
    d->head_rows = (int)d->rows.list.len;
    int last = d->height > d->head_rows + 1;
    if (d->height > d->head_rows) {
        outline_resize(d->outline, d->width, d->height - d->head_rows - last);
        outline_rows(d->outline, &d->rows);
    }
    if (last)
        draw_hints(d);
    want_what_comes_near(d);
    return &d->rows;
}
