#include "ui/view/outline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/markdown.h"
#include "ui/text/wrap.h"
#include "ui/view/hints.h"

enum {
    MARGIN = 3, /* columns before the rows of a text */
    MARKDOWN_BYTES =
        256 * 1024 /* a longer text is shown as plain text: Markdown is laid out at once */
};

/* An open text. `starts` has the rows that were looked at; Markdown is laid out whole. */
struct text {
    struct buf clean;
    size_t next; /* where the row after those begins */
    VEC(size_t) starts;
    bool markdown;
    struct rows laid;
};

struct entry {
    int64_t key;
    bool open;
    struct text *text; /* NULL: not looked at yet */
};

struct place {
    size_t entry, row; /* 0: the heading */
};

struct outline {
    struct outline_host host;
    VEC(struct entry) entries;
    struct place chosen, top;
    int width, height;
};

struct outline *outline_new(const struct outline_host *host)
{
    struct outline *o = mem_alloc(sizeof *o);
    o->host = *host;
    o->width = o->height = 1;
    return o;
}

/* --- texts --- */

static void text_free(struct text *t)
{
    if (!t)
        return;
    buf_release(&t->clean);
    vec_release(&t->starts);
    rows_release(&t->laid);
    free(t);
}

static size_t text_columns(const struct outline *o)
{
    return o->width > MARGIN + 1 ? (size_t)o->width - MARGIN : 1;
}

static void lay_out_markdown(const struct outline *o, struct text *t)
{
    const struct markdown_look look = {text_columns(o), NULL, STYLE_TEXT, false};
    struct markdown m;
    markdown_init(&m, &look, &t->laid);
    markdown_update(&m, t->clean.data, t->clean.len, true);
}

static struct text *text_of(struct outline *o, size_t entry)
{
    struct entry *e = &o->entries.items[entry];
    if (e->text)
        return e->text;
    struct outline_text source = o->host.text(o->host.context, entry);
    struct text *t = mem_alloc(sizeof *t);
    size_t len = source.text ? strlen(source.text) : 0;
    buf_init(&t->clean, 0);
    rows_init(&t->laid);
    if (len > 0)
        utf8_clean(&t->clean, source.text, len, UTF8_MULTILINE);
    t->markdown = source.markdown && t->clean.len <= MARKDOWN_BYTES;
    if (t->markdown)
        lay_out_markdown(o, t);
    e->text = t;
    return t;
}

/* Breaks the text as far as row `row` (from 0); false if it has not that many. */
static bool has_text_row(const struct outline *o, struct text *t, size_t row)
{
    if (t->markdown)
        return row < t->laid.list.len;
    while (t->starts.len <= row) {
        if (t->next >= t->clean.len)
            return false;
        struct wrap_piece piece =
            wrap_next(t->clean.data, t->clean.len, t->next, text_columns(o), WRAP_WORDS);
        vec_push(&t->starts, t->next);
        t->next = piece.next;
    }
    return true;
}

/* --- entries --- */

static void entries_release(struct entry *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_free(items[i].text);
    free(items);
}

void outline_free(struct outline *o)
{
    if (!o)
        return;
    entries_release(o->entries.items, o->entries.len);
    free(o);
}

static bool opens(const struct outline *o, size_t entry)
{
    return o->host.text(o->host.context, entry).text != NULL;
}

/* Searches from `hint` on and then before it: entries mostly keep their order. */
static size_t find_key(const struct outline *o, int64_t key, size_t hint)
{
    size_t count = o->entries.len;
    for (size_t i = 0; i < count; i++) {
        size_t at = (hint + i) % count;
        if (o->entries.items[at].key == key)
            return at;
    }
    return SIZE_MAX;
}

static bool has_row(struct outline *o, struct place p)
{
    if (p.entry >= o->entries.len)
        return false;
    if (p.row == 0)
        return true;
    return o->entries.items[p.entry].open && has_text_row(o, text_of(o, p.entry), p.row - 1);
}

static size_t row_count(struct outline *o, size_t entry)
{
    if (!o->entries.items[entry].open)
        return 1;
    struct text *t = text_of(o, entry);
    (void)has_text_row(o, t, SIZE_MAX - 1);
    return 1 + (t->markdown ? t->laid.list.len : t->starts.len);
}

/* The nearest row, as a text may have become shorter. */
static struct place clamp(struct outline *o, struct place p)
{
    if (p.row > 0 && !has_row(o, p))
        p.row = p.entry < o->entries.len ? row_count(o, p.entry) - 1 : 0;
    return p;
}

