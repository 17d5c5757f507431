#include "chat/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

static bool change_is_known(const void *change)
{
    return ((const struct file_change *)change)->after != NULL;
}

const struct shape change_shape = {
    .name = "change",
    .size = sizeof(struct file_change),
    .fields = SHAPE_ROWS(
        SHAPE_OPT_AS("old", file_change, before, "Text before; absent: there was no file."),
        SHAPE_REQ_AS("new", file_change, after, "Text after."),
        SHAPE_OPT(file_change, line,
                  "First line of both texts in the file, where they are a part of it.")),
    .known = change_is_known,
};

/* --- lines ------------------------------------------------------------------------------------ */

/* A line with its end, if it has one. */
struct line {
    const char *text;
    size_t len;
    uint64_t hash;
};

struct lines {
    VEC(struct line) list;
};

static void split(const struct buf *text, struct lines *out)
{
    for (size_t at = 0; at < text->len;) {
        const char *start = text->data + at, *end = memchr(start, '\n', text->len - at);
        size_t len = end ? (size_t)(end - start) + 1 : text->len - at;
        vec_push(&out->list, (struct line){start, len, mem_hash(MEM_HASH, start, len)});
        at += len;
    }
}

static bool same(const struct line *a, const struct line *b)
{
    return a->hash == b->hash && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* --- the lines that differ -------------------------------------------------------------------- */

/* E. W. Myers, An O(ND) difference algorithm and its variations (1986), in linear space. */

enum { STEPS_MAX = 8 * 1000 * 1000 };

struct comparison {
    const struct line *a, *b;
    bool *gone, *come;     /* marks of the lines of a that are removed, of b that are added */
    int64_t *ahead, *back; /* the farthest points by diagonal; both point to diagonal 0 */
    int64_t steps;         /* steps that are left */
};

/* A part of both texts. */
struct box {
    int64_t a, a_end, b, b_end;
};

/* Finds a point in the middle of a shortest path through the box. The first lines of the box
 * differ, and so do the last ones. False: too many steps are needed. */
static bool find_middle(struct comparison *c, struct box box, int64_t *x_out, int64_t *y_out)
{
    int64_t n = box.a_end - box.a, m = box.b_end - box.b, delta = n - m;
    bool odd = delta % 2 != 0;
    c->ahead[1] = c->back[1] = 0;
    for (int64_t d = 0; c->steps > 0; d++) {
        int64_t least = d > m ? d - 2 * m : -d, most = d > n ? 2 * n - d : d;
        c->steps -= most - least + 1;
        for (int64_t k = least; k <= most; k += 2) {
            bool down = k == -d || (k != d && c->ahead[k - 1] < c->ahead[k + 1]);
            int64_t x = down ? c->ahead[k + 1] : c->ahead[k - 1] + 1;
            while (x < n && x - k < m && same(&c->a[box.a + x], &c->b[box.b + x - k]))
                x++;
            c->ahead[k] = x;
            int64_t other = delta - k;
            if (odd && other > -d && other < d && x + c->back[other] >= n) {
                *x_out = box.a + x;
                *y_out = box.b + x - k;
                return true;
            }
        }
        for (int64_t k = least; k <= most; k += 2) {
            bool up = k == -d || (k != d && c->back[k - 1] < c->back[k + 1]);
            int64_t x = up ? c->back[k + 1] : c->back[k - 1] + 1;
            while (x < n && x - k < m &&
                   same(&c->a[box.a_end - 1 - x], &c->b[box.b_end - 1 - (x - k)]))
                x++;
            c->back[k] = x;
            int64_t other = delta - k;
            if (!odd && other >= -d && other <= d && x + c->ahead[other] >= n) {
                *x_out = box.a_end - x;
                *y_out = box.b_end - (x - k);
                return true;
            }
        }
    }
    return false;
}

/* Marks the lines of the box that differ. The depth of the recursion is logarithmic: each part of a
 * box has half of its differences. */
static void compare(struct comparison *c, struct box box)
{
    int64_t x, y;
    while (box.a < box.a_end && box.b < box.b_end && same(&c->a[box.a], &c->b[box.b]))
        box.a++, box.b++;
    while (box.a < box.a_end && box.b < box.b_end &&
           same(&c->a[box.a_end - 1], &c->b[box.b_end - 1]))
        box.a_end--, box.b_end--;
    if (box.a < box.a_end && box.b < box.b_end && find_middle(c, box, &x, &y)) {
        compare(c, (struct box){box.a, x, box.b, y});
        compare(c, (struct box){x, box.a_end, y, box.b_end});
        return;
    }
    for (int64_t i = box.a; i < box.a_end; i++)
        c->gone[i] = true;
    for (int64_t i = box.b; i < box.b_end; i++)
        c->come[i] = true;
}

/* --- hunks ------------------------------------------------------------------------------------ */

static void add_line(struct buf *out, char mark, const struct line *line)
{
    buf_addch(out, mark);
    buf_add(out, line->text, line->len);
    if (line->text[line->len - 1] != '\n')
        buf_addstr(out, "\n\\ No newline at end of file\n");
}

/* Appends "-3,4". A range without lines names the line before it. */
static void add_range(struct buf *out, char mark, size_t from, size_t count, int64_t line)
{
    buf_addf(out, "%c%lld", mark, (long long)((int64_t)from + line - (count == 0)));
    if (count != 1)
        buf_addf(out, ",%zu", count);
}

/* Places in both texts. */
struct places {
    size_t a, b;
};

/* The next place from `at` on where the texts differ. */
static struct places next_change(const struct comparison *c, struct places at, struct places end)
{
    while (at.a < end.a && at.b < end.b && !c->gone[at.a] && !c->come[at.b])
        at.a++, at.b++;
    return at;
}

static struct places skip_change(const struct comparison *c, struct places at, struct places end)
{
    while (at.a < end.a && c->gone[at.a])
        at.a++;
    while (at.b < end.b && c->come[at.b])
        at.b++;
    return at;
}

/* Changes whose contexts touch are in one hunk. */
static struct difference_size add_hunks(const struct comparison *c, struct places end, int64_t line,
                                        struct buf *out)
{
    struct difference_size size = {0};
    struct places at = next_change(c, (struct places){0}, end);
    while (at.a < end.a || at.b < end.b) {
        size_t lead = at.a < CHANGE_CONTEXT ? at.a : CHANGE_CONTEXT;
        lead = at.b < lead ? at.b : lead;
        struct places from = {at.a - lead, at.b - lead}, to = skip_change(c, at, end);
        at = next_change(c, to, end);
        while ((at.a < end.a || at.b < end.b) && at.a - to.a <= (size_t)2 * CHANGE_CONTEXT) {
            to = skip_change(c, at, end);
            at = next_change(c, to, end);
        }
        size_t tail = end.a - to.a < CHANGE_CONTEXT ? end.a - to.a : CHANGE_CONTEXT;
        to = (struct places){to.a + tail, to.b + tail};
        buf_addstr(out, "@@ ");
        add_range(out, '-', from.a, to.a - from.a, line);
        buf_addch(out, ' ');
        add_range(out, '+', from.b, to.b - from.b, line);
        buf_addstr(out, " @@\n");
        while (from.a < to.a || from.b < to.b) {
            for (; from.a < to.a && c->gone[from.a]; size.removed++)
                add_line(out, '-', &c->a[from.a++]);
            for (; from.b < to.b && c->come[from.b]; size.added++)
                add_line(out, '+', &c->b[from.b++]);
            for (; from.a < to.a && !c->gone[from.a] && !c->come[from.b]; from.b++)
                add_line(out, ' ', &c->a[from.a++]);
        }
    }
    return size;
}

struct difference_size difference_write(struct buf *out, const struct buf *before,
                                        const struct buf *after, int64_t line)
{
    struct lines a = {0}, b = {0};
    split(before, &a);
    split(after, &b);
    size_t all = a.list.len + b.list.len;
    auto_free bool *marks = mem_alloc(all + 2);
    auto_free int64_t *points = mem_alloc(2 * (2 * all + 3) * sizeof *points);
    struct comparison c = {.a = a.list.items,
                           .b = b.list.items,
                           .gone = marks,
                           .come = marks + a.list.len + 1,
                           .ahead = points + all + 1,
                           .back = points + 3 * all + 4,
                           .steps = STEPS_MAX};
    compare(&c, (struct box){0, (int64_t)a.list.len, 0, (int64_t)b.list.len});
    struct difference_size size =
        add_hunks(&c, (struct places){a.list.len, b.list.len}, line > 0 ? line : 1, out);
    vec_release(&a.list);
    vec_release(&b.list);
    return size;
}

struct difference_size change_difference(const struct file_change *c, struct buf *out)
{
    const struct buf before = buf_borrow(c->before ? c->before : ""), after = buf_borrow(c->after);
    return difference_write(out, &before, &after, c->line);
}

/* --- the kept part of the texts --------------------------------------------------------------- */

static bool is_text(const struct buf *b)
{
    return utf8_valid(b->data, b->len) && !memchr(b->data, '\0', b->len);
}

/* The beginning of the context before this place, and the end of the context behind it. */
static size_t lines_before(const struct buf *b, size_t at)
{
    for (int lines = 0; at > 0; at--)
        if (b->data[at - 1] == '\n' && lines++ == CHANGE_CONTEXT)
            break;
    return at;
}

static size_t lines_after(const struct buf *b, size_t at)
{
    for (int lines = 0; at < b->len && lines <= CHANGE_CONTEXT; at++)
        lines += b->data[at] == '\n';
    return at;
}

void change_keep(struct file_change *c, const struct buf *before, const struct buf *after)
{
    static const struct buf nothing = BUF_INIT;
    const struct buf *old = before ? before : &nothing;
    size_t least = old->len < after->len ? old->len : after->len, head = 0, tail = 0;
    bool whole = old->len <= CHANGE_WHOLE && after->len <= CHANGE_WHOLE;
    if (!is_text(old) || !is_text(after))
        return;
    while (head < least && old->data[head] == after->data[head])
        head++;
    while (tail < least - head &&
           old->data[old->len - 1 - tail] == after->data[after->len - 1 - tail])
        tail++;
    if (before && head == old->len && head == after->len)
        return;
    size_t from = whole ? 0 : lines_before(old, head);
    size_t old_end = whole ? old->len : lines_after(old, old->len - tail);
    size_t end = after->len - (old->len - old_end);
    if (old_end - from > CHANGE_MAX || end - from > CHANGE_MAX)
        return;
    c->before = before ? mem_strndup(old->data + from, old_end - from) : NULL;
    c->after = mem_strndup(after->data + from, end - from);
    for (size_t i = 0; i < from; i++)
        c->line += old->data[i] == '\n';
    c->line += from > 0;
}
