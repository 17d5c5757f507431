/* Documents with questions: a folder of Markdown files and, beside it, FOLDER.jsonl, whose lines
 * are {"question", "file", "text"}. A passage of the file that contains the text answers the
 * question. */
#ifndef BENCH_DOCUMENTS_H
#define BENCH_DOCUMENTS_H

/* Prints the share of answers among the first passages of a search, with the shares of words that
 * the specification names, by hashed vectors and by served ones (if configured as for the exams),
 * beside plain FTS5. */
void documents_measure(const char *directory);

#endif
