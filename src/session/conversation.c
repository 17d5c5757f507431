#include "session/conversation.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/sandbox.h"
#include "compact/policy.h"
#include "knowledge/corpora.h"
#include "session/backend.h"
#include "session/catalog.h"
#include "session/conversation_private.h"

enum {
    PATIENCE_MS = 15000,  /* another process may import for long; the user can end the wait */
    UNATTENDED_MS = 5000, /* as for every command */
    GRACE_MS = 3000,      /* part of it, kept at the end of the program: other threads write, too */
    REST_MS = 300,        /* without a request, before background work is done */
    ASIDE_MS = 5000,      /* for the server to answer a question between turns */
    REMOVALS_AT_ONCE = 8
};

static void free_request(void *request)
{
    operation_request_free(request);
}

struct seat *conversation_new(struct engine *engine)
{
    struct conversation *c = mem_alloc(sizeof *c);
    bool serves = engine->options.serves;
    c->engine = c->seat.engine = engine;
    c->seat.conversation = c;
    c->seat.used_ms = clock_mono_ms();
    c->is_first = !serves && engine->seats.len == 0;
    c->tidies = serves ? !engine->tidied : c->is_first;
    c->config = engine->config;
    c->seat.requests = mailbox_new(free_request);
    c->wakeup = (struct wakeup){
        .fd = mailbox_fd(c->seat.requests), .go_on = conversation_go_on, .context = c};
    c->labels = mem_strdup(engine->options.labels);
    c->root_fd = -1;
    c->last_cached = -1;
    journal_init(&c->journal, engine->notices);
    c->journal.lasting = serves;
    c->journal.sink = engine->options.sink;
    backend_init(&c->backend, c->config, &c->wakeup);
    budget_read(&c->budget, c->config);
    c->elicits = conversation_elicits(c);
    struct compact_warnings warnings = {.count = 0};
    compact_settings_read(&c->compact, c->config, &warnings);
    for (int i = 0; i < warnings.count; i++)
        log_line(LOG_ERROR, "%s", warnings.text[i]);
    conversation_know_surface(c);
    conversation_know_skills(c);
    vec_push(&engine->seats, &c->seat);
    return &c->seat;
}

void conversation_free(struct conversation *c)
{
    if (c->recall.memory)
        recall_release(&c->recall);
    if (c->earlier.memory)
        recall_release(&c->earlier);
    corpora_close(c->corpora);
    vec_free_each(&c->named_corpora.names.items);
    learned_items_release(&c->tool_usage);
    free(c->learned);
    hooks_release(&c->hooks);
    conversation_forget_trust(c);
    free(c->editor_servers);
    instructions_release(&c->instructions);
    skills_release(&c->skills);
    free(c->skills_told);
    free(c->graph_hint);
    free(c->recalled);
    free(c->asked);
    backend_release(&c->summary_backend);
    free(c->summariser_label);
    backend_release(&c->backend);
    journal_release(&c->journal);
    approval_policy_release(&c->policy);
    prompt_told_release(&c->prompt_told);
    if (c->lasting != c->store)
        store_close(c->lasting);
    store_close(c->store);
    for (size_t i = 0; i < c->seat.deferred.len; i++)
        operation_request_free(c->seat.deferred.items[i]);
    vec_release(&c->seat.deferred);
    mailbox_free(c->seat.requests);
    conversation_leave_directory(c);
    free(c->seat.provider);
    free(c->seat.model);
    free(c->labels);
    free(c->effort);
    free(c->newer_draft);
    shape_release(&surface_answer_shape, &c->wanted.answer);
    free(c);
}

void conversation_step_aside(struct conversation *c)
{
    c->doing = ASIDE;
    c->wakeup.deadline_ms = clock_mono_ms() + ASIDE_MS;
}

void conversation_finish(struct conversation *c)
{
    c->doing = IDLE;
    c->cancelled = false;
    c->wakeup.deadline_ms = 0;
}

