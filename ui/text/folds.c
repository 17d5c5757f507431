#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem() */
#endif
#include "ui/text/folds.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"

enum {
    FIRST_OPENER = 0x01,
    OPENERS = 8, /* up to the tab, which texts may have */
    FIRST_CLOSER = 0x0E,
    CLOSERS = 16,
    LABEL_MAX = 120 /* bytes, in any language */
};

static bool is_opener(char c)
{
    return c >= FIRST_OPENER && c < FIRST_OPENER + OPENERS;
}

static bool is_closer(char c)
{
    return c >= FIRST_CLOSER && c < FIRST_CLOSER + CLOSERS;
}

bool fold_is_drawn(char c)
{
    return !is_opener(c) && !is_closer(c);
}

void folds_release(struct folds *f)
{
    for (size_t i = 0; i < f->items.len; i++)
        free(f->items.items[i].text);
    vec_release(&f->items);
}

static void add_sign(struct buf *out, size_t number, const struct fold *fold)
{
    size_t lines = 0;
    for (const char *c = fold->text; c < fold->text + fold->len; c++)
        lines += *c == '\n';
    lines += fold->text[fold->len - 1] != '\n';
    auto_free char *label =
        mem_printf(ngettext("[pasted %zu line]", "[pasted %zu lines]", lines), lines);
    buf_addch(out, (char)(FIRST_OPENER + number / CLOSERS));
    for (const char *c = label; *c && c < label + LABEL_MAX; c++)
        if (*c == ' ')
            buf_addstr(out, FOLD_BLANK);
        else
            buf_addch(out, *c);
    buf_addch(out, (char)(FIRST_CLOSER + number % CLOSERS));
}

bool folds_add(struct folds *f, const char *text, size_t len, struct buf *out)
{
    size_t lines = 0, number = 0;
    for (const char *c = text; c < text + len; c++)
        lines += *c == '\n' && c + 1 < text + len;
    if (lines < FOLD_LINES)
        return false;
    while (number < f->items.len && (f->items.items[number].len != len ||
                                     memcmp(f->items.items[number].text, text, len) != 0))
        number++;
    if (number == (size_t)OPENERS * CLOSERS)
        return false;
    if (number == f->items.len)
        vec_push(&f->items, (struct fold){.text = mem_strndup(text, len), .len = len});
    f->items.items[number].opened = false;
    add_sign(out, number, &f->items.items[number]);
    return true;
}

bool fold_behind(const char *text, size_t len, size_t pos, size_t *to)
{
    if (pos >= len || !is_opener(text[pos]))
        return false;
    while (pos < len && !is_closer(text[pos]))
        pos++;
    *to = pos + 1;
    return pos < len;
}

bool fold_before(const char *text, size_t pos, size_t *from)
{
    if (pos == 0 || !is_closer(text[pos - 1]))
        return false;
    while (pos > 0 && !is_opener(text[pos - 1]))
        pos--;
    *from = pos > 0 ? pos - 1 : 0;
    return pos > 0;
}

bool fold_around(const char *text, size_t len, size_t pos, size_t *from, size_t *to)
{
    size_t least = pos > 2 * LABEL_MAX ? pos - 2 * LABEL_MAX : 0;
    for (size_t i = pos; i > least && !is_closer(text[i - 1]); i--)
        if (is_opener(text[i - 1])) {
            *from = i - 1;
            return fold_behind(text, len, i - 1, to);
        }
    return false;
}

struct fold *folds_next(const struct folds *f, const char *text, size_t len, size_t pos,
                        size_t *from, size_t *to)
{
    if (f->items.len == 0)
        return NULL;
    for (; pos < len; pos++)
        if (fold_behind(text, len, pos, to)) {
            *from = pos;
            return &f->items.items[(size_t)(text[pos] - FIRST_OPENER) * CLOSERS +
                                   (size_t)(text[*to - 1] - FIRST_CLOSER)];
        }
    return NULL;
}

void folds_expand(const struct folds *f, const char *text, size_t len, struct buf *out)
{
    const struct fold *fold;
    size_t done = 0, from, to;
    while ((fold = folds_next(f, text, len, done, &from, &to))) {
        buf_add(out, text + done, from - done);
        buf_add(out, fold->text, fold->len);
        done = to;
    }
    buf_add(out, text + done, len - done);
}

void folds_fold_again(const struct folds *f, const char *text, size_t len, struct buf *out)
{
    for (size_t done = 0;;) {
        const char *first = NULL;
        size_t number = 0;
        for (size_t i = 0; i < f->items.len; i++) {
            const struct fold *fold = &f->items.items[i];
            const char *hit =
                fold->opened ? NULL : memmem(text + done, len - done, fold->text, fold->len);
            if (hit && (!first || hit < first)) {
                first = hit;
                number = i;
            }
        }
        size_t until = first ? (size_t)(first - text) : len;
        buf_add(out, text + done, until - done);
        if (!first)
            return;
        add_sign(out, number, &f->items.items[number]);
        done = until + f->items.items[number].len;
    }
}

size_t folds_whole_place(const struct folds *f, const char *text, size_t len, size_t pos)
{
    const struct fold *fold;
    size_t whole = pos, done = 0, from, to;
    while ((fold = folds_next(f, text, len, done, &from, &to)) && to <= pos) {
        whole = whole - (to - from) + fold->len;
        done = to;
    }
    return whole;
}

size_t folds_inner_place(const struct folds *f, const char *text, size_t len, size_t whole)
{
    const struct fold *fold;
    size_t before = 0, done = 0, from, to; /* `before`: whole bytes up to `done` */
    while ((fold = folds_next(f, text, len, done, &from, &to)) && before + from - done < whole) {
        before += from - done + fold->len;
        if (whole < before)
            return from;
        done = to;
    }
    return done + whole - before < len ? done + whole - before : len;
}
