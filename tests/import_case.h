/* Tests of the sources of src/import: a store, files in a place, a scan, and what came of it as a
 * text. */
#ifndef TESTS_IMPORT_CASE_H
#define TESTS_IMPORT_CASE_H

#include "import/scan.h"
#include "import/source.h"

/* For FIXTURE(): support_setup() and a store. */
int import_case_set_up(void **state);
int import_case_tear_down(void **state);

extern struct store *import_case_store;

/* The options of the next scans: all zero at the beginning of a test. */
extern struct import_options import_case_options;

/* Copies a fixture, a path below tests/import/ ("claude/turns.jsonl"), to a path below the test's
 * directory, whose folders are made. */
void import_case_copy(const char *fixture, const char *to);

/* Writes a text to such a path; each ' in the text becomes ". */
void import_case_write(const char *to, const char *text);
void import_case_append(const char *to, const char *text);

/* Runs SQL on a database at such a path, which is made. */
void import_case_sql(const char *path, const char *sql);

/* Scans a path below the test's directory; NULL: the places of the sources. The counts are those of
 * the source, which must be the only one with files. */
struct import_counts import_case_scan(const char *path);

/* All sessions, in the order in which they came. Of each a line
 *     == TITLE | DIRECTORY | MODEL | SOURCE
 * and its messages as the history has them: "user: TEXT", "assistant: TEXT", "call NAME ARGUMENTS",
 * "result NAME: TEXT". Ends of lines in texts are written as "\n". Kept. */
const char *import_case_text(void);

/* import_case_text() must be these lines. */
void import_case_expect(const char *const *lines);

/* The path belongs to the source of this name, has nothing that is unknown, and gives the lines. */
void import_case_read(const char *path, const char *name, const char *const *lines);

#endif
