#include "index/search_snippet.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

enum {
    SNIPPET_BYTES = 240,
    MATCH_BYTES = 120,             /* of it at most */
    SPAN_BYTES = 4 * SNIPPET_BYTES /* looked at on either side: blanks will be drawn together */
};

static const char ellipsis[] = "…";

/* One line without control characters and runs of blanks. */
static struct buf clean(const char *text, size_t len)
{
    struct buf cleaned = BUF_INIT, out = BUF_INIT;
    utf8_clean(&cleaned, text, len, UTF8_ONE_LINE);
    for (size_t i = 0; i < cleaned.len; i++)
        if (cleaned.data[i] != ' ' || i == 0 || cleaned.data[i - 1] != ' ')
            buf_addch(&out, cleaned.data[i]);
    buf_release(&cleaned);
    return out;
}

static struct buf clean_before(const char *text, size_t match)
{
    size_t from = match > SPAN_BYTES ? match - SPAN_BYTES : 0;
    while (from < match && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    return clean(text + from, match - from);
}

static struct buf clean_begin(const char *text, size_t len)
{
    size_t taken = len > SPAN_BYTES ? SPAN_BYTES : len;
    taken -= utf8_incomplete_tail(text, taken);
    return clean(text, taken);
}

/* Takes off the beginning so that at most `max` bytes are left. */
static bool keep_end(struct buf *b, size_t max)
{
    size_t cut = 0;
    while (b->len - cut > max)
        cut = utf8_next(b->data, b->len, cut);
    buf_consume(b, cut);
    buf_consume(b, strspn(b->data, " "));
    return cut > 0;
}

static bool keep_begin(struct buf *b, size_t max)
{
    size_t keep = utf8_cut_bytes(b->data, b->len, max);
    bool cut = keep < b->len;
    while (keep > 0 && b->data[keep - 1] == ' ')
        keep--;
    buf_splice(b, keep, b->len - keep, "", 0);
    return cut;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Shares out the bytes between what stands before and behind the match; the match is in the middle
 * unless one side does not need its half. */
static void fit(struct buf *before, struct buf *after, size_t room, bool *cut_before,
                bool *cut_after)
{
    size_t spare = room - least(room, after->len);
    *cut_before = keep_end(before, spare > room / 2 ? spare : room / 2) || *cut_before;
    *cut_after = keep_begin(after, room - before->len) || *cut_after;
}

void search_snippet(const char *text, size_t len, size_t match, size_t match_len,
                    struct search_hit *out)
{
    size_t end = match + match_len;
    bool cut_before = match > SPAN_BYTES;
    bool cut_after = len - end > SPAN_BYTES;
    struct buf line = BUF_INIT;
    struct buf before = clean_before(text, match);
    struct buf found = clean_begin(text + match, match_len);
    struct buf after = clean_begin(text + end, len - end);
    if (keep_begin(&found, MATCH_BYTES)) {
        buf_clear(&after);
        cut_after = true;
    }
    fit(&before, &after, SNIPPET_BYTES - 2 * strlen(ellipsis) - found.len, &cut_before, &cut_after);
    buf_addf(&line, "%s%s", cut_before ? ellipsis : "", before.data);
    out->match = line.len;
    out->len = found.len;
    buf_addf(&line, "%s%s%s", found.data, after.data, cut_after ? ellipsis : "");
    out->snippet = buf_take(&line);
    buf_release(&before);
    buf_release(&found);
    buf_release(&after);
}
