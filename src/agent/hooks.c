#include "agent/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/pattern.h"
#include "agent/turn.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "knowledge/project.h"

enum {
    LONGEST_MS = 10000,
    MOST_BYTES = 64 * 1024, /* of standard output, and of standard error */
    TOLD_BYTES = 4096,      /* of a text for the user */
    DRAIN_MS = 20,
    BLOCKING_STATUS = 2
};

static const char *const hook_names[] = {
#define X(id, name, event) name,
    HOOKS(X)
#undef X
};

static const char *const event_names[] = {
#define X(id, name, event) event,
    HOOKS(X)
#undef X
};

static const enum config_key hook_keys[] = {
#define X(id, name, event) CONFIG_HOOKS_##id,
    HOOKS(X)
#undef X
};

void hook_answer_release(struct hook_answer *a)
{
    free(a->reason);
    free(a->context);
    free(a->said);
    free(a->fault);
    *a = (struct hook_answer){.reason = NULL};
}

void hooks_release(struct hooks *h)
{
    hook_answer_release(&h->start);
    hook_answer_release(&h->prompt);
    free(h->warning);
    *h = (struct hooks){.begun = false};
}

/* --- the answer ------------------------------------------------------------------------------- */

/* A text without blanks at its end, cleaned; NULL: there is none. */
static char *clean(const char *text, size_t most)
{
    if (!text || utf8_is_blank(text))
        return NULL;
    AUTO(buf_release) struct buf whole = BUF_INIT;
    struct buf out = BUF_INIT;
    utf8_clean(&whole, text, strlen(text), UTF8_MULTILINE);
    buf_trim_end(&whole, " \t\r\n");
    utf8_add_cut(&out, whole.data, whole.len, most);
    return buf_take(&out);
}

static void read_json(struct hook_answer *out, const struct json *answer)
{
    static const struct {
        const char *word;
        enum hook_verdict verdict;
    } words[] = {{"allow", HOOK_ALLOWS},
                 {"approve", HOOK_ALLOWS},
                 {"ask", HOOK_ASKS},
                 {"deny", HOOK_BLOCKS},
                 {"block", HOOK_BLOCKS}};
    const struct json *more = json_get(answer, "hookSpecificOutput");
    const char *verdict = json_get_string(more, "permissionDecision");
    const char *reason = json_get_string(more, "permissionDecisionReason");
    const char *context = json_get_string(more, "additionalContext");
    verdict = verdict ? verdict : json_get_string(answer, "decision");
    reason = reason ? reason : json_get_string(answer, "reason");
    context = context ? context : json_get_string(answer, "additionalContext");
    for (size_t i = 0; verdict && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, verdict) == 0)
            out->verdict = words[i].verdict;
    if (!json_get_bool(answer, "continue", true)) {
        const char *stop = json_get_string(answer, "stopReason");
        out->verdict = HOOK_BLOCKS;
        reason = stop ? stop : reason;
    }
    out->reason = clean(reason, TOLD_BYTES);
    out->context = clean(context, MOST_BYTES);
    out->said = clean(json_get_string(answer, "systemMessage"), TOLD_BYTES);
}

void hook_answer_read(struct hook_answer *out, enum hook hook, int status, const struct buf *output,
                      const struct buf *errors)
{
    *out = (struct hook_answer){.reason = NULL};
    if (status == BLOCKING_STATUS) {
        out->verdict = HOOK_BLOCKS;
        out->reason = clean(errors->data, TOLD_BYTES);
    } else if (status != 0) {
        auto_free char *why = clean(errors->data, TOLD_BYTES);
        out->fault =
            mem_printf("it ended with status %d%s%s", status, why ? ": " : "", why ? why : "");
    } else if (output->data[strspn(output->data, " \t\r\n")] == '{') {
        struct error e;
        AUTO(json_free_local)
        struct json *answer = json_parse_foreign(output->data, output->len, &e);
        if (answer)
            read_json(out, answer);
        else
            out->fault = mem_printf("its answer is not JSON: %s", e.text);
    } else if (hook == HOOK_SESSION_START || hook == HOOK_PROMPT) {
        out->context = clean(output->data, MOST_BYTES);
    }
    if (out->verdict == HOOK_BLOCKS && !out->reason)
        out->reason = mem_strdup("it gave no reason");
}

/* --- a run ------------------------------------------------------------------------------------ */

struct hearing {
    struct buf output, errors;
    int errors_fd; /* does not block */
};

static void hear(struct buf *to, const char *bytes, size_t len)
{
    size_t room = MOST_BYTES - to->len;
    buf_add(to, bytes, len < room ? len : room);
}

static bool take(void *context, const char *bytes, size_t len)
{
    struct hearing *h = context;
    hear(&h->output, bytes, len);
    return true;
}

