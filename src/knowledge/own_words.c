#include "knowledge/own_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "chat/attached_file.h"
#include "knowledge/folded_words.h"
#include "store/event_log.h"

struct look {
    struct buf wanted; /* " word word " */
    size_t words;
    int64_t before;    /* number of an event */
    bool typed, shown; /* it was found; whichever is the first */
};

static size_t add_folded(struct buf *out, const char *text, size_t len)
{
    struct folded_words words = {0};
    folded_words_read(text, len, &words);
    size_t count = words.items.len;
    for (size_t i = 0; i < count; i++)
        buf_addf(out, " %s", words.items.items[i].text);
    buf_addch(out, ' ');
    folded_words_release(&words);
    return count;
}

static bool has(const struct look *l, const char *text, size_t len)
{
    struct buf folded = BUF_INIT;
    add_folded(&folded, text, len);
    bool found = strstr(folded.data, l->wanted.data) != NULL;
    buf_release(&folded);
    return found;
}

static bool strings_have(const struct look *l, const struct json *v)
{
    const char *text = json_string(v);
    bool found = text && has(l, text, strlen(text));
    if (json_type(v) != JSON_ARRAY && json_type(v) != JSON_OBJECT)
        return found;
    for (const struct json *m = json_first(v); m && !found; m = json_next(m))
        found = strings_have(l, m);
    return found;
}

/* In JSON a word may stand behind an escape: its strings are looked at as what they mean. */
static bool result_has(const struct look *l, const char *text)
{
    struct json *v =
        text && strchr("{[", *text) ? json_parse_foreign(text, strlen(text), NULL) : NULL;
    bool found = v ? strings_have(l, v) : text && has(l, text, strlen(text));
    json_free(v);
    return found;
}

/* The files that it begins with were not typed; of a message that was not typed nothing was. */
static void look_at_message(struct look *l, const struct event *ev)
{
    const char *typed =
        ev->origin == INPUT_TYPED ? attached_files_end(ev->text) : ev->text + strlen(ev->text);
    l->shown = has(l, ev->text, (size_t)(typed - ev->text));
    l->typed = !l->shown && has(l, typed, strlen(typed));
}

static void look_at(struct look *l, const struct event *ev)
{
    if (ev->type == EVENT_TURN_STARTED && ev->text)
        look_at_message(l, ev);
    else if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED)
        l->shown = result_has(l, ev->text);
    else if (ev->type == EVENT_MEMORY_RECALLED)
        l->shown = result_has(l, ev->hits);
    else if (ev->type == EVENT_TEXT_COMPLETE && ev->text && l->words >= OWN_WORDS_OF_ANSWERS)
        l->shown = has(l, ev->text, strlen(ev->text));
}

static bool visit(void *context, const struct event *ev)
{
    struct look *l = context;
    if (ev->seq >= l->before)
        return false;
    look_at(l, ev);
    return !l->typed && !l->shown;
}

bool own_words(struct store *s, const char *session_id, int64_t seq, const char *text, bool *own,
               struct error *e)
{
    struct look l = {.wanted = BUF_INIT, .before = seq};
    l.words = add_folded(&l.wanted, text, strlen(text));
    bool ok = l.words < OWN_WORDS_OF_TEXTS || event_log_read(s, session_id, 0, visit, &l, e);
    *own = ok && !l.shown;
    buf_release(&l.wanted);
    return ok;
}
