/* The part that the HTTP providers share: a request to the endpoint, the framing of the streamed
 * answer, the faults on the way. The dialect gives events their meaning. */
#ifndef PROVIDER_EXCHANGE_H
#define PROVIDER_EXCHANGE_H

#include "base/json.h"
#include "provider/http.h"
#include "provider/outgoing.h"
#include "provider/provider.h"
#include "provider/stream.h"

enum framing { FRAMING_SSE, FRAMING_NDJSON };

struct dialect {
    const char *name; /* for messages, where the endpoint has none */
    enum framing framing;

    /* Version and authorization; NULL: the key as a bearer. The content type is added for all. */
    void (*headers)(const struct endpoint *endpoint, struct http_headers *out);

    /* One JSON event without an error in it. Types that it does not know are passed over. False:
     * the stream's failure is filled in. */
    bool (*event)(struct stream *s, void *state, const struct json *event);
};

/* One model call: POSTs `body` (whose text is taken) to the endpoint's URL + path and fills in the
 * response from the stream. `state` is for the dialect's events. */
bool exchange_stream(const struct provider_call *call, const struct dialect *dialect,
                     const char *path, struct outgoing_body *body, const struct request *request,
                     struct response *response, void *state, struct failure *f);

/* A small question: GET, or POST if `body` (taken) is not NULL, of the endpoint's URL + path. NULL
 * with the failure unless the reply is JSON with a 2xx status. Waits 10 s at most for a silent
 * server. */
struct json *exchange_fetch(const struct provider_call *call, const struct dialect *dialect,
                            const char *path, struct json *body, struct failure *f);

/* The same for a question that a model answers: waits as long as [provider] stall_timeout. */
struct json *exchange_ask(const struct provider_call *call, const struct dialect *dialect,
                          const char *path, struct json *body, struct failure *f);

/* The names in a listing: member `name` of each object in the array `list` of the reply. */
bool exchange_names(const struct provider_call *call, const struct dialect *dialect,
                    const char *path, const char *list, const char *name,
                    struct provider_names *out, struct failure *f);

#endif
