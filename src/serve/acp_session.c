/* A value of an option. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "config/keys.h"
#include "serve/acp_private.h"
#include "serve/acp_updates.h"
#include "serve/wire.h"
#include "session/session_operations.h"

struct choice {
    const char *value, *name, *help; /* help NULL: none */
};

#define X(id, word, keeps_ends, help) {word, word, help},
static const struct choice compaction_choices[] = {COMPACTION_MODES(X){NULL, NULL, NULL}};
#undef X

static const struct choice tool_choices[] = {
    {"none", N_("No tools"), N_("the model can only talk")},
    {"read", N_("Reading"), N_("the model can look at files and search, and change nothing")},
    {"full", N_("All tools"),
     N_("the model can also write files and run commands, and asks first")},
    {NULL, NULL, NULL}};

static const struct row {
    const char *id, *category, *name, *help;
    const struct choice *choices; /* ends with an empty one; NULL: those of the session */
} rows[] = {
    [ACP_OPTION_MODEL] = {"model", "model", N_("Model"), N_("what the session talks to"), NULL},
    [ACP_OPTION_COMPACTION] = {"compaction", "_compaction", N_("Compaction"),
                               N_("how the conversation is shortened when it is too long"),
                               compaction_choices},
    [ACP_OPTION_TOOLS] = {"tools", "mode", N_("Tools"), N_("what the model may use"), tool_choices},
    [ACP_OPTION_EFFORT] = {"effort", "thought_level", N_("Effort"),
                           N_("how much the model reasons"), NULL},
};

/* --- writing ---------------------------------------------------------------------------------- */

