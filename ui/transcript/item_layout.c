#include "ui/transcript/item_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/wrap.h"
#include "ui/transcript/compaction_card.h"

/* Stands before the rows of a text. It is static because the rows of a streamed text refer to it
 * over many frames. */
enum prefix { PREFIX_TEXT, PREFIX_USER, PREFIX_REASONING, PREFIXES };

static const struct styled *prefix_of(enum prefix which)
{
    static struct styled prefixes[PREFIXES];
    struct styled *prefix = &prefixes[which];
    enum style style = which == PREFIX_USER        ? STYLE_USER
                       : which == PREFIX_REASONING ? STYLE_REASONING
                                                   : STYLE_TEXT;
    styled_clear(prefix);
    if (which != PREFIX_USER)
        styled_addstr(prefix, "  ", style, 0);
    if (which != PREFIX_TEXT) {
        styled_addstr(prefix, glyph(GLYPH_BAR), style, 0);
        styled_addstr(prefix, " ", style, 0);
    }
    return prefix;
}

static void add_wrapped(struct item *item, const char *text, enum style style, int width)
{
    const struct styled *prefix = prefix_of(item->kind == ITEM_USER ? PREFIX_USER : PREFIX_TEXT);
    wrap_string(&item->rows, text, style, 0,
                &(struct wrap_look){(size_t)width, WRAP_WORDS, prefix, prefix});
}

static void add_label(struct item *item, const char *label, enum style style, int width)
{
    struct styled line;
    styled_init(&line);
    styled_addstr(&line, label, style, ATTR_BOLD);
    rows_begin(&item->rows);
    wrap_add_cut(&item->rows, &line, (size_t)width);
    styled_release(&line);
}

/* The rows before an item's own. */
static void begin(struct item *item, int width)
{
    rows_clear(&item->rows);
    free(item->markdown);
    item->markdown = NULL;
    item->gone = 0;
    if (item->lead)
        rows_begin(&item->rows);
    if (item->kind == ITEM_USER)
        add_label(item, _("you"), STYLE_USER, width);
    else if (item->label)
        add_label(item, _("tiro"), STYLE_ASSISTANT, width);
}

/* Lays out more of the text, at most `room` bytes. */
static void give(struct item *item, size_t *room)
{
    size_t end = item->text.len, left = end - item->given;
    if (left > *room)
        end = item->given + *room - utf8_incomplete_tail(item->text.data + item->given, *room);
    *room -= end - item->given;
    item->given = end;
    bool whole = end == item->text.len && !item->streaming;
    markdown_update(item->markdown, item->text.data, end, whole);
}

static void add_markdown(struct item *item, struct markdown_look look, size_t *room)
{
    item->markdown = mem_alloc(sizeof *item->markdown);
    markdown_init(item->markdown, &look, &item->rows);
    item->given = 0;
    give(item, room);
}

bool item_is_behind(const struct item *item)
{
    return item->markdown && item->given < item->text.len;
}

static void lay_out_user(struct item *item, int width)
{
    struct markdown_look look = {(size_t)width, prefix_of(PREFIX_USER), STYLE_TEXT, true};
    size_t all = item->text.len;
    add_markdown(item, look, &all);
    for (const char *p = item->images.data; *p;) {
        size_t len = strcspn(p, "\n");
        struct buf line = BUF_INIT;
        buf_addf(&line, "[%s: %.*s]", _("image"), (int)len, p);
        add_wrapped(item, line.data, STYLE_DIM, width);
        buf_release(&line);
        p += len + 1;
    }
}

static void end_answer(struct item *item, int width)
{
    if (item->streaming || !item->partial || item_is_behind(item))
        return;
    struct buf line = BUF_INIT;
    buf_addf(&line, "%s %s", glyph(GLYPH_DASH), _("interrupted"));
    add_wrapped(item, line.data, STYLE_NOTE, width);
    buf_release(&line);
}

static void lay_out_answer(struct item *item, int width, size_t *room)
{
    struct markdown_look look = {(size_t)width, prefix_of(PREFIX_TEXT), STYLE_TEXT, false};
    add_markdown(item, look, room);
    end_answer(item, width);
}

