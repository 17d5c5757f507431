#include "ui/view/hints.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"

static struct {
    hint_taker *take;
    void *context;
} collector; /* whoever draws has no other way to a view's rows of keys */

void hints_collect(hint_taker *take, void *context)
{
    collector.take = take;
    collector.context = context;
}

static void collect(const char *keys, size_t len, const char *text)
{
    auto_free char *name = mem_strndup(keys, len);
    const char *sentence = strchr(text, '|');
    collector.take(collector.context, name, sentence ? sentence + 1 : text);
}

/* Returns the bytes of the keys' names; 0: nothing to show. */
static size_t write_hint(const struct keymap *keymap, const struct hint *h, struct buf *out)
{
    buf_clear(out);
    if (h->keys)
        buf_addstr(out, h->keys);
    else
        keymap_describe_first(keymap, h->action, out);
    size_t keys = out->len;
    const char *word = _(h->text);
    if (keys > 0)
        buf_addf(out, " %.*s", (int)strcspn(word, "|"), word);
    return keys;
}

size_t hints_part(struct rows *out, const struct keymap *keymap, const struct hint *hints,
                  size_t count, size_t width, bool last)
{
    size_t used = 0, next = 0;
    struct buf text = BUF_INIT;
    if (out)
        rows_begin(out);
    for (; next < count; next++) {
        size_t keys = write_hint(keymap, &hints[next], &text), gap = used > 0 ? 2 : 1;
        size_t columns = gap + utf8_width(text.data, text.len);
        bool fits = keys > 0 && used + columns <= width;
        if (keys > 0 && !fits && !last && used > 0)
            break;
        if (out && keys > 0 && collector.take)
            collect(text.data, keys, _(hints[next].text));
        used += fits ? columns : 0;
        if (!fits || !out)
            continue;
        rows_pad(out, gap, STYLE_OVERLAY);
        rows_add(out, text.data, keys, STYLE_PROMPT, 0);
        rows_add(out, text.data + keys, text.len - keys, STYLE_DIM, 0);
    }
    if (out)
        rows_pad(out, width - used, STYLE_OVERLAY);
    buf_release(&text);
    return next;
}

void hints_rows(struct rows *out, const struct keymap *keymap, const struct hint *hints,
                size_t count, size_t width, int rows)
{
    for (size_t next = 0; rows > 0; rows--)
        next += hints_part(out, keymap, hints + next, count - next, width, rows == 1);
}

void hints_elsewhere(struct rows *out, const struct keymap *keymap, size_t width, int rows)
{
    static const struct hint hints[] = {{ACTION_COMPLETE, NULL, N_("to the memory")},
                                        {ACTION_MEMORY, NULL, N_("close")}};
    hints_rows(out, keymap, hints, sizeof hints / sizeof *hints, width, rows);
}

bool hint_is_letter(const struct key *key, const char *word)
{
    uint32_t cp, small;
    (void)utf8_decode(word, strlen(word), &cp);
    small = key->cp >= 'A' && key->cp <= 'Z' ? key->cp - 'A' + 'a' : key->cp;
    return key->code == K_CHAR && !key->ctrl && !key->alt && small == cp;
}

enum hint_answer hint_answer(enum action action, const struct key *key)
{
    if (hint_is_letter(key, _("y")))
        return HINT_YES;
    bool no = action == ACTION_CANCEL || action == ACTION_CLEAR || hint_is_letter(key, _("n"));
    return no ? HINT_NO : HINT_NO_ANSWER;
}
