#include "knowledge/extraction.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/entity_text.h"
#include "knowledge/sentences.h"
#include "memory/secrets.h"

/* --- what was typed --------------------------------------------------------------------------- */

void typed_messages_release(struct typed_messages *m)
{
    for (size_t i = 0; i < m->items.len; i++)
        free(m->items.items[i].text);
    vec_release(&m->items);
}

static char *typed_text(const char *message)
{
    struct sentences sentences = {0};
    struct buf typed = BUF_INIT, masked = BUF_INIT, out = BUF_INIT;
    sentences_read(message, &sentences);
    for (size_t i = 0; i < sentences.items.len; i++) {
        const struct sentence *s = &sentences.items.items[i];
        buf_addf(&typed, "%.*s%s\n", (int)s->len, s->text, s->question ? "?" : "");
    }
    vec_release(&sentences.items);
    if (typed.len > 0)
        (void)secrets_mask(&masked, typed.data, typed.len);
    if (masked.len > 0)
        utf8_add_cut(&out, masked.data, masked.len, EXTRACTION_TEXT_BYTES);
    buf_release(&typed);
    buf_release(&masked);
    return out.len > 0 ? buf_take(&out) : NULL;
}

bool typed_messages_add(struct typed_messages *m, int64_t seq, const char *message)
{
    char *text = typed_text(message);
    if (text)
        vec_push(&m->items, ((struct typed_message){seq, text}));
    return text != NULL;
}

/* --- the request ------------------------------------------------------------------------------ */

/* The first of the newest that fit. */
static size_t first_that_fits(const struct typed_messages *m)
{
    size_t i = m->items.len, bytes = 0;
    while (i > 0 && bytes + strlen(m->items.items[i - 1].text) <= EXTRACTION_BYTES)
        bytes += strlen(m->items.items[--i].text);
    return i;
}

char *extraction_request(const struct typed_messages *m, const struct learned_items *known)
{
    struct buf out = BUF_INIT;
    struct json_out o = {.buf = &out};
    json_out_open(&o, '{');
    json_out_name(&o, "messages");
    json_out_open(&o, '[');
    for (size_t i = first_that_fits(m); i < m->items.len; i++) {
        json_out_open(&o, '{');
        json_out_int(&o, "message", (int64_t)i + 1);
        json_out_member(&o, "text", m->items.items[i].text);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    json_out_name(&o, "known");
    json_out_open(&o, '[');
    for (size_t i = 0; i < known->items.len && i < EXTRACTION_KNOWN; i++)
        json_out_string(&o, known->items.items[i].text);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    return buf_take(&out);
}

/* --- the answer ------------------------------------------------------------------------------- */

void proposals_release(struct proposals *p)
{
    for (size_t i = 0; i < p->items.len; i++)
        free(p->items.items[i].text);
    vec_release(&p->items);
}

/* 0: it names none of them. */
static int64_t seq_of(const struct json *v, const struct typed_messages *m)
{
    int64_t n = json_get_int(v, "message", 0);
    return n >= 1 && (uint64_t)n <= m->items.len ? m->items.items[n - 1].seq : 0;
}

/* Of those that are an item's; LEARNED_KIND_COUNT: it is none. */
static enum learned_kind kind_of(const char *word)
{
    enum learned_kind kind = 0;
    while (kind < LEARNED_ENTITY && (!word || strcmp(word, learned_kind_word(kind)) != 0))
        kind++;
    return kind < LEARNED_ENTITY ? kind : LEARNED_KIND_COUNT;
}

/* Takes the text. */
static void propose(struct proposals *out, enum learned_kind kind, int64_t seq, char *text)
{
    if (text && *text && strlen(text) <= LEARNED_TEXT_BYTES)
        vec_push(&out->items, ((struct proposal){kind, seq, text}));
    else
        free(text);
}

static void read_item(const struct json *v, const struct typed_messages *m, struct proposals *out)
{
    const char *text = json_get_string(v, "text");
    enum learned_kind kind = kind_of(json_get_string(v, "kind"));
    int64_t seq = seq_of(v, m);
    struct buf line = BUF_INIT;
    if (!text || kind == LEARNED_KIND_COUNT || seq == 0)
        return;
    utf8_clean(&line, text, strlen(text), UTF8_ONE_LINE);
    propose(out, kind, seq, buf_take(&line));
}

static void read_entity(const struct json *v, const struct typed_messages *m, struct proposals *out)
{
    const char *name = json_get_string(v, "name"), *type = json_get_string(v, "type");
    int64_t seq = seq_of(v, m);
    VEC(const char *) observations = {0};
    if (utf8_is_blank(name) || utf8_is_blank(type) || seq == 0)
        return;
    for (const struct json *o = json_first(json_get(v, "observations")); o; o = json_next(o))
        if (!utf8_is_blank(json_string(o)) && observations.len < EXTRACTION_OBSERVATIONS)
            vec_push(&observations, json_string(o));
    propose(out, LEARNED_ENTITY, seq,
            entity_text_write(name, type, observations.items, observations.len));
    vec_release(&observations);
}

static void read_list(const struct json *answer, const char *name, const struct typed_messages *m,
                      void (*read)(const struct json *v, const struct typed_messages *m,
                                   struct proposals *out),
                      struct proposals *out)
{
    size_t most = out->items.len + EXTRACTION_PROPOSALS;
    const struct json *v = json_first(json_get(answer, name));
    for (; v && out->items.len < most; v = json_next(v))
        if (json_type(v) == JSON_OBJECT)
            read(v, m, out);
}

bool extraction_read(const char *answer, const struct typed_messages *m, struct proposals *out,
                     struct error *e)
{
    const char *begin = strchr(answer, '{'), *end = strrchr(answer, '}');
    struct json *v =
        begin && end > begin ? json_parse_foreign(begin, (size_t)(end - begin) + 1, NULL) : NULL;
    if (!v || json_type(v) != JSON_OBJECT) {
        json_free(v);
        return err_set(e, ERR_AGENT_ERROR, "the model's proposals are no JSON object");
    }
    read_list(v, "items", m, read_item, out);
    read_list(v, "entities", m, read_entity, out);
    json_free(v);
    return true;
}
