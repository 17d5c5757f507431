/* Writes sessions into a store as the program itself would: numbered events, counters, search
 * index, a snapshot. An error ends the program with a message. */
#ifndef BENCH_WRITE_SESSION_H
#define BENCH_WRITE_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/event.h"
#include "chat/history.h"
#include "chat/session_info.h"
#include "store/store.h"

struct session_writer {
    struct store *store;
    struct session_info info; /* the caller may change names and places */
    struct history history;
    VEC(struct event *) events; /* not in the store yet */
    struct error e;
};

/* Opens one transaction until write_close(), which commits it. */
struct store *write_open(const char *store_path);
void write_close(struct store *s);

void write_session_begin(struct session_writer *w, struct store *s, const char *title,
                         int64_t created_ms);

/* Writes a question and an answer of about `bytes` of Markdown, in pieces of `piece` bytes; the
 * last paragraph is `ending`. Equal seeds give equal texts. */
void write_session_turn(struct session_writer *w, const char *question, size_t bytes, size_t piece,
                        unsigned seed, const char *ending);

void write_session_end(struct session_writer *w);

#endif
