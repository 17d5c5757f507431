/* Whether a run is open at a place of a log, found from there backwards. */
#ifndef SESSION_OPEN_RUN_H
#define SESSION_OPEN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/* The run_started of the run that is open behind event `seq`; 0 when none is. Where that event is
 * the end of a run no other is read, else about as many as the run has. */
bool open_run_find(struct store *s, const char *session_id, int64_t seq, int64_t *begin,
                   struct error *e);

#endif