void outline_fill(struct outline *o, size_t count)
{
    struct entry *old = o->entries.items;
    size_t old_count = o->entries.len, hint = 0;
    o->entries.items = NULL;
    o->entries.len = o->entries.cap = 0;
    for (size_t i = 0; i < count; i++)
        vec_push(&o->entries, (struct entry){.key = o->host.key(o->host.context, i)});
    for (size_t i = 0; i < old_count; i++) {
        size_t at = old[i].open ? find_key(o, old[i].key, hint) : SIZE_MAX;
        if (at == SIZE_MAX)
            continue;
        o->entries.items[at].open = opens(o, at);
        hint = at;
    }
    struct place *const places[] = {&o->chosen, &o->top};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t entry = places[i]->entry;
        size_t at = entry < old_count ? find_key(o, old[entry].key, entry) : SIZE_MAX;
        if (at != SIZE_MAX)
            *places[i] = clamp(o, (struct place){at, places[i]->row});
        else
            *places[i] = (struct place){moves_within((long)entry, count), 0};
    }
    entries_release(old, old_count);
}

/* --- moving --- */

static bool is_before(struct place a, struct place b)
{
    return a.entry < b.entry || (a.entry == b.entry && a.row < b.row);
}

/* Returns how many rows it moved. */
static int walk(struct outline *o, struct place *p, int rows)
{
    int moved = 0;
    for (; moved < rows; moved++) {
        struct place inside = {p->entry, p->row + 1}, next = {p->entry + 1, 0};
        bool stays = has_row(o, inside);
        if (!stays && !has_row(o, next))
            break;
        *p = stays ? inside : next;
    }
    for (; moved > rows && (p->row > 0 || p->entry > 0); moved--)
        *p = p->row > 0 ? (struct place){p->entry, p->row - 1}
                        : (struct place){p->entry - 1, row_count(o, p->entry - 1) - 1};
    return moved;
}

/* Moves the view as little as brings the place into it, and leaves no room below the end. */
static void bring_into_view(struct outline *o, struct place p)
{
    struct place last = o->top;
    if (o->entries.len == 0)
        return;
    if (is_before(p, o->top))
        o->top = last = p;
    int below = walk(o, &last, o->height - 1);
    if (is_before(last, p)) {
        o->top = p;
        (void)walk(o, &o->top, -(o->height - 1));
    } else if (below < o->height - 1) {
        (void)walk(o, &o->top, -(o->height - 1 - below));
    }
}

bool outline_key(struct outline *o, enum action action, const struct key *key)
{
    int page = o->height > 2 ? o->height - 1 : 1;
    long by = moves_by_action(action, page, MOVES_WHEEL);
    size_t count = o->entries.len;
    if (by == 0)
        by = moves_is_letter(key, ' ') ? page : moves_by_letter(key) + moves_by_control(key);
    if (by == 0 || count == 0)
        return by != 0;
    if (by == -MOVES_ALL)
        o->chosen = (struct place){0};
    else if (by == MOVES_ALL)
        o->chosen = (struct place){count - 1, row_count(o, count - 1) - 1};
    else
        (void)walk(o, &o->chosen, (int)by);
    bring_into_view(o, o->chosen);
    return true;
}

void outline_choose(struct outline *o, size_t entry)
{
    if (entry >= o->entries.len)
        return;
    o->chosen = (struct place){entry, 0};
    bring_into_view(o, o->chosen);
}

size_t outline_chosen(const struct outline *o)
{
    return o->chosen.entry < o->entries.len ? o->chosen.entry : SIZE_MAX;
}

/* --- opening --- */

void outline_open(struct outline *o, size_t entry)
{
    if (entry < o->entries.len)
        o->entries.items[entry].open = opens(o, entry);
}

bool outline_toggle(struct outline *o)
{
    size_t chosen = outline_chosen(o);
    if (chosen == SIZE_MAX || !opens(o, chosen))
        return false;
    struct entry *e = &o->entries.items[chosen];
    e->open = !e->open;
    o->chosen.row = 0;
    if (!e->open) {
        text_free(e->text);
        e->text = NULL;
        if (o->top.entry == chosen)
            o->top.row = 0;
    }
    /* as much of an opened text as there is room for is shown with its heading */
    struct place last = o->chosen;
    while (last.row + 1 < (size_t)o->height && has_row(o, (struct place){chosen, last.row + 1}))
        last.row++;
    bring_into_view(o, last);
    bring_into_view(o, o->chosen);
    return true;
}

bool outline_unfolds(const struct outline *o)
{
    size_t chosen = outline_chosen(o);
    return chosen != SIZE_MAX && opens(o, chosen);
}

