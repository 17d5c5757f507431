/* A session of many messages, as the program itself would have written it. */
#ifndef BENCH_MAKE_SESSION_H
#define BENCH_MAKE_SESSION_H

#include <stddef.h>

#define MAKE_SESSION_ENDING "Thus ends the last letter."

/* Makes the database `store_path` with one session of so many messages (half of them answers, with
 * the pieces in which they streamed); the last answer ends with `ending`. Ends the program with a
 * message if it cannot. */
void make_session(const char *store_path, size_t messages, const char *ending);

#endif
