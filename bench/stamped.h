/* A model that answers many requests at once, each with `pieces` pieces of text at `rate` per
 * second. Each piece is the time at which it was sent. The model is a process of its own and speaks
 * the OpenAI-compatible protocol. */
#ifndef BENCH_STAMPED_H
#define BENCH_STAMPED_H

struct stamped;

/* Ends the program with a message on failure. */
struct stamped *stamped_start(int pieces, double rate);
void stamped_stop(struct stamped *s);

/* For OPENAI_BASE_URL. Borrowed. */
const char *stamped_url(const struct stamped *s);

/* The age in milliseconds of a piece with this text; negative if the text is no piece. */
double stamped_age(const char *text);

#endif
