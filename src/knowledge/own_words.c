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
    int64_t before; /* number of an event */
    bool found;
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

static void look_in(struct look *l, const char *text, size_t len)
{
    struct buf folded = BUF_INIT;
    add_folded(&folded, text, len);
    l->found = l->found || strstr(folded.data, l->wanted.data);
    buf_release(&folded);
}

static void look_in_strings(struct look *l, const struct json *v)
{
    const char *text = json_string(v);
    if (text)
        look_in(l, text, strlen(text));
    if (json_type(v) != JSON_ARRAY && json_type(v) != JSON_OBJECT)
        return;
    for (const struct json *m = json_first(v); m && !l->found; m = json_next(m))
        look_in_strings(l, m);
}

/* In JSON a word may stand behind an escape: its strings are looked at as what they mean. */
static void look_in_result(struct look *l, const char *text)
{
    struct json *v =
        text && strchr("{[", *text) ? json_parse_foreign(text, strlen(text), NULL) : NULL;
    if (v)
        look_in_strings(l, v);
    else if (text)
        look_in(l, text, strlen(text));
    json_free(v);
}

static void look_at(struct look *l, const struct event *ev)
{
    if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED) {
        look_in_result(l, ev->text);
    } else if (ev->type == EVENT_MEMORY_RECALLED) {
        look_in_result(l, ev->hits);
    } else if (l->words >= OWN_WORDS_OF_OTHERS && ev->text) {
        if (ev->type == EVENT_TEXT_COMPLETE)
            look_in(l, ev->text, strlen(ev->text));
        if (ev->type == EVENT_TURN_STARTED)
            look_in(l, ev->text, (size_t)(attached_files_skip(ev->text) - ev->text));
    }
}

static bool visit(void *context, const struct event *ev)
{
    struct look *l = context;
    if (ev->seq < l->before)
        look_at(l, ev);
    return !l->found && ev->seq < l->before;
}

bool own_words(struct store *s, const char *session_id, int64_t seq, const char *text, bool *own,
               struct error *e)
{
    struct look l = {.wanted = BUF_INIT, .before = seq};
    l.words = add_folded(&l.wanted, text, strlen(text));
    bool ok = l.words < OWN_WORDS_OF_TOOL || event_log_read(s, session_id, 0, visit, &l, e);
    *own = ok && !l.found;
    buf_release(&l.wanted);
    return ok;
}
