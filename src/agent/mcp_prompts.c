#include "agent/mcp_prompts.h"

#include <stdlib.h>
#include <string.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

enum {
    WAIT_MS = 60000,      /* for a server that has no time limit of its own */
    TEXT_MAX = 256 * 1024 /* bytes of a prompt's text, as of a skill's */
};

/* "SERVER:PROMPT", with _ for what no command can have; the caller frees. */
static char *command_of(const char *server, const char *prompt)
{
    char *name = mem_printf("%s:%s", server, prompt);
    for (char *p = name; *p; p++)
        *p = (unsigned char)*p <= ' ' || *p == '/' ? '_' : *p;
    return name;
}

/* The arguments in the order of words: those that are needed first. */
static size_t order(const struct mcp_prompt_info *p, size_t places[MCP_ARGUMENTS_MAX])
{
    size_t count = 0;
    for (int required = 1; required >= 0; required--)
        for (size_t i = 0; i < p->arguments.len; i++)
            if (p->arguments.items[i].required == (required == 1))
                places[count++] = i;
    return count;
}

/* "who [style]"; the caller frees. */
static char *usage_of(const struct mcp_prompt_info *p)
{
    struct buf out = BUF_INIT;
    size_t places[MCP_ARGUMENTS_MAX], count = order(p, places);
    for (size_t i = 0; i < count; i++) {
        const struct mcp_argument_info *a = &p->arguments.items[places[i]];
        buf_addf(&out, a->required ? "%s%s" : "%s[%s]", i > 0 ? " " : "", a->name);
    }
    return buf_take(&out);
}

void mcp_prompts_of(struct mcp_client *client, struct skills *out)
{
    const char *server = mcp_client_server(client)->name;
    AUTO(mcp_offers_release) struct mcp_offers offers;
    mcp_client_offers(client, &offers);
    for (size_t i = 0; i < offers.prompts.len; i++) {
        const struct mcp_prompt_info *p = &offers.prompts.items[i];
        vec_push(&out->items, (struct skill){.name = command_of(server, p->name),
                                             .description = mem_strdup(
                                                 p->description ? p->description : p->name),
                                             .place = mem_printf("MCP server %s", server),
                                             .path = mem_strdup(""),
                                             .arguments = usage_of(p),
                                             .command = true});
    }
}

void mcp_prompts_list(struct tool_mcp *m, struct skills *out)
{
    struct mcp_client *client;
    for (size_t i = 0; (client = tool_mcp_client_at(m, i)); i++)
        mcp_prompts_of(client, out);
}

/* --- arguments -------------------------------------------------------------------------------- */

/* Takes the next word of *at, without its quotes; the caller frees. NULL: there is none. */
static char *next_word(const char **at)
{
    struct buf out = BUF_INIT;
    char quote = '\0';
    const char *p = *at + strspn(*at, " \t\n");
    bool any = *p != '\0';
    for (; *p && (quote || !strchr(" \t\n", *p)); p++)
        if (quote ? *p == quote : (*p == '"' || *p == '\'') && strchr(p + 1, *p))
            quote = quote ? '\0' : *p;
        else
            buf_addch(&out, *p);
    *at = p;
    if (any)
        return buf_take(&out);
    buf_release(&out);
    return NULL;
}

/* The argument that the word names, "NAME=VALUE"; -1: none. */
static int named_by(const struct mcp_prompt_info *p, const char *word)
{
    for (size_t i = 0; i < p->arguments.len; i++) {
        size_t len = strlen(p->arguments.items[i].name);
        if (strncmp(word, p->arguments.items[i].name, len) == 0 && word[len] == '=')
            return (int)i;
    }
    return -1;
}

