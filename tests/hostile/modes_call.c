/* Tool calls. */
#include "tests/hostile/mode.h"

static void end(struct peer *p)
{
    (void)answer_end_as(p, p->form->call_stop, "5", "5");
}

static bool call(struct peer *p, long number, const char *id, const char *name, const char *args)
{
    char index[24];
    snprintf(index, sizeof index, "%ld", number);
    return peer_events(p, p->form->call, VALUES(index, id, name, args));
}

/* `number` calls of list_directory whose ids are all `text`. */
static void calls(struct peer *p)
{
    bool ok = answer_begin(p);
    for (long i = 0; ok && i < p->mode->number; i++)
        ok = call(p, i + 1, p->mode->text, "list_directory", "{}");
    if (ok)
        end(p);
}

static void calls_numbered(struct peer *p)
{
    char id[24];
    bool ok = answer_begin(p);
    for (long i = 0; ok && i < p->mode->number; i++) {
        snprintf(id, sizeof id, "id%ld", i);
        ok = call(p, i + 1, id, "list_directory", "{}");
    }
    if (ok)
        end(p);
}

/* `text`, `number` times, for an id, a name, the arguments. */
static void with_id(struct peer *p)
{
    auto_free char *id = answer_repeat(p->mode->text, p->mode->number);
    if (answer_begin(p) && call(p, 1, id, "list_directory", "{}"))
        end(p);
}

static void with_name(struct peer *p)
{
    auto_free char *name = answer_repeat(p->mode->text, p->mode->number);
    if (answer_begin(p) && call(p, 1, "id1", name, "{}"))
        end(p);
}

static void with_arguments(struct peer *p)
{
    auto_free char *args = answer_repeat(p->mode->text, p->mode->number);
    if (answer_begin(p) && call(p, 1, "id1", "list_directory", args))
        end(p);
}

/* The argument "path" is `text`, `number` times. */
static void with_path(struct peer *p)
{
    auto_free char *path = answer_repeat(p->mode->text, p->mode->number);
    auto_free char *args = mem_printf("{\\\"path\\\":\\\"%s\\\"}", path);
    if (answer_begin(p) && call(p, 1, "id1", "read_file", args))
        end(p);
}

/* A call whose index is `text`, as it stands. */
static void with_index(struct peer *p)
{
    if (answer_begin(p) &&
        peer_events(p, p->form->call, VALUES(p->mode->text, "id1", "list_directory", "{}")))
        end(p);
}

static void interleaved(struct peer *p)
{
    static const char *const parts[] = {"{", "\\\"path\\\"", ":", "\\\".\\\"", "}"};
    bool ok = answer_begin(p);
    for (size_t part = 0; ok && part < sizeof parts / sizeof *parts; part++)
        for (long i = 1; ok && i <= p->mode->number; i++)
            ok =
                call(p, i, part == 0 ? "same" : "", part == 0 ? "list_directory" : "", parts[part]);
    if (ok)
        end(p);
}

static void text_between(struct peer *p)
{
    bool ok = answer_begin(p);
    for (long i = 0; ok && i < p->mode->number; i++)
        ok = call(p, 2 * i + 1, "", "list_directory", "{}") &&
             peer_events(p, p->form->open, VALUES(NULL)) &&
             peer_events(p, p->form->text, VALUES("and "));
    if (ok)
        end(p);
}

const struct mode call_modes[] = {
    {"calls-endless", "each answer calls a tool", calls, "id1", 1, MODE_ENDLESS},
    {"calls-129", "one call too many", calls_numbered, NULL, 129, MODE_ONCE},
    {"calls-4000", "4,000 calls", calls_numbered, NULL, 4000, MODE_ONCE},
    {"calls-4000-anonymous", "4,000 calls without ids", calls, "", 4000, MODE_ONCE},
    {"calls-4000-same", "4,000 calls with one id", calls, "call_1", 4000, MODE_ONCE},
    {"calls-100000", "100,000 calls", calls_numbered, NULL, 100000, MODE_ONCE},
    {"calls-same-id", "100 calls with one id", calls, "id1", 100, MODE_ONCE},
    {"call-id-controls", "escape sequences for an id", with_id, "\\u001b]0;hostile\\u0007\\r\\n", 2,
     MODE_ONCE},
    {"call-id-long", "an id of 1 MB", with_id, "hostile", 150000, MODE_ONCE, .kept_mib = 1},
    {"call-id-quotes", "an id of quotes and backslashes", with_id, "\\\"\\\\", 100, MODE_ONCE},
    {"call-unknown", "a tool that there is not", with_name, "format_disk", 1, MODE_ONCE},
    {"call-unknown-endless", "such a tool, again and again", with_name, "format_disk", 1,
     MODE_ENDLESS},
    {"call-name-empty", "a call without a name", with_name, "", 1, MODE_ONCE},
    {"call-name-controls", "escape sequences for a name", with_name,
     "\\u001b]0;hostile\\u0007\\u009b31337m\\n", 2, MODE_ONCE},
    {"call-name-path", "a path for a name", with_name, "../../bin/sh", 1, MODE_ONCE},
    {"call-name-long", "a name of 1 MB", with_name, "hostile", 150000, MODE_ONCE, .kept_mib = 2},
    {"call-name-bidi", "a name with overrides", with_name, "list\\u202e\\u200b_directory", 1,
     MODE_ONCE},
    {"args-broken", "arguments that end early", with_arguments, "{\\\"path\\\":\\\"", 1, MODE_ONCE},
    {"args-array", "an array for arguments", with_arguments, "[1,2]", 1, MODE_ONCE},
    {"args-scalar", "a number for arguments", with_arguments, "1e999", 1, MODE_ONCE},
    {"args-text", "words for arguments", with_arguments, "do it now", 1, MODE_ONCE},
    {"args-deep", "arguments 100,000 deep", with_arguments, "[", 100000, MODE_ONCE},
    {"args-wide", "arguments of a million numbers", with_arguments, "[1,1,1,1,1,1,1,1,1,1],",
     100000, MODE_ONCE, .kept_mib = 4},
    {"args-12m", "arguments of 12 MB", with_arguments, "aaaaaaaaaaaa", 1000000, MODE_ONCE,
     .kept_mib = 4},
    {"args-controls", "escape sequences in arguments", with_path,
     "\\\\u001b]0;hostile\\\\u0007\\\\u009b31337m\\\\n", 2, MODE_ONCE},
    {"args-path-long", "a path of 1 MB", with_path, "hostile/", 130000, MODE_ONCE, .kept_mib = 2},
    {"args-path-up", "a path above all", with_path, "../", 1000, MODE_ONCE},
    {"args-path-nul", "a path with a zero", with_path, "a\\\\u0000b", 1, MODE_ONCE},
    {"args-unknown", "arguments that there are not", with_arguments,
     "{\\\"hostile\\\":1,\\\"path\\\":[],\\\"path\\\":{}}", 1, MODE_ONCE},
    {"index-huge", "index 9e18", with_index, "9e18", 0, MODE_ONCE},
    {"index-negative", "index -1", with_index, "-1", 0, MODE_ONCE},
    {"index-fraction", "index 0.5", with_index, "0.5", 0, MODE_ONCE},
    {"index-text", "index \"a\"", with_index, "\"a\"", 0, MODE_ONCE},
    {"index-infinite", "index 1e999", with_index, "1e999", 0, MODE_ONCE},
    {"interleaved", "pieces of 50 calls in turn", interleaved, NULL, 50, MODE_ONCE},
    {"text-between", "text between 50 calls", text_between, NULL, 50, MODE_ONCE},
    {.name = NULL},
};
