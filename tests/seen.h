/* The content of a view, as a person reads it. */
#ifndef TESTS_SEEN_H
#define TESTS_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#include "tests/steps.h"
#include "ui/term/keymap.h"
#include "ui/term/rows.h"
#include "ui/transcript/transcript.h"

/* Fails unless the rows fill the place exactly and contain no terminal controls. */
void seen_check(const struct rows *rows, int width, int height);

const char *seen_row(const struct rows *rows, size_t index); /* borrowed until the next call */

/* All rows without trailing blanks, each with a newline; borrowed until the next call. */
const char *seen_text(const struct rows *rows);

/* The first row with this text; SIZE_MAX: none. */
size_t seen_find(const struct rows *rows, const char *text);

/* The row of the pointer; fails if there is none. */
size_t seen_chosen(const struct rows *rows);

/* The view under test. Borrowed. */
struct person {
    int (*key)(const struct key *key); /* returns the effect, in numbers of the test's own */
    const struct rows *(*rows)(void);
    int entry_rows;                 /* per entry of the list */
    void (*asked)(struct buf *out); /* adds the requests, one per line; NULL: not looked at */
    /* Does a step of play(), without its "="; fails at this place. */
    void (*give)(const char *file, int line, const char *step);
    const char *const *effects; /* of keys, by number; the step "EFFECT KEYS" looks at them */
    void (*look_asked)(const char *file, int line, const char *wanted); /* NULL: as by see() */
};
void seen_by(const struct person *person);

/* Types keys into that view, then checks the looks against it and against the requests of these
 * keys (tests/steps.h). see() alone checks against all requests that the test has not forgotten. */
#define act(...) seen_act(__FILE__, __LINE__, STEPS(__VA_ARGS__))
#define see(...) seen_see(__FILE__, __LINE__, STEPS(__VA_ARGS__))
/* Steps: ">" and keys, "=" and an answer or event of the test's own, else a look. The requests are
 * those of the keys before the look; after an answer, all that the test has not forgotten. */
#define play(...) seen_play(__FILE__, __LINE__, STEPS(__VA_ARGS__))
/* A test that is nothing but steps. */
#define PLAY(name, ...) STEPS_TEST(true, name, play, __VA_ARGS__)
/* Each of the keys must have this result. */
#define lead_to(result, keys) seen_lead_to(__FILE__, __LINE__, result, keys)
void seen_act(const char *file, int line, const char *const *keys_and_looks);
void seen_see(const char *file, int line, const char *const *looks);
void seen_play(const char *file, int line, const char *const *steps);
void seen_lead_to(const char *file, int line, int result, const char *keys);

/* All rows that a transcript shows, each with a newline. The caller frees. */
char *seen_transcript(struct transcript *t);
void seen_transcript_is(struct transcript *t, const char *wanted);
bool seen_transcript_has(struct transcript *t, const char *text);

/* Checks the looks against the transcript. */
#define seen_transcript_says(t, ...)                                                               \
    seen_transcript_check(__FILE__, __LINE__, t, STEPS(__VA_ARGS__))
void seen_transcript_check(const char *file, int line, struct transcript *t,
                           const char *const *looks);

#endif
