/* Export of a session as a text. Each format is a fold over the events: the same events give the
 * same bytes in every locale, time zone and machine. The settings of a session (tools, compaction,
 * memory) are not exported: they are permissions of this machine, and an imported text must not
 * raise them. "messages" is the list of messages in OpenAI's form, for other programs: all that was
 * said and not taken back, also before compactions; it is in memory while it is written. */
#ifndef SESSION_EXPORT_H
#define SESSION_EXPORT_H

#include "session/catalog.h"

/* X(NAME, "name", "file ending") */
#define EXPORT_FORMATS(X)                                                                          \
    X(MARKDOWN, "markdown", "md")                                                                  \
    X(JSON, "json", "json")                                                                        \
    X(JSONL, "jsonl", "jsonl")                                                                     \
    X(MESSAGES, "messages", "messages")

enum export_format {
#define X(id, name, ending) EXPORT_##id,
    EXPORT_FORMATS(X)
#undef X
        EXPORT_FORMAT_COUNT
};

/* The member "tiro" of JSON and JSON Lines; raised when an older program could not read the text.
 */
#define EXPORT_VERSION 1

const char *export_format_name(enum export_format f);
bool export_format_from_name(const char *name, enum export_format *out); /* also "md" */
/* By the ending of a file's name; Markdown for any other ending. */
enum export_format export_format_of_path(const char *path);

/* Passes the text in pieces to `write`, which returns false (with `e`) to stop. */
bool export_session(struct catalog *c, const char *reference, enum export_format format,
                    bool (*write)(void *context, const char *bytes, size_t len, struct error *e),
                    void *context, struct error *e);

/* Writes a file (0600), which gets its name when it is complete. FILE_ERROR: the file exists,
 * unless `replace`. */
bool export_to_file(struct catalog *c, const char *reference, enum export_format format,
                    const char *path, bool replace, struct error *e);

#endif
