/* The files that programs of the kill campaign leave: who owns them, who may read them, and what
 * they still carry. */
#ifndef TESTS_KILL_FILES_H
#define TESTS_KILL_FILES_H

#include "tests/kill_model.h"

/* Paths below the directory that nobody else may write and no session, store or setting refers to:
 * `ids` are the sessions that there are. Appended to `out`. */
void kill_files_strays(const char *data_directory, const struct kill_texts *ids,
                       struct kill_texts *out);

/* Files of any other directory but those with one of these names, or one that begins with a name
 * that ends with '*'. A directory that lacks has none. NULL ends the names. */
void kill_files_others(const char *directory, const char *const *names, struct kill_texts *out);

/* Files and directories that others can read, below the directory. */
void kill_files_public(const char *directory, struct kill_texts *out);

/* "FILE: WORD" for the first file below the directory that carries one of the words; NULL: none
 * does. The caller frees. */
char *kill_files_carry(const char *directory, const struct kill_texts *words);

#endif
