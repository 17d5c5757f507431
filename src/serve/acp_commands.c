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
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"

enum { MEMORY_HITS = 10, HIT_BYTES = 400 };

struct command {
    const char *name, *hint, *help; /* hint "": it takes nothing */
    void (*run)(struct acp_session *s, const char *arguments);
};

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

static const char blanks[] = " \t\r\n";

/* The command's effect was told as it happened. */
static void end_silently(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    if (s)
        acp_end_prompt(s, "end_turn");
}

static void run_compact(struct acp_session *s, const char *arguments)
{
#define X(id, name, keeps_ends, help) name,
    static const char *const modes[] = {COMPACTION_MODES(X)};
#undef X
    size_t len = strcspn(arguments, blanks);
    const char *mode = NULL, *focus = arguments;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strlen(modes[i]) == len && strncmp(modes[i], arguments, len) == 0)
            mode = modes[i];
    if (mode)
        focus += len + strspn(arguments + len, blanks);
    const struct compaction_run_params params = {.session = s->id,
                                                 .mode = mode ? mode : s->options.compaction,
                                                 .focus = *focus ? focus : NULL};
    acp_ask(s->acp, NULL, s, &operation_compaction_run, &params, end_silently);
}

static void run_uncompact(struct acp_session *s, const char *arguments)
{
    const struct session_params params = {.session = s->id};
    (void)arguments;
    acp_ask(s->acp, NULL, s, &operation_compaction_undo, &params, end_silently);
}

/* --- pins ------------------------------------------------------------------------------------- */

static void pinned(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    if (s)
        say(s, ask->number ? _("The message is pinned: compactions keep it word for word.")
                           : _("The message is not pinned any more."));
}

static void pin(struct acp_session *s, bool pins, int64_t seq)
{
    const struct compaction_pin_params params = {.session = s->id, .seq = seq};
    acp_ask(s->acp, NULL, s, pins ? &operation_compaction_pin : &operation_compaction_unpin,
            &params, pinned)
        ->number = pins;
}

/* `ask->text` is the number of the user's message. */
static void found_message(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    const struct context *context = answer->result;
    int turn = atoi(ask->text);
    for (size_t i = 0; s && i < context->parts.len; i++) {
        const struct context_part *part = &context->parts.items[i];
        if (part->kind != CONTEXT_MESSAGE || part->role != ROLE_USER || part->turn != turn)
            continue;
        pin(s, ask->number, part->seq);
        return;
    }
    if (s)
        say(s, _("There is no message of yours of that number in what the model is sent."));
}

static void pin_message(struct acp_session *s, bool pins, const char *arguments)
{
    const struct session_params params = {.session = s->id};
    if (!*arguments) {
        pin(s, pins, 0);
        return;
    }
    struct acp_ask *ask = acp_ask(s->acp, NULL, s, &operation_context_read, &params, found_message);
    ask->number = pins;
    ask->text = mem_strdup(arguments);
}

static void run_pin(struct acp_session *s, const char *arguments)
{
    pin_message(s, true, arguments);
}

static void run_unpin(struct acp_session *s, const char *arguments)
{
    pin_message(s, false, arguments);
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
    const struct memory_search params = {
        .query = arguments, .session = s->id, .limit = MEMORY_HITS};
    acp_ask(s->acp, NULL, s, &operation_memory_search, &params, searched);
}

static void remembered(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    const struct learned_add_result *added = answer->result;
    if (!s)
        return;
    auto_free char *text = mem_printf(_("remembered: %s"), added->item.text);
    say(s, text);
}

static void run_remember(struct acp_session *s, const char *arguments)
{
    const struct learned_add_params params = {.text = arguments, .session = s->id};
    acp_ask(s->acp, NULL, s, &operation_learned_add, &params, remembered);
}

/* --- the session ------------------------------------------------------------------------------ */

static void model_chosen(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_session *s = waiting(ask, answer);
    if (!s)
        return;
    acp_options_choose(&s->options, ACP_OPTION_MODEL, ask->text);
    acp_tell_options(s);
    auto_free char *text = mem_printf(_("This session talks to %s now."), ask->text);
    say(s, text);
}

static void run_model(struct acp_session *s, const char *arguments)
{
    const struct acp_options *o = &s->options;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (*arguments) {
        acp_ask_for_model(s, NULL, arguments, model_chosen)->text = mem_strdup(arguments);
        return;
    }
    buf_addf(&text, _("This session talks to %s/%s."), o->provider ? o->provider : "?",
             o->model ? o->model : "?");
    buf_addstr(&text, "\n\n");
    for (size_t i = 0; i < o->models.len; i++)
        buf_addf(&text, "- `%s/%s`\n", o->provider, o->models.items[i]);
    say(s, text.data);
}

static void run_rename(struct acp_session *s, const char *arguments)
{
    const struct session_rename_params params = {.session = s->id, .title = arguments};
    acp_ask(s->acp, NULL, s, &operation_session_rename, &params, end_silently);
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
    {"compact", N_("[MODE] [FOCUS]"),
     N_("shorten the history that is sent to the model; FOCUS: what to keep above all"),
     run_compact},
    {"uncompact", "", N_("undo the last compaction"), run_uncompact},
    {"pin", N_("[N]"),
     N_("keep your N-th message word for word in every compaction (default: the newest)"), run_pin},
    {"unpin", N_("[N]"), N_("unpin your N-th message (default: the newest)"), run_unpin},
    {"context", "", N_("show what the next request would contain"), run_context},
    {"memory", N_("QUERY"), N_("search earlier conversations"), run_memory},
    {"remember", N_("TEXT"), N_("keep a text and tell it to the model in later sessions"),
     run_remember},
    {"model", N_("[NAME]"), N_("choose a model: NAME, PROVIDER/NAME or PROVIDER (default: a list)"),
     run_model},
    {"rename", N_("TITLE"), N_("change the title of this session"), run_rename},
    {"retry", N_("[TEXT]"), N_("send the last message again"), run_retry},
};

/* Any other word with a slash goes to the model. */
bool acp_run_command(struct acp_session *s, const char *text)
{
    if (*text != '/')
        return false;
    size_t len = strcspn(text + 1, blanks);
    const char *rest = text + 1 + len;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strlen(commands[i].name) != len || strncmp(commands[i].name, text + 1, len) != 0)
            continue;
        AUTO(buf_release) struct buf arguments = BUF_INIT;
        buf_addstr(&arguments, rest + strspn(rest, blanks));
        buf_trim_end(&arguments, blanks);
        commands[i].run(s, arguments.data);
        return true;
    }
    return false;
}

void acp_tell_commands(struct acp_session *s)
{
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    json_out_open(&o, '{');
    json_out_member(&o, "sessionUpdate", "available_commands_update");
    json_out_name(&o, "availableCommands");
    json_out_open(&o, '[');
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct command *c = &commands[i];
        if (*c->hint)
            json_out_pack(&o, "{name:s description:s input:{hint:s}}", c->name, _(c->help),
                          _(c->hint));
        else
            json_out_pack(&o, "{name:s description:s}", c->name, _(c->help));
    }
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    s->telling.update(s->telling.context, buf.data);
}
