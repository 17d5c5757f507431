#include "session/export.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/paths.h"
#include "chat/transcript_text.h"

#define PIECE_BYTES ((size_t)64 * 1024)

/* A text that is exported, in pieces that are worth a write. */
struct sink {
    const struct format *format;
    struct transcript_text text; /* Markdown's state */
    int64_t last;                /* the session's newest event when the head was written */
    bool any;                    /* an event is written */
    struct buf pending;
    bool (*write)(void *context, const char *bytes, size_t len, struct error *e);
    void *context;
    bool failed;
    struct error fault; /* why, if `failed` */
};

/* The texts of JSON and JSON Lines before the version, between it and the members of the session,
 * between those and the events, before the first and every other event, after each, and at the end.
 * Markdown has its own (chat/transcript_text.h). */
static const struct format {
    const char *name, *ending;
    const char *begin, *session, *events, *first, *next, *after, *end;
} formats[] = {
#define MARKDOWN_TEXTS NULL, NULL, NULL, NULL, NULL, NULL, NULL
#define JSON_TEXTS "{\"tiro\":", ",\"session\":{", "},\n\"events\":[", "\n", ",\n", "", "\n]}\n"
#define JSONL_TEXTS "{\"type\":\"session\",\"tiro\":", ",", "}\n", "", "", "\n", ""
#define X(id, name, ending) [EXPORT_##id] = {name, ending, id##_TEXTS},
    EXPORT_FORMATS(X)
#undef X
};

const char *export_format_name(enum export_format f)
{
    return formats[f].name;
}

bool export_format_from_name(const char *name, enum export_format *out)
{
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        if (strcmp(formats[i].name, name) == 0 || strcmp(formats[i].ending, name) == 0) {
            *out = (enum export_format)i;
            return true;
        }
    }
    return false;
}

enum export_format export_format_of_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < EXPORT_FORMAT_COUNT; i++)
        if (strcasecmp(formats[i].ending, dot + 1) == 0)
            return (enum export_format)i;
    return EXPORT_MARKDOWN;
}

static bool flush(struct sink *s, size_t least)
{
    if (!s->failed && s->pending.len > least) {
        s->failed = !s->write(s->context, s->pending.data, s->pending.len, &s->fault);
        buf_clear(&s->pending);
    }
    return !s->failed;
}

/* Skip events that were added after the head was written: they would contradict it. */
static bool add_event(void *sink, const struct event *ev)
{
    struct sink *s = sink;
    if (ev->seq > s->last)
        return false;
    if (s->format->begin) {
        auto_free char *line = event_to_line(ev);
        buf_addf(&s->pending, "%s%s%s", s->any ? s->format->next : s->format->first, line,
                 s->format->after);
    } else {
        transcript_text_add(&s->text, &s->pending, ev);
    }
    s->any = true;
    return flush(s, PIECE_BYTES);
}

bool export_session(struct catalog *c, const char *reference, enum export_format format,
                    bool (*write)(void *context, const char *bytes, size_t len, struct error *e),
                    void *context, struct error *e)
{
    AUTO(session_info_release) struct session_info info = {0};
    struct sink s = {
        .format = &formats[format], .pending = BUF_INIT, .write = write, .context = context};
    if (!catalog_find(c, reference, &info, e))
        return false;
    s.last = info.last_seq;
    const struct format *f = s.format;
    transcript_text_init(&s.text, &transcript_words_fixed);
    if (f->begin) {
        struct json_out o = {.buf = &s.pending};
        buf_addf(&s.pending, "%s%d%s", f->begin, EXPORT_VERSION, f->session);
        shape_write_members(&session_info_shape, &info, &o);
        buf_addstr(&s.pending, f->events);
    } else {
        transcript_text_head(&s.pending, &info, &transcript_words_fixed, false);
    }
    bool ok = catalog_read(c, info.id, 0, NULL, add_event, &s, e);
    if (ok && f->begin)
        buf_addstr(&s.pending, f->end);
    else if (ok)
        transcript_text_end(&s.text, &s.pending);
    if (ok && !flush(&s, 0))
        ok = err_set(e, s.fault.code, "%s", s.fault.text);
    transcript_text_release(&s.text);
    buf_release(&s.pending);
    return ok;
}

static bool write_to_file(void *file, const char *bytes, size_t len, struct error *e)
{
    return whole_file_write(file, bytes, len, e);
}

bool export_to_file(struct catalog *c, const char *reference, enum export_format format,
                    const char *path, bool replace, struct error *e)
{
    struct whole_file file;
    if (!whole_file_begin(&file, path, replace, e))
        return false;
    bool ok = export_session(c, reference, format, write_to_file, &file, e) &&
              whole_file_finish(&file, e);
    whole_file_drop(&file);
    return ok;
}
