/* Commands that a person types in an editor: "/compact handoff", "/memory deploy". */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "config/keys.h"
#include "serve/acp_private.h"
#include "session/conversation_operations.h"
#include "session/import_operations.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"

enum { MEMORY_HITS = 10, HIT_BYTES = 400 };

/* A command of editors that does more than call its operation. */
struct command {
    const struct operation *operation;
    void (*run)(struct acp_session *s, const char *arguments);
    const char *hint, *help; /* NULL: as the row says */
};

static const char blanks[] = " \t\r\n";

/* --- answers ---------------------------------------------------------------------------------- */

static void say(struct acp_session *s, const char *text)
{
    acp_tell_line(&s->telling, text);
    acp_end_prompt(s, "end_turn");
}

/* The session that still waits for it; NULL: none does, or it failed, which was said. */
static struct acp_session *waiting(const struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = ask->session;
    if (!s || !s->prompt)
        return NULL;
    if (answer->error.code == ERR_OK)
        return s;
    if (s->cancelled)
        acp_end_prompt(s, "cancelled");
    else
        say(s, answer->error.text);
    return NULL;
}

/* --- compactions ------------------------------------------------------------------------------ */

/* The result as the operation's row says; else its effect was told as it happened. */
static void told(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    const struct operation *o = answer->request->operation;
    auto_free char *lines = s && !o->done ? operation_lines(o, answer->result, gettext) : NULL;
    if (s && (lines || o->done))
        say(s, !lines ? _(o->done) : *lines || !o->none ? lines : _(o->none));
    else if (s)
        acp_end_prompt(s, "end_turn");
}

static void run_compact(struct acp_session *s, const char *arguments)
{
    struct compact_words words = compact_parse(arguments);
    const struct compaction_run_params params = {
        .session = s->id,
        .mode = words.mode ? words.mode : s->options.compaction,
        .focus = *words.focus ? words.focus : words.unknown,
        .preview = words.preview};
    acp_ask(s->acp, NULL, s, &operation_compaction_run, &params, told);
}

/* --- rewinds --- */

/* Names the files that tools changed since: they stay as they are. */
static void told_changes(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    const struct session_files *list = answer->result;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!s)
        return;
    if (list->files.len > 0)
        buf_addstr(&text, _("Tools changed these files since; they stay as they are until "
                            "/restore, or /restore FILE, takes that back:"));
    buf_addstr(&text, list->files.len > 0 ? "\n\n" : "");
    for (size_t i = 0; i < list->files.len; i++) {
        const struct restorable *r = &list->files.items[i];
        buf_addf(&text, "- %s +%lld -%lld%s\n", r->path, (long long)r->added, (long long)r->removed,
                 r->state == RESTORABLE_CHANGED ? _(", changed meanwhile")
                 : r->state == RESTORABLE_LOST  ? _(", not covered")
                                                : "");
    }
    for (size_t i = 0; i < list->commands.len; i++)
        buf_addf(&text, _("- not covered: %s\n"), list->commands.items[i]);
    if (text.len > 0)
        say(s, text.data);
    else
        acp_end_prompt(s, "end_turn");
}

static void rewound(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    if (s)
        acp_ask(s->acp, NULL, s, &operation_session_changes,
                &(struct session_params){.session = s->id}, told_changes);
}

static void rewind_by(struct acp_session *s, const struct operation *o, const char *arguments)
{
    auto_free void *params = operation_slash_params(o, s->id, arguments);
    acp_ask(s->acp, NULL, s, o, params, rewound);
}

static void run_rewind(struct acp_session *s, const char *arguments)
{
    rewind_by(s, &operation_session_rewind, arguments);
}

static void run_unrewind(struct acp_session *s, const char *arguments)
{
    rewind_by(s, &operation_session_unrewind, arguments);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void searched(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    const struct memory_found *found = answer->result;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!s)
        return;
    for (size_t i = 0; i < found->hits.items.len; i++) {
        const struct memory_hit *hit = &found->hits.items.items[i];
        auto_free char *passage = memory_hit_passage(hit);
        AUTO(buf_release) struct buf line = BUF_INIT;
        utf8_clean(&line, passage, strlen(passage), UTF8_ONE_LINE);
        buf_addstr(&text, "- ");
        if (hit->score > 0) /* without a query a hit has no score */
            buf_addf(&text, "**%.2f** ", hit->score);
        buf_addf(&text, "%s: ", memory_entry_speaker(&hit->entry));
        utf8_add_cut(&text, line.data, line.len, HIT_BYTES);
        buf_addch(&text, '\n');
    }
    say(s, text.len ? text.data : _("Memory has nothing about that."));
}

static void run_memory(struct acp_session *s, const char *arguments)
{
    for (int i = 0; i < memory_access_names.count; i++)
        if (strcmp(memory_access_names.words[i], arguments) == 0) {
            const struct session_memory_params params = {.session = s->id,
                                                         .access = (enum memory_access)i};
            acp_ask(s->acp, NULL, s, &operation_session_set_memory, &params, told);
            return;
        }
    const struct memory_search params = {
        .query = arguments, .session = s->id, .limit = MEMORY_HITS};
    acp_ask(s->acp, NULL, s, &operation_memory_search, &params, searched);
}

