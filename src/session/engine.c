#include "session/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "base/mem.h"
#include "base/thread.h"
#include "provider/choose.h"
#include "session/capability.h"
#include "session/conversation.h"
#include "session/engine_private.h"

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
    s->conversation = conversation_new(s);
    return s;
}

static void *agent_main(void *arg)
{
    conversation_run(arg);
    return NULL;
}

struct engine *engine_new(const struct engine_options *options)
{
    struct engine *s = engine_make(options);
    if (!thread_start(&s->thread, agent_main, s->conversation))
        die("cannot start a thread");
    s->started = true;
    return s;
}

static void stop_conversation(struct engine *s)
{
    if (s->started) {
        conversation_send(s->conversation, command_new(COMMAND_QUIT, NULL));
        pthread_join(s->thread, NULL);
    }
    conversation_free(s->conversation);
}

void engine_free(struct engine *s)
{
    if (!s)
        return;
    stop_conversation(s);
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

void engine_note_session(struct engine *s, const char *id)
{
    pthread_mutex_lock(&s->lock);
    memcpy(s->session, id, sizeof s->session);
    pthread_mutex_unlock(&s->lock);
}

/* --- commands --------------------------------------------------------------------------------- */

static char *session_of(struct engine *s)
{
    pthread_mutex_lock(&s->lock);
    char *id = *s->session ? mem_strdup(s->session) : NULL;
    pthread_mutex_unlock(&s->lock);
    return id;
}

/* Reads of the open session name it. */
static void name_session(struct engine *s, struct command *c)
{
    if (!c->session)
        c->session = session_of(s);
    if (!c->name && reader_answers(c->type))
        c->name = mem_strdup(c->session);
}

static void ask_memory(struct engine *s, struct command *c)
{
    struct error e;
    if (capability_need_memory(s->memory, &e)) {
        memory_desk_ask(s->desk, c);
        return;
    }
    mailbox_push(s->notices, notice_fault(c, &e));
    command_free(c);
}

void engine_send(struct engine *s, struct command *c)
{
    name_session(s, c);
    if (reader_answers(c->type))
        reader_ask(s->reader, c);
    else if (memory_desk_answers(c->type))
        ask_memory(s, c);
    else
        conversation_send(s->conversation, c);
}
