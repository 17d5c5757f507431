#include "session/engine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/worker.h"
#include "provider/choose.h"
#include "session/capability.h"
#include "session/conversation.h"
#include "session/engine_private.h"
#include "session/session_operations.h"

void engine_hide_keys(void)
{
    config_hide_environment();
    choose_hide_keys();
}

/* --- conversations ---------------------------------------------------------------------------- */

/* A conversation that retired belongs to its thread alone. */
static void *agent_main(void *context)
{
    struct seat *seat = context;
    if (!conversation_run(seat->conversation))
        return NULL;
    bool joins = seat->joins;
    pthread_t earlier = seat->earlier;
    conversation_free(seat->conversation);
    if (joins)
        pthread_join(earlier, NULL);
    return NULL;
}

static bool start_conversation(struct seat *seat)
{
    seat->started = thread_start(&seat->thread, agent_main, seat);
    return seat->started;
}

/* --- an engine with a conversation in front --------------------------------------------------- */

/* An operation that opens a session is for the conversation that has it, else for the one in front
 * or, while that runs a turn, for another, which comes to the front. Every other operation is for
 * the conversation that has the session, else for the one in front, which also changes sessions
 * that are not open. */
static bool ask_front(struct engine *s, struct operation_request *r, struct error *e)
{
    struct seat *front = s->front;
    struct seat *open = engine_find_open(s, engine_named(r)), *seat = open;
    if (!r->operation->opens) {
        if (!open && engine_named(r) && !r->operation->run)
            return err_set(e, ERR_SESSION_NOT_FOUND, "session %.60s is not open", engine_named(r));
        engine_send(open ? open : front, r);
        return true;
    }
    bool shown = open && r->operation == &operation_session_open; /* only brought to the front */
    if (!shown && (!s->options.many || front->claims == 0)) {
        seat = front;
    } else if (!shown) {
        seat = NULL;
        for (size_t i = 0; i < s->seats.len && !seat; i++) {
            struct seat *spare = s->seats.items[i];
            seat = spare != front && spare->load == 0 && !*spare->session ? spare : NULL;
        }
        bool added = !seat;
        if (added)
            seat = conversation_new(s);
        /* The request means there what it means in front: the model, and the session to fork. */
        struct session_create_params *p = r->params;
        if (r->operation == &operation_session_fork && !engine_named(r)) {
            operation_request_name(r, front->session);
        } else if (r->operation == &operation_session_create && !p->provider && !p->model) {
            p->provider = mem_strdup(front->provider);
            p->model = front->provider ? mem_strdup(front->model) : NULL;
        }
        memcpy(seat->before, front->session, sizeof seat->before);
        if (added && !start_conversation(seat))
            die("cannot start a thread");
    }
    if (seat != front)
        engine_order(front, &order_look);
    s->front = seat;
    engine_send(seat, r);
    return true;
}

/* --- an engine that serves -------------------------------------------------------------------- */

static bool needs_session(const struct operation *o)
{
    const struct shape_field *f = o->params ? o->params->fields : NULL;
    for (; f && f->name; f++)
        if (strcmp(f->name, SESSION_MEMBER) == 0)
            return f->presence == SHAPE_REQUIRED;
    return false;
}

/* Gives the request to the conversation that has the session, else to one without a session, which
 * makes sure that no other has it (engine_claim()) and opens it; else it waits for room. */
static bool serve(struct engine *s, struct operation_request *r, struct error *e)
{
    const char *named = engine_named(r);
    struct seat *seat = engine_find_open(s, named);
    if (!named && needs_session(r->operation))
        return err_set(e, ERR_USAGE,
                       "\"" SESSION_MEMBER "\" is missing; name the session that is meant");
    for (size_t i = 0; i < s->seats.len && !seat; i++) {
        struct seat *spare = s->seats.items[i];
        seat = spare->load == 0 && !spare->spent ? spare : NULL;
    }
    if (!seat && s->seats.len >= s->most) {
        vec_push(&s->waiting, r);
        engine_make_room(s);
        return true;
    }
    if (!seat) {
        seat = conversation_new(s);
        if (!start_conversation(seat)) {
            s->seats.len--;
            conversation_free(seat->conversation);
            return err_set(e, ERR_AGENT_ERROR,
                           "there is no thread to be had for another session; close some");
        }
        s->tidied = true;
        engine_make_room(s);
    }
    engine_send(seat, r);
    return true;
}

