/* Lines of a transcript of Claude Code (~/.claude/projects/FOLDER/SESSION.jsonl): an object each,
 * appended as the talk goes on. Its form is not promised, so whatever is not understood is passed
 * over. Pure. */
#ifndef SESSION_CLAUDE_LINES_H
#define SESSION_CLAUDE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "chat/message.h"

struct claude_line {
    enum {
        CLAUDE_NOTHING,
        CLAUDE_SAID,     /* by the user or the model, or a result of a tool */
        CLAUDE_SUMMARY,  /* that stands for what a compaction dropped */
        CLAUDE_COMPACTED /* all before it was dropped, but from `head` to `tail` (NULL: nothing) */
    } kind;
    const char *uuid, *session; /* borrowed, as the next two */
    const char *head, *tail;
    enum role role;
    int64_t ms;      /* 0: unknown */
    struct buf text; /* of what was said, and of a summary */
};

/* Whether the first object of a text is a line of such a transcript. */
bool claude_line_begins(const struct json *first);

/* Borrows from `v`; the caller releases `text`. */
void claude_line_read(const struct json *v, struct claude_line *out);

#endif
