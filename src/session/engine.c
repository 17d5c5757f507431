#include "session/engine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "provider/choose.h"
#include "session/capability.h"
#include "session/conversation_private.h"

void engine_hide_keys(void)
{
    config_hide_environment();
    choose_hide_keys();
}

/* --- options ---------------------------------------------------------------------------------- */

static const size_t option_strings[] = {
    offsetof(struct engine_options, directory), offsetof(struct engine_options, store_path),
    offsetof(struct engine_options, provider),  offsetof(struct engine_options, model),
    offsetof(struct engine_options, system),    offsetof(struct engine_options, tools),
    offsetof(struct engine_options, allow),     offsetof(struct engine_options, labels),
    offsetof(struct engine_options, resume)};
enum { OPTION_STRINGS = sizeof option_strings / sizeof *option_strings };

static const char **option_string(struct engine_options *o, int index)
{
    return (const char **)(void *)((char *)o + option_strings[index]);
}

static struct engine_options copy_options(const struct engine_options *options)
{
    struct engine_options copy = *options;
    if (!copy.tools)
        copy.tools = config_string(copy.config, CONFIG_CHAT_TOOLS);
    for (int i = 0; i < OPTION_STRINGS; i++)
        *option_string(&copy, i) = mem_strdup(*option_string(&copy, i));
    return copy;
}

static void release_options(struct engine_options *o)
{
    for (int i = 0; i < OPTION_STRINGS; i++)
        free((char *)*option_string(o, i));
}

/* --- the engine ------------------------------------------------------------------------------- */

static void free_notice(void *item)
{
    notice_free(item);
}

static char *resolve_directory(const char *directory)
{
    char *resolved = realpath(directory ? directory : ".", NULL);
    return resolved ? resolved : mem_strdup(directory ? directory : ".");
}

static char *store_path(const struct engine *s)
{
    return s->options.store_path ? mem_strdup(s->options.store_path) : store_default_path();
}

/* A session that is not saved still reads what earlier sessions left. */
static struct place *lasting_place(const struct engine *s)
{
    auto_free char *path = store_path(s);
    bool reads = !s->persist && !s->options.apart && capability_store() && access(path, R_OK) == 0;
    return reads ? place_new_reading(path) : s->place;
}

static struct place *make_place(const struct engine *s)
{
    auto_free char *path = s->persist ? store_path(s) : NULL;
    return place_new(path, s->options.serves);
}

struct engine *engine_make(const struct engine_options *options)
{
    struct engine *s = mem_alloc(sizeof *s);
    s->options = copy_options(options);
    s->config = options->config;
    s->tools_asked = options->tools && !options->serves;
    s->most = CONVERSATIONS_MOST;
    s->root = resolve_directory(options->directory);
    s->persist = options->persist && capability_store();
    s->compaction = options->compaction && capability_compaction();
    s->memory = options->memory && capability_memory();
    s->graph = capability_graph() && config_boolean(options->config, CONFIG_GRAPH_ENABLED);
    s->corpora = capability_corpora() && config_boolean(options->config, CONFIG_CORPUS_ENABLED);
    s->learned = s->memory && config_boolean(options->config, CONFIG_LEARNED_ENABLED);
    s->notices = mailbox_new(free_notice);
    s->place = make_place(s);
    s->lasting = lasting_place(s);
    s->reader = reader_new(s->place, s->notices);
    s->desk = memory_desk_new(s->config, s->lasting, s->root, s->notices);
    if (s->memory)
        s->extractor = extractor_new(s->config, s->place, s->root, options->serves, s->notices);
    s->corpora_desk = corpora_desk_new(s->config, s->lasting, s->notices);
    pthread_mutex_init(&s->lock, NULL);
    if (!options->serves)
        s->front = engine_add_conversation(s);
    return s;
}

struct engine *engine_new(const struct engine_options *options)
{
    struct engine *s = engine_make(options);
    if (s->front && !engine_start_conversation(s->front))
        die("cannot start a thread");
    return s;
}

static void stop_conversations(struct engine *s)
{
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    for (size_t i = 0; i < s->conversations.len; i++)
        conversation_quit(s->conversations.items[i]);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->conversations.len; i++)
        if (s->conversations.items[i]->seat.started)
            pthread_join(s->conversations.items[i]->seat.thread, NULL);
    for (size_t i = 0; i < s->conversations.len; i++)
        conversation_free(s->conversations.items[i]);
    vec_release(&s->conversations);
    if (s->has_ended)
        pthread_join(s->last_ended, NULL);
    for (size_t i = 0; i < s->waiting.len; i++)
        operation_request_free(s->waiting.items[i]);
    vec_release(&s->waiting);
    vec_release(&s->queued);
}

