/* tiro serve --http with one session, and who reads its stream of events. */
#ifndef BENCH_SERVED_EVENTS_H
#define BENCH_SERVED_EVENTS_H

struct served_events;

/* Ends the program with a message if it cannot. */
struct served_events *served_events_start(void);
void served_events_stop(struct served_events *s);

/* Sends a message, whose answer nobody reads. */
void served_events_say(struct served_events *s);

/* The data of the next event, borrowed until the next call. NULL: the stream has ended. */
const char *served_events_next(struct served_events *s);

#endif
