/* A session's events as Markdown to read: headings, messages, tool calls. A fold: each event
 * appends its text; transcript_text_end() ends an open turn. Cleaned of control characters.
 *
 * Of a turn that a crash cut off the streamed part of the answer is shown, without what a retry
 * discarded. */
#ifndef CHAT_TRANSCRIPT_TEXT_H
#define CHAT_TRANSCRIPT_TEXT_H

#include "base/buf.h"
#include "chat/event.h"
#include "chat/session_info.h"

/* The words in the text, and how a time is written, in the caller's language. */
struct transcript_words {
    const char *you, *cut_off, *failed, *interrupted, *bytes, *seconds, *lines, *files;
    const char *compacted, *compaction_failed, *compaction_undone, *summary, *tokens, *messages;
    const char *rewound; /* to before the message whose event has the number that follows */
    const char *rewind_undone;
    const char *file_restored;
    const char *file_removed;
    const char *remembered, *recalled; /* so many messages */
    const char *learned, *proposed;    /* from the user's words, for later sessions */
    /* For an open turn at the end of the log, which may run in another process: a mark of its
     * answer, and a line. */
    const char *unfinished, *open_end;
    /* Appends the time. */
    void (*time)(struct buf *out, int64_t wall_ms);
};

/* English and UTC: the same on every machine. */
extern const struct transcript_words transcript_words_fixed;

/* The state of the fold; empty between turns. */
struct transcript_text {
    const struct transcript_words *words;
    bool open;           /* a turn is */
    bool quote;          /* the newest line is a call's */
    bool thought;        /* the next delta begins another text */
    struct buf streamed; /* of the open turn, not complete */
};

void transcript_text_init(struct transcript_text *t, const struct transcript_words *words);
void transcript_text_release(struct transcript_text *t);

/* The title line and a line with ID, time and place; with `fixed_only` only what never changes. */
void transcript_text_head(struct buf *out, const struct session_info *s,
                          const struct transcript_words *words, bool fixed_only);

/* Appends what the event adds; most kinds add nothing. */
void transcript_text_add(struct transcript_text *t, struct buf *out, const struct event *ev);

/* Appends that the open turn, if there is one, was cut off, and closes it. transcript_text_add()
 * does that for run_started and the events of event_between_turns(); this is for a caller that
 * wants the two texts apart. */
void transcript_text_cut_off(struct transcript_text *t, struct buf *out);

/* Appends that the open turn, if there is one, is not finished. The fold can still go on as if this
 * were not called. */
void transcript_text_end(const struct transcript_text *t, struct buf *out);

#endif