/* Standard error has a pipe of its own, so that it never mixes with an answer. */
static int drain(void *context)
{
    struct hearing *h = context;
    char piece[4096];
    for (ssize_t n; (n = read(h->errors_fd, piece, sizeof piece)) > 0;)
        hear(&h->errors, piece, (size_t)n);
    return DRAIN_MS;
}

static bool is_hook(const struct project_part *part, enum hook hook)
{
    return part->kind == PART_HOOK && strcmp(part->name, event_names[hook]) == 0;
}

static bool is_set(const struct agent *a, enum hook hook)
{
    const struct project_parts *project = a->hooks ? a->hooks->project : NULL;
    bool set = a->hooks && *config_string(a->config, hook_keys[hook]);
    for (size_t i = 0; project && !set && i < project->items.len; i++)
        set = is_hook(&project->items.items[i], hook);
    return set;
}

/* The names that Claude Code has for deeds of our tools: hooks of a project know those. */
static const struct {
    const char *tool, *name;
} tool_names[] = {{"run_command", "Bash"},  {"edit_file", "Edit"},    {"write_file", "Write"},
                  {"read_file", "Read"},    {"search_files", "Grep"}, {"search_files", "Glob"},
                  {"list_directory", "LS"}, {"fetch_url", "WebFetch"}};

static const char *tool_alias(const char *tool)
{
    for (size_t i = 0; i < sizeof tool_names / sizeof *tool_names; i++)
        if (strcmp(tool_names[i].tool, tool) == 0)
            return tool_names[i].name;
    return tool;
}

/* Whether the matcher, a regular expression for the whole text, fits what the event is about: a
 * tool, a source or a trigger; NULL: nothing, and it always fits. A faulty one never fits. */
static bool fits(const struct agent *a, const char *matcher, const char *about,
                 struct hook_answer *out)
{
    struct error e;
    size_t at;
    if (!about || !*matcher || strcmp(matcher, "*") == 0)
        return true;
    auto_free char *whole = mem_printf("^(?:%s)$", matcher);
    struct regex *regex = regex_new(whole, false, a->wakeup->go_on, a->wakeup->context, &e);
    if (!regex) {
        mem_replace(&out->fault, mem_printf("the matcher of a hook is not usable: %s", e.text));
        return false;
    }
    bool found = regex_find(regex, about, strlen(about), &at) == REGEX_FOUND;
    for (size_t i = 0; !found && i < sizeof tool_names / sizeof *tool_names; i++)
        found =
            strcmp(tool_names[i].tool, about) == 0 &&
            regex_find(regex, tool_names[i].name, strlen(tool_names[i].name), &at) == REGEX_FOUND;
    regex_free(regex);
    return found;
}

/* Runs one command; `ours`: of the user's configuration. False: the user stopped it, and there is
 * no answer. */
static bool run_command(const struct agent *a, enum hook hook, const char *command_text, bool ours,
                        const struct json *members, struct hook_answer *out)
{
    const char *root = a->tools->host.root, *tool = json_get_string(members, "tool_name");
    auto_free char *project = root ? project_of(root) : NULL;
    const char *const argv[] = {"/bin/sh",
                                "-c",
                                "CLAUDE_PROJECT_DIR=$2; export CLAUDE_PROJECT_DIR\n"
                                "exec /bin/sh -c -- \"$1\" 2>&3 3>&-",
                                "hook",
                                command_text,
                                project ? project : "",
                                NULL};
    int errors[2];
    struct error e;
    struct child_result result;
    AUTO(json_free_local) struct json *input = json_new_object();
    for (const struct json *m = json_first(members); m; m = json_next(m))
        if (ours || strcmp(json_name(m), "tool_name") != 0)
            json_set(input, json_name(m), json_clone(m));
    if (!ours && tool)
        json_set_string(input, "tool_name", tool_alias(tool));
    json_set_string(input, "session_id", a->session_id);
    json_set_string(input, "cwd", root);
    json_set_string(input, "hook_event_name", event_names[hook]);
    auto_free char *text = json_print(input);
    *out = (struct hook_answer){.reason = NULL};
    if (!descriptors_pipe(errors)) {
        out->fault = mem_printf("it could not be started: %s", strerror(errno));
        return true;
    }
    struct hearing heard = {.output = BUF_INIT, .errors = BUF_INIT, .errors_fd = errors[0]};
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    const struct child_command command = {.argv = argv,
                                          .directory = ours ? root : project,
                                          .input = text,
                                          .input_len = strlen(text),
                                          .extra = errors[1],
                                          .deadline_ms = clock_mono_ms() + LONGEST_MS,
                                          .wakeup = a->wakeup,
                                          .take = take,
                                          .due = drain,
                                          .context = &heard};
    bool ran = child_run(&command, &result, &e);
    drain(&heard);
    if (!ran)
        out->fault = mem_printf("it could not be started: %s", e.text);
    else if (result.end == CHILD_EXITED)
        hook_answer_read(out, hook, result.status, &heard.output, &heard.errors);
    else if (result.end == CHILD_LATE)
        out->fault = mem_printf("it was ended after %d seconds", LONGEST_MS / 1000);
    else if (result.end == CHILD_SIGNALED)
        out->fault = mem_printf("it was ended by signal %d", result.status);
    close(errors[0]);
    close(errors[1]);
    buf_release(&heard.output);
    buf_release(&heard.errors);
    return !ran || result.end != CHILD_STOPPED;
}