static void serve_waiting(struct engine *s)
{
    size_t count = s->waiting.len;
    for (size_t i = 0; i < count && s->seats.len < s->most; i++) {
        struct operation_request *r = s->waiting.items[0];
        struct error e;
        vec_remove(&s->waiting, 0, 1);
        if (!serve(s, r, &e))
            engine_fail(s, r, &e);
    }
}

/* --- the engine ------------------------------------------------------------------------------- */

static const size_t option_strings[] = {
    offsetof(struct engine_options, directory), offsetof(struct engine_options, store_path),
    offsetof(struct engine_options, provider),  offsetof(struct engine_options, model),
    offsetof(struct engine_options, effort),    offsetof(struct engine_options, system),
    offsetof(struct engine_options, tools),     offsetof(struct engine_options, allow),
    offsetof(struct engine_options, labels),    offsetof(struct engine_options, resume)};
enum { OPTION_STRINGS = sizeof option_strings / sizeof *option_strings };

static const char **option_string(struct engine_options *o, int index)
{
    return (const char **)(void *)((char *)o + option_strings[index]);
}

static void free_notice(void *item)
{
    notice_free(item);
}

struct engine *engine_make(const struct engine_options *options)
{
    struct engine *s = mem_alloc(sizeof *s);
    s->options = *options;
    if (!options->tools)
        s->options.tools = config_string(options->config, CONFIG_CHAT_TOOLS);
    for (int i = 0; i < OPTION_STRINGS; i++)
        *option_string(&s->options, i) = mem_strdup(*option_string(&s->options, i));
    s->config = options->config;
    s->tools_asked = options->tools && !options->serves;
    s->most = CONVERSATIONS_MOST;
    s->serve_waiting = serve_waiting;
    const char *directory = options->directory ? options->directory : ".";
    s->root = realpath(directory, NULL);
    if (!s->root)
        s->root = mem_strdup(directory);
    s->persist = options->persist && capability_store();
    s->compaction = options->compaction && capability_compaction();
    s->memory = options->memory && capability_memory();
    s->graph = capability_graph() && config_boolean(options->config, CONFIG_GRAPH_ENABLED);
    s->corpora = capability_corpora() && config_boolean(options->config, CONFIG_CORPUS_ENABLED);
    s->learned = s->memory && config_boolean(options->config, CONFIG_LEARNED_ENABLED);
    s->notices = mailbox_new(free_notice);
    auto_free char *path =
        options->store_path ? mem_strdup(options->store_path) : store_default_path();
    s->place = place_new(s->persist ? path : NULL, options->serves ? PLACE_KEPT : PLACE_USUAL);
    /* a session that is not saved still reads what earlier sessions left */
    bool reads = !s->persist && !options->apart && capability_store() && access(path, R_OK) == 0;
    s->lasting = reads ? place_new(path, PLACE_READS) : s->place;
    desk_init(&s->reader, &reader_role, s->place, s->notices);
    s->desk = memory_desk_new(s->config, s->lasting, s->root, s->notices);
    if (s->memory)
        s->extractor = extractor_new(s->config, s->place, s->root, options->serves, s->notices);
    s->corpora_desk = corpora_desk_new(s->config, s->lasting, s->notices);
    s->import_desk =
        import_desk_new(s->config, s->lasting, s->desk, s->memory, options->serves, s->notices);
    s->space_desk = space_desk_new(s->config, s->lasting, s->root, s->desk, s->notices);
    pthread_mutex_init(&s->lock, NULL);
    if (!options->serves)
        s->front = conversation_new(s);
    return s;
}

struct engine *engine_new(const struct engine_options *options)
{
    struct engine *s = engine_make(options);
    if (options->serves)
        import_desk_follow(s->import_desk);
    if (s->front && !start_conversation(s->front))
        die("cannot start a thread");
    return s;
}

