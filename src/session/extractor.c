#include "session/extractor.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "knowledge/learned.h"
#include "knowledge/learned_extract.h"
#include "knowledge/project.h"
#include "session/backend.h"
#include "session/capability.h"
#include "session/catalog.h"
#include "session/desk.h"
#include "session/learned_operations.h"
#include "store/sessions.h"

enum { MAX_OUTPUT = 4096, SOON_MS = 250, AGAIN_MS = 60 * 1000 };

enum { EXTRACTING, NOTING }; /* the chores */

struct extractor {
    struct desk desk;
    const struct config *config;
    char *project;
    const char *directory; /* of the store, where the desk has no place */
    bool serves;
    VEC(struct event *) owed; /* uses that are not appended yet */
    int owed_ms;              /* delay before the next attempt to append them */
};

/* --- a session -------------------------------------------------------------------------------- */

struct work {
    struct extractor *x;
    const struct wakeup *wakeup;
    struct waiting_session session;
    struct session_info info;
    struct typed_messages typed;
    struct learned_items known;
    struct proposals proposals;
    int64_t last;
    struct event *use; /* of the model; NULL: none */
};

/* An imported session has none. */
static const char *directory_of(const struct work *w)
{
    return w->info.directory && *w->info.directory ? w->info.directory : w->x->project;
}

/* Asks the provider that [compaction] names for summaries, else the session's own. Proposes nothing
 * if that is the offline provider. */
static bool propose(struct work *w, struct error *e)
{
    const struct config *config = w->x->config;
    AUTO(backend_release) struct backend b;
    backend_init(&b, config, w->wakeup);
    if (w->typed.items.len == 0)
        return true;
    auto_free char *project = project_of(directory_of(w));
    const struct learned_filter f = {.states = 1U << LEARNED_ACTIVE | 1U << LEARNED_CANDIDATE |
                                               1U << LEARNED_REJECTED,
                                     .project = project,
                                     .limit = EXTRACTION_KNOWN};
    const char *provider = config_string(config, CONFIG_COMPACTION_PROVIDER);
    const char *model = config_string(config, CONFIG_COMPACTION_MODEL);
    bool own = !*provider;
    if (!*model)
        model = own ? w->info.model : NULL;
    if (!learned_list(w->x->desk.store, &f, &w->known, e) ||
        !backend_choose(&b, own ? w->info.provider : provider, model, e) || !backend_prepare(&b, e))
        return false;
    if (!b.choice.provider->has_network)
        return true;
    auto_free char *text = extraction_request(&w->typed, &w->known);
    struct event *use = event_new(EVENT_LEARNED_EXTRACTED);
    auto_free char *answer =
        backend_ask(&b, embedded_text("prompts/learned-extract.md"), text, MAX_OUTPUT, use, e);
    if (usage_known(&use->usage))
        w->use = use;
    else
        event_free(use);
    return answer && extraction_read(answer, &w->typed, &w->proposals, e);
}

/* Appends the usage to the logs of the sessions, whose sums show it. Usage of a session that is
 * open now stays owed. The delay doubles with each attempt: a session that is being archived is
 * free after some milliseconds, a session in use only after hours. */
static int note_owed(void *desk, const struct wakeup *wakeup)
{
    struct extractor *x = desk;
    size_t kept = 0;
    (void)wakeup;
    for (size_t i = 0; i < x->owed.len; i++) {
        AUTO(catalog_release) struct catalog catalog = {0};
        struct event *use = x->owed.items[i];
        struct error e = {0};
        const char *directory = x->desk.place ? x->desk.place->directory : x->directory;
        catalog_borrow(&catalog, x->desk.store, directory, "");
        if (!catalog_append(&catalog, use->session_id, use, &e) && e.code == ERR_SESSION_BUSY) {
            x->owed.items[kept++] = use;
            continue;
        }
        if (e.code != ERR_OK && e.code != ERR_SESSION_NOT_FOUND)
            log_line(LOG_ERROR, "what proposals of session %s used: %s", use->session_id, e.text);
        event_free(use);
    }
    x->owed.len = kept;
    if (kept == 0)
        return CHORE_DONE;
    x->owed_ms = x->owed_ms > AGAIN_MS / 2 ? AGAIN_MS : 2 * x->owed_ms;
    return x->owed_ms;
}

static bool look_at(struct work *w, int *kept, struct error *e)
{
    const struct config *config = w->x->config;
    struct store *s = w->x->desk.store;
    const struct graph graph = {s, config_string(config, CONFIG_MEMORY_LANGUAGE)};
    bool has_graph = capability_graph() && config_boolean(config, CONFIG_GRAPH_ENABLED);
    *kept = 0;
    return sessions_get(s, w->session.id, &w->info, e) &&
           learned_extract_read(s, &w->session, &w->typed, &w->last, e) && propose(w, e) &&
           learned_extract_keep(s, &w->session, w->last, &w->proposals, has_graph ? &graph : NULL,
                                kept, e);
}

