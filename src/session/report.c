#include "session/report.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"

static void add(struct notice *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct notice *n, const char *format, ...)
{
    struct buf line = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&line, format, args);
    va_end(args);
    vec_push(&n->texts, buf_take(&line));
}

static const char *reason_text(const struct choice *choice)
{
    switch (choice->reason) {
    case CHOICE_OPTION:
        return "asked for";
    case CHOICE_CONFIG:
        return "the configuration";
    case CHOICE_ENVIRONMENT:
        return "environment";
    case CHOICE_ANSWERED:
        return "it answers on its default port";
    case CHOICE_FALLBACK:
        return "nothing else is configured";
    }
    return "";
}

static void report_key(struct notice *n, struct backend *b)
{
    if (!backend_find_key(b, &n->error))
        add(n, "key: none: %s", n->error.text);
    else
        add(n, "key: %s", b->choice.endpoint.key ? "found" : "none needed");
}

void report_backend(struct notice *n, struct backend *b)
{
    const struct choice *choice = &b->choice;
    if (!b->chosen) {
        err_set(&n->error, ERR_CONFIG_ERROR,
                "no provider could be chosen; see 'tiro config check'");
        add(n, "provider: none could be chosen");
        return;
    }
    add(n, "provider: %s", choice->provider->name);
    add(n, "why: %s%s%s", reason_text(choice), choice->detail ? ": " : "",
        choice->detail ? choice->detail : "");
    if (choice->endpoint.base_url)
        add(n, "url: %s", choice->endpoint.base_url);
    add(n, "model: %s", *choice->model ? choice->model : "the first that the server lists");
    report_key(n, b);
    if (b->facts.window > 0)
        add(n, "window: %lld tokens", (long long)b->facts.window);
    else
        add(n, "window: unknown until the first request");
}

void report_store(struct notice *n, const char *path, bool opened)
{
    if (!path)
        add(n, "store: off; conversations are not kept");
    else if (!opened)
        add(n, "store: %s could not be opened", path);
    else
        add(n, "store: %s, schema %d", path, store_schema_version());
}