bool outline_click(struct outline *o, int row)
{
    struct place p = o->top;
    if (o->entries.len == 0 || row < 0 || row >= o->height || walk(o, &p, row) < row)
        return false;
    o->chosen = p;
    if (p.row == 0)
        (void)outline_toggle(o);
    return true;
}

/* --- another size --- */

/* A row of a text stays by its first byte, or in Markdown by its share of the rows. */
void outline_resize(struct outline *o, int width, int height)
{
    bool rewrap = width != o->width;
    if (!rewrap && height == o->height)
        return;
    struct place *const places[] = {&o->chosen, &o->top};
    struct {
        size_t byte, row, rows; /* rows: of Markdown, where the row is a share of them */
    } depths[] = {{0, o->chosen.row, 0}, {0, o->top.row, 0}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i]->row == 0 || !has_row(o, *places[i]))
            continue;
        const struct text *t = text_of(o, places[i]->entry);
        if (t->markdown)
            depths[i].rows = t->laid.list.len;
        else
            depths[i].byte = t->starts.items[places[i]->row - 1];
    }
    o->width = width < 1 ? 1 : width;
    o->height = height < 1 ? 1 : height;
    for (size_t i = 0; rewrap && i < o->entries.len; i++) {
        struct text *t = o->entries.items[i].text;
        if (!t)
            continue;
        vec_clear(&t->starts);
        t->next = 0;
        rows_clear(&t->laid);
        if (t->markdown)
            lay_out_markdown(o, t);
    }
    for (size_t i = 0; rewrap && i < sizeof places / sizeof *places; i++) {
        size_t entry = places[i]->entry, rows = depths[i].rows, row = 0;
        if (depths[i].row == 0 || entry >= o->entries.len || !o->entries.items[entry].open)
            continue;
        struct text *t = text_of(o, entry);
        if (t->markdown)
            row = rows > 0 ? (depths[i].row - 1) * t->laid.list.len / rows : 0;
        else
            while (has_text_row(o, t, row + 1) && t->starts.items[row + 1] <= depths[i].byte)
                row++;
        *places[i] = clamp(o, (struct place){entry, row + 1});
    }
}

/* --- drawing --- */

static void draw_text_row(struct outline *o, struct place p, bool chosen, struct rows *out)
{
    struct text *t = text_of(o, p.entry);
    struct rows scratch;
    const struct rows *from = &t->laid;
    size_t width = (size_t)o->width, index = p.row - 1;
    rows_init(&scratch);
    if (!t->markdown) {
        struct styled line;
        size_t at = t->starts.items[index];
        struct wrap_piece piece =
            wrap_next(t->clean.data, t->clean.len, at, text_columns(o), WRAP_WORDS);
        styled_init(&line);
        styled_add(&line, t->clean.data + at, piece.end - at, STYLE_TEXT, 0);
        wrap_text(&scratch, &line, &(struct wrap_look){text_columns(o), WRAP_WORDS, NULL, NULL});
        styled_release(&line);
        from = &scratch;
        index = 0;
    }
    size_t used = rows_add_cut(out, chosen ? glyph(GLYPH_POINTER) : " ", 1, STYLE_PROMPT);
    size_t margin = width > MARGIN + 1 ? MARGIN : used;
    rows_pad(out, margin - used, STYLE_OVERLAY);
    used = margin;
    if (used + rows_width(from, index) <= width) {
        used += rows_width(from, index);
        rows_append(out, from, index);
    }
    rows_pad(out, width - used, STYLE_OVERLAY);
    rows_release(&scratch);
}

void outline_rows(struct outline *o, struct rows *out)
{
    bring_into_view(o, o->chosen);
    struct place p = o->top;
    bool more = o->entries.len > 0;
    for (int i = 0; i < o->height; i++) {
        bool chosen = p.entry == o->chosen.entry && p.row == o->chosen.row;
        rows_begin(out);
        if (!more) {
            rows_pad(out, (size_t)o->width, STYLE_OVERLAY);
        } else if (p.row > 0) {
            draw_text_row(o, p, chosen, out);
        } else {
            struct outline_look look = {(size_t)o->width - 1, chosen,
                                        o->entries.items[p.entry].open};
            rows_addstr(out, chosen ? glyph(GLYPH_POINTER) : " ",
                        chosen ? STYLE_SELECTED : STYLE_OVERLAY, 0);
            o->host.heading(o->host.context, p.entry, &look, out);
        }
        more = more && walk(o, &p, 1) == 1;
    }
}