/* --- histories of other agents ---------------------------------------------------------------- */

static void told_import(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    struct import_progress sum = {0};
    if (!s)
        return;
    import_report_sum(answer->result, &sum);
    auto_free char *labels = import_report_labels(answer->result);
    auto_free char *text =
        mem_printf(_("%lld %s, %lld %s from %s."), (long long)sum.conversations,
                   ngettext("conversation", "conversations", (unsigned long)sum.conversations),
                   (long long)sum.messages,
                   ngettext("message", "messages", (unsigned long)sum.messages), labels);
    say(s, sum.messages > 0 ? text : _("There is nothing new in the histories of other agents."));
}

static void run_import(struct acp_session *s, const char *arguments)
{
    const struct import_params params = {.paths = {.items = &arguments, .len = *arguments != 0}};
    acp_ask(s->acp, NULL, s, &operation_import_run, &params, told_import);
}

bool acp_stop_import(struct acp_session *s)
{
    if (!acp_withdraw(s->acp, s, told_import))
        return false;
    acp_end_prompt(s, "cancelled");
    return true;
}

/* --- the session ------------------------------------------------------------------------------ */

static void model_chosen(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    if (!s)
        return;
    acp_options_choose(&s->options, ACP_OPTION_MODEL, ask->text);
    acp_read_efforts(s);
    auto_free char *text = mem_printf(_("This session talks to %s now."), ask->text);
    say(s, text);
}

/* Adds the models of a provider to `ask->text`, and asks the next: `ask->number` is its place. */
static void models_came(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    const struct models_result *m = answer->result;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!s)
        return;
    buf_addstr(&text, ask->text);
    for (size_t i = 0; i < m->models.len; i++)
        buf_addf(&text, "- `%s/%s`\n", m->provider, m->models.items[i].name);
    size_t next = (size_t)ask->number;
    while (next < s->options.providers.len &&
           (strcmp(s->options.providers.items[next], s->options.provider) == 0 ||
            strcmp(s->options.providers.items[next], "offline") == 0))
        next++;
    if (next == s->options.providers.len) {
        say(s, text.data);
        return;
    }
    const struct models_params params = {.session = s->id,
                                         .provider = s->options.providers.items[next]};
    struct acp_ask *more = acp_ask(s->acp, NULL, s, &operation_models_list, &params, models_came);
    more->number = (int64_t)next + 1;
    more->text = buf_take(&text);
}

/* Without a name it lists the models of all providers that have a key. */
static void run_model(struct acp_session *s, const char *arguments)
{
    const struct acp_options *o = &s->options;
    if (*arguments) {
        acp_ask_for_model(s, NULL, arguments, model_chosen)->text = mem_strdup(arguments);
        return;
    }
    const struct models_params params = {.session = s->id};
    struct acp_ask *ask = acp_ask(s->acp, NULL, s, &operation_models_list, &params, models_came);
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addf(&text, _("This session talks to %s/%s."), o->provider ? o->provider : "?",
             o->model ? o->model : "?");
    buf_addstr(&text, "\n\n");
    ask->text = buf_take(&text);
}

static void told_effort(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    const struct session_settings *now = answer->result;
    if (!s)
        return;
    auto_free char *text =
        now->efforts
            ? mem_printf("%s (%s default)", now->effort ? now->effort : "default", now->efforts)
            : mem_printf(_("No effort is known for the model %s."), now->model ? now->model : "");
    say(s, text);
}

static void effort_chosen(struct acp_ask *ask, const struct operation_answer *answer)
{
    if (ask->session && answer->error.code == ERR_OK)
        acp_read_efforts(ask->session);
    told(ask, answer);
}

static void run_effort(struct acp_session *s, const char *arguments)
{
    const struct session_effort_params params = {.session = s->id, .effort = arguments};
    const struct session_params current = {.session = s->id};
    if (*arguments)
        acp_ask(s->acp, NULL, s, &operation_session_set_effort, &params, effort_chosen);
    else
        acp_ask(s->acp, NULL, s, &operation_session_settings, &current, told_effort);
}

static void run_retry(struct acp_session *s, const char *arguments)
{
    const struct turn_retry_params params = {
        .session = s->id, .text = *arguments ? arguments : NULL, .origin = INPUT_TYPED};
    s->telling.told_input = true;
    acp_ask(s->acp, NULL, s, &operation_turn_retry, &params, acp_answer_turn);
}

