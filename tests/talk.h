/* An HTTP provider with the scripted server, for tests of both. */
#ifndef TESTS_TALK_H
#define TESTS_TALK_H

#include "base/buf.h"
#include "base/wakeup.h"
#include "provider/http.h"
#include "provider/provider.h"
#include "tests/model_server.h"

#define TALK_KEY "sk-secret-0123456789"

struct api {
    const struct provider *provider;
    const char *suffix; /* of the base URL */
};

enum { API_ANTHROPIC, API_OPENAI, API_OLLAMA, API_COUNT };
extern const struct api apis[API_COUNT];

#define EACH_API(a) for (const struct api *a = apis; a < apis + API_COUNT; a++)

/* A provider, its server and the result of one call. */
struct talk {
    struct model_server *server;
    const struct api *api;
    struct http *http;
    struct config *config;
    struct endpoint endpoint; /* key: TALK_KEY */
    struct wakeup wakeup;
    int wake[2];
    bool stop;            /* go_on() returns false */
    int64_t stopped_ms;   /* when it was woken */
    bool stop_at_content; /* wake at the first delta */

    struct message user;    /* "Hello?" */
    struct request request; /* for "test-model", with that message */
    struct response response;
    struct failure failure;
    struct buf text, reasoning; /* text of the deltas */
    size_t deltas;
};

/* A block with a talk of each provider; it must not be left by break or return. */
#define EACH_TALK(t)                                                                               \
    EACH_API(t##_api)                                                                              \
    for (struct talk t, *t##_once = talk_start(&t, t##_api); t##_once;                             \
         talk_end(&t), t##_once = NULL)

struct talk *talk_start(struct talk *t, const struct api *api); /* returns t */
void talk_end(struct talk *t);

/* Wakes the call; `stop` is the answer that the call gets. Any thread may call it. */
void talk_wake(struct talk *t, bool stop);

struct provider_call talk_call(struct talk *t);
void talk_set(struct talk *t, enum config_key key, const char *value);

/* One model call, with the server's next reply or with this one. */
bool talk_ask(struct talk *t);
bool talk_ask_with(struct talk *t, struct reply reply);

/* The call's result `ok` must be success, or this failure, whose text names the provider and holds
 * no secret. */
void talk_assert_ok(const struct talk *t, bool ok);
void talk_assert_failed(const struct talk *t, bool ok, enum failure_kind kind);

/* The response's block of this type; NULL if none. Fails the test when there are two. */
const struct block *talk_only_block(const struct talk *t, enum block_type type);

#endif
