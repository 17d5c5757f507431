/* A session's events as Markdown to read: headings, messages, tool calls. A fold: the text of a log
 * is what each event adds, one behind the other, and an end while a turn is open. Cleaned of
 * control characters.
 *
 * A turn has no end where a crash cut it off. What streamed of its answer is then all that there
 * is; what a retry threw away is not. */
#ifndef CHAT_TRANSCRIPT_TEXT_H
#define CHAT_TRANSCRIPT_TEXT_H

#include "base/buf.h"
#include "chat/event.h"
#include "chat/session_info.h"

/* The words in it, and how a time is written; the caller's language. */
struct transcript_words {
    const char *you, *cut_off, *failed, *interrupted, *bytes, *seconds;
    const char *compacted, *compaction_failed, *compaction_undone, *summary, *tokens, *messages;
    const char *remembered, *recalled; /* so many messages */
    const char *learned, *proposed;    /* of what the user said, for later sessions */
    /* Of a turn without an end, at the end of the log: it may yet go on in another process. The
     * first for its answer, the second a line for itself. */
    const char *unfinished, *open_end;
    /* Appends the time. */
    void (*time)(struct buf *out, int64_t wall_ms);
};

/* English and UTC: the same on every machine. */
extern const struct transcript_words transcript_words_fixed;

/* Where a log has come to. Nothing of a turn is left in it after the turn's end. */
struct transcript_text {
    const struct transcript_words *words;
    bool open;           /* a turn is */
    bool quote;          /* the newest line is that of a call */
    bool thought;        /* what streams next is another text */
    struct buf streamed; /* of the open turn, and not complete */
};

void transcript_text_init(struct transcript_text *t, const struct transcript_words *words);
void transcript_text_release(struct transcript_text *t);

/* The title line and a line with id, time and place; only what never changes, if `fixed_only`. */
void transcript_text_head(struct buf *out, const struct session_info *s,
                          const struct transcript_words *words, bool fixed_only);

/* Appends what the event adds; most kinds add nothing. */
void transcript_text_add(struct transcript_text *t, struct buf *out, const struct event *ev);

/* Appends that the open turn, if there is one, was cut off, and closes it. run_started and
 * what event_between_turns() names do so by themselves; this is for who wants it apart from what
 * the next turn adds. */
void transcript_text_cut_off(struct transcript_text *t, struct buf *out);

/* Appends what the text ends with here: that the open turn, if there is one, is not finished. Not a
 * part of what is gone on with. */
void transcript_text_end(const struct transcript_text *t, struct buf *out);

#endif
