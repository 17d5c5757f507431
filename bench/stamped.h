/* A model that answers many requests at once, each with so many pieces of text at so many a second,
 * and each piece is the time at which it went out. A process of its own; it speaks the
 * OpenAI-compatible protocol. */
#ifndef BENCH_STAMPED_H
#define BENCH_STAMPED_H

struct stamped;

/* Ends the program with a message if it cannot. */
struct stamped *stamped_start(int pieces, double rate);
void stamped_stop(struct stamped *s);

/* For OPENAI_BASE_URL. Borrowed. */
const char *stamped_url(const struct stamped *s);

/* How many milliseconds ago the piece went out that this text is; negative: it is none. */
double stamped_age(const char *text);

#endif
