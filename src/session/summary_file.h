/* sessions/ID/summary.txt: the newest summary of a compaction that holds, in a session's directory
 * of derived files. Whole or not at all; not there where no compaction has one. */
#ifndef SESSION_SUMMARY_FILE_H
#define SESSION_SUMMARY_FILE_H

#include <stdbool.h>

/* Writes it where it is not so already; NULL takes it away. False with errno. */
bool summary_file_put(int directory, const char *summary);

bool summary_file_remove(int directory);

/* Whether that is its name, or the one that it has while it is written. */
bool summary_file_is(const char *file, bool unfinished);

#endif
