/* Events as an engine would hand them to a transcript, with the few fields that most tests need. */
#ifndef TESTS_TOLD_H
#define TESTS_TOLD_H

#include "chat/event.h"
#include "tests/steps.h"
#include "ui/transcript/transcript.h"

/* The caller frees the event; `text` may be NULL. */
struct event *told_event(enum event_type type, int64_t seq, const char *text);

#define EV(type, seq, text) told_event(EVENT_##type, seq, text)

/* Hands the events over. The result is that of transcript_apply() for the last one. */
#define tell(t, ...) told_all(t, (struct event *[]){__VA_ARGS__, NULL})
bool told(struct transcript *t, struct event *ev);
bool told_all(struct transcript *t, struct event **events); /* up to a NULL */
#define tell_earlier(t, more, ...)                                                                 \
    told_earlier(t, (struct event *[]){__VA_ARGS__},                                               \
                 sizeof((struct event *[]){__VA_ARGS__}) / sizeof(struct event *), more)
void told_earlier(struct transcript *t, struct event **events, size_t count, bool more);

/* A script for the transcript of told_to(). Steps: a look (tests/steps.h), or "=" and
 *   WORD SEQ TEXT            asks, text, thought, ends, fails, stops: events of a run; "partial": a
 *                            text that was cut off
 *   delta TEXT, thinks TEXT  … that have no number
 *   call SEQ ID NAME ARGS, result SEQ ID TEXT, error SEQ ID TEXT    (of read_file, after 35 ms)
 *   retry SEQ OF TEXT, exchange SEQ QUESTION|ANSWER    (three events)
 *   page, earlier, earlier more    the events between them are an older page
 *   shown, unshown           whether the last event changed the view
 *   size COLUMNS ROWS, toggle N, toggle all, top, end, draw, clear, tick MS
 *   scroll ROWS, stays ROWS  whether it moves by them; last, above: whether the end is seen
 *   reasoning open, reasoning hidden, difference ID TEXT
 *   note TEXT, brief TEXT    transcript_note()
 *   is ROWS, first ROW       all that is seen, its first row
 *   find TEXT, newer TEXT, lost TEXT    finds an older, a newer, none
 *   matches N OF, unread ROWS, card SEQ, wants SEQ, answer TEXT    what the functions tell
 * and those of told_to(). */
#define tale(...) told_play(__FILE__, __LINE__, STEPS(__VA_ARGS__))
#define TALE(name, ...) STEPS_TEST(true, name, tale, __VA_ARGS__)
void told_to(struct transcript *t, const struct step *own); /* borrowed */
void told_play(const char *file, int line, const char *const *steps);
void told_take(struct event *ev); /* as a step has it */

#endif
