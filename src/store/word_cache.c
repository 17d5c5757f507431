#include "store/word_cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Longer words are too rare to keep. */
enum { SLOTS = 8192, LONGEST = 23 };

struct slot {
    uint8_t text_len; /* 0: nothing is kept here */
    uint8_t word_len;
    char text[LONGEST], word[LONGEST];
};
struct word_cache {
    struct slot slots[SLOTS];
};

struct word_cache *word_cache_new(void)
{
    return mem_alloc(sizeof(struct word_cache));
}

void word_cache_free(struct word_cache *c)
{
    free(c);
}

/* FNV-1a, of which the high bits are good. */
static size_t slot_of(const char *text, size_t len)
{
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x01000193u;
    return (hash ^ hash >> 16) % SLOTS;
}

static bool fits(size_t len)
{
    return len > 0 && len <= LONGEST;
}

bool word_cache_find(const struct word_cache *c, const char *text, size_t len, struct buf *word)
{
    if (!fits(len))
        return false;
    const struct slot *s = &c->slots[slot_of(text, len)];
    if (s->text_len != len || memcmp(s->text, text, len) != 0)
        return false;
    buf_clear(word);
    buf_add(word, s->word, s->word_len);
    return true;
}

void word_cache_keep(struct word_cache *c, const char *text, size_t len, const struct buf *word)
{
    if (!fits(len) || word->len > LONGEST)
        return;
    struct slot *s = &c->slots[slot_of(text, len)];
    s->text_len = (uint8_t)len;
    s->word_len = (uint8_t)word->len;
    memcpy(s->text, text, len);
    memcpy(s->word, word->data, word->len);
}
