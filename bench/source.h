/* A model that answers every request with one text, at a given pace, and says when the text's last
 * byte went out, and when it was asked. A process of its own, so that its work is nobody else's; it
 * speaks the OpenAI-compatible protocol. (The tests' scripted server is for faults, not for
 * timing.) */
#ifndef BENCH_SOURCE_H
#define BENCH_SOURCE_H

#include <stddef.h>

struct source;

/* `piece`: bytes of text in an event (whole characters); `rate`: events a second, 0: all at once.
 * Ends the program with a message if it cannot. */
struct source *source_start(const char *text, size_t len, size_t piece, double rate);
void source_stop(struct source *s);

/* For OPENAI_BASE_URL. Borrowed. */
const char *source_url(const struct source *s);

/* Waits for the end of the next answer: when its last piece of text was handed to the network, on
 * the clock of screen_clock(). */
double source_last_byte(struct source *s);

/* When the first and the last of the requests came that were answered since (and not asked for with
 * source_last_byte()). Returns how many they are. */
size_t source_asked(struct source *s, double *first, double *last);

/* A socket that listens on 127.0.0.1, for other sources. Ends the program if there is none. */
int source_listen(unsigned *port);

#endif
