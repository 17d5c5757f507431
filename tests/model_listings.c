/* The listings of the scripted model server: which models there are, and their windows. */
#include <string.h>

#include "tests/model_dialects.h"

static void add_member(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, "\"%s\":", name);
    wire_string(out, value, strlen(value));
}

static void add_window(struct buf *out, const char *name, const struct listing *l)
{
    if (l->window)
        buf_addf(out, ",\"%s\":%ld", name, l->window);
}

static void anthropic_model(struct buf *out, const char *name, const struct listing *l)
{
    buf_addstr(out, "{\"type\":\"model\",");
    add_member(out, "id", name);
    buf_addch(out, ',');
    add_member(out, "display_name", name);
    buf_addstr(out, ",\"created_at\":\"2026-01-01T00:00:00Z\"");
    add_window(out, "max_input_tokens", l);
    buf_addch(out, '}');
}

static void openai_model(struct buf *out, const char *name, const struct listing *l)
{
    buf_addch(out, '{');
    add_member(out, "id", name);
    buf_addstr(out, ",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"script\"");
    add_window(out, "max_model_len", l);
    buf_addch(out, '}');
}

static void ollama_model(struct buf *out, const char *name, const struct listing *l)
{
    buf_addch(out, '{');
    add_member(out, "name", name);
    buf_addch(out, ',');
    add_member(out, "model", name);
    buf_addstr(out, ",\"size\":1000000");
    add_window(out, "context_length", l);
    buf_addch(out, '}');
}

static void add_all(struct buf *out, const struct listing *l,
                    void (*add)(struct buf *, const char *, const struct listing *))
{
    for (size_t i = 0; l->names && l->names[i]; i++) {
        if (i > 0)
            buf_addch(out, ',');
        add(out, l->names[i], l);
    }
}

static bool list_models(struct buf *out, bool anthropic, const struct listing *l)
{
    buf_addstr(out, anthropic ? "{\"data\":[" : "{\"object\":\"list\",\"data\":[");
    add_all(out, l, anthropic ? anthropic_model : openai_model);
    buf_addstr(out, anthropic ? "],\"has_more\":false}" : "]}");
    return true;
}

/* Any name is known, so that a window can be asked for without a list. */
static bool one_model(struct buf *out, const char *name, bool anthropic, const struct listing *l)
{
    (anthropic ? anthropic_model : openai_model)(out, name, l);
    return true;
}

static bool ollama_show(struct buf *out, const struct listing *l)
{
    bool sees = l->names && *l->names && strcmp(*l->names, "sees") == 0;
    buf_addf(out,
             "{\"capabilities\":[\"completion\",\"tools\"%s],"
             "\"model_info\":{\"general.architecture\":\"script\"",
             sees ? ",\"vision\"" : "");
    add_window(out, "script.context_length", l);
    buf_addstr(out, "}}");
    return true;
}

static bool props(struct buf *out, const struct listing *l)
{
    if (!l->window)
        return false;
    buf_addf(out, "{\"default_generation_settings\":{\"n_ctx\":%ld},\"total_slots\":1}", l->window);
    return true;
}

static bool ollama_list(struct buf *out, const struct listing *l)
{
    buf_addstr(out, "{\"models\":[");
    add_all(out, l, ollama_model);
    buf_addstr(out, "]}");
    return true;
}

bool listing_build(struct buf *out, const char *path, bool anthropic, const struct listing *listing)
{
    static const char prefix[] = "/v1/models/";

    if (strcmp(path, "/v1/models") == 0)
        return list_models(out, anthropic, listing);
    if (strncmp(path, prefix, strlen(prefix)) == 0)
        return one_model(out, path + strlen(prefix), anthropic, listing);
    if (strcmp(path, "/api/tags") == 0)
        return ollama_list(out, &(struct listing){.names = listing->names});
    if (strcmp(path, "/api/ps") == 0)
        return listing->window ? ollama_list(out, listing) : ollama_list(out, &(struct listing){0});
    if (strcmp(path, "/api/show") == 0)
        return ollama_show(out, listing);
    if (strcmp(path, "/props") == 0 || strcmp(path, "/v1/props") == 0)
        return props(out, listing);
    if (strcmp(path, "/health") == 0) {
        buf_addstr(out, "{\"status\":\"ok\"}");
        return true;
    }
    return false;
}