/* Takes a text that follows those of the hooks before. */
static void join(char **all, char *text)
{
    if (text && *all)
        mem_replace(&text, mem_printf("%s\n%s", *all, text));
    if (text)
        mem_replace(all, text);
}

/* Runs all hooks of the moment; the strictest verdict counts. Takes the input, the members of the
 * event. `about`: as for fits(). False: the user stopped one, and there is no answer. */
static bool run(const struct agent *a, enum hook hook, const char *about, struct json *input,
                struct hook_answer *out)
{
    struct hooks *h = a->hooks;
    const char *own = config_string(a->config, hook_keys[hook]);
    const struct project_parts *project = h->project;
    *out = (struct hook_answer){.reason = NULL};
    bool goes_on = !*own || run_command(a, hook, own, true, input, out);
    for (size_t i = 0;
         project && goes_on && out->verdict != HOOK_BLOCKS && h->project && i < project->items.len;
         i++) {
        const struct project_part *part = &project->items.items[i];
        AUTO(hook_answer_release) struct hook_answer one = {.reason = NULL};
        if (!is_hook(part, hook) || !fits(a, part->detail, about, out))
            continue;
        if (!project_parts_unchanged(project)) {
            h->project = NULL;
            mem_replace(&h->warning,
                        mem_strdup("a program of the project's hooks has changed, and they run no "
                                   "more; the next message asks about them"));
            continue;
        }
        goes_on = run_command(a, hook, part->text, false, input, &one);
        if (one.verdict > out->verdict) {
            out->verdict = one.verdict;
            mem_replace(&out->reason, one.reason);
            one.reason = NULL;
        }
        join(&out->context, one.context);
        join(&out->said, one.said);
        join(&out->fault, one.fault);
        one.context = one.said = one.fault = NULL;
    }
    json_free(input);
    return goes_on;
}

void hook_answer_add(const struct hook_answer *a, struct buf *result)
{
    if (a->context)
        buf_addf(result, "\n\n[A hook of the user adds:]\n%s", a->context);
}

/* Tells the user what the hook said, and clears that: once each. `shown`: a reason for blocking
 * goes to nobody else. */
static void tell(struct turn *t, enum hook hook, struct hook_answer *a, bool shown)
{
    unsigned bit = 1u << hook, *told = &t->a->hooks->faults_told;
    const char *reason = shown && a->verdict == HOOK_BLOCKS ? a->reason : NULL;
    const char *const texts[] = {reason, a->said, *told & bit ? NULL : a->fault};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i])
            continue;
        auto_free char *text = mem_printf("hook %s: %s", hook_names[hook], texts[i]);
        turn_tell_warning(t, "hook", text);
    }
    if (t->a->hooks->warning)
        turn_tell_warning(t, "hook", t->a->hooks->warning);
    mem_replace(&t->a->hooks->warning, NULL);
    *told |= a->fault ? bit : 0;
    mem_replace(&a->said, NULL);
    mem_replace(&a->fault, NULL);
}

/* A hook that can only speak. */
static void note(struct turn *t, enum hook hook, const char *about, struct json *input)
{
    AUTO(hook_answer_release) struct hook_answer answer = {.reason = NULL};
    if (run(t->a, hook, about, input, &answer))
        tell(t, hook, &answer, true);
}

/* --- the moments ------------------------------------------------------------------------------ */

bool hooks_admit(struct agent *a, const char *input, struct error *e)
{
    struct hooks *h = a->hooks;
    bool goes_on = true;
    if (!h)
        return true;
    hook_answer_release(&h->prompt);
    if (!h->begun && is_set(a, HOOK_SESSION_START)) {
        const char *source = a->history->turns > 0 ? "resume" : "startup";
        struct json *begin = json_new_object();
        json_set_string(begin, "source", source);
        goes_on = run(a, HOOK_SESSION_START, source, begin, &h->start);
    }
    h->begun = h->begun || goes_on;
    if (goes_on && is_set(a, HOOK_PROMPT)) {
        struct json *prompt = json_new_object();
        json_set_string(prompt, "prompt", input);
        goes_on = run(a, HOOK_PROMPT, NULL, prompt, &h->prompt);
    }
    if (!goes_on)
        return err_set(e, ERR_INTERRUPTED, "interrupted before anything was sent; send it again");
    return h->prompt.verdict != HOOK_BLOCKS ||
           err_set(e, ERR_FORBIDDEN, "the hook prompt refused the message: %s", h->prompt.reason);
}