static void reasoning_line(struct item *item, bool open, int width)
{
    struct buf line = BUF_INIT;
    buf_addf(&line, "%s %s", glyph(open ? GLYPH_UNFOLDED : GLYPH_FOLDED), _("reasoning"));
    if (item->hidden_text) {
        buf_addf(&line, " %s %s", glyph(GLYPH_DOT), _("kept hidden by the provider"));
    } else if (!item->streaming) {
        buf_addf(&line, " %s ", glyph(GLYPH_DOT));
        buf_addf(&line, ngettext("%zu word", "%zu words", item->words), item->words);
    } else {
        buf_addstr(&line, glyph(GLYPH_ELLIPSIS));
    }
    add_wrapped(item, line.data, STYLE_REASONING, width);
    buf_release(&line);
}

static void lay_out_reasoning(struct item *item, int width, enum reasoning_view reasoning,
                              size_t *room)
{
    if (reasoning == REASONING_HIDDEN)
        return;
    bool open = item_is_open(item, reasoning);
    struct markdown_look look = {(size_t)width, prefix_of(PREFIX_REASONING), STYLE_REASONING, true};
    reasoning_line(item, open, width);
    if (open)
        add_markdown(item, look, room);
}

static void lay_out_note(struct item *item, int width)
{
    struct buf text = BUF_INIT;
    if (item->style == STYLE_ERROR)
        buf_addf(&text, "%s ", glyph(GLYPH_FAILED));
    else if (item->style == STYLE_WARNING)
        buf_addstr(&text, "! ");
    buf_add(&text, item->text.data, item->text.len);
    add_wrapped(item, text.data, item->style, width);
    buf_release(&text);
}

static void lay_out_all(struct item *item, int width, enum reasoning_view reasoning, size_t *room)
{
    begin(item, width);
    switch (item->kind) {
    case ITEM_USER:
        lay_out_user(item, width);
        break;
    case ITEM_ANSWER:
        lay_out_answer(item, width, room);
        break;
    case ITEM_REASONING:
        lay_out_reasoning(item, width, reasoning, room);
        break;
    case ITEM_TOOL:
        tool_rows(&item->rows, item, width, item_is_open(item, reasoning));
        break;
    case ITEM_NOTE:
        lay_out_note(item, width);
        break;
    case ITEM_COMPACTION:
        compaction_card_rows(&item->rows, item, width);
        break;
    }
}

/* Text that was added at the end costs only that. */
static bool grow(struct item *item, int width, enum reasoning_view reasoning, size_t *room)
{
    bool open = item->kind == ITEM_ANSWER ||
                (item->kind == ITEM_REASONING && item_is_open(item, reasoning));
    if (item->kind == ITEM_REASONING && !open)
        return item->streaming; /* the one row stays as it is */
    if (!open)
        return false;
    give(item, room);
    if (item->kind == ITEM_ANSWER)
        end_answer(item, width);
    return true;
}

size_t item_lay_out(struct item *item, int width, enum reasoning_view reasoning, size_t *room)
{
    bool fits = item->width == width;
    if (fits && item->change == ITEM_SAME)
        return item_row_count(item);
    if (!fits || item->change == ITEM_CHANGED || !grow(item, width, reasoning, room))
        lay_out_all(item, width, reasoning, room);
    item->width = width;
    item->change = item_is_behind(item) ? ITEM_GROWN : ITEM_SAME;
    return item_row_count(item);
}

void item_forget_rows(struct item *item)
{
    rows_release(&item->rows);
    rows_init(&item->rows);
    free(item->markdown);
    item->markdown = NULL;
    item->width = 0;
    item->gone = 0;
}

size_t item_row_count(const struct item *item)
{
    return item->gone + item->rows.list.len;
}

void item_let_go(struct item *item, size_t first)
{
    if (item->markdown && first > item->gone)
        item->gone += markdown_drop_rows(item->markdown, first - item->gone);
}

bool item_can_fold(const struct item *item, enum reasoning_view reasoning)
{
    return item->kind == ITEM_TOOL ||
           (item->kind == ITEM_REASONING && !item->hidden_text && reasoning != REASONING_HIDDEN);
}

bool item_is_open(const struct item *item, enum reasoning_view reasoning)
{
    bool usual = item->kind == ITEM_REASONING && reasoning == REASONING_OPEN;
    return item_can_fold(item, reasoning) && usual != item->flipped;
}

void item_set_open(struct item *item, bool open, enum reasoning_view reasoning)
{
    if (!item_can_fold(item, reasoning) || item_is_open(item, reasoning) == open)
        return;
    item->flipped = !item->flipped;
    item->change = ITEM_CHANGED;
}
