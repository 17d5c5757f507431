/* A model that answers every request with one text, at a given pace, and reports when the request
 * came and when the last byte of the text was sent. The model is a process of its own, so that its
 * work is not measured; it speaks the OpenAI-compatible protocol. (The tests' scripted server is
 * for faults, not for timing.) */
#ifndef BENCH_SOURCE_H
#define BENCH_SOURCE_H

#include <stddef.h>

struct source;

/* `piece`: bytes of text per event (whole characters); `rate`: events per second, 0: all at once.
 * Ends the program with a message on failure. */
struct source *source_start(const char *text, size_t len, size_t piece, double rate);
void source_stop(struct source *s);

/* For OPENAI_BASE_URL. Borrowed. */
const char *source_url(const struct source *s);

/* Waits for the end of the next answer. Returns the time at which its last piece was handed to the
 * network, on the clock of screen_clock(). */
double source_last_byte(struct source *s);

/* The times of the first and the last request that were answered since the last call (without those
 * of source_last_byte()). Returns their number. */
size_t source_asked(struct source *s, double *first, double *last);

/* A socket that listens on 127.0.0.1, for other sources. Ends the program on failure. */
int source_listen(unsigned *port);

#endif