void hooks_tell_begin(struct turn *t)
{
    struct hooks *h = t->a->hooks;
    if (!h)
        return;
    tell(t, HOOK_SESSION_START, &h->start, true);
    tell(t, HOOK_PROMPT, &h->prompt, false);
    h->start.verdict = HOOK_SILENT;
}

/* The hooks of a project expect a path as "file_path". */
static struct json *describe_call(const struct agent *a, const struct block *call)
{
    struct json *input = json_new_object();
    struct json *args =
        call->text ? json_parse_foreign(call->text, strlen(call->text), &(struct error){0}) : NULL;
    const char *path = json_get_string(args, "path"), *root = a->tools->host.root;
    auto_free char *whole = path && *path != '/' && root ? paths_join(root, path) : NULL;
    if (path && !json_get(args, "file_path"))
        json_set_string(args, "file_path", whole ? whole : path);
    json_set_string(input, "tool_name", call->name);
    json_set(input, "tool_input", args ? args : json_new_object());
    json_set_string(input, "tool_use_id", call->id);
    return input;
}

bool hooks_ask_tool(struct turn *t, const struct block *call, struct hook_answer *out)
{
    if (!is_set(t->a, HOOK_TOOL_ASK))
        return true;
    bool answered = run(t->a, HOOK_TOOL_ASK, call->name, describe_call(t->a, call), out);
    if (answered)
        tell(t, HOOK_TOOL_ASK, out, false);
    return answered;
}

void hooks_note_tool(struct turn *t, const struct block *call, bool is_error, struct buf *result)
{
    AUTO(hook_answer_release) struct hook_answer answer = {.reason = NULL};
    if (!is_set(t->a, HOOK_TOOL_DONE))
        return;
    struct json *input = describe_call(t->a, call), *response = json_new_object();
    json_set_string(response, "text", result->data);
    json_set_bool(response, "is_error", is_error);
    json_set(input, "tool_response", response);
    if (!run(t->a, HOOK_TOOL_DONE, call->name, input, &answer))
        return;
    tell(t, HOOK_TOOL_DONE, &answer, true);
    hook_answer_add(&answer, result);
}

void hooks_note_end(struct turn *t)
{
    if (!is_set(t->a, HOOK_TURN_END))
        return;
    const struct message answer = {
        .blocks = {.items = t->response.blocks.items, .len = t->response.blocks.len}};
    auto_free char *text = message_text(&answer);
    struct json *input = json_new_object();
    json_set_bool(input, "stop_hook_active", false);
    json_set_string(input, "last_assistant_message", text);
    note(t, HOOK_TURN_END, NULL, input);
}

static const char *trigger_of(bool by_hand)
{
    return by_hand ? "manual" : "auto";
}

static struct json *describe_trigger(bool by_hand)
{
    struct json *input = json_new_object();
    json_set_string(input, "trigger", trigger_of(by_hand));
    return input;
}

bool hooks_ask_compact(struct turn *t, bool by_hand, const char *focus, struct error *e)
{
    AUTO(hook_answer_release) struct hook_answer answer = {.reason = NULL};
    if (!is_set(t->a, HOOK_PRE_COMPACT))
        return true;
    struct json *input = describe_trigger(by_hand);
    json_set_string(input, "custom_instructions", focus ? focus : "");
    if (!run(t->a, HOOK_PRE_COMPACT, trigger_of(by_hand), input, &answer))
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    tell(t, HOOK_PRE_COMPACT, &answer, false);
    return answer.verdict != HOOK_BLOCKS ||
           err_set(e, ERR_FORBIDDEN, "the hook pre_compact refused the compaction: %s",
                   answer.reason);
}

void hooks_note_compact(struct turn *t, bool by_hand)
{
    if (!is_set(t->a, HOOK_POST_COMPACT))
        return;
    const struct history *h = t->a->history;
    struct json *input = describe_trigger(by_hand);
    for (size_t i = h->messages.len; i-- > 0;) {
        if (!h->messages.items[i].summary)
            continue;
        struct message room;
        const struct message *m = message_whole(h->source, &h->messages.items[i], &room);
        auto_free char *text = message_text(m);
        json_set_string(input, "compact_summary", text);
        message_release(&room);
        break;
    }
    note(t, HOOK_POST_COMPACT, trigger_of(by_hand), input);
}
