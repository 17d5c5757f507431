#include "bench/prose.h"

#include <stdbool.h>
#include <stdint.h>

struct writer {
    struct buf *out;
    uint32_t state;
};

static const char *const words[] = {
    "letter",  "the",    "of",        "harvest", "and",    "a",        "dictation", "under",
    "in",      "window", "shorthand", "with",    "from",   "archive",  "slowly",    "that",
    "was",     "river",  "memory",    "context", "to",     "token",    "between",   "winter",
    "is",      "for",    "naïve",     "größer",  "Kyoto",  "東京",     "because",   "returned",
    "written", "again",  "every",     "model",   "answer", "question", "before",    "afterwards"};

static uint32_t next(struct writer *w, uint32_t below)
{
    w->state = w->state * 1664525u + 1013904223u;
    return (w->state >> 8) % below;
}

static const char *word(struct writer *w)
{
    return words[next(w, sizeof words / sizeof *words)];
}

static void sentence(struct writer *w)
{
    uint32_t count = 6 + next(w, 14);
    for (uint32_t i = 0; i < count; i++) {
        switch (next(w, 24)) {
        case 0:
            buf_addf(w->out, "**%s %s**", word(w), word(w));
            break;
        case 1:
            buf_addf(w->out, "`%s_%s()`", word(w), word(w));
            break;
        case 2:
            buf_addf(w->out, "[%s](https://example.org/%u)", word(w), next(w, 1000));
            break;
        case 3:
            buf_addf(w->out, "*%s*", word(w));
            break;
        default:
            buf_addstr(w->out, word(w));
        }
        buf_addstr(w->out, i + 1 < count ? " " : ". ");
    }
}

static void heading(struct writer *w)
{
    buf_addf(w->out, "%s %s %s %s\n\n", next(w, 2) == 0 ? "##" : "###", word(w), word(w), word(w));
}

static void paragraph(struct writer *w)
{
    uint32_t count = 2 + next(w, 5);
    for (uint32_t i = 0; i < count; i++)
        sentence(w);
    buf_addstr(w->out, "\n\n");
}

static void list(struct writer *w)
{
    uint32_t count = 3 + next(w, 5);
    bool numbered = next(w, 2) == 0;
    for (uint32_t i = 0; i < count; i++) {
        if (numbered)
            buf_addf(w->out, "%u. ", i + 1);
        else
            buf_addstr(w->out, next(w, 4) == 0 && i > 0 ? "  - " : "- ");
        sentence(w);
        buf_addch(w->out, '\n');
    }
    buf_addch(w->out, '\n');
}

static void code(struct writer *w)
{
    uint32_t count = 4 + next(w, 12);
    buf_addf(w->out, "```%s\n", next(w, 2) == 0 ? "c" : "python");
    for (uint32_t i = 0; i < count; i++)
        buf_addf(w->out, "%*sif (%s == %u) return \"%s\"; /* %s %s */\n", (int)next(w, 3) * 4, "",
                 word(w), next(w, 1000), word(w), word(w), word(w));
    buf_addstr(w->out, "```\n\n");
}

static void table(struct writer *w)
{
    uint32_t count = 3 + next(w, 6);
    buf_addf(w->out, "| %s | %s | %s |\n|:---|---:|---|\n", word(w), word(w), word(w));
    for (uint32_t i = 0; i < count; i++)
        buf_addf(w->out, "| %s %s | %u | `%s` |\n", word(w), word(w), next(w, 100000), word(w));
    buf_addch(w->out, '\n');
}

static void quotation(struct writer *w)
{
    buf_addstr(w->out, "> ");
    sentence(w);
    buf_addstr(w->out, "\n\n");
}

void prose(struct buf *out, size_t bytes, unsigned seed, const char *ending)
{
    static void (*const parts[])(struct writer *) = {
        paragraph, paragraph, paragraph, heading, list, list, code, table, quotation};
    struct writer w = {.out = out, .state = seed};
    size_t end = out->len + bytes;
    while (out->len < end)
        parts[next(&w, sizeof parts / sizeof *parts)](&w);
    buf_addstr(out, ending);
}

size_t prose_characters(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}
