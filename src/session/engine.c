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
    struct conversation *w = conversation_new(s);
    vec_push(&s->conversations, w);
    return w;
}

static void *agent_main(void *conversation)
{
    conversation_run(conversation);
    return NULL;
}

static void start(struct conversation *w)
{
    if (!thread_start(&w->seat.thread, agent_main, w))
        die("cannot start a thread");
    w->seat.started = true;
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
    s->notices = mailbox_new(free_notice);
    s->place = make_place(s);
    s->reader = reader_new(s->place, s->notices);
    s->desk = memory_desk_new(s->config, s->place, s->root, s->notices);
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
        conversation_send(s->conversations.items[i], command_new(COMMAND_QUIT, NULL));
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->conversations.len; i++) {
        struct conversation *w = s->conversations.items[i];
        if (w->seat.started)
            pthread_join(w->seat.thread, NULL);
        conversation_free(w);
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

/* --- commands: each holds the lock -------------------------------------------------------------
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
        struct conversation *w = s->conversations.items[i];
        if (w != s->front && w->seat.claims == 0 && !*w->seat.session)
            return w;
    }
    return NULL;
}

/* What the front has, so that the command means the same in another conversation. */
static void keep_meaning(const struct engine *s, struct command *c)
{
    const struct seat *front = &s->front->seat;
    if (c->type == COMMAND_NEW && front->provider) {
        c->name = mem_strdup(front->provider);
        c->text = mem_strdup(front->model);
    } else if (c->type == COMMAND_FORK && !c->name) {
        c->name = mem_strdup(front->session);
    }
}

static struct conversation *take_another(struct engine *s, struct command *c)
{
    struct conversation *spare = find_spare(s), *w = spare ? spare : add_conversation(s);
    keep_meaning(s, c);
    memcpy(w->seat.before, s->front->seat.session, sizeof w->seat.before);
    if (!spare)
        start(w);
    return w;
}

/* It looks whether it is done with. */
static void leave_front(struct engine *s, struct conversation *front)
{
    if (front != s->front)
        conversation_send(s->front, command_new(COMMAND_LEAVE, NULL));
    s->front = front;
}

static struct conversation *who_opens(struct engine *s, struct command *c)
{
    bool names = c->type == COMMAND_RESUME || c->type == COMMAND_OPEN;
    struct conversation *open = names ? find_open(s, c->text) : NULL;
    if (open)
        return open;
    return s->options.many && s->front->seat.claims > 0 ? take_another(s, c) : s->front;
}

/* How a conversation is found for a command. */
enum address { IN_FRONT, OPENS, CHANGES_NAMED };

static enum address address_of(enum command_type type)
{
    switch (type) {
    case COMMAND_NEW:
    case COMMAND_RESUME:
    case COMMAND_OPEN:
    case COMMAND_FORK:
        return OPENS;
    case COMMAND_RENAME:
    case COMMAND_LABEL:
    case COMMAND_ARCHIVE:
    case COMMAND_DELETE:
        return CHANGES_NAMED;
    default:
        return IN_FRONT;
    }
}

/* NULL: the session that it names is not open. */
static struct conversation *addressee(struct engine *s, struct command *c)
{
    enum address address = address_of(c->type);
    if (c->session)
        return find_open(s, c->session);
    if (address == OPENS)
        return who_opens(s, c);
    struct conversation *named = address == CHANGES_NAMED ? find_open(s, c->name) : NULL;
    return named ? named : s->front;
}

static bool send(struct engine *s, struct command *c)
{
    struct conversation *w = addressee(s, c);
    if (!w)
        return false;
    if (address_of(c->type) == OPENS)
        leave_front(s, w);
    w->seat.claims += command_begins_turn(c->type);
    conversation_send(w, c);
    return true;
}

/* --- commands ----------------------------------------------------------------------------------
 */

static void refuse(struct engine *s, struct command *c, const struct error *e)
{
    mailbox_push(s->notices, notice_fault(c, e));
    command_free(c);
}

static void ask_memory(struct engine *s, struct command *c)
{
    struct error e;
    if (capability_need_memory(s->memory, &e))
        memory_desk_ask(s->desk, c);
    else
        refuse(s, c, &e);
}

static void ask_conversation(struct engine *s, struct command *c)
{
    struct error e;
    pthread_mutex_lock(&s->lock);
    bool sent = send(s, c);
    pthread_mutex_unlock(&s->lock);
    if (sent)
        return;
    err_set(&e, ERR_SESSION_NOT_FOUND, "session %s is not open", c->session);
    refuse(s, c, &e);
}

/* Reads of the open session name it. */
static void name_session(struct engine *s, struct command *c)
{
    pthread_mutex_lock(&s->lock);
    if (!c->session && *s->front->seat.session)
        c->session = mem_strdup(s->front->seat.session);
    pthread_mutex_unlock(&s->lock);
    if (!c->name && reader_answers(c->type))
        c->name = mem_strdup(c->session);
}

void engine_send(struct engine *s, struct command *c)
{
    bool reads = reader_answers(c->type), remembers = memory_desk_answers(c->type);
    if (reads || remembers)
        name_session(s, c);
    if (reads)
        reader_ask(s->reader, c);
    else if (remembers)
        ask_memory(s, c);
    else
        ask_conversation(s, c);
}

/* --- operations ---------------------------------------------------------------------------------
 */

static struct operation_request *new_request(struct engine *s, const struct operation *o,
                                             const void *params)
{
    struct operation_request *r = operation_request_new(o, params);
    pthread_mutex_lock(&s->lock);
    r->id = ++s->requests;
    memcpy(r->session, s->front->seat.session, sizeof r->session);
    pthread_mutex_unlock(&s->lock);
    return r;
}

static void tell_answer(struct engine *s, struct operation_answer *a)
{
    struct notice *n = notice_new(NOTICE_ANSWER);
    n->answer = a;
    notice_name_session(n, a->request->session);
    mailbox_push(s->notices, n);
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

static bool may_start(const struct engine *s, const struct operation *o, struct error *e)
{
    bool kept = o->executor != OPERATION_MEMORY && (o->needs & NEED_STORE);
    return (!(o->needs & NEED_MEMORY) || capability_need_memory(s->memory, e)) &&
           (!kept || capability_need_store(s->persist, e));
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
}

/* --- what conversations say ---------------------------------------------------------------------
 */

void engine_note_session(struct conversation *w, const char *id)
{
    struct engine *s = w->engine;
    pthread_mutex_lock(&s->lock);
    memset(w->seat.session, 0, sizeof w->seat.session);
    memcpy(w->seat.session, id, strnlen(id, UUID_LEN));
    pthread_mutex_unlock(&s->lock);
}

static void replace(char **old, const char *new)
{
    free(*old);
    *old = mem_strdup(new);
}

void engine_note_backend(struct conversation *w, const char *provider, const char *model)
{
    struct engine *s = w->engine;
    pthread_mutex_lock(&s->lock);
    replace(&w->seat.provider, provider);
    replace(&w->seat.model, model);
    pthread_mutex_unlock(&s->lock);
}

void engine_turn_over(struct conversation *w)
{
    struct engine *s = w->engine;
    pthread_mutex_lock(&s->lock);
    w->seat.claims -= w->seat.claims > 0;
    pthread_mutex_unlock(&s->lock);
}

void engine_tell_front(struct conversation *w, struct notice *n)
{
    struct engine *s = w->engine;
    pthread_mutex_lock(&s->lock);
    bool in_front = s->front == w;
    if (in_front)
        mailbox_push(s->notices, n);
    pthread_mutex_unlock(&s->lock);
    if (!in_front)
        notice_free(n);
}

bool engine_has_in_front(struct conversation *w)
{
    struct engine *s = w->engine;
    pthread_mutex_lock(&s->lock);
    bool in_front = s->front == w;
    pthread_mutex_unlock(&s->lock);
    return in_front;
}

bool engine_is_done_with(struct conversation *w)
{
    struct engine *s = w->engine;
    pthread_mutex_lock(&s->lock);
    bool done = s->front != w && w->seat.claims == 0 && mailbox_len(w->commands) == 0;
    pthread_mutex_unlock(&s->lock);
    return done;
}

static void move_command(struct conversation *from, struct conversation *to, struct command *c)
{
    int turn = command_begins_turn(c->type);
    from->seat.claims -= turn;
    to->seat.claims += turn;
    conversation_send(to, c);
}

/* Holds the lock. */
static void move_commands(struct conversation *from, struct conversation *to)
{
    for (size_t i = 0; i < from->deferred.len; i++)
        move_command(from, to, from->deferred.items[i]);
    vec_clear(&from->deferred);
    for (struct command *c; (c = mailbox_pop(from->commands));)
        move_command(from, to, c);
}

bool engine_hand_over(struct conversation *w, const char *session, struct command *c)
{
    struct engine *s = w->engine;
    pthread_mutex_lock(&s->lock);
    struct conversation *to = s->ends || s->front != w ? NULL : find_open(s, session);
    bool another = to && to != w;
    if (another) {
        s->front = to;
        if (c)
            conversation_send(to, c);
        move_commands(w, to);
    }
    pthread_mutex_unlock(&s->lock);
    if (!another)
        command_free(c);
    return another;
}
