/* What an engine has for its conversations. */
#ifndef SESSION_ENGINE_PRIVATE_H
#define SESSION_ENGINE_PRIVATE_H

#include <pthread.h>

#include "session/engine.h"
#include "session/memory_desk.h"
#include "session/place.h"
#include "session/reader.h"

struct conversation;

struct engine {
    struct engine_options options; /* its strings are the engine's own */
    const struct config *config;
    char *root; /* working directory, resolved */
    bool persist, compaction, memory;
    struct mailbox *notices;
    struct place *place;
    struct reader *reader;
    struct memory_desk *desk; /* of memory */

    struct conversation *conversation;
    pthread_t thread; /* its */
    bool started;

    pthread_mutex_t lock;       /* over the rest */
    char session[UUID_LEN + 1]; /* that is open; "": none yet */
};

/* An engine without a conversation: engine_new() but for its thread. */
struct engine *engine_make(const struct engine_options *options);

/* On an agent thread: this session is the open one. */
void engine_note_session(struct engine *s, const char *id);

#endif
