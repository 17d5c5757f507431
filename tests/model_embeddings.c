/* The embeddings of the scripted model server: a bag of words, so that texts with common words are
 * near each other. Not the hash of the program's own embedder. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/model_dialects.h"

enum { USUAL_DIMENSION = 32 };

static void add_vector(struct buf *out, const char *text, size_t buckets)
{
    auto_free int *counts = mem_alloc(buckets * sizeof *counts);

    for (size_t at = 0; text[at];) {
        size_t len = 0;
        while (isalnum((unsigned char)text[at + len]) || (text[at + len] & 0x80))
            len++;
        if (len > 0) {
            const char *word = text + at;
            unsigned long sum = 5381;

            for (size_t i = 0; i < len; i++)
                sum = sum * 33 + (unsigned long)tolower((unsigned char)word[i]);
            counts[(sum % buckets)]++;
        }
        at += len > 0 ? len : 1;
    }
    buf_addch(out, '[');
    for (size_t i = 0; i < buckets; i++)
        buf_addf(out, "%s%d", i > 0 ? "," : "", counts[i]);
    buf_addch(out, ']');
}

/* OpenAI's come in any order: the last one first, here. */
static void openai_vectors(struct buf *out, const struct json *input, size_t buckets)
{
    size_t count = json_len(input);

    buf_addstr(out, "{\"object\":\"list\",\"data\":[");
    for (size_t i = count; i-- > 0;) {
        buf_addf(out, "{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", i);
        add_vector(out, json_string(json_at(input, i)), buckets);
        buf_addstr(out, i > 0 ? "}," : "}");
    }
    buf_addstr(out, "],\"model\":\"scripted\",\"usage\":{\"prompt_tokens\":1,\"total_tokens\":1}}");
}

static void ollama_vectors(struct buf *out, const struct json *input, size_t buckets)
{
    buf_addstr(out, "{\"model\":\"scripted\",\"embeddings\":[");
    for (const struct json *v = json_first(input); v; v = json_next(v)) {
        add_vector(out, json_string(v), buckets);
        buf_addstr(out, json_next(v) ? "," : "");
    }
    buf_addstr(out, "]}");
}

void script_build_embeddings(struct script *out, enum dialect dialect, const struct reply *r,
                             const char *body, size_t len)
{
    bool plain = r->raw || r->fault == REPLY_STATUS || r->fault == REPLY_WRONG_TYPE ||
                 r->fault == REPLY_EMPTY;

    if (plain) {
        script_build(out, dialect, r, "scripted");
    } else {
        *out = (struct script){.status = 200,
                               .content_type = "application/json",
                               .body = BUF_INIT,
                               .pause_at = SIZE_MAX};
        AUTO(json_free_local) struct json *request = json_parse(body, len, NULL);
        const struct json *input = json_get(request, "input");
        size_t buckets = r->dimension > 0 ? (size_t)r->dimension : USUAL_DIMENSION;

        if (dialect == DIALECT_OLLAMA)
            ollama_vectors(&out->body, input, buckets);
        else
            openai_vectors(&out->body, input, buckets);
    }
    if (r->fault == REPLY_MALFORMED_JSON)
        out->body.data[out->body.len / 2] = '!';
    if (r->fault == REPLY_STALL)
        out->pause_at = out->body.len / 2;
    if (r->fault == REPLY_DISCONNECT) {
        out->body.len /= 2;
        out->drop = true;
    }
}
