/* Listings of models, windows, and vectors. */
#include "tests/hostile/mode.h"

/* A listing that fits every path: `number` models whose name is `text`. */
static void listing(struct peer *p)
{
    struct buf model = BUF_INIT, body = BUF_INIT;
    form_fill(&model,
              "{\"id\":\"@1\",\"name\":\"@1\",\"model\":\"@1\",\"context_length\":100000,"
              "\"max_model_len\":100000,\"max_input_tokens\":100000},",
              VALUES(p->mode->text));
    auto_free char *models = answer_repeat(model.data, p->mode->number);
    buf_addf(&body, "{\"data\":[%s{}],\"models\":[%s{}]}", models, models);
    peer_reply(p, 200, "application/json", "", &body);
    buf_release(&model);
}

/* Windows of `text` wherever one may stand. */
static void window(struct peer *p)
{
    struct buf body = BUF_INIT;
    form_fill(&body,
              "{\"max_input_tokens\":@1,\"context_length\":@1,"
              "\"data\":[{\"id\":\"good-model\",\"context_length\":@1,\"max_input_tokens\":@1}],"
              "\"models\":[{\"name\":\"good-model\",\"model\":\"good-model\","
              "\"context_length\":@1}],"
              "\"default_generation_settings\":{\"n_ctx\":@1},"
              "\"model_info\":{\"general.architecture\":\"a\",\"a.context_length\":@1}}",
              VALUES(p->mode->text));
    peer_reply(p, 200, "application/json", "", &body);
}

/* `text` alone, `number` times; 0: without an end. */
static void body(struct peer *p)
{
    if (peer_head(p, 200, "application/json", ""))
        (void)peer_repeat(p, p->mode->text, (size_t)p->mode->number);
}

const struct mode listing_modes[] = {
    {"names-controls", "escape sequences for names", listing,
     "\\u001b]0;hostile\\u0007\\u009b31337m\\n\\t\\b", 20},
    {"names-bidi", "names with overrides", listing, "\\u202egpt\\u2066\\u200b", 20},
    {"names-empty", "names of nothing", listing, "", 20},
    {"names-path", "names that are paths", listing, "../../../etc/passwd?a=b&c=d#e%0d%0a", 3},
    {"names-many", "30,000 models", listing, "hostile", 30000},
    {"names-header", "names that would break a header", listing, "a\\r\\nX-Hostile: 1\\r\\n\\r\\n",
     3},
    {"window-huge", "a window of 9e18", window, "9e18"},
    {"window-largest", "a window of 2^63 - 1", window, "9223372036854775807"},
    {"window-negative", "a window of -1", window, "-1"},
    {"window-zero", "a window of 0", window, "0"},
    {"window-one", "a window of 1", window, "1"},
    {"window-infinite", "a window of 1e999", window, "1e999"},
    {"window-nan", "a window of NaN", window, "NaN"},
    {"window-text", "a window in words", window, "\"large\""},
    {"window-nested", "a window in arrays", window, "[[[1]]]"},
    {"list-no-json", "words", body, "no models today", 1},
    {"list-endless", "an array without an end", body, "[1,1,1,1,1,1,1,1],"},
    {"list-deep", "a million arrays in each other", body, "[", 1000000},
    {"list-17m", "17 MiB of blanks", body, "          ", 1800000},
    {"list-null", "null", body, "null", 1},
    {"list-wrong", "a list that is none", body, "{\"data\":{\"a\":1},\"models\":\"x\"}", 1},
    {"list-wrong-members", "members that are no models", body,
     "{\"data\":[1,null,[],\"x\",{\"id\":1}],\"models\":[1,null,[],\"x\",{\"name\":{}}]}", 1},
    {.name = NULL},
};

/* Embeds `text` as one vector, in both forms. */
static void vector(struct peer *p)
{
    struct buf out = BUF_INIT;
    form_fill(&out, "{\"data\":[{\"index\":0,\"embedding\":@1}],\"embeddings\":[@1]}",
              VALUES(p->mode->text));
    peer_reply(p, 200, "application/json", "", &out);
}

/* A vector of `number` ones. */
static void long_vector(struct peer *p)
{
    if (peer_head(p, 200, "application/json", "") &&
        peer_say(p, p->form->dialect == DIALECT_OLLAMA
                        ? "{\"embeddings\":[["
                        : "{\"data\":[{\"index\":0,\"embedding\":[") &&
        peer_repeat(p, "1,", (size_t)p->mode->number))
        (void)peer_say(p, p->form->dialect == DIALECT_OLLAMA ? "1]]}" : "1]}]}");
}

const struct mode embedding_modes[] = {
    {"vector-empty", "a vector of nothing", vector, "[]"},
    {"vector-short", "a vector of another dimension", vector, "[1,2,3]"},
    {"vector-infinite", "a vector of 1e999", vector, "[1e999,1e999,1e999]"},
    {"vector-nan", "a vector of NaN", vector, "[NaN,NaN]"},
    {"vector-zero", "a vector of zeros", vector, "[0,0,0,0]"},
    {"vector-text", "a vector of words", vector, "[\"a\",\"\\u001b]0;hostile\\u0007\"]"},
    {"vector-null", "a vector of null", vector, "[null,null,null]"},
    {"vector-nested", "a vector of vectors", vector, "[[1],[2]]"},
    {"vector-object", "an object for a vector", vector, "{\"a\":1}"},
    {"vector-base64", "a vector in base64", vector, "\"AAAAAAAAAAAAAAAA\""},
    {"vector-million", "a vector of a million", long_vector, NULL, 1000000},
    {"vector-past-all", "a vector of seven million", long_vector, NULL, 7000000},
    {"vectors-none", "no vector", body, "{\"data\":[],\"embeddings\":[]}", 1},
    {"vectors-many", "a thousand vectors for one text", body,
     "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":0,\"embedding\":[1]},"
     "{\"index\":-1,\"embedding\":[1]},{\"index\":9e18,\"embedding\":[1]}],"
     "\"embeddings\":[[1],[1],[1],[1],[1]]}",
     1},
    {"vectors-index", "an index past the texts", body,
     "{\"data\":[{\"index\":99,\"embedding\":[1,2]}],\"embeddings\":[[1],[1,2]]}", 1},
    {"vectors-endless", "vectors without an end", body, "[1,1,1,1],"},
    {"vectors-deep", "a million arrays in each other", body, "[", 1000000},
    {"vectors-no-json", "words", body, "no vectors today", 1},
    {.name = NULL},
};
