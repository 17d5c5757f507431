/* The model that a session talks to: which provider, its key, its model and that model's limits,
 * each found out when it is first needed. Lives on the agent thread. */
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
    bool keyed;  /* and has its key */
    bool facts_known;
    bool window_asked, name_asked;
};

void backend_init(struct backend *b, const struct config *config, const struct wakeup *wakeup);
void backend_release(struct backend *b);

/* As if nothing had been chosen yet. */
void backend_forget(struct backend *b);

/* Chooses anew; NULL: not asked for. What was chosen before stays on failure; chosen again, it
 * keeps what was learned of it. */
bool backend_choose(struct backend *b, const char *provider, const char *model, struct error *e);

/* The same by the user's word while a session is open: no provider means the present one, a key
 * must be there, and a model that the server does not list is USAGE with the nearest name. A server
 * that lists nothing, or does not answer, takes any name. May use the network. */
bool backend_change(struct backend *b, const char *provider, const char *model, struct error *e);

/* Whether only the server knows which model it will be, and may be asked now: the key is at hand,
 * and it was not asked yet. */
bool backend_wants_name(const struct backend *b);
/* Asks it. Returns whether the model is known now. */
bool backend_ask_name(struct backend *b);

/* The same of the window of the model, which nobody else knows; backend_ask_window() asks. */
bool backend_wants_window(const struct backend *b);

/* Before a request: key, model, facts; the window too where only the server knows it. May use the
 * network. */
bool backend_prepare(struct backend *b, struct error *e);

/* The window as the server knows it, asked once: while nobody waits, before a request that needs
 * it, or after an answer, on the warm connection. Returns whether it changed. */
bool backend_ask_window(struct backend *b);

bool backend_models(struct backend *b, struct provider_names *out, struct error *e);

/* What the engine knows of its own state, as facts for doctor. */

/* Looks for the key, too; that it lacks is the result's `fault` as well. */
void report_backend(struct report_result *r, struct backend *b);

/* `path` NULL: nothing is kept. */
void report_store(struct report_result *r, const char *path, bool opened);

/* Where the index of words is being made anew; `m` NULL: there is no memory. */

/* Whether there is memory, how it is searched, and who makes vectors; a fault is the
 * result's `fault` as well. Asks nobody. */
void report_memory(struct report_result *r, const struct config *config,
                   const struct wakeup *wakeup);
/* Of this project and of the user. */
void report_learned(struct report_result *r, const struct learned_counts *counts);

#endif
