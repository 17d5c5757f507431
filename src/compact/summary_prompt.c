#include "compact/summary_prompt.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/embedded.h"
#include "base/utf8.h"

/* What stands in a prompt's file as {name}. */
struct value {
    const char *name, *text;
    size_t max; /* bytes of it; 0: all */
};

static const struct value *find_value(const struct value *values, const char *name, size_t len)
{
    for (; values->name; values++)
        if (strlen(values->name) == len && memcmp(values->name, name, len) == 0)
            return values;
    return NULL;
}

/* One pass: what a value itself says in braces stays as it is. */
static void add_filled(struct buf *out, const char *text, const struct value *values)
{
    while (*text) {
        size_t plain = strcspn(text, "{");
        buf_add(out, text, plain);
        text += plain;
        size_t name = *text ? strcspn(text + 1, "}") : 0;
        const struct value *v = *text ? find_value(values, text + 1, name) : NULL;
        if (v) {
            size_t len = strlen(v->text);
            utf8_add_cut(out, v->text, len, v->max > 0 ? v->max : len);
            text += name + 2;
        } else if (*text) {
            buf_addch(out, *text++);
        }
    }
}

/* A file of data/ as a paragraph of its own. */
static void add_file(struct buf *out, const char *name, const struct value *values)
{
    const char *text = embedded_text(name);
    assert(text);
    if (out->len > 0)
        buf_addstr(out, "\n\n");
    add_filled(out, text, values);
    while (out->len > 0 && out->data[out->len - 1] == '\n')
        buf_splice(out, out->len - 1, 1, "", 0);
}

static bool says_something(const char *text)
{
    return text && text[strspn(text, " \t\r\n")];
}

char *summary_prompt_text(const struct summary_prompt *p)
{
    struct buf out = BUF_INIT;
    char part[16], parts[16];
    snprintf(part, sizeof part, "%d", p->part);
    snprintf(parts, sizeof parts, "%d", p->of);
    const struct value values[] = {{"part", part, 0},
                                   {"parts", parts, 0},
                                   {"draft", p->draft ? p->draft : "", p->max_bytes},
                                   {"focus", p->focus ? p->focus : "", p->max_bytes},
                                   {NULL, NULL, 0}};
    add_file(&out, p->mode->prompt, values);
    if (p->updates && p->mode->update_prompt)
        add_file(&out, p->mode->update_prompt, values);
    if (p->of > 1)
        add_file(&out, "prompts/compaction-fold.md", values);
    if (p->sectionless)
        add_file(&out, "prompts/compaction-sections.md", values);
    if (p->draft)
        add_file(&out, "prompts/compaction-again.md", values);
    if (says_something(p->focus))
        add_file(&out, "prompts/compaction-focus.md", values);
    return buf_take(&out);
}
