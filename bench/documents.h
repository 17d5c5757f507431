/* Documents with questions: a folder of files and a file of questions, whose lines are {"question",
 * "file", "text"}. A passage of the file that contains the text answers the question. */
#ifndef BENCH_DOCUMENTS_H
#define BENCH_DOCUMENTS_H

#include <stdbool.h>

/* Prints the share of answers among the first passages of a search by words, beside plain FTS5; with
 * `vectors` also with the shares of words that the specification names, by hashed vectors and by
 * served ones (if configured as for the exams). */
void documents_measure(const char *directory, const char *questions, bool vectors);

#endif
