/* A session of many messages, as the program itself would have written it. */
#ifndef BENCH_MAKE_SESSION_H
#define BENCH_MAKE_SESSION_H

#include <stddef.h>

#define MAKE_SESSION_ENDING "Thus ends the last letter."

/* Makes the database `store_path` with one session of `messages` messages (half of them answers,
 * with their streamed pieces); the last answer ends with `ending`. Ends the program with a message
 * on failure. */
void make_session(const char *store_path, size_t messages, const char *ending);

#endif
