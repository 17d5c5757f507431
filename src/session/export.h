/* A session as a text to take away. Each format is a fold over the events: the same events give the
 * same bytes, whatever the locale, the time zone or the machine. What a session is set to (tools,
 * compaction, memory) stays: it was allowed here, and a text from elsewhere must not raise it. */
#ifndef SESSION_EXPORT_H
#define SESSION_EXPORT_H

#include "session/catalog.h"

/* X(NAME, "name", "file ending") */
#define EXPORT_FORMATS(X)                                                                          \
    X(MARKDOWN, "markdown", "md")                                                                  \
    X(JSON, "json", "json")                                                                        \
    X(JSONL, "jsonl", "jsonl")

enum export_format {
#define X(id, name, ending) EXPORT_##id,
    EXPORT_FORMATS(X)
#undef X
        EXPORT_FORMAT_COUNT
};

/* What JSON and JSON Lines say in "tiro"; raised when an older program could not read them. */
#define EXPORT_VERSION 1

const char *export_format_name(enum export_format f);
bool export_format_from_name(const char *name, enum export_format *out); /* also "md" */
/* By the ending of a file's name; Markdown where it says nothing. */
enum export_format export_format_of_path(const char *path);

/* Gives the text piece by piece, never all of it at once, to `write`, which returns false (with
 * `e`) to stop. */
bool export_session(struct catalog *c, const char *reference, enum export_format format,
                    bool (*write)(void *context, const char *bytes, size_t len, struct error *e),
                    void *context, struct error *e);

/* Into a file (0600) that appears under its name only when it is whole. FILE_ERROR when there is
 * one already, unless `replace`. */
bool export_to_file(struct catalog *c, const char *reference, enum export_format format,
                    const char *path, bool replace, struct error *e);

#endif
