#include "base/utf8.h"
#include "ui/text/wrap.h"

#include <string.h>

void styled_init(struct styled *s)
{
    *s = (struct styled){0};
    buf_init(&s->text, 0);
}

void styled_release(struct styled *s)
{
    buf_release(&s->text);
    vec_release(&s->spans);
    links_release(&s->links);
}

void styled_clear(struct styled *s)
{
    buf_clear(&s->text);
    vec_clear(&s->spans);
    links_clear(&s->links);
    s->link = 0;
}

void styled_add(struct styled *s, const char *text, size_t len, enum style style, unsigned attrs)
{
    if (len == 0)
        return;
    struct span *last = s->spans.len ? &vec_last(&s->spans) : NULL;
    if (last && last->style == (uint8_t)style && last->attrs == (uint8_t)attrs &&
        last->link == s->link) {
        last->len += (uint32_t)len;
    } else {
        struct span span = {(uint32_t)len, (uint8_t)style, (uint8_t)attrs, s->link};
        vec_push(&s->spans, span);
    }
    buf_add(&s->text, text, len);
}

void styled_addstr(struct styled *s, const char *text, enum style style, unsigned attrs)
{
    styled_add(s, text, strlen(text), style, attrs);
}

void styled_link(struct styled *s, const char *address)
{
    s->link = links_add(&s->links, address);
}

void styled_append(struct styled *s, const struct styled *other)
{
    const char *text = other->text.data;
    for (size_t i = 0; i < other->spans.len; i++) {
        const struct span *span = &other->spans.items[i];
        styled_link(s, links_at(&other->links, span->link));
        styled_add(s, text, span->len, (enum style)span->style, span->attrs);
        text += span->len;
    }
    styled_link(s, NULL);
}

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f)
            return false;
    }
    return true;
}

void styled_add_clean(struct styled *s, const char *text, size_t len, enum style style,
                      unsigned attrs)
{
    if (is_plain(text, len)) {
        styled_add(s, text, len, style, attrs);
        return;
    }
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    styled_add(s, clean.data, clean.len, style, attrs);
    buf_release(&clean);
}
