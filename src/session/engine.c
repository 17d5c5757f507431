#include "session/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "base/mem.h"
#include "base/thread.h"
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

static struct place *make_place(const struct engine *s)
{
    char *path = !s->persist             ? NULL
                 : s->options.store_path ? mem_strdup(s->options.store_path)
                                         : store_default_path();
    struct place *place = place_new(path);
    free(path);
    return place;
}

static struct conversation *add_conversation(struct engine *s)
{
    struct conversation *c = conversation_new(s);
    vec_push(&s->conversations, c);
    return c;
}

static void *agent_main(void *conversation)
{
    conversation_run(conversation);
    return NULL;
}

static void start(struct conversation *c)
{
    if (!thread_start(&c->seat.thread, agent_main, c))
        die("cannot start a thread");
    c->seat.started = true;
}

struct engine *engine_make(const struct engine_options *options)
{
    struct engine *s = mem_alloc(sizeof *s);
    s->options = copy_options(options);
    s->config = options->config;
    s->root = resolve_directory(options->directory);
    s->persist = options->persist && capability_store();
    s->compaction = options->compaction && capability_compaction();
    s->memory = options->memory && capability_memory();
    s->graph = capability_graph() && config_boolean(options->config, CONFIG_GRAPH_ENABLED);
    s->corpora = capability_corpora() && config_boolean(options->config, CONFIG_CORPUS_ENABLED);
    s->notices = mailbox_new(free_notice);
    s->place = make_place(s);
    s->reader = reader_new(s->place, s->notices);
    s->desk = memory_desk_new(s->config, s->place, s->root, s->notices);
    if (s->memory)
        s->extractor = extractor_new(s->config, s->place, s->root, s->notices);
    s->corpora_desk = corpora_desk_new(s->config, s->place, s->notices);
    pthread_mutex_init(&s->lock, NULL);
    s->front = add_conversation(s);
    return s;
}

struct engine *engine_new(const struct engine_options *options)
{
    struct engine *s = engine_make(options);
    start(s->front);
    return s;
}

static void stop_conversations(struct engine *s)
{
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    for (size_t i = 0; i < s->conversations.len; i++)
        conversation_quit(s->conversations.items[i]);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->conversations.len; i++) {
        struct conversation *c = s->conversations.items[i];
        if (c->seat.started)
            pthread_join(c->seat.thread, NULL);
        conversation_free(c);
    }
    vec_release(&s->conversations);
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
    place_free(s->place);
    mailbox_free(s->notices);
    pthread_mutex_destroy(&s->lock);
    release_options(&s->options);
    free(s->root);
    free(s);
}

struct mailbox *engine_notices(struct engine *s)
{
    return s->notices;
}

/* --- requests to conversations: each holds the lock -------------------------------------------
 */

/* NULL: it is open in none. */
static struct conversation *find_open(const struct engine *s, const char *session)
{
    for (size_t i = 0; session && *session && i < s->conversations.len; i++)
        if (strcmp(s->conversations.items[i]->seat.session, session) == 0)
            return s->conversations.items[i];
    return NULL;
}

static struct conversation *find_spare(struct engine *s)
{
    for (size_t i = 0; i < s->conversations.len; i++) {
        struct conversation *c = s->conversations.items[i];
        if (c != s->front && c->seat.claims == 0 && !*c->seat.session)
            return c;
    }
    return NULL;
}

static bool names_session(struct operation_request *r)
{
    char **named = operation_request_session(r);
    return named && *named && **named;
}

/* Who has the session open that the request names. */
static struct conversation *find_named(const struct engine *s, struct operation_request *r)
{
    return names_session(r) ? find_open(s, *operation_request_session(r)) : NULL;
}

/* What the front has, so that the request means the same in another conversation. */
static void keep_meaning(const struct engine *s, struct operation_request *r)
{
    const struct seat *front = &s->front->seat;
    if (r->operation == &operation_session_create) {
        struct session_create_params *p = r->params;
        if (p->provider || p->model)
            return;
        p->provider = mem_strdup(front->provider);
        p->model = front->provider ? mem_strdup(front->model) : NULL;
    } else if (r->operation == &operation_session_fork && !names_session(r)) {
        operation_request_name(r, front->session);
    }
}

static struct conversation *take_another(struct engine *s, struct operation_request *r)
{
    struct conversation *spare = find_spare(s), *c = spare ? spare : add_conversation(s);
    keep_meaning(s, r);
    memcpy(c->seat.before, s->front->seat.session, sizeof c->seat.before);
    if (!spare)
        start(c);
    return c;
}

/* It looks whether it is done with. */
static void leave_front(struct engine *s, struct conversation *front)
{
    if (front != s->front)
        conversation_leave(s->front);
    s->front = front;
}

