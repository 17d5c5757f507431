#include "ui/term/cluster.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { MARKS_MAX = 4, EMOJI_LOOK = 0xFE0F, FLAG_FIRST = 0x1F1E6, FLAG_LAST = 0x1F1FF };

static bool begins_emoji(uint32_t cp)
{
    return utf8_is_pictograph(cp) || (cp >= FLAG_FIRST && cp <= FLAG_LAST);
}

bool cluster_is(const char *grapheme, size_t len)
{
    uint32_t first, cp;
    size_t at = utf8_decode(grapheme, len, &first), marks = 0;
    bool emoji = begins_emoji(first) && at < len;
    while (at < len) {
        at += utf8_decode(grapheme + at, len - at, &cp);
        emoji = emoji || cp == EMOJI_LOOK;
        marks++;
    }
    return emoji || marks > MARKS_MAX;
}

void clusters_reset(struct clusters *c, int rows)
{
    for (int i = 0; i < c->count; i++) {
        for (size_t k = 0; k < c->rows[i].list.len; k++)
            free(c->rows[i].list.items[k].text);
        vec_release(&c->rows[i].list);
    }
    if (rows != c->count) {
        free(c->rows);
        c->rows = rows > 0 ? mem_alloc((size_t)rows * sizeof *c->rows) : NULL;
        c->count = rows;
    }
}

void clusters_put(struct clusters *c, int row, const struct cluster *cluster)
{
    if (row < 0 || row >= c->count)
        return;
    clusters_drop(c, row, cluster->col, cluster->cols);
    struct cluster copy = *cluster;
    copy.text = mem_strdup(cluster->text);
    vec_push(&c->rows[row].list, copy);
    c->rows[row].due = true;
}

void clusters_drop(struct clusters *c, int row, int col, int cols)
{
    if (row < 0 || row >= c->count)
        return;
    struct cluster_row *r = &c->rows[row];
    for (size_t i = r->list.len; i-- > 0;) {
        const struct cluster *there = &r->list.items[i];
        if (there->col >= col + cols || there->col + there->cols <= col)
            continue;
        free(there->text);
        vec_remove(&r->list, i, 1);
    }
}
