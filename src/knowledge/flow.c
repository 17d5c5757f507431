#include "knowledge/flow.h"

#include <string.h>

static const char white[] = " \t\n\r\f\v";

static struct buf *text_of(const struct flow *f)
{
    return &f->l->out->text;
}

static bool add(struct flow *f, const char *text, size_t len)
{
    int64_t most = f->l->options->limits.text;
    if (f->outcome == DOCUMENT_LOADED && (int64_t)(text_of(f)->len + len) > most)
        f->outcome = loading_fails(f->l, "has more than %lld MiB of text", (long long)(most >> 20));
    if (f->outcome != DOCUMENT_LOADED)
        return false;
    buf_add(text_of(f), text, len);
    return true;
}

/* Rows, and lines of code that are a block each, are lines; else there is a blank line between. */
static void part_from_above(struct flow *f, enum document_part_kind next)
{
    const struct loaded_document *d = f->l->out;
    if (d->parts.len == 0)
        return;
    enum document_part_kind above = vec_last(&d->parts).kind;
    bool joined = above == next && (next == DOCUMENT_ROW || next == DOCUMENT_CODE);
    add(f, "\n\n", joined ? 1 : 2);
}

static void close_block(struct flow *f)
{
    struct buf *text = text_of(f);
    buf_trim_end(text, white);
    if (text->len > f->from)
        loading_add_part(f->l, f->block, f->from, text->len);
    f->from = text->len;
    f->gap = false;
}

static void open_block(struct flow *f, struct document_part block)
{
    close_block(f);
    f->block = block;
}

void flow_begin(struct flow *f, enum document_part_kind kind, int level, int64_t line)
{
    if (f->rows > 0 && !f->loose) {
        if (kind == DOCUMENT_PROSE) {
            flow_gap(f);
            return;
        }
        f->loose = true;
    }
    open_block(f, (struct document_part){.kind = kind, .level = level, .line = line});
}

void flow_end(struct flow *f)
{
    if (f->rows > 0 && !f->loose)
        flow_gap(f);
    else
        open_block(f, (struct document_part){.kind = DOCUMENT_PROSE, .line = f->block.line});
}

void flow_begin_row(struct flow *f, int64_t line)
{
    f->loose = f->rows++ > 0;
    open_block(
        f, (struct document_part){.kind = f->loose ? DOCUMENT_PROSE : DOCUMENT_ROW, .line = line});
}

void flow_cell(struct flow *f)
{
    if (f->rows > 0 && f->loose)
        flow_end(f);
    else if (text_of(f)->len > f->from && add(f, "\t", 1))
        f->gap = false;
}

void flow_end_row(struct flow *f)
{
    f->rows -= f->rows > 0;
    f->loose = f->rows > 0;
    open_block(f, (struct document_part){.kind = DOCUMENT_PROSE, .line = f->block.line});
}

void flow_gap(struct flow *f)
{
    f->gap = text_of(f)->len > f->from;
}

bool flow_newline(struct flow *f)
{
    f->gap = false;
    return text_of(f)->len == f->from || add(f, f->block.kind == DOCUMENT_ROW ? " " : "\n", 1);
}

/* What is about to be the first of its block. */
static void begin_text(struct flow *f)
{
    if (text_of(f)->len > f->from)
        return;
    part_from_above(f, f->block.kind);
    f->from = text_of(f)->len;
}

static bool add_word(struct flow *f, const char *text, size_t len)
{
    const struct buf *out = text_of(f);
    begin_text(f);
    bool blank = f->gap && out->len > f->from && !strchr(white, out->data[out->len - 1]);
    f->gap = false;
    return (!blank || add(f, " ", 1)) && add(f, text, len);
}

static size_t span(const char *text, size_t len, bool of_white)
{
    size_t n = 0;
    while (n < len && (strchr(white, text[n]) != NULL) == of_white)
        n++;
    return n;
}

bool flow_text(struct flow *f, const char *text, size_t len)
{
    if (f->block.kind == DOCUMENT_CODE && len > 0) {
        begin_text(f);
        return add(f, text, len);
    }
    while (len > 0) {
        size_t blanks = span(text, len, true);
        if (blanks > 0)
            flow_gap(f);
        text += blanks;
        len -= blanks;
        size_t word = span(text, len, false);
        if (word > 0 && !add_word(f, text, word))
            return false;
        text += word;
        len -= word;
    }
    return f->outcome == DOCUMENT_LOADED;
}
