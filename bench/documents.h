/* Documents with questions about them: a folder of Markdown files and, beside it,
 * FOLDER.jsonl, whose lines are
 * {"question", "file", "text"}: a passage of that file that has the text answers it. */
#ifndef BENCH_DOCUMENTS_H
#define BENCH_DOCUMENTS_H

/* Prints how many answers are among the first passages that a search gives, with the shares of
 * words that the specification asks for, by hashed vectors and, where they are configured as for
 * the exams, served ones, beside plain FTS5. */
void documents_measure(const char *directory);

#endif
