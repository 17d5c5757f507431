/* Rows of the log as events, for the files that read it. */
#ifndef STORE_EVENT_ROW_H
#define STORE_EVENT_ROW_H

#include "chat/event.h"
#include "store/sql.h"

#define EVENT_ROW "seq, at, type, version, payload"

/* Types that only stream what another event has whole, and all others: as the indexes event_delta
 * and event_whole have them. */
#define EVENT_DELTAS "('text_delta', 'reasoning_delta', 'compaction_delta')"
#define EVENT_IS_WHOLE " AND type NOT IN " EVENT_DELTAS

/* A row of EVENT_ROW. NULL, with `e`, for an event of unknown type or newer version. */
struct event *event_row_read(const struct query *q, const char *session_id, struct error *e);

/* An event whose type, version and payload stand in three columns from `first` on. */
struct event *event_row_decode(const struct query *q, int first, struct error *e);

#endif