static bool opens(const struct operation *o)
{
    return o == &operation_session_create || o == &operation_session_open ||
           o == &operation_session_fork;
}

static struct conversation *who_opens(struct engine *s, struct operation_request *r)
{
    struct conversation *open = r->operation == &operation_session_open ? find_named(s, r) : NULL;
    if (open)
        return open;
    return s->options.many && s->front->seat.claims > 0 ? take_another(s, r) : s->front;
}

/* Who has the session open that the request names, else the one in front, which changes others,
 * too; NULL: there it must be open. */
static struct conversation *who_does(struct engine *s, struct operation_request *r)
{
    struct conversation *open = find_named(s, r);
    return open || (names_session(r) && !r->operation->run) ? open : s->front;
}

static void send(struct engine *s, struct conversation *c, struct operation_request *r)
{
    if (opens(r->operation))
        leave_front(s, c);
    c->seat.claims += conversation_begins_turn(r->operation);
    conversation_send(c, r);
}

/* --- requests --------------------------------------------------------------------------------- */

static struct operation_request *new_request(struct engine *s, const struct operation *o,
                                             const void *params)
{
    struct operation_request *r = operation_request_new(o, params);
    pthread_mutex_lock(&s->lock);
    r->id = ++s->requests;
    const struct conversation *open = find_named(s, r), *meant = open ? open : s->front;
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

static void fail_request(struct engine *s, struct operation_request *r, const struct error *e)
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
           (!(o->needs & NEED_COMPACTION) || capability_need_compaction(s->compaction, e));
}

static void ask_conversation(struct engine *s, struct operation_request *r)
{
    struct error e;
    pthread_mutex_lock(&s->lock);
    struct conversation *c = opens(r->operation) ? who_opens(s, r) : who_does(s, r);
    if (c)
        send(s, c, r);
    pthread_mutex_unlock(&s->lock);
    if (c)
        return;
    err_set(&e, ERR_SESSION_NOT_FOUND, "session %.60s is not open", *operation_request_session(r));
    fail_request(s, r, &e);
}

static void start_request(struct engine *s, struct operation_request *r)
{
    struct error e;
    if (!may_start(s, r->operation, &e))
        fail_request(s, r, &e);
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

/* --- what conversations say ---------------------------------------------------------------------
 */

void engine_note_session(struct conversation *c, const char *id)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    memset(c->seat.session, 0, sizeof c->seat.session);
    memcpy(c->seat.session, id, strnlen(id, UUID_LEN));
    pthread_mutex_unlock(&s->lock);
}

static void replace(char **old, const char *new)
{
    free(*old);
    *old = mem_strdup(new);
}

void engine_note_backend(struct conversation *c, const char *provider, const char *model)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    replace(&c->seat.provider, provider);
    replace(&c->seat.model, model);
    pthread_mutex_unlock(&s->lock);
}

void engine_turn_over(struct conversation *c)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    c->seat.claims -= c->seat.claims > 0;
    pthread_mutex_unlock(&s->lock);
}

void engine_tell_front(struct conversation *c, struct notice *n)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    bool in_front = s->front == c;
    if (in_front)
        mailbox_push(s->notices, n);
    pthread_mutex_unlock(&s->lock);
    if (!in_front)
        notice_free(n);
}

bool engine_has_in_front(struct conversation *c)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    bool in_front = s->front == c;
    pthread_mutex_unlock(&s->lock);
    return in_front;
}

bool engine_is_done_with(struct conversation *c)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    bool done = s->front != c && c->seat.claims == 0 && mailbox_len(c->requests) == 0;
    pthread_mutex_unlock(&s->lock);
    return done;
}

static void move_request(struct conversation *from, struct conversation *to,
                         struct operation_request *r)
{
    int turn = conversation_begins_turn(r->operation);
    from->seat.claims -= turn;
    to->seat.claims += turn;
    conversation_send(to, r);
}

/* Holds the lock. */
static void move_requests(struct conversation *from, struct conversation *to)
{
    for (size_t i = 0; i < from->deferred.len; i++)
        move_request(from, to, from->deferred.items[i]);
    vec_clear(&from->deferred);
    for (struct operation_request *r; (r = mailbox_pop(from->requests));)
        move_request(from, to, r);
}

bool engine_hand_over(struct conversation *c, const char *session, struct operation_request *r)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    struct conversation *to = s->ends || s->front != c ? NULL : find_open(s, session);
    bool another = to && to != c;
    if (another) {
        s->front = to;
        if (r)
            conversation_send(to, r);
        move_requests(c, to);
    }
    pthread_mutex_unlock(&s->lock);
    return another;
}
