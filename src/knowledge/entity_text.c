#include "knowledge/entity_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

void entity_text_release(struct entity_text *t)
{
    free(t->name);
    free(t->type);
    vec_free_each(&t->observations);
    *t = (struct entity_text){0};
}

/* One line, with each byte of `from` as that of `to` in its place. */
static void add_without(struct buf *out, const char *text, const char *from, const char *to)
{
    size_t begin = out->len;
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
    for (size_t i = begin; i < out->len; i++) {
        const char *at = strchr(from, out->data[i]);
        if (at && *at)
            out->data[i] = to[at - from];
    }
}

char *entity_text_write(const char *name, const char *type, const char *const *observations,
                        size_t count)
{
    struct buf out = BUF_INIT;
    add_without(&out, name, "()", "[]");
    buf_addstr(&out, " (");
    add_without(&out, type, "()", "[]");
    buf_addch(&out, ')');
    for (size_t i = 0; i < count; i++) {
        buf_addstr(&out, i > 0 ? "; " : ": ");
        add_without(&out, observations[i], ";", ",");
    }
    return buf_take(&out);
}

/* Without blanks around it; NULL: nothing is left. */
static char *trimmed(const char *begin, const char *end)
{
    while (begin < end && *begin == ' ')
        begin++;
    while (end > begin && end[-1] == ' ')
        end--;
    return end > begin ? mem_strndup(begin, (size_t)(end - begin)) : NULL;
}

static void read_observations(const char *at, struct entity_text *out)
{
    while (*at) {
        const char *end = at + strcspn(at, ";");
        char *one = trimmed(at, end);
        if (one)
            vec_push(&out->observations, one);
        at = end + (*end == ';');
    }
}

static bool read_clean(const char *line, struct entity_text *out, struct error *e)
{
    const char *open = strchr(line, '('), *close = open ? strchr(open, ')') : NULL;
    const char *behind = close ? close + 1 + strspn(close + 1, " ") : NULL;
    *out = (struct entity_text){0};
    if (close) {
        out->name = trimmed(line, open);
        out->type = trimmed(open + 1, close);
    }
    if (!out->name || !out->type || (*behind && *behind != ':')) {
        entity_text_release(out);
        return err_set(e, ERR_USAGE,
                       "this is no entity; write it as NAME (TYPE): OBSERVATION; OBSERVATION");
    }
    read_observations(behind + (*behind == ':'), out);
    return true;
}

bool entity_text_read(const char *line, struct entity_text *out, struct error *e)
{
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, line, strlen(line), UTF8_ONE_LINE);
    bool ok = read_clean(clean.data ? clean.data : "", out, e);
    buf_release(&clean);
    return ok;
}