/* --- operations without a session ------------------------------------------------------------- */

bool converse_models(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct models_params *p = params;
    struct models_result *out = result;
    AUTO(provider_names_release) struct provider_names names = {0};
    AUTO(backend_release) struct backend other;
    (void)e;
    conversation_step_aside(c);
    backend_init(&other, c->config, &c->wakeup);
    bool chosen = conversation_need_backend(c, &out->fault);
    bool same =
        !p->provider || (chosen && strcmp(p->provider, c->backend.choice.provider->name) == 0);
    struct backend *b = same ? &c->backend : &other;
    if (!same)
        chosen = backend_choose(b, p->provider, NULL, &out->fault);
    bool listed = chosen && backend_models(b, &names, &out->fault);
    conversation_finish(c);
    out->provider = chosen ? mem_strdup(b->choice.provider->name) : NULL;
    for (size_t i = 0; listed && i < names.names.len; i++) {
        const char *name = names.names.items[i];
        const struct model_facts facts = models_find(c->config, name);
        struct model_offer offer = {.name = mem_strdup(name),
                                    .window = facts.window,
                                    .input_price = facts.price.input,
                                    .output_price = facts.price.output,
                                    .price_date =
                                        *facts.price_date ? mem_strdup(facts.price_date) : NULL};
        vec_push(&out->models, offer);
    }
    for (size_t i = 0; providers[i]; i++) {
        const char *name = providers[i]->name, *wants = NULL;
        (void)choose_key_state(c->config, environment_get, name, &wants);
        struct provider_offer offer = {.name = mem_strdup(name), .wants = mem_strdup(wants)};
        vec_push(&out->providers, offer);
    }
    return true;
}

/* Uses a connection of its own, so that the session's stays unchanged. */
bool converse_check(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct provider_check_params *p = params;
    struct provider_check_result *out = result;
    const struct choice *present = &c->backend.choice;
    bool same = !p->provider;
    struct backend b;
    conversation_step_aside(c);
    if (same && !conversation_need_backend(c, e)) {
        conversation_finish(c);
        return false;
    }
    backend_init(&b, c->config, &c->wakeup);
    bool ok = backend_choose(&b, same ? present->provider->name : p->provider,
                             same && !p->model ? present->model : p->model, e);
    if (ok) {
        struct provider_names names = {0};
        int64_t began = clock_mono_ms();
        (void)backend_models(&b, &names, &out->fault);
        out->ms = clock_mono_ms() - began;
        out->provider = mem_strdup(b.choice.provider->name);
        out->model = mem_strdup(b.choice.model);
        struct buf url = BUF_INIT;
        if (b.choice.endpoint.base_url) {
            url_mask(&url, b.choice.endpoint.base_url);
            out->url = buf_take(&url);
        }
        out->models = (int)names.names.len;
        for (size_t i = 0; i < names.names.len; i++)
            out->listed = out->listed || strcmp(names.names.items[i], b.choice.model) == 0;
        provider_names_release(&names);
    }
    backend_release(&b);
    conversation_finish(c);
    return ok;
}

static void report_sandbox(struct report_result *r, const struct config *config)
{
    const struct sandbox_kernel k = sandbox_kernel();
    if (strcmp(config_string(config, CONFIG_TOOLS_SANDBOX), "on") != 0)
        report_add(r, "sandbox", "off; [tools] sandbox");
    else if (k.lack)
        report_add(r, "sandbox", "none: %s; commands of the model can do what you can", k.lack);
    else
        report_add(r, "sandbox", "on; files and network by Landlock %d and seccomp%s%s", k.landlock,
                   k.landlock < 2 ? "; no file can be moved to another directory" : "",
                   k.landlock < 6 ? "; not signals: a command can end your other programs" : "");
}

