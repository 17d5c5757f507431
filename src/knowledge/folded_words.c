#include "knowledge/folded_words.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/token_fold.h"

static bool is_word_character(uint32_t cp)
{
    if (cp < 0x80)
        return (cp >= '0' && cp <= '9') || (cp >= 'A' && cp <= 'Z') || (cp >= 'a' && cp <= 'z');
    bool latin_mark = cp <= 0xBF || cp == 0xD7 || cp == 0xF7;
    bool punctuation = (cp >= 0x2000 && cp <= 0x206F) || (cp >= 0x3000 && cp <= 0x303F);
    return !latin_mark && !punctuation;
}

static char *fold(const char *text, size_t len)
{
    struct buf out = BUF_INIT;
    token_fold(&out, text, len);
    token_strip_marks(&out);
    return out.len > 0 ? buf_take(&out) : mem_strdup("");
}

static void add_word(struct folded_words *out, const char *text, size_t begin, size_t end)
{
    struct folded_word w = {.text = *text == ':' ? mem_strdup(":") : fold(text, end - begin),
                            .begin = begin,
                            .end = end};
    vec_push(&out->items, w);
}

void folded_words_read(const char *text, size_t len, struct folded_words *out)
{
    size_t at = 0;
    while (at < len) {
        uint32_t cp;
        size_t end = at, step = utf8_decode(text + at, len - at, &cp);
        while (end < len && is_word_character(cp)) {
            end += step;
            step = end < len ? utf8_decode(text + end, len - end, &cp) : 0;
        }
        if (end > at)
            add_word(out, text + at, at, end);
        else if (cp == ':')
            add_word(out, text + at, at, at + 1);
        at = end > at ? end : at + step;
    }
}

void folded_words_release(struct folded_words *w)
{
    for (size_t i = 0; i < w->items.len; i++)
        free(w->items.items[i].text);
    vec_release(&w->items);
}
