/* Documents, loaded and rendered as text for tests. */
#ifndef TESTS_DOCUMENTS_H
#define TESTS_DOCUMENTS_H

#include "knowledge/chunk.h"

/* The formats that this build reads: HTML; docx, odt and epub. */
#ifdef HAVE_LIBXML2
enum { READS_MARKUP = 1 };
#else
enum { READS_MARKUP = 0 };
#endif
#ifdef HAVE_LIBARCHIVE
enum { READS_PACKAGES = READS_MARKUP };
#else
enum { READS_PACKAGES = 0 };
#endif

/* Loads a file of support_dir(). Fails the test if the file cannot be loaded or the document is
 * malformed; the caller releases it. */
void documents_load(struct loaded_document *d, const char *name);

/* One line per part, kept: "#2 Name" for a heading, "page 3: …", "code: …", "row: …"; with lines
 * "12: …". White space is one blank; tabs and line ends are "⇥" and "⏎". */
const char *documents_show(const struct loaded_document *d, bool with_lines);

/* Loads the document, which must fail with this outcome; returns the error, kept. */
const char *documents_refused(const char *name, enum document_outcome outcome);
const char *documents_refused_with(const char *name, const struct document_options *options,
                                   enum document_outcome outcome);

/* Writes a PDF of `pages` pages, each with the text "This is page N."; `encrypted`: with an unknown
 * password. */
void documents_write_pdf(const char *name, int pages, bool encrypted);

/* Whether the shell finds the program. */
bool documents_can_run(const char *program);

#endif
