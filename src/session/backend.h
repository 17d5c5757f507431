/* The provider and model of a session: provider, key, model name and the model's limits, each
 * determined when it is first needed. Used on the agent thread. */
#ifndef SESSION_BACKEND_H
#define SESSION_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/wakeup.h"
#include "config/config.h"
#include "knowledge/learned.h"
#include "memory/memory.h"
#include "provider/choose.h"
#include "provider/provider.h"
#include "session/conversation_operations.h"
#include "store/store.h"

struct backend {
    const struct config *config;
    const struct wakeup *wakeup;
    struct http *http;
    struct choice choice;
    struct model_facts facts;
    bool chosen; /* choice is filled in */
    bool keyed;  /* the key of the chosen provider is known */
    bool facts_known;
    bool window_asked, name_asked;
};

void backend_init(struct backend *b, const struct config *config, const struct wakeup *wakeup);
void backend_release(struct backend *b);

/* Resets the backend: nothing is chosen. */
void backend_forget(struct backend *b);

/* Chooses provider and model; NULL: the rules of provider/choose.h decide. On failure the earlier
 * choice stays. If the choice does not change, the key and the model's limits stay known. */
bool backend_choose(struct backend *b, const char *provider, const char *model, struct error *e);

/* Changes provider and model of an open session, as the user asked. provider NULL: the present one.
 * The key must exist. A model that the server does not list is USAGE with the nearest name; if the
 * server lists nothing or does not answer, any name is accepted. May use the network. */
bool backend_change(struct backend *b, const char *provider, const char *model, struct error *e);

/* Asks the server whether the model takes images. False: it does not say. */
bool backend_ask_sees(struct backend *b, bool *sees);

/* Asks the server for the model's name. Returns whether the name is known now. */
bool backend_ask_name(struct backend *b);

/* backend_ask_name or backend_ask_window, if only the server can tell the answer, the key is known
 * and the server was not asked yet; else NULL. */
typedef bool backend_question(struct backend *b);
backend_question *backend_next_question(const struct backend *b);

/* Whether the provider takes the word as an effort of the chosen model. */
bool backend_takes_effort(const struct backend *b, const char *effort);

/* The same, with an error that names the words. */
bool backend_need_effort(const struct backend *b, const char *effort, struct error *e);

/* Before a request: determines key, model and facts, and the window if only the server knows it.
 * May use the network. */
bool backend_prepare(struct backend *b, struct error *e);

/* Asks the server for the model's window, once: while idle, before a request that needs it, or
 * after an answer while the connection is open. Returns whether the window changed. */
bool backend_ask_window(struct backend *b);

/* Asks the model, which must be prepared, for an answer of at most `most` tokens to one message.
 * Fills in the model, usage and cost of `use` where the usage is known, also of a call that failed.
 * NULL on failure; else the text of the answer, "" if it has none. The caller frees. */
char *backend_ask(struct backend *b, const char *system, const char *text, int64_t most,
                  struct event *use, struct error *e);

bool backend_models(struct backend *b, struct provider_names *out, struct error *e);

/* Facts about the engine's state, for doctor. */

/* Also looks for the key; a missing key is the result's `fault`. */
void report_backend(struct report_result *r, struct backend *b);

/* Adds a fact; keys and passwords in URLs are masked. */
void report_add(struct report_result *r, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds whether memory is available, how it is searched and which server makes vectors. A fault is
 * also the result's `fault`. No network. */
void report_memory(struct report_result *r, const struct config *config,
                   const struct wakeup *wakeup);

#endif