bool converse_report(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct report_result *out = result;
    const char *path = c->engine->place->asked;
    struct learned_counts n;
    struct error fault;
    (void)params, (void)e;
    if (paths_profile())
        report_add(out, "profile", "%s", paths_profile());
    (void)conversation_need_backend(c, &out->fault);
    report_backend(out, &c->backend);
    if (!path)
        report_add(out, "store", "off; conversations are not saved");
    else if (!c->journal.directory)
        report_add(out, "store", "%s could not be opened", path);
    else
        report_add(out, "store", "%s, schema %d", path, SCHEMA_VERSION);
    report_memory(out, c->config, &c->wakeup);
    report_sandbox(out, c->config);
    if (c->engine->learned && learned_count(c->lasting, c->project, &n, &fault))
        report_add(out, "learned",
                   "%lld told to models, %lld wait for you, %lld replaced, %lld rejected",
                   (long long)n.active, (long long)n.candidates, (long long)n.superseded,
                   (long long)n.rejected);
    else if (c->engine->learned)
        log_line(LOG_ERROR, "learned memory: %s", fault.text);
    return true;
}

/* --- requests --------------------------------------------------------------------------------- */

enum operation_want conversation_wants(const struct operation_request *r)
{
    bool looks = r->operation == &operation_session_open &&
                 ((const struct session_open_params *)r->params)->read_only;
    return looks ? WANTS_READING : r->operation->wants;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void give_answer(struct conversation *c, struct operation_answer *a)
{
    if (a->error.code != ERR_OK)
        log_line(LOG_ERROR, "%s: %s", err_info(a->error.code)->name, a->error.text);
    const char *open = c->journal.info.id;
    char session[UUID_LEN + 1];
    memcpy(session, *open ? open : a->request->session, sizeof session);
    engine_answer(c->engine, a, session);
}

void conversation_refuse(struct conversation *c, struct operation_request *r, const struct error *e)
{
    const struct operation *o = r->operation;
    uint64_t id = r->id;
    struct operation_answer *a = operation_answer_new(r);
    operation_answer_fail(a, e);
    give_answer(c, a);
    engine_request_over(&c->seat, id, o);
}

static void drop(struct conversation *c, struct operation_request *r)
{
    if (r->id != 0)
        engine_request_over(&c->seat, r->id, r->operation);
    operation_request_free(r);
}

static void carry_out(struct conversation *c, struct operation_request *r)
{
    const struct operation *o = r->operation;
    uint64_t id = r->id;
    struct error e = {0};
    if (id == 0) {
        c->quit = c->quit || o == &order_quit;
        conversation_tell_tasks(c);
        operation_request_free(r);
        return;
    }
    if (!engine_begin_request(&c->seat, r)) {
        drop(c, r);
        return;
    }
    if (!conversation_opens_for(c, r, &e)) {
        conversation_refuse(c, r, &e);
        return;
    }
    struct operation_answer *a = operation_answer_new(r);
    if (o->busy) {
        c->doing = o->busy == BUSY_TURN ? TURN : COMPACTION;
        c->busy_since_ms = clock_mono_ms();
        c->prepared = false;
        tell_busy(c, true);
    }
    if (!o->converse(c, r->params, a->result, &e))
        operation_answer_fail(a, &e);
    if (c->gone && !engine_has_in_front(&c->seat))
        conversation_give_way(c); /* the session is free for others before the answer says so */
    give_answer(c, a);
    if (o->busy) {
        conversation_finish(c);
        tell_session(c, false);
        tell_busy(c, false);
        if (c->prepared) {
            c->doing = ASIDE;
            if (!c->quit && backend_ask_window(&c->backend))
                tell_provider(c);
            conversation_finish(c);
        }
        conversation_note_said(c);
    }
    if (c->gone)
        conversation_give_way(c);
    conversation_tell_tasks(c);
    engine_request_over(&c->seat, id, o);
}

/* --- when a request is done ------------------------------------------------------------------- */

size_t conversation_waiting_turn(const struct conversation *c)
{
    size_t i = 0;
    while (i < c->seat.deferred.len && !c->seat.deferred.items[i]->operation->busy)
        i++;
    return i;
}

/* While an aside runs, a deferred turn or compaction counts as running. */
static enum operation_when when_of(struct conversation *c, struct operation_request *r)
{
    enum operation_when when = c->doing == IDLE ? WHEN_NOW : r->operation->in_turn;
    bool runs = c->doing == TURN || c->doing == COMPACTION;
    if (runs && r->operation == &operation_session_open &&
        strcmp(((struct session_open_params *)r->params)->session, c->journal.info.id) == 0)
        return WHEN_NOW; /* its state is only sent again */
    if (when == WHEN_ENDS && !conversation_means_current(c, *operation_request_session(r)))
        return WHEN_NOW;
    if (c->doing != ASIDE)
        return when;
    if (conversation_must_open(c, r))
        return WHEN_ENDS;
    bool waits = conversation_waiting_turn(c) < c->seat.deferred.len;
    return when != WHEN_REFUSED || (r->operation->busy && waits) ? when : WHEN_ENDS;
}

void conversation_handle(struct conversation *c, struct operation_request *r)
{
    if (c->fault.code != ERR_OK && r->id != 0) {
        conversation_refuse(c, r, &c->fault);
        return;
    }
    if (!conversation_takes_up(c, r))
        return;
    enum operation_when when = when_of(c, r);
    if (when == WHEN_REFUSED) {
        struct error e;
        err_set(&e, ERR_SESSION_BUSY, "%s is running; wait for its end or interrupt it",
                c->doing == COMPACTION ? "a compaction" : "a turn");
        conversation_refuse(c, r, &e);
    } else if (when != WHEN_NOW) {
        c->cancelled = c->cancelled || when == WHEN_ENDS;
        vec_push(&c->seat.deferred, r);
    } else if (!conversation_hands_over(c, r)) {
        carry_out(c, r);
    }
}

bool conversation_go_on(void *conversation)
{
    struct conversation *c = conversation;
    struct operation_request *r;
    while ((r = mailbox_pop(c->seat.requests)))
        conversation_handle(c, r);
    return !c->cancelled && !c->quit && !wakeup_late(&c->wakeup);
}

/* At the end of the program, sessions that were to be archived or deleted still are. */
static void handle_deferred(struct conversation *c)
{
    while (c->seat.deferred.len > 0) {
        struct operation_request *r = c->seat.deferred.items[0];
        vec_remove(&c->seat.deferred, 0, 1);
        if (!c->quit || r->operation->in_turn == WHEN_ENDS)
            conversation_handle(c, r);
        else
            drop(c, r);
    }
}

static bool ends_a_wait(const void *request)
{
    const struct operation *o = ((const struct operation_request *)request)->operation;
    return o == &operation_turn_interrupt || o == &order_quit;
}

/* The agent thread waits for another writer and cannot take requests meanwhile. */
static bool wants_an_end(void *requests)
{
    return mailbox_count(requests, ends_a_wait) > 0;
}

/* If the file cannot be used, the store is in memory and the user is told. False: no connection can
 * be opened, which an engine that serves survives. */
static bool open_store(struct conversation *c)
{
    struct error e = {0};
    if (!place_open(c->engine->place, STORE_READ_WRITE, &c->store, &c->fault)) {
        if (!c->engine->options.serves)
            die(c->fault.text);
        return false;
    }
    bool attended = c->engine->options.can_ask || c->engine->options.serves;
    store_set_patience(c->store, attended ? PATIENCE_MS : UNATTENDED_MS, GRACE_MS, wants_an_end,
                       c->seat.requests);
    c->lasting = c->store;
    if (c->engine->lasting != c->engine->place &&
        !place_open(c->engine->lasting, STORE_READ_ONLY, &c->lasting, &e)) {
        c->lasting = c->store;
        tell_fault(c, &e);
    }
    c->journal.store = c->store;
    c->journal.directory = c->engine->place->directory;
    conversation_open_memory(c);
    c->tool_graph.graph.store = c->lasting;
    if (c->engine->options.can_ask) /* a program that ends soon would only interrupt the call */
        extractor_want(c->engine->extractor);
    conversation_open_corpora(c);
    if (place_take_fault(c->engine->place, &e))
        tell_fault(c, &e);
    return true;
}

/* Removes the files that a deleting process left because it was killed, and then words of deleted
 * texts until a request arrives. A program that ends has no time for those. Returns whether all of
 * them are gone. */
static bool remove_left(struct conversation *c)
{
    struct catalog catalog;
    bool more = true;
    catalog_borrow(&catalog, c->store, c->journal.directory, c->journal.info.id);
    removal_finish_some(&catalog, REMOVALS_AT_ONCE);
    removal_sweep_locks(&catalog);
    while (more && !c->quit && mailbox_count(c->seat.requests, NULL) == 0)
        more = catalog_purge_step(&catalog);
    catalog_release(&catalog);
    return !more;
}

/* A session without a snapshot (a fork, an import) is opened first, and the size of its history,
 * which takes seconds for a long one, is told when no request waits. */
static void count_history(struct conversation *c)
{
    struct error fault;
    c->uncounted = false;
    if (!*c->journal.info.id || c->journal.loaded)
        return;
    if (conversation_need_history(c, &fault))
        tell_session(c, false);
    else
        log_line(LOG_ERROR, "history of %s: %s", c->journal.info.id, fault.text);
}

bool conversation_run(struct conversation *c)
{
    bool tidied = !c->tidies;
    conversation_know_graph(c); /* its tools are listed by that */
    conversation_work_in(c, NULL);
    if (open_store(c))
        conversation_begin(c);
    else
        engine_spend(&c->seat);
    while (!c->quit) {
        bool shown = !c->engine->options.serves && *c->journal.info.id;
        backend_question *ask = shown ? backend_next_question(&c->backend) : NULL;
        int wait_ms = REST_MS;
        tidied = tidied || !c->store;
        if (c->uncounted) {
            wait_ms = 0;
        } else if (!ask && !c->title_due && tidied) {
            int idle_ms = conversation_idle_wait(c);
            wait_ms = engine_rest_wait(&c->seat, *c->journal.info.id);
            if (wait_ms < 0 || (idle_ms >= 0 && idle_ms < wait_ms))
                wait_ms = idle_ms;
        }
        struct operation_request *r = mailbox_wait(c->seat.requests, wait_ms);
        if (r) {
            conversation_handle(c, r);
        } else if (c->uncounted) {
            count_history(c);
        } else if (ask) { /* so that title and gauge are complete before a message is sent */
            conversation_step_aside(c);
            bool known = ask(&c->backend);
            conversation_finish(c);
            if (known) {
                conversation_note_backend(c);
                tell_provider(c);
            }
        } else if (c->title_due) {
            conversation_make_title(c);
        } else if (tidied) {
            conversation_note_idle(c);
        } else {
            tidied = remove_left(c);
            if (tidied) {
                conversation_look_back(c);
                import_desk_follow(c->engine->import_desk);
            }
        }
        handle_deferred(c);
        /* a server has many conversations: pages of the database come back from the system's cache
         */
        if (c->engine->options.serves && c->store && mailbox_count(c->seat.requests, NULL) == 0)
            store_rest(c->store);
        if (engine_is_done_with(&c->seat)) { /* another session may be opened in it */
            conversation_end_tasks(c);
            conversation_tell_tasks(c);
            journal_close(&c->journal);
            engine_note_session(&c->seat, "");
        } else if (engine_rest_wait(&c->seat, *c->journal.info.id) == 0) {
            conversation_end_tasks(c);
            journal_close(&c->journal);
            if (engine_retire(&c->seat))
                return true;
        }
    }
    conversation_end_tasks(c);
    if (!tidied && c->store)
        remove_left(c);
    return false;
}