void engine_free(struct engine *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    for (size_t i = 0; i < s->seats.len; i++)
        engine_order(s->seats.items[i], &order_quit);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->seats.len; i++)
        if (s->seats.items[i]->started)
            pthread_join(s->seats.items[i]->thread, NULL);
    for (size_t i = 0; i < s->seats.len; i++)
        conversation_free(s->seats.items[i]->conversation);
    vec_release(&s->seats);
    if (s->has_ended)
        pthread_join(s->last_ended, NULL);
    for (size_t i = 0; i < s->waiting.len; i++)
        operation_request_free(s->waiting.items[i]);
    vec_release(&s->waiting);
    vec_release(&s->queued);

    desk_release(&s->reader);
    import_desk_free(s->import_desk);
    space_desk_free(s->space_desk);
    memory_desk_free(s->desk);
    extractor_free(s->extractor);
    corpora_desk_free(s->corpora_desk);
    if (s->lasting != s->place)
        place_free(s->lasting);
    place_free(s->place);
    mailbox_free(s->notices);
    pthread_mutex_destroy(&s->lock);
    for (int i = 0; i < OPTION_STRINGS; i++)
        free((char *)*option_string(&s->options, i));
    free(s->root);
    free(s);
}

bool engine_cancel(struct engine *s, uint64_t id)
{
    pthread_mutex_lock(&s->lock);
    bool cancelled = engine_take_queued(s, id);
    for (size_t i = 0; i < s->waiting.len && !cancelled; i++)
        if (s->waiting.items[i]->id == id) {
            operation_request_free(s->waiting.items[i]);
            vec_remove(&s->waiting, i, 1);
            cancelled = true;
        }
    pthread_mutex_unlock(&s->lock);
    return cancelled;
}

bool engine_open_store(struct engine *s, struct error *e)
{
    return place_settle(s->place, e);
}

struct mailbox *engine_notices(struct engine *s)
{
    return s->notices;
}

/* --- requests --------------------------------------------------------------------------------- */

static void call_at_once(struct engine *s, struct operation_request *r)
{
    struct operation_context context = {.config = s->config, .project = s->root};
    struct operation_answer *a = operation_answer_new(r);
    struct error e;
    if (!operation_call(&context, r->operation, r->params, a->result, &e))
        operation_answer_fail(a, &e);
    engine_answer(s, a, r->session);
}

/* NEED_STORE is always met: a store in memory is one, too. */
static bool may_start(const struct engine *s, const struct operation *o, struct error *e)
{
    return (!(o->needs & NEED_MEMORY) || capability_need_memory(s->memory, e)) &&
           (!(o->needs & NEED_GRAPH) || capability_need_graph(s->graph, e)) &&
           (!(o->needs & NEED_CORPORA) || capability_need_corpora(s->corpora, e)) &&
           (!(o->needs & NEED_LEARNED) || capability_need_learned(s->learned, e)) &&
           (!(o->needs & NEED_COMPACTION) || capability_need_compaction(s->compaction, e));
}

uint64_t engine_start(struct engine *s, const struct operation *o, const void *params)
{
    struct operation_request *r = operation_request_new(o, params);
    struct error e;
    bool sent;
    pthread_mutex_lock(&s->lock);
    uint64_t id = r->id = ++s->requests;
    const struct seat *open = engine_find_open(s, engine_named(r)), *meant = open ? open : s->front;
    if (meant)
        memcpy(r->session, meant->session, sizeof r->session);
    pthread_mutex_unlock(&s->lock);
    if (!may_start(s, o, &e)) {
        engine_fail(s, r, &e);
        return id;
    }
    switch (o->executor) {
    case OPERATION_READ:
        desk_start(&s->reader, r);
        break;
    case OPERATION_MEMORY:
        desk_start((struct desk *)s->desk, r);
        break;
    case OPERATION_CORPORA:
        desk_start((struct desk *)s->corpora_desk, r);
        break;
    case OPERATION_IMPORT:
        desk_start((struct desk *)s->import_desk, r);
        break;
    case OPERATION_SPACE:
        desk_start((struct desk *)s->space_desk, r);
        break;
    case OPERATION_CONVERSATION:
        pthread_mutex_lock(&s->lock);
        sent = s->options.serves ? serve(s, r, &e) : ask_front(s, r, &e);
        pthread_mutex_unlock(&s->lock);
        if (!sent)
            engine_fail(s, r, &e);
        break;
    case OPERATION_CALLER:
        call_at_once(s, r);
        break;
    }
    return id;
}

void engine_withdraw(struct engine *s, uint64_t id)
{
    desk_withdraw(&s->reader, id);
    desk_withdraw((struct desk *)s->desk, id);
    desk_withdraw((struct desk *)s->corpora_desk, id);
    desk_withdraw((struct desk *)s->import_desk, id);
    desk_withdraw((struct desk *)s->space_desk, id);
}