/* The arguments as an object, which the caller frees; NULL with an error. */
static struct json *read_arguments(const struct mcp_prompt_info *p, const char *command,
                                   const char *words, struct error *e)
{
    size_t places[MCP_ARGUMENTS_MAX], count = order(p, places), next = 0;
    char *values[MCP_ARGUMENTS_MAX] = {NULL}, *word;
    int last = -1;     /* the one that was given by position */
    bool more = false; /* words than arguments */
    auto_free char *usage = usage_of(p);
    struct json *args = json_new_object();
    while (count > 0 && (word = next_word(&words))) {
        int named = named_by(p, word);
        while (named < 0 && next < count && values[places[next]])
            next++;
        if (named >= 0) {
            mem_replace(&values[named], mem_strdup(strchr(word, '=') + 1));
            free(word);
        } else if (next < count) {
            values[last = (int)places[next++]] = word;
        } else if (last >= 0) {
            mem_replace(&values[last], mem_printf("%s %s", values[last], word));
            free(word);
        } else {
            more = true;
            free(word);
        }
    }
    const struct mcp_argument_info *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct mcp_argument_info *a = &p->arguments.items[i];
        if (values[i])
            json_set_string(args, a->name, values[i]);
        else if (a->required && !missing)
            missing = a;
        free(values[i]);
    }
    more = more || words[strspn(words, " \t\n")];
    if (!missing && !more)
        return args;
    json_free(args);
    if (missing)
        err_set(e, ERR_USAGE, "\"%.80s\" is missing%s%.200s; write /%.150s %.300s, or NAME=VALUE",
                missing->name, missing->description ? ": " : "",
                missing->description ? missing->description : "", command, usage);
    else
        err_set(e, ERR_USAGE, "/%.150s takes no such argument; write /%.150s %.300s", command,
                command, usage);
    return NULL;
}

/* --- a prompt --------------------------------------------------------------------------------- */

bool mcp_prompt_open(struct mcp_client *client, const char *name, const char *words,
                     const struct wakeup *wakeup, struct buf *out, struct error *e)
{
    const struct mcp_server *server = mcp_client_server(client);
    const int64_t deadline =
        clock_mono_ms() + (server->timeout_s > 0 ? 1000 * (int64_t)server->timeout_s : WAIT_MS);
    AUTO(mcp_offers_release) struct mcp_offers offers = {.known = false};
    AUTO(mcp_view_release) struct mcp_view view = {.error = NULL};
    const struct mcp_prompt_info *p = NULL;
    struct mcp_outcome outcome = {.text = NULL};
    if (!mcp_client_wait_offers(client, deadline, wakeup))
        return clock_mono_ms() >= deadline
                   ? err_set(e, ERR_AGENT_ERROR, "%s does not list its prompts", server->name)
                   : err_set(e, ERR_INTERRUPTED, "interrupted");
    mcp_client_offers(client, &offers);
    mcp_client_view(client, &view);
    for (size_t i = 0; i < offers.prompts.len && !p; i++) {
        auto_free char *command = command_of(server->name, offers.prompts.items[i].name);
        p = strcmp(command, name) == 0 ? &offers.prompts.items[i] : NULL;
    }
    if (!p && view.state == MCP_FAILED)
        return err_set(e, ERR_AGENT_ERROR, "%s: %s", server->name, view.error);
    if (!p)
        return err_set(e, ERR_USAGE, "the server %s has no prompt /%.150s; /skills lists them",
                       server->name, name);
    AUTO(json_free_local) struct json *args = read_arguments(p, name, words, e);
    if (!args || !mcp_client_call(client, MCP_GET_PROMPT, p->name, args, deadline, wakeup, NULL,
                                  NULL, &outcome, e))
        return false;
    AUTO(buf_release) struct buf text = BUF_INIT;
    utf8_clean(&text, outcome.text, strlen(outcome.text), UTF8_MULTILINE);
    buf_trim_end(&text, "\n");
    head_tail_cut(&text, TEXT_MAX);
    buf_addf(out, "<prompt name=\"%s\">\n%s\n</prompt>", name, text.data);
    mcp_outcome_release(&outcome);
    return true;
}
