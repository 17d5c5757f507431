/* Writes sessions into a store as an engine would, without an engine: events are numbered, appended
 * to the log and counted in the row. */
#ifndef TESTS_RECORD_H
#define TESTS_RECORD_H

#include "chat/event.h"
#include "chat/session_info.h"
#include "store/store.h"

struct record {
    struct store *store;
    struct session_info info;
    int64_t now_ms;  /* time of the next event */
    int64_t run_seq; /* number of the newest run_started */
};

/* Begins a row with names and places, and no events. The caller releases it; the session stays. */
void record_begin(struct record *r, struct store *store);
void record_release(struct record *r);

/* Writes the row to the store. */
void record_save(struct record *r);

/* Appends an event of this type with this text (may be NULL); calls and results have the id "c1"
 * and the name "read_file". */
void record_add(struct record *r, enum event_type type, const char *text);

/* Records a whole event and takes ownership of it; number, time and session are filled in. */
void record_event(struct record *r, struct event *ev);

/* Appends a question and its answer, and saves the row. */
void record_run(struct record *r, const char *input, const char *answer);

/* Appends a random compaction of the log's history, maybe undone or failed; a manual one if no open
 * run can be compacted. */
void record_random_compaction(struct record *r);

/* Records a random run: tools, reasoning, retries, images, wide and hostile texts; ended, cut off,
 * failed or left open as by a crash; compactions before, after and within it. Draws from
 * entropy_unit(). Saves the row. */
void record_random_run(struct record *r);

/* All events as lines of event_to_line(). The caller frees. */
char *record_lines(struct store *store, const char *id);

#endif