/* Tells the tokens of the next request by what they are for. */
static void read_context(struct acp_ask *ask, const struct operation_answer *answer)
{
#define X(id, word, label) label,
    static const char *const names[CONTEXT_KINDS] = {CONTEXT_KIND_LIST(X)};
#undef X
    struct acp_session *s = waiting(ask, answer);
    const struct context *context = answer->result;
    int64_t tokens[CONTEXT_KINDS] = {0};
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!s)
        return;
    for (size_t i = 0; i < context->parts.len; i++)
        tokens[context->parts.items[i].kind] += context->parts.items[i].tokens;
    buf_addf(&text, _("The next request has about %lld tokens"), (long long)context->tokens);
    if (context->window > 0)
        buf_addf(&text, _(" of %lld"), (long long)context->window);
    buf_addstr(&text, ":\n\n");
    for (int i = 0; i < CONTEXT_KINDS; i++)
        if (tokens[i] > 0)
            buf_addf(&text, "- %s: %lld\n", _(names[i]), (long long)tokens[i]);
    say(s, text.data);
}

static void run_context(struct acp_session *s, const char *arguments)
{
    const struct session_params params = {.session = s->id};
    (void)arguments;
    acp_ask(s->acp, NULL, s, &operation_context_read, &params, read_context);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct command commands[] = {
    {.operation = &operation_compaction_run, .run = run_compact},
    {.operation = &operation_session_rewind, .run = run_rewind},
    {.operation = &operation_session_unrewind, .run = run_unrewind},
    {.operation = &operation_context_read, .run = run_context},
    {.operation = &operation_memory_search, .run = run_memory},
    {.operation = &operation_import_run, .run = run_import},
    {.operation = &operation_session_set_model,
     .run = run_model,
     .help = N_("choose a model: NAME, PROVIDER/NAME or PROVIDER (default: a list)")},
    {.operation = &operation_session_set_effort, .run = run_effort},
    {.operation = &operation_turn_retry, .run = run_retry, .hint = N_("[TEXT]")},
};

/* An operation without more changes something, stays in the session, and says that it was done. */
static bool offers(const struct operation *o, struct command *out)
{
    bool text = false;
    *out = (struct command){.operation = o};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].operation == o)
            *out = commands[i];
    for (const struct shape_field *f = o->params ? o->params->fields : NULL; f && f->name; f++)
        text = text || strcmp(f->name, TURN_MEMBER) == 0 ||
               (f->type == SHAPE_STRING && strcmp(f->name, SESSION_MEMBER) != 0);
    return o->slash && (out->run || ((o->line || o->done || o->undone) && !o->opens &&
                                     operation_lasts(o) && (text || !*o->takes)));
}

/* Any other word with a slash goes to the model. */
bool acp_run_command(struct acp_session *s, const char *text)
{
    size_t len = *text == '/' ? strcspn(text + 1, blanks) : 0;
    const struct operation *o;
    struct command c;
    for (size_t i = 0; len > 0 && (o = operation_at(i)); i++) {
        if (!operation_is_slash(o, text + 1, len) || !offers(o, &c))
            continue;
        AUTO(buf_release) struct buf arguments = BUF_INIT;
        const char *rest = text + 1 + len;
        buf_addstr(&arguments, rest + strspn(rest, blanks));
        buf_trim_end(&arguments, blanks);
        if (c.run) {
            c.run(s, arguments.data);
        } else {
            auto_free void *params = operation_slash_params(o, s->id, arguments.data);
            acp_ask(s->acp, NULL, s, o, params, told);
        }
        return true;
    }
    return false;
}

/* `skills` NULL: they are not known yet. */
static void tell_commands(struct acp_session *s, const struct skills *skills)
{
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    const struct operation *operation;
    struct command c;
    json_out_open(&o, '{');
    json_out_member(&o, "sessionUpdate", "available_commands_update");
    json_out_name(&o, "availableCommands");
    json_out_open(&o, '[');
    for (size_t i = 0; (operation = operation_at(i)); i++) {
        if (!offers(operation, &c))
            continue;
        const char *hint = c.hint ? c.hint : operation->takes;
        const char *help = c.help ? c.help : operation->about;
        if (*hint)
            json_out_pack(&o, "{name:s description:s input:{hint:s}}", operation->slash, _(help),
                          _(hint));
        else
            json_out_pack(&o, "{name:s description:s}", operation->slash, _(help));
    }
    for (size_t i = 0; skills && i < skills->items.len; i++) {
        const struct skill *skill = &skills->items.items[i];
        if (skill->state == SKILL_READY && !skill->taken)
            json_out_pack(&o, "{name:s description:s input:{hint:s}}", skill->name,
                          skill->description, skill->arguments ? skill->arguments : "[WORDS]");
    }
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    if (s->commands && strcmp(s->commands, buf.data) == 0)
        return;
    mem_replace(&s->commands, mem_strdup(buf.data));
    s->telling.update(s->telling.context, buf.data);
}

static void listed(struct acp_ask *ask, const struct operation_answer *answer)
{
    const struct skills *skills = answer->result;
    if (ask->session && answer->error.code == ERR_OK)
        tell_commands(ask->session, skills);
}

void acp_tell_commands(struct acp_session *s)
{
    const struct session_params params = {.session = s->id};
    if (!s->commands)
        tell_commands(s, NULL);
    acp_ask(s->acp, NULL, s, &operation_skill_list, &params, listed);
}