static void write_choice_list(struct json_out *o, const char *key, const struct choice *choices)
{
    json_out_open(o, '[');
    for (const struct choice *c = choices; c->value; c++) {
        json_out_open(o, '{');
        json_out_member(o, key, c->value);
        json_out_pack(o, "name:s description:s", _(c->name), c->help ? _(c->help) : NULL);
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

static char *model_value(const char *provider, const char *model)
{
    return model && *model ? mem_printf("%s/%s", provider, model) : mem_strdup(provider);
}

static void write_model(struct json_out *o, const char *provider, const char *model)
{
    auto_free char *value = model_value(provider, model);
    json_out_pack(o, "{value:s name:s}", value, value);
}

static void write_options(const struct acp_options *now, struct json_out *o)
{
    const char *model = now->model ? now->model : "";
    auto_free char *present = now->provider ? model_value(now->provider, model) : NULL;
    const char *const values[] = {[ACP_OPTION_MODEL] = present,
                                  [ACP_OPTION_COMPACTION] = now->compaction,
                                  [ACP_OPTION_TOOLS] = now->tools,
                                  [ACP_OPTION_EFFORT] = !now->efforts ? NULL
                                                        : now->effort ? now->effort
                                                                      : "default"};
    json_out_open(o, '[');
    for (int i = 0; i < ACP_OPTION_UNKNOWN; i++) {
        const struct row *row = &rows[i];
        if (!values[i])
            continue;
        json_out_open(o, '{');
        json_out_pack(o, "id:s name:s description:s category:s type:'select' currentValue:s",
                      row->id, _(row->name), _(row->help), row->category, values[i]);
        json_out_name(o, "options");
        if (row->choices) {
            write_choice_list(o, "value", row->choices);
            json_out_close(o, '}');
            continue;
        }
        if (i == ACP_OPTION_EFFORT) {
            json_out_open(o, '[');
            json_out_pack(o, "{value:s name:s}", "default", "default");
            for (const char *at = now->efforts; *(at += strspn(at, " ")); at += strcspn(at, " ")) {
                auto_free char *word = mem_strndup(at, strcspn(at, " "));
                json_out_pack(o, "{value:s name:s}", word, word);
            }
            json_out_close(o, ']');
            json_out_close(o, '}');
            continue;
        }
        /* The present model comes first, unless its server lists it. */
        bool listed = false;
        json_out_open(o, '[');
        for (size_t m = 0; m < now->models.len; m++)
            listed = listed || strcmp(now->models.items[m], model) == 0;
        if (!listed)
            write_model(o, now->provider, model);
        for (size_t m = 0; m < now->models.len; m++)
            write_model(o, now->provider, now->models.items[m]);
        for (size_t p = 0; p < now->providers.len; p++)
            if (strcmp(now->providers.items[p], now->provider) != 0)
                write_model(o, now->providers.items[p], NULL);
        json_out_close(o, ']');
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Whether the option has the value. Any model may be named, listed or not. */
static bool option_takes(enum acp_option option, const char *value)
{
    const struct choice *c = rows[option].choices;
    while (c && c->value && strcmp(c->value, value) != 0)
        c++;
    return c ? c->value != NULL : *value != '\0';
}

/* Splits "provider/model", "provider", or a model of the present provider; a part that is not named
 * is NULL. The caller frees both. */
static void split_model(const struct acp_options *now, const char *value, char **provider,
                        char **model)
{
    size_t len = strcspn(value, "/");
    auto_free char *word = mem_strndup(value, len);
    bool named = now->provider && strcmp(now->provider, word) == 0;
    for (size_t i = 0; i < now->providers.len; i++)
        named = named || strcmp(now->providers.items[i], word) == 0;
    const char *rest = named ? value + len + (value[len] == '/') : value;
    *provider = named ? mem_strdup(word) : NULL;
    *model = *rest ? mem_strdup(rest) : NULL;
}

static void set_text(char **text, const char *to)
{
    char *copy = mem_strdup(to);
    free(*text);
    *text = copy;
}

void acp_options_choose(struct acp_options *now, enum acp_option option, const char *value)
{
    auto_free char *provider = NULL;
    auto_free char *model = NULL;
    if (option != ACP_OPTION_MODEL) {
        set_text(option == ACP_OPTION_TOOLS    ? &now->tools
                 : option == ACP_OPTION_EFFORT ? &now->effort
                                               : &now->compaction,
                 option == ACP_OPTION_EFFORT && strcmp(value, "default") == 0 ? NULL : value);
        return;
    }
    split_model(now, value, &provider, &model);
    if (provider)
        set_text(&now->provider, provider);
    set_text(&now->model, model);
}

/* Sessions that the client has open: how they begin, are told from their log, and end; what can be
 * chosen for them. */

enum { PAGE_SESSIONS = 100 /* of a list */ };

/* --- the list of them ------------------------------------------------------------------------- */

struct acp_session *acp_find_session(struct acp *a, const char *id)
{
    for (size_t i = 0; i < a->sessions.len; i++)
        if (strcmp(a->sessions.items[i]->id, id) == 0)
            return a->sessions.items[i];
    return NULL;
}

struct acp_session *acp_need_session(struct acp *a, struct rpc_call *call,
                                     const struct json *params)
{
    const char *id = json_get_string(params, "sessionId");
    struct acp_session *s = id ? acp_find_session(a, id) : NULL;
    if (!id)
        acp_refuse(call, ERR_USAGE, "\"sessionId\" is missing; give a string");
    else if (!s || s->loading.call)
        acp_refuse(call, ERR_SESSION_NOT_FOUND,
                   "that session is not open; load or resume it first");
    return s && !s->loading.call ? s : NULL;
}

static bool send_update(struct acp_session *s, const char *update)
{
    AUTO(buf_release) struct buf params = BUF_INIT;
    struct json_out o = {.buf = &params};
    json_out_pack(&o, "{sessionId:s update:r}", s->id, update);
    return rpc_notify(s->acp->peer, "session/update", params.data);
}

/* Sends an update, after a word about those that the reader was too slow for. */
static void update(void *context, const char *json)
{
    struct acp_session *s = context;
    if (s->dropped > 0) {
        AUTO(buf_release) struct buf lost = BUF_INIT;
        struct json_out o = {.buf = &lost};
        auto_free char *text = mem_printf(
            _("[%lld updates were left out: they were not read in time]"), (long long)s->dropped);
        json_out_pack(&o, "{sessionUpdate:'agent_message_chunk' content:{type:'text' text:s}}",
                      text);
        s->dropped = send_update(s, lost.data) ? 0 : s->dropped;
    }
    if (s->dropped > 0 || !send_update(s, json))
        s->dropped++;
}

static struct acp_session *add_session(struct acp *a, const struct session_info *info)
{
    struct acp_session *s = mem_alloc(sizeof *s);
    s->acp = a;
    memcpy(s->id, info->id, sizeof s->id);
    s->directory = mem_strdup(info->directory);
    s->telling = (struct acp_telling){
        .client = &a->client,
        .directory = s->directory,
        .hints = config_boolean(server_config(a->server), CONFIG_COMPACTION_HINT),
        .update = update,
        .context = s};
    vec_push(&a->sessions, s);
    return s;
}

void acp_session_free(struct acp_session *s)
{
    struct acp *a = s->acp;
    for (size_t i = 0; i < a->asks.len; i++)
        if (a->asks.items[i]->session == s)
            a->asks.items[i]->session = NULL;
    acp_forget_questions(s);
    (void)subscriptions_remove(a->subscriptions, s->id);
    vec_drop(&a->sessions, s);
    vec_free_each(&s->refused);
    free(s->loading.servers);
    free(s->servers);
    free(s->commands);
    acp_telling_release(&s->telling);
    free(s->options.provider);
    free(s->options.model);
    vec_free_each(&s->options.models);
    vec_free_each(&s->options.providers);
    free(s->options.compaction);
    free(s->options.tools);
    free(s->options.effort);
    free(s->options.efforts);
    free(s->directory);
    free(s);
}

/* --- what can be chosen ----------------------------------------------------------------------- */

/* Writes an object of a session's choices. `new_id`: of a session that was made; NULL: none. */
static void write_choices(const struct acp_session *s, const char *kind, const char *new_id,
                          bool with_modes, struct buf *out)
{
    struct json_out o = {.buf = out};
    json_out_open(&o, '{');
    json_out_pack(&o, "sessionUpdate:s sessionId:s", kind, new_id);
    if (with_modes) {
        json_out_name(&o, "modes");
        json_out_open(&o, '{');
        json_out_member(&o, "currentModeId", s->options.tools);
        json_out_name(&o, "availableModes");
        write_choice_list(&o, "id", tool_choices);
        json_out_close(&o, '}');
    }
    json_out_name(&o, "configOptions");
    write_options(&s->options, &o);
    json_out_close(&o, '}');
}

void acp_tell_options(struct acp_session *s)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    write_choices(s, "config_option_update", NULL, false, &text);
    update(s, text.data);
}

static void efforts_came(struct acp_ask *ask, const struct operation_answer *answer)
{
    const struct session_settings *now = answer->result;
    struct acp_session *s = ask->session;
    if (!s || answer->error.code != ERR_OK)
        return;
    set_text(&s->options.effort, now->effort);
    set_text(&s->options.efforts, now->efforts);
    acp_tell_options(s);
}

void acp_read_efforts(struct acp_session *s)
{
    acp_ask(s->acp, NULL, s, &operation_session_settings,
            &(struct session_params){.session = s->id}, efforts_came);
}

/* Keeps the models and providers that can be chosen; a server lists its models in its own time. */
static void models_listed(struct acp_ask *ask, const struct operation_answer *answer)
{
    const struct models_result *models = answer->result;
    struct acp_session *s = ask->session;
    if (!s || answer->error.code != ERR_OK)
        return;
    vec_free_each(&s->options.models);
    vec_free_each(&s->options.providers);
    for (size_t i = 0; i < models->models.len; i++)
        vec_push(&s->options.models, mem_strdup(models->models.items[i].name));
    for (size_t i = 0; i < models->providers.len; i++)
        if (!models->providers.items[i].wants)
            vec_push(&s->options.providers, mem_strdup(models->providers.items[i].name));
    acp_tell_options(s);
}

/* --- beginning -------------------------------------------------------------------------------- */

static bool check_directory(const struct json *params, const char **out, struct error *e)
{
    *out = json_get_string(params, "cwd");
    if (!*out || **out != '/')
        return err_set(e, ERR_USAGE, "\"cwd\" does not fit; give an absolute path");
    if (json_len(json_get(params, "additionalDirectories")) > 0)
        return err_set(e, ERR_USAGE,
                       "\"additionalDirectories\" is not supported; a session has one directory");
    return true;
}

/* The MCP servers of the client, a JSON text; NULL: none. The caller frees. */
static char *named_servers(const struct json *params)
{
    const struct json *servers = json_get(params, "mcpServers");
    return json_len(servers) > 0 ? json_print(servers) : NULL;
}

/* The session can be used: the client is answered and told of commands and models. `ask->number`:
 * it is a new one. */
static void settings_came(struct acp_ask *ask, const struct operation_answer *answer)
{
    const struct session_settings *now = answer->result;
    struct acp_session *s = ask->session;
    if (!s) {
        acp_refuse(ask->call, ERR_SESSION_NOT_FOUND, "that session was closed");
        return;
    }
    if (acp_failed(ask->call, answer)) {
        acp_session_free(s);
        return;
    }
    AUTO(buf_release) struct buf text = BUF_INIT;
    set_text(&s->options.provider, now->provider);
    set_text(&s->options.model, now->model);
    set_text(&s->options.compaction, now->compaction);
    set_text(&s->options.tools, tools_offer_names.words[now->tools]);
    set_text(&s->options.effort, now->effort);
    set_text(&s->options.efforts, now->efforts);
    s->loading = (struct acp_loading){.call = NULL};
    write_choices(s, NULL, ask->number ? s->id : NULL, true, &text);
    rpc_answer(ask->call, text.data);
    acp_tell_commands(s);
    mem_replace(&s->servers, ask->servers);
    ask->servers = NULL;
    acp_ask(s->acp, NULL, s, &operation_models_list, &(struct models_params){.session = s->id},
            models_listed);
}

/* The last step before the session can be used. Takes the servers. */
static void ask_for_settings(struct acp_session *s, struct rpc_call *call, char *servers,
                             bool is_new)
{
    const struct session_params params = {.session = s->id};
    struct acp_ask *ask =
        acp_ask(s->acp, call, s, &operation_session_settings, &params, settings_came);
    ask->number = is_new;
    ask->servers = servers;
}

static void created(struct acp_ask *ask, const struct operation_answer *answer)
{
    if (acp_failed(ask->call, answer))
        return;
    struct acp_session *s = add_session(ask->acp, answer->result);
    s->loading.call = ask->call;
    ask_for_settings(s, ask->call, ask->servers, true);
    ask->servers = NULL;
}

void acp_session_new(struct acp *a, struct rpc_call *call, const struct json *params)
{
    struct error e;
    struct session_create_params create = {0};
    if (!check_directory(params, &create.directory, &e)) {
        acp_fail(call, &e);
        return;
    }
    acp_ask(a, call, NULL, &operation_session_create, &create, created)->servers =
        named_servers(params);
}

/* --- loading and resuming --------------------------------------------------------------------- */

/* The use of a session that is there; `ask->number`. */
enum opening { OPEN_RESUME, OPEN_LOAD, OPEN_FORK };

void acp_log_told(void *acp, const char *session)
{
    struct acp_session *s = acp_find_session(acp, session);
    if (!s)
        return;
    char *servers = s->loading.servers;
    s->loading.servers = NULL;
    s->telling.replays = false;
    ask_for_settings(s, s->loading.call, servers, false);
}

void acp_log_failed(void *acp, const char *session, const struct error *e)
{
    struct acp *a = acp;
    struct acp_session *s = acp_find_session(a, session);
    if (!s)
        return;
    acp_fail(s->loading.call, e);
    acp_session_free(s);
    wire_update(a->wire);
}

/* A client that has it open already may have it told once more, but not while it is used. */
static bool may_open(struct acp *a, struct rpc_call *call, const char *id)
{
    const struct acp_session *s = acp_find_session(a, id);
    bool used = s && (s->prompt || s->loading.call);
    if (used)
        acp_refuse(call, ERR_SESSION_BUSY, "that session is in use; wait until its turn has ended");
    return !used;
}

/* `ask->number`: enum opening. */
static void opened(struct acp_ask *ask, const struct operation_answer *answer)
{
    const struct session_info *info = answer->result;
    bool replays = ask->number == OPEN_LOAD;
    if (acp_failed(ask->call, answer) || !may_open(ask->acp, ask->call, info->id))
        return;
    struct acp_session *s = acp_find_session(ask->acp, info->id);
    if (s)
        acp_session_free(s); /* it begins anew */
    s = add_session(ask->acp, info);
    s->loading = (struct acp_loading){.call = ask->call, .servers = ask->servers};
    s->telling.replays = replays;
    ask->servers = NULL;
    if (replays)
        (void)subscriptions_add(s->acp->subscriptions, s->id, 0);
    else
        acp_log_told(s->acp, s->id);
}

/* `ask->text` is the directory that the client names. */
static void found(struct acp_ask *ask, const struct operation_answer *answer)
{
    const struct session_params *asked = answer->request->params;
    const struct session_info *info = answer->result;
    struct error e;
    bool forks = ask->number == OPEN_FORK;
    if (acp_failed(ask->call, answer) || (!forks && !may_open(ask->acp, ask->call, info->id)))
        return;
    if (strcmp(info->id, asked->session) != 0) {
        acp_refuse(ask->call, ERR_SESSION_NOT_FOUND, "there is no session of that id");
        return;
    }
    /* A session stays in its directory: its tools, its project and what was learned of it are
     * there. One whose directory is gone may be moved. */
    auto_free char *resolved = realpath(ask->text, NULL);
    if (info->directory && access(info->directory, F_OK) == 0 &&
        strcmp(info->directory, ask->text) != 0 &&
        !(resolved && strcmp(info->directory, resolved) == 0)) {
        err_set(&e, ERR_USAGE, "\"cwd\" does not fit; that session is in %s", info->directory);
        acp_fail(ask->call, &e);
        return;
    }
    if (forks) {
        const struct session_fork_params fork = {.session = info->id};
        acp_ask(ask->acp, ask->call, NULL, &operation_session_fork, &fork, created)->servers =
            ask->servers;
        ask->servers = NULL;
        return;
    }
    const struct session_open_params open = {.session = info->id, .directory = ask->text};
    struct acp_ask *next =
        acp_ask(ask->acp, ask->call, NULL, &operation_session_open, &open, opened);
    next->number = ask->number;
    next->servers = ask->servers;
    ask->servers = NULL;
}

static void open_session(struct acp *a, struct rpc_call *call, const struct json *params,
                         enum opening opening)
{
    struct error e;
    const char *directory;
    const struct session_params read = {.session = json_get_string(params, "sessionId")};
    if (!read.session || !*read.session) {
        acp_refuse(call, ERR_USAGE, "\"sessionId\" is missing; give a string");
        return;
    }
    if (!check_directory(params, &directory, &e)) {
        acp_fail(call, &e);
        return;
    }
    struct acp_ask *ask = acp_ask(a, call, NULL, &operation_session_read, &read, found);
    ask->number = opening;
    ask->text = mem_strdup(directory);
    ask->servers = named_servers(params);
}

void acp_session_load(struct acp *a, struct rpc_call *call, const struct json *params)
{
    open_session(a, call, params, OPEN_LOAD);
}

void acp_session_resume(struct acp *a, struct rpc_call *call, const struct json *params)
{
    open_session(a, call, params, OPEN_RESUME);
}

void acp_session_fork(struct acp *a, struct rpc_call *call, const struct json *params)
{
    open_session(a, call, params, OPEN_FORK);
}

/* --- listing ---------------------------------------------------------------------------------- */

/* `ask->number` sessions were told before. */
static void listed(struct acp_ask *ask, const struct operation_answer *answer)
{
    const struct session_list_result *list = answer->result;
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    if (acp_failed(ask->call, answer))
        return;
    size_t end = list->sessions.items.len;
    json_out_open(&o, '{');
    json_out_name(&o, "sessions");
    json_out_open(&o, '[');
    for (size_t i = (size_t)ask->number; i < end; i++) {
        const struct session_info *info = &list->sessions.items.items[i];
        char at[25];
        rfc3339_format(info->updated_ms, at);
        json_out_pack(&o, "{sessionId:s cwd:s title:s updatedAt:s}", info->id,
                      info->directory ? info->directory : "/", info->title, at);
    }
    json_out_close(&o, ']');
    if (list->total > (int64_t)end) {
        char cursor[24];
        snprintf(cursor, sizeof cursor, "%zu", end);
        json_out_member(&o, "nextCursor", cursor);
    }
    json_out_close(&o, '}');
    rpc_answer(ask->call, buf.data);
}

/* The cursor is the number of sessions that were told. */
void acp_session_list(struct acp *a, struct rpc_call *call, const struct json *params)
{
    const char *directory = json_get_string(params, "cwd");
    const char *cursor = json_get_string(params, "cursor");
    char *end = NULL;
    int64_t told = cursor ? strtoll(cursor, &end, 10) : 0;
    if (cursor && (!*cursor || *end || told < 0 || told > INT32_MAX - PAGE_SESSIONS)) {
        acp_refuse(call, ERR_USAGE, "\"cursor\" does not fit; give the one of the page before");
        return;
    }
    auto_free char *resolved = directory ? realpath(directory, NULL) : NULL;
    const struct session_filter filter = {.directory = resolved ? resolved : directory,
                                          .state = SESSION_LIVE,
                                          .limit = (int)told + PAGE_SESSIONS};
    acp_ask(a, call, NULL, &operation_session_list, &filter, listed)->number = told;
}

/* --- ending ----------------------------------------------------------------------------------- */

static void done_without_result(struct acp_ask *ask, const struct operation_answer *answer)
{
    if (!acp_failed(ask->call, answer))
        rpc_answer(ask->call, "{}");
}

/* Answers the prompt; the operation that follows ends the turn. */
static void put_away(struct acp_session *s)
{
    s->cancelled = true;
    if (s->prompt)
        acp_end_prompt(s, "cancelled");
    acp_session_free(s);
}

void acp_session_close(struct acp *a, struct rpc_call *call, const struct json *params)
{
    struct acp_session *s = acp_need_session(a, call, params);
    if (!s)
        return;
    const struct session_close_params close = {.session = s->id, .discard_unused = true};
    acp_ask(a, call, NULL, &operation_session_close, &close, done_without_result);
    put_away(s);
}

void acp_session_delete(struct acp *a, struct rpc_call *call, const struct json *params)
{
    const struct session_params delete = {.session = json_get_string(params, "sessionId")};
    struct acp_session *s = delete.session ? acp_find_session(a, delete.session) : NULL;
    if (!delete.session || !*delete.session) {
        acp_refuse(call, ERR_USAGE, "\"sessionId\" is missing; give a string");
        return;
    }
    if (s && !may_open(a, call, s->id))
        return;
    acp_ask(a, call, NULL, &operation_session_delete, &delete, done_without_result);
    if (s)
        put_away(s);
}

/* --- choosing --------------------------------------------------------------------------------- */

/* The session has the value from now on. */
static void chosen(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = ask->session;
    if (acp_failed(ask->call, answer))
        return;
    if (!s) {
        acp_refuse(ask->call, ERR_SESSION_NOT_FOUND, "that session was closed");
        return;
    }
    AUTO(buf_release) struct buf text = BUF_INIT;
    AUTO(buf_release) struct buf mode = BUF_INIT;
    struct json_out o = {.buf = &mode};
    acp_options_choose(&s->options, (enum acp_option)ask->number, ask->text);
    write_choices(s, NULL, NULL, false, &text);
    rpc_answer(ask->call, ask->answers_options ? text.data : "{}");
    if (ask->number == ACP_OPTION_MODEL)
        acp_read_efforts(s);
    else if (!ask->answers_options)
        acp_tell_options(s);
    json_out_pack(&o, "{sessionUpdate:'current_mode_update' currentModeId:s}", s->options.tools);
    if (ask->number == ACP_OPTION_TOOLS)
        update(s, mode.data);
}

struct acp_ask *acp_ask_for_model(struct acp_session *s, struct rpc_call *call, const char *value,
                                  acp_done *done)
{
    auto_free char *provider = NULL;
    auto_free char *model = NULL;
    split_model(&s->options, value, &provider, &model);
    const struct session_model_params params = {
        .session = s->id, .provider = provider, .model = model};
    return acp_ask(s->acp, call, s, &operation_session_set_model, &params, done);
}

/* `value` is one that the option takes. */
static void choose(struct acp_session *s, struct rpc_call *call, enum acp_option option,
                   const char *value, bool answers_options)
{
    struct acp_ask *ask;
    if (option == ACP_OPTION_MODEL) {
        ask = acp_ask_for_model(s, call, value, chosen);
    } else if (option == ACP_OPTION_COMPACTION) {
        const struct session_compaction_params params = {.session = s->id, .mode = value};
        ask = acp_ask(s->acp, call, s, &operation_session_set_compaction, &params, chosen);
    } else if (option == ACP_OPTION_EFFORT) {
        const struct session_effort_params params = {.session = s->id, .effort = value};
        ask = acp_ask(s->acp, call, s, &operation_session_set_effort, &params, chosen);
    } else {
        int level = TOOLS_NONE;
        while (strcmp(tools_offer_names.words[level], value) != 0)
            level++;
        const struct session_tools_params params = {.session = s->id,
                                                    .tools = (enum tools_offer)level};
        ask = acp_ask(s->acp, call, s, &operation_session_set_tools, &params, chosen);
    }
    ask->number = option;
    ask->text = mem_strdup(value);
    ask->answers_options = answers_options;
}

void acp_session_set_option(struct acp *a, struct rpc_call *call, const struct json *params)
{
    const char *id = json_get_string(params, "configId"), *value = json_get_string(params, "value");
    struct acp_session *s = acp_need_session(a, call, params);
    enum acp_option option = ACP_OPTION_MODEL;
    if (!s)
        return;
    while (option < ACP_OPTION_UNKNOWN && strcmp(rows[option].id, id ? id : "") != 0)
        option++;
    if (option == ACP_OPTION_UNKNOWN)
        acp_refuse(call, ERR_USAGE,
                   "\"configId\" does not fit; give model, compaction, tools or effort");
    else if (!value || !option_takes(option, value))
        acp_refuse(call, ERR_USAGE, "\"value\" does not fit; give one of the option's values");
    else
        choose(s, call, option, value, true);
}

void acp_session_set_mode(struct acp *a, struct rpc_call *call, const struct json *params)
{
    const char *mode = json_get_string(params, "modeId");
    struct acp_session *s = acp_need_session(a, call, params);
    if (!s)
        return;
    if (!mode || !option_takes(ACP_OPTION_TOOLS, mode))
        acp_refuse(call, ERR_USAGE, "\"modeId\" does not fit; give none, read or full");
    else
        choose(s, call, ACP_OPTION_TOOLS, mode, false);
}