/* Looks at one session. Returns the delay until the next, as a chore does; `e` has the failure. */
static int extract(struct extractor *x, const struct wakeup *wakeup, int *kept, struct error *e)
{
    struct work w = {.x = x, .wakeup = wakeup};
    struct error unnoted;
    int next = CHORE_DONE;
    *kept = 0;
    if (!learned_extract_next(x->desk.store, &w.session, e)) {
        log_line(LOG_ERROR, "proposals: %s", e->text);
    } else if (w.session.id && look_at(&w, kept, e)) {
        const char *directory = x->serves ? directory_of(&w) : x->project;
        if (*kept > 0 && x->desk.notices)
            mailbox_push(x->desk.notices, learned_notice(x->desk.store, directory, true));
        next = 0;
    } else if (w.session.id && !wakeup->go_on(wakeup->context)) {
        next = 0; /* it begins anew next time */
    } else if (w.session.id) {
        log_line(LOG_ERROR, "proposals of session %s: %s", w.session.id, e->text);
        if (!learned_extract_failed(x->desk.store, &w.session, &unnoted))
            log_line(LOG_ERROR, "proposals of session %s: %s", w.session.id, unnoted.text);
        next = AGAIN_MS;
    }
    if (w.use) {
        memcpy(w.use->session_id, w.info.id, sizeof w.use->session_id);
        w.use->count = *kept;
        vec_push(&x->owed, w.use);
        x->owed_ms = SOON_MS / 2;
        if (x->desk.worker && !worker_want(x->desk.worker, NOTING, &unnoted))
            log_line(LOG_ERROR, "proposals of session %s: %s", w.info.id, unnoted.text);
    }
    free(w.session.id);
    session_info_release(&w.info);
    typed_messages_release(&w.typed);
    learned_items_release(&w.known);
    proposals_release(&w.proposals);
    return next;
}

static int extract_one(void *desk, const struct wakeup *wakeup)
{
    struct extractor *x = desk;
    struct error e = {0};
    int kept;
    return x->desk.store ? extract(x, wakeup, &kept, &e) : CHORE_DONE;
}

/* Usage that cannot be appended at the end is missing in the session's sum. */
static void end(struct desk *desk)
{
    struct extractor *x = (struct extractor *)desk;
    (void)note_owed(x, NULL);
    for (size_t i = 0; i < x->owed.len; i++) {
        log_line(LOG_ERROR, "session %s is open: what proposals used is not added to it",
                 x->owed.items[i]->session_id);
        event_free(x->owed.items[i]);
    }
    vec_release(&x->owed);
}

/* --- the desk --------------------------------------------------------------------------------- */

static const struct chore chores[] = {[EXTRACTING] = {.name = "extracting", .step = extract_one},
                                      [NOTING] = {.name = "noting usage", .step = note_owed}};

static const struct desk_role role = {.mode = STORE_READ_WRITE,
                                      .closes = end,
                                      .chores = chores,
                                      .chore_count = sizeof chores / sizeof *chores};

static bool is_wanted(const struct config *config)
{
    return config_boolean(config, CONFIG_LEARNED_ENABLED) &&
           strcmp(config_string(config, CONFIG_LEARNED_EXTRACT), "off") != 0;
}

struct extractor *extractor_new(const struct config *config, struct place *place,
                                const char *project, bool serves, struct mailbox *notices)
{
    if (!is_wanted(config))
        return NULL;
    struct extractor *x = mem_alloc(sizeof *x);
    *x = (struct extractor){.config = config, .project = mem_strdup(project), .serves = serves};
    desk_init(&x->desk, &role, place, notices);
    return x;
}

void extractor_free(struct extractor *x)
{
    if (!x)
        return;
    desk_release(&x->desk);
    free(x->project);
    free(x);
}

void extractor_want(struct extractor *x)
{
    struct error e;
    if (x && !worker_want(x->desk.worker, EXTRACTING, &e))
        log_line(LOG_ERROR, "proposals: %s", e.text);
}

static bool go_on(void *none)
{
    (void)none;
    return true;
}

bool extractor_run(const struct operation_context *c, int *proposed, struct error *e)
{
    static const struct wakeup unasked = {.fd = -1, .go_on = go_on};
    struct extractor x = {.config = c->config,
                          .desk.store = c->catalog.store,
                          .directory = c->catalog.directory,
                          .project = mem_strdup(c->project)};
    int kept, next = CHORE_DONE;
    *proposed = 0;
    while ((c->met & NEED_MEMORY) && is_wanted(c->config) &&
           (next = extract(&x, &unasked, &kept, e)) == 0)
        *proposed += kept;
    end(&x.desk);
    free(x.project);
    return next == CHORE_DONE && e->code == ERR_OK;
}
