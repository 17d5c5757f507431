/* A store of many short sessions with different titles, directories, labels and dates. */
#ifndef BENCH_MAKE_STORE_H
#define BENCH_MAKE_STORE_H

#include <stddef.h>

/* Words that are in the transcripts of one session in a thousand, and of every session. */
#define MAKE_STORE_RARE "zeppelin"
#define MAKE_STORE_COMMON "harvest"

/* The title of the newest session. */
#define MAKE_STORE_NEWEST "The newest correspondence"

/* Makes the database `store_path`. Equal counts give equal sessions except for ids and times. Ends
 * the program with a message on failure. */
void make_store(const char *store_path, size_t sessions);

#endif
