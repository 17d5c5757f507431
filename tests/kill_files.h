/* The files that programs of the kill campaign leave: their owners, their permissions, and the
 * words in them. */
#ifndef TESTS_KILL_FILES_H
#define TESTS_KILL_FILES_H

#include "tests/kill_model.h"

/* Appends the paths below the directory that nobody else may write and to which no session, store
 * or setting refers; `ids` are the existing sessions. */
void kill_files_strays(const char *data_directory, const struct kill_texts *ids,
                       struct kill_texts *out);

/* Appends the files of any other directory except those with one of these names, or with the
 * beginning of a name that ends with '*'. A missing directory has none. NULL ends the names. */
void kill_files_others(const char *directory, const char *const *names, struct kill_texts *out);

/* Appends files and directories below the directory that others can read. */
void kill_files_public(const char *directory, struct kill_texts *out);

/* "FILE: WORD" for the first file below the directory that contains one of the words; NULL if none
 * does. The caller frees. */
char *kill_files_carry(const char *directory, const struct kill_texts *words);

#endif
