/* Each function prints its rows of the table. */
#ifndef BENCH_MEASURES_H
#define BENCH_MEASURES_H

void measure_start(void);         /* start to usable, memory, other programs for comparison */
void measure_idle(void);          /* wake-ups and bytes of ten idle seconds, key echo, memory */
void measure_stream(void);        /* 20 kB of Markdown at 200 events a second */
void measure_bulk(void);          /* 100 kB and 1 MB as fast as they come */
void measure_resume(void);        /* long sessions */
void measure_interrupt(void);     /* Esc in every state that a turn can be in */
void measure_long_sessions(void); /* opening, resuming and reading growing sessions */
void measure_many_sessions(void); /* lists, filters and searches over 10,000 sessions */
void measure_compaction(void);    /* shortening sessions in each mode, and keys meanwhile */
void measure_memory(void);        /* semantic memory of 1,000 to 100,000 entries */
void measure_serve(void);         /* other programs as clients */
void measure_reach(void);         /* evidence that the model receives: doc/reach.md */
void measure_facts(void);         /* the graph of facts, full */
void measure_import(void);        /* histories of other agents, IMPORT_GB of them */
void measure_space(void);         /* memory of several machines: SPACE_ENTRIES, SPACE_URL */
/* Costs of the carrier's server, and servers for more people; leaves lines that nobody can read. */
struct carrier;
void measure_servers(struct carrier *c, const char *person);

/* Recall of semantic memory for the question sets in the directory RECALL_SETS (bench), or for the
 * one set in that directory. Prints tables of its own. RECALL_HELD=1 asks the held-out questions,
 * RECALL_PARTS=1 also shows the parts of the ranking, RECALL_ENCODERS=1 synthetic encoders
 * (exam_encoder.h); served vectors: exam_store.h. */
void measure_recall(void);
void measure_corpora(void);
void measure_recall_of(const char *directory);

#endif