void engine_free(struct engine *s)
{
    if (!s)
        return;
    stop_conversations(s);
    reader_free(s->reader);
    memory_desk_free(s->desk);
    extractor_free(s->extractor);
    corpora_desk_free(s->corpora_desk);
    if (s->lasting != s->place)
        place_free(s->lasting);
    place_free(s->place);
    mailbox_free(s->notices);
    pthread_mutex_destroy(&s->lock);
    release_options(&s->options);
    free(s->root);
    free(s);
}

/* What waits for room is the engine's still. */
static bool leave_waiting(struct engine *s, uint64_t id)
{
    for (size_t i = 0; i < s->waiting.len; i++)
        if (s->waiting.items[i]->id == id) {
            operation_request_free(s->waiting.items[i]);
            vec_remove(&s->waiting, i, 1);
            return true;
        }
    return false;
}

bool engine_cancel(struct engine *s, uint64_t id)
{
    pthread_mutex_lock(&s->lock);
    bool cancelled = leave_waiting(s, id) || engine_take_queued(s, id);
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

static struct operation_request *new_request(struct engine *s, const struct operation *o,
                                             const void *params)
{
    struct operation_request *r = operation_request_new(o, params);
    pthread_mutex_lock(&s->lock);
    r->id = ++s->requests;
    const struct conversation *open = engine_find_named(s, r), *meant = open ? open : s->front;
    if (meant)
        memcpy(r->session, meant->seat.session, sizeof r->session);
    pthread_mutex_unlock(&s->lock);
    return r;
}

void engine_answer(struct engine *s, struct operation_answer *a, const char *session)
{
    if (a->request->id == 0) {
        operation_answer_free(a);
        return;
    }
    struct notice *n = notice_new(NOTICE_ANSWER);
    n->answer = a;
    notice_name_session(n, session);
    mailbox_push(s->notices, n);
}

static void tell_answer(struct engine *s, struct operation_answer *a)
{
    char session[UUID_LEN + 1];
    memcpy(session, a->request->session, sizeof session);
    engine_answer(s, a, session);
}

void engine_fail(struct engine *s, struct operation_request *r, const struct error *e)
{
    struct operation_answer *a = operation_answer_new(r);
    operation_answer_fail(a, e);
    tell_answer(s, a);
}

static void call_at_once(struct engine *s, struct operation_request *r)
{
    struct operation_context context = {.config = s->config, .project = s->root};
    struct operation_answer *a = operation_answer_new(r);
    struct error e;
    if (!operation_call(&context, r->operation, r->params, a->result, &e))
        operation_answer_fail(a, &e);
    tell_answer(s, a);
}

/* What is kept in memory alone is a store, too. */
static bool may_start(const struct engine *s, const struct operation *o, struct error *e)
{
    return (!(o->needs & NEED_MEMORY) || capability_need_memory(s->memory, e)) &&
           (!(o->needs & NEED_GRAPH) || capability_need_graph(s->graph, e)) &&
           (!(o->needs & NEED_CORPORA) || capability_need_corpora(s->corpora, e)) &&
           (!(o->needs & NEED_LEARNED) || capability_need_learned(s->learned, e)) &&
           (!(o->needs & NEED_COMPACTION) || capability_need_compaction(s->compaction, e));
}

static void ask_conversation(struct engine *s, struct operation_request *r)
{
    struct error e;
    pthread_mutex_lock(&s->lock);
    bool sent = s->options.serves ? engine_serve(s, r, &e) : engine_ask_front(s, r, &e);
    pthread_mutex_unlock(&s->lock);
    if (!sent)
        engine_fail(s, r, &e);
}

static void start_request(struct engine *s, struct operation_request *r)
{
    struct error e;
    if (!may_start(s, r->operation, &e))
        engine_fail(s, r, &e);
    else if (r->operation->executor == OPERATION_READ)
        reader_start(s->reader, r);
    else if (r->operation->executor == OPERATION_MEMORY)
        memory_desk_start(s->desk, r);
    else if (r->operation->executor == OPERATION_CORPORA)
        corpora_desk_start(s->corpora_desk, r);
    else if (r->operation->executor == OPERATION_CONVERSATION)
        ask_conversation(s, r);
    else
        call_at_once(s, r);
}

uint64_t engine_start(struct engine *s, const struct operation *o, const void *params)
{
    struct operation_request *r = new_request(s, o, params);
    uint64_t id = r->id;
    start_request(s, r);
    return id;
}

void engine_withdraw(struct engine *s, uint64_t id)
{
    reader_withdraw(s->reader, id);
    memory_desk_withdraw(s->desk, id);
    corpora_desk_withdraw(s->corpora_desk, id);
}
