/* The embedder that [embedding] configures, as searches and background work ask it: its settings
 * are read when somebody first needs vectors, the last question's vector is kept, and an endpoint
 * that does not answer is left alone for a while. Belongs to one thread. */
#ifndef INDEX_ENCODER_H
#define INDEX_ENCODER_H

#include "base/wakeup.h"
#include "config/config.h"
#include "index/embedder.h"

enum { ENCODER_PATIENCE_MS = 5000, ENCODER_DEAD_MS = 30000 };

struct encoder {
    const struct config *config;
    struct http *http;
    struct embedding_settings embedding; /* read at the first question that needs it */
    bool read;
    struct error fault;
    char *model;      /* what it makes is known by; NULL until it was read */
    int patience_ms;  /* how long a question waits; tests shorten it */
    int64_t retry_ms; /* clock_mono_ms() before which a dead endpoint is not asked again */

    char *asked_text; /* the last question, and its vector */
    struct embeddings asked;
};

/* Costs nothing until it is used. */
void encoder_init(struct encoder *p, const struct config *config);
void encoder_release(struct encoder *p);

/* Whether an embedder is configured; else `fault` says what is wrong with it, ERR_OK: there is
 * none. The key's command may have to be typed into, so this is for who needs vectors. */
bool encoder_read(struct encoder *p, const struct wakeup *wakeup);

/* The vector of a question into `asked`, one try: a person or a model waits. False without it;
 * *stopped: because of the wakeup. */
bool encoder_ask(struct encoder *p, const char *text, const struct wakeup *wakeup, bool *stopped);

#endif
