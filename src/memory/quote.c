#include "memory/quote.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "memory/content.h"

static bool is_end(uint32_t cp)
{
    static const uint32_t ends[] = {'.', '!', '?', 0x2026, 0x3002, 0xff01, 0xff1f, '\n'};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] == cp)
            return true;
    return false;
}

/* A full stop within a word, as in a number or a name of a file, ends nothing. */
static bool ends_sentence(uint32_t cp, const char *rest)
{
    return is_end(cp) && (cp > 0x7f || cp == '\n' || *rest == '\0' || strchr(" \t\r\n\"')", *rest));
}

/* Bytes up to the end of the sentence, without what ends it; *next is where the next one begins. */
static size_t sentence(const char *text, size_t len, const char **next)
{
    size_t used;
    uint32_t cp;
    for (size_t at = 0; at < len; at += used) {
        used = utf8_decode(text + at, len - at, &cp);
        if (ends_sentence(cp, text + at + used)) {
            *next = text + at + used;
            return at;
        }
    }
    *next = text + len;
    return len;
}

static bool has_characters(const char *text, size_t count)
{
    size_t len = strlen(text);
    uint32_t cp;
    for (size_t at = 0; at < len && count > 0; count--)
        at += utf8_decode(text + at, len - at, &cp);
    return count == 0;
}

/* `part` is a piece of the text; the summary is in its normal form. */
static bool holds(const char *summary, const char *part, size_t len, size_t at_least)
{
    char *piece = mem_strndup(part, len);
    char *normal = content_normal(piece);
    bool found = has_characters(normal, at_least) && strstr(summary, normal);
    free(normal);
    free(piece);
    return found;
}

bool quote_in(const char *summary, const char *text)
{
    char *normal = content_normal(summary);
    bool found = holds(normal, text, strlen(text), QUOTE_TEXT);
    const char *end = text + strlen(text);
    for (const char *next; !found && text < end; text = next) {
        size_t len = sentence(text, (size_t)(end - text), &next);
        found = holds(normal, text, len, QUOTE_SENTENCE);
    }
    free(normal);
    return found;
}
