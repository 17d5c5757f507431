/* A request as the providers send it: its messages in the order and pairing that every model API
 * wants, one at a time, so that those of a long conversation are never in memory together; its
 * images; the body while it is written; and the dialects. */
#ifndef PROVIDER_OUTGOING_H
#define PROVIDER_OUTGOING_H

#include "base/buf.h"
#include "base/json.h"
#include "base/json_out.h"
#include "chat/image.h"
#include "chat/message.h"
#include "provider/provider.h"

/* Adjacent messages of one role, as one.
 *   USER       TEXT, IMAGE; TOOL_RESULT whose call is not there: write outgoing_orphan() as text;
 *              the images of tool results behind their turn
 *   ASSISTANT  TEXT, REASONING, TOOL_CALL; no turn ends without an answer to each of its calls
 *   TOOL       TOOL_RESULT, right after the turn that called
 *   SYSTEM     TEXT
 * Blank text blocks and unanswered calls are left out, and so is reasoning of a partial answer,
 * which lacks its proof, of another model, and with nothing behind it, which no API takes back. A
 * turn without blocks is left out. */
struct outgoing_turn {
    enum role role;
    VEC(const struct block *) blocks;
    size_t first; /* the first message that it has blocks of */
};

/* The body of a model call while it is written: {MEMBERS "messages":[MESSAGES]}, or with another
 * name as `list`. Once it is longer than it may be, its text is dropped and the rest only counted.
 */
struct outgoing_body {
    struct buf text; /* empty when it was too long */
    struct json_out out;
    const char *list;
    int64_t most;
};
/* Opens the object; the members before "messages" go to b->out. The body must not be moved. */
void outgoing_body_begin(struct outgoing_body *b, const struct config *config);
/* [provider] temperature, if it is set, as a member of the object that is open. */
void outgoing_temperature(struct outgoing_body *b, const struct config *config);
/* Opens the messages and writes them with `write`, which gets one turn after the other. With
 * `system` the first turn is the system prompt, if there is one. */
typedef void outgoing_write(struct outgoing_body *b, const struct outgoing_turn *turn,
                            void *context);
void outgoing_body_messages(struct outgoing_body *b, const struct request *request, bool system,
                            outgoing_write *write, void *context);
void outgoing_body_end(struct outgoing_body *b); /* closes the messages and the object */

/* All texts of a turn joined by blank lines; the caller frees. NULL if it has none. */
char *outgoing_text(const struct outgoing_turn *turn);

/* A block of this type is in the turn. */
bool outgoing_has(const struct outgoing_turn *turn, enum block_type type);

/* The text of a call's arguments or of a schema as an object; a broken one is sent empty. */
struct json *outgoing_object(const char *text);

/* Writes the JSON objects of a signature, which has commas between them, into the open array. */
void outgoing_own(struct json_out *out, const char *signature);

/* The text that stands for a tool's result without its call; the caller frees. */
char *outgoing_orphan(const struct block *result);

/* --- the dialects: functions of the rows in provider.c, and their bodies, whose text the caller
 * releases --- */

#define PROVIDER_FUNCTIONS(name)                                                                   \
    bool name##_complete(const struct provider_call *call, const struct request *request,          \
                         struct response *response, struct failure *f);                            \
    bool name##_window(const struct provider_call *call, const char *model, int64_t *tokens);      \
    bool name##_models(const struct provider_call *call, struct provider_names *out,               \
                       struct failure *f);
PROVIDER_FUNCTIONS(anthropic)
PROVIDER_FUNCTIONS(openai)
PROVIDER_FUNCTIONS(ollama)
bool ollama_sees(const struct provider_call *call, const char *model, bool *sees);
bool offline_complete(const struct provider_call *call, const struct request *request,
                      struct response *response, struct failure *f);
bool offline_models(const struct provider_call *call, struct provider_names *out,
                    struct failure *f);

/* POST /v1/messages. Cache breakpoints stand on the system prompt, on the last message before the
 * newest one of the user, and on the last message: the next call reads everything up to there from
 * the cache. */
void anthropic_body(struct outgoing_body *out, const struct config *config,
                    const struct request *request);

/* POST /responses of OpenAI. The ids of what comes do not go back: nothing is stored there. */
bool responses_complete(const struct provider_call *call, const struct request *request,
                        struct response *response, struct failure *f);
void responses_body(struct outgoing_body *out, const struct config *config,
                    const struct request *request);

/* The block is no reasoning, and its signature is of that API. */
bool responses_signed(const struct block *b);

/* POST /chat/completions. `vendor`: the API's own house, which wants max_completion_tokens where
 * others know max_tokens. */
void openai_body(struct outgoing_body *out, const struct config *config,
                 const struct request *request, bool vendor);

/* The texts and images of a turn, as an array of parts of Chat Completions or of Responses. */
void openai_content(struct json_out *out, const struct outgoing_turn *turn, bool responses);

/* The member "tools", [{"type":"function","function":{…}}], if any, without those that the provider
 * runs; Ollama takes the same. */
void openai_tools(struct json_out *out, const struct request *request);

/* POST /api/chat. options.num_ctx is [ollama] num_ctx, else the request's window, else
 * OLLAMA_DEFAULT_WINDOW: without it the server would take its own default and drop the front of a
 * longer prompt. */
enum { OLLAMA_DEFAULT_WINDOW = 8192 };
void ollama_body(struct outgoing_body *out, const struct config *config,
                 const struct request *request);

#define IMAGE_MAX_BYTES ((size_t)20 * 1024 * 1024)

struct image {
    const char *url; /* borrowed from the block; NULL: `base64` is set */
    char *base64;
    const char *media_type;
    char *problem; /* why there is neither: text to send in its place */
};

/* A path whose file is gone, too large or no PNG, JPEG, GIF or WebP is no fault of the call: the
 * model is told. */
void image_load(struct image *out, const struct block *block);
void image_release(struct image *image);

#endif
