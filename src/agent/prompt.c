#include "agent/prompt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "agent/tool_mcp.h"
#include "agent/turn.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/image.h"
#include "knowledge/project.h"
#include "knowledge/skills.h"
#include "provider/choose.h"

char *skill_text(const char *name)
{
    auto_free char *path = mem_printf("skills/%s/SKILL.md", name);
    const char *markdown = embedded_text(path);
    return markdown ? skill_body(markdown) : NULL;
}

static void add_part(struct context *c, struct context_part part)
{
    c->tokens += part.tokens;
    vec_push(&c->parts, part);
}

/* --- the texts in front: system prompt, files, skills, what was learned, the graph ------------ */

/* A model with a window below SKILL_WINDOW gets the first paragraph of a skill alone. */
enum { SKILL_CAP = 8192, SKILL_WINDOW = 16000 };

/* Adds a part in front of the tools; one that is longer than its cap (tokens; 0: none) is cut. */
static void add_text(struct context *c, enum context_kind kind, const char *source, int64_t cap,
                     const char *text)
{
    struct context_part part = {
        .kind = kind, .source = mem_strdup(source), .cap = cap, .role = ROLE_SYSTEM};
    struct buf sent = BUF_INIT;
    buf_addstr(&sent, text);
    if (cap > 0 && (int64_t)sent.len / 4 > cap) {
        part.whole = (int64_t)sent.len / 4;
        head_tail_cut(&sent, (size_t)cap * 4);
    }
    part.tokens = (int64_t)sent.len / 4;
    part.text = buf_take(&sent);
    add_part(c, part);
}

static void add_skill(struct context *c, const struct agent *a, const char *name)
{
    for (size_t i = 0; i < c->parts.len; i++)
        if (c->parts.items[i].kind == CONTEXT_SKILLS && strcmp(c->parts.items[i].source, name) == 0)
            return;
    auto_free char *text = skill_text(name);
    char *rest = text && a->window > 0 && a->window < SKILL_WINDOW ? strstr(text, "\n\n") : NULL;
    if (rest)
        *rest = '\0';
    if (text)
        add_text(c, CONTEXT_SKILLS, name, SKILL_CAP, text);
}

char *prompt_system(const struct context *prompt)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < prompt->parts.len; i++) {
        const struct context_part *p = &prompt->parts.items[i];
        if (p->kind <= CONTEXT_GRAPH)
            buf_addf(&out, "%s%s", out.len > 0 ? "\n\n" : "", p->text);
    }
    return out.len > 0 ? buf_take(&out) : NULL;
}

/* --- tools ------------------------------------------------------------------------------------ */

/* The next tool that is offered; after NULL the first. NULL: there is no more. */
static const struct tool *next_tool(const struct agent *a, const struct tool *tool)
{
    const struct tool *end = a->tools->tools.items + a->tools->tools.len;
    for (tool = tool ? tool + 1 : a->tools->tools.items; tool < end; tool++) {
        enum approval_verdict verdict = approval_decide(a->policy, tool, NULL);
        bool able = tool->spec.by_provider && verdict == APPROVAL_ALLOW && a->provider &&
                    choose_searches(a->provider, a->endpoint);
        if (tool_offered(tool, a->offer) && !tool_lacks(tool) &&
            !(tool->idle && tool->idle(tool->self)) && verdict != APPROVAL_DENY &&
            (able || !tool->spec.by_provider))
            return tool;
    }
    return NULL;
}

size_t prompt_tools(const struct agent *a, struct tool_spec **out)
{
    size_t count = 0;
    *out = mem_alloc(a->tools->tools.len * sizeof **out);
    for (const struct tool *t = next_tool(a, NULL); t; t = next_tool(a, t))
        (*out)[count++] = t->spec;
    return count;
}

/* A part for the tools of each source. They are rounded together: the rest of one tool counts with
 * the next. */
static void add_tools(struct context *c, const struct agent *a)
{
    size_t bytes = 0;
    for (const struct tool *t = next_tool(a, NULL); t; t = next_tool(a, t)) {
        const struct tool_spec *s = &t->spec;
        size_t more = strlen(s->name) + strlen(s->description) + strlen(s->schema);
        int64_t tokens = (int64_t)((bytes + more) / 4 - bytes / 4);
        const struct context_part *last = c->parts.len > 0 ? &vec_last(&c->parts) : NULL;
        if (!last || last->kind != CONTEXT_TOOLS || strcmp(last->source, t->source->name) != 0)
            add_part(c, (struct context_part){.kind = CONTEXT_TOOLS,
                                              .role = ROLE_SYSTEM,
                                              .source = mem_strdup(t->source->name)});
        vec_last(&c->parts).tokens += tokens;
        c->tokens += tokens;
        bytes += more;
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static void add_front(struct context *c, const struct agent *a)
{
    /* A quarter of the window is left to the conversation. */
    if (a->system && *a->system)
        add_text(c, CONTEXT_SYSTEM, NULL, a->window > 0 ? a->window - a->window / 4 : 0, a->system);
    for (size_t i = 0; a->instructions && i < a->instructions->files.len; i++) {
        /* The model knows the file by its path, and may change it. */
        const struct instruction_file *f = &a->instructions->files.items[i];
        auto_free char *text = mem_printf("# Instructions of %s\n%s", f->path, f->text);
        add_text(c, CONTEXT_INSTRUCTIONS, f->path,
                 config_integer(a->config, CONFIG_PROJECT_MAX_PROMPT_TOKENS), text);
    }
    if (a->hooks && a->hooks->start.context)
        add_text(c, CONTEXT_INSTRUCTIONS, "[hooks] session_start",
                 config_integer(a->config, CONFIG_PROJECT_MAX_PROMPT_TOKENS),
                 a->hooks->start.context);
    bool graph = false, skills = false;
    for (const struct tool *t = next_tool(a, NULL); t; t = next_tool(a, t)) {
        if (t->skill)
            add_skill(c, a, t->skill);
        graph = graph || t->source == &tool_source_graph;
        skills = skills || t->source == &tool_source_skills;
    }
    if (a->skills && skills)
        add_text(c, CONTEXT_SKILL_LIST, NULL,
                 config_integer(a->config, CONFIG_PROJECT_MAX_PROMPT_TOKENS), a->skills);
    if (a->learned)
        add_text(c, CONTEXT_LEARNED, NULL,
                 config_integer(a->config, CONFIG_LEARNED_MAX_PROMPT_TOKENS), a->learned);
    if (a->graph_hint && graph)
        add_text(c, CONTEXT_GRAPH, NULL, config_integer(a->config, CONFIG_GRAPH_MAX_PROMPT_TOKENS),
                 a->graph_hint);
    add_tools(c, a);
}

void prompt_assemble(struct context *out, const struct agent *a)
{
    const struct history *h = a->history;
    add_front(out, a);
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        if (a->recalled && i == h->turn_first)
            add_text(out, CONTEXT_RECALLED, NULL, 0, a->recalled);
        add_part(out, (struct context_part){.kind = m->summary ? CONTEXT_SUMMARY : CONTEXT_MESSAGE,
                                            .role = m->role,
                                            .seq = m->seq,
                                            .turn = m->turn,
                                            .tokens = h->estimates.items[i],
                                            .pinned = m->pinned});
    }
}

int64_t prompt_overhead(const struct agent *a)
{
    AUTO(context_release) struct context front = {.mode = NULL};
    add_front(&front, a);
    return front.tokens + (a->recalled ? (int64_t)strlen(a->recalled) / 4 : 0);
}

/* --- surroundings ----------------------------------------------------------------------------- */

char *prompt_surroundings(const char *directory)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    const time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm day = {0};
    struct utsname host = {.sysname = ""};
    struct buf out = BUF_INIT;
    auto_free char *branch = project_branch(directory);
    (void)localtime_r(&now, &day);
    (void)uname(&host);
    buf_addf(&out,
             "Surroundings of the conversation, told by the program and not by the user:\n"
             "Date: %04d-%02d-%02d, %s\nWorking directory: %s\nSystem: %s %s",
             day.tm_year + 1900, day.tm_mon + 1, day.tm_mday, days[day.tm_wday], directory,
             host.sysname, host.machine);
    if (branch)
        buf_addf(&out, "\nGit branch: %s", branch);
    buf_addch(&out, '\n');
    return buf_take(&out);
}

/* --- warnings --------------------------------------------------------------------------------- */

char *prompt_cut_warning(const struct context *prompt)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < prompt->parts.len; i++) {
        const struct context_part *p = &prompt->parts.items[i];
        bool list = p->kind == CONTEXT_SKILL_LIST;
        const char *what = p->kind == CONTEXT_INSTRUCTIONS ? "the file"
                           : p->kind == CONTEXT_SKILLS     ? "the skill"
                           : list                          ? "the list of"
                                                           : "the system";
        if (p->whole > 0)
            buf_addf(&out, "%s%s %s was cut to %lld of its %lld tokens", out.len > 0 ? "; " : "",
                     what,
                     p->source ? p->source
                     : list    ? "skills"
                               : "prompt",
                     (long long)p->cap, (long long)p->whole);
    }
    if (out.len > 0)
        buf_addstr(&out, "; shorten it, or choose a model with a larger window");
    return out.len > 0 ? buf_take(&out) : NULL;
}

static char *tools_warning(const struct context *prompt, int64_t most)
{
    AUTO(buf_release) struct buf sources = BUF_INIT;
    int64_t tokens = 0;
    for (size_t i = 0; i < prompt->parts.len; i++) {
        const struct context_part *p = &prompt->parts.items[i];
        if (p->kind != CONTEXT_TOOLS)
            continue;
        tokens += p->tokens;
        buf_addf(&sources, "%s%s %lld", sources.len > 0 ? ", " : "", p->source,
                 (long long)p->tokens);
    }
    if (most <= 0 || tokens <= most)
        return NULL;
    return mem_printf(
        "the tools take %lld tokens of each request (%s), more than [tools] "
        "max_tokens = %lld; [chat] tools and [tools] deny offer fewer",
        (long long)tokens, sources.data, (long long)most);
}

/* Takes the text. */
static void warn_once(struct turn *t, char **told, const char *code, char *text)
{
    if (!text || (*told && strcmp(*told, text) == 0)) {
        free(text);
        return;
    }
    turn_tell_warning(t, code, text);
    free(*told);
    *told = text;
}

/* A text that steers the model is not exchanged unseen. Takes the text. */
static void warn_of_change(struct turn *t, char **told, const char *code, const char *why,
                           char *now)
{
    if (*told && strcmp(*told, now) != 0)
        turn_tell_warning(t, code, why);
    free(*told);
    *told = now;
}

void prompt_warn(struct turn *t, const struct context *prompt)
{
    const struct instructions *in = t->a->instructions;
    struct prompt_told *told = t->a->told;
    const struct tool_mcp *mcp = t->a->tools->host.mcp;
    struct buf now = BUF_INIT;
    warn_once(t, &told->cut, "prompt_cut", prompt_cut_warning(prompt));
    warn_once(t, &told->faults, "instructions",
              in && in->faults ? mem_printf("instructions were left out: %s", in->faults) : NULL);
    for (size_t i = 0; in && i < in->files.len; i++)
        buf_addf(&now, "%s\n%s\n", in->files.items[i].path, in->files.items[i].text);
    warn_of_change(t, &told->instructions, "instructions_changed",
                   "AGENTS.md or CLAUDE.md has changed; the model is told what it says now",
                   buf_take(&now));
    warn_of_change(t, &told->skills, "skills_changed",
                   "the skills have changed; the model is told which there are now",
                   mem_strdup(t->a->skills ? t->a->skills : ""));
    const char *servers = mcp ? tool_mcp_faults(mcp) : NULL;
    warn_once(t, &told->servers, "mcp",
              servers ? mem_printf("MCP servers that cannot be used: %s", servers) : NULL);
    warn_once(t, &told->tools, "many_tools",
              tools_warning(prompt, config_integer(t->a->config, CONFIG_TOOLS_MAX_TOKENS)));
}

void prompt_told_release(struct prompt_told *t)
{
    free(t->cut);
    free(t->tools);
    free(t->faults);
    free(t->servers);
    free(t->instructions);
    free(t->skills);
    *t = (struct prompt_told){.cut = NULL};
}

/* --- for a person ----------------------------------------------------------------------------- */

static char *text_of_message(const struct history *h, size_t index, size_t most)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    struct buf cut = BUF_INIT;
    struct message room;
    const char *surroundings = NULL;
    const struct message *m = message_whole(h->source, &h->messages.items[index], &room);
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (b->name && strcmp(b->name, MESSAGE_SURROUNDINGS) == 0) {
            surroundings = b->text; /* the message's own words come first: a list shows them */
            continue;
        }
        const char *text = b->text ? b->text : "", *name = b->name ? b->name : "";
        buf_addstr(&out, out.len > 0 ? "\n\n" : "");
        if (b->type == BLOCK_TOOL_CALL)
            buf_addf(&out, "[call] %s %s", name, text);
        else if (b->type == BLOCK_TOOL_RESULT)
            buf_addf(&out, "[%s] %s\n%s", b->is_error ? "error" : "result", name, text);
        else if (b->type == BLOCK_IMAGE)
            image_add_text(&out, b);
        else
            buf_addstr(&out, text);
    }
    if (surroundings)
        buf_addf(&out, "\n\n%s", surroundings);
    message_release(&room);
    utf8_add_cut(&cut, out.data, out.len, most);
    return buf_take(&cut);
}

/* Bounds of one message and of all together: a history has any size. */
enum { MESSAGE_BYTES = 64 * 1024, MESSAGES_BYTES = 4 << 20 };

void prompt_describe(struct context *prompt, const struct agent *a)
{
    size_t message = 0, left = MESSAGES_BYTES;
    for (size_t i = 0; i < prompt->parts.len; i++) {
        struct context_part *p = &prompt->parts.items[i];
        size_t most = left < MESSAGE_BYTES ? left : MESSAGE_BYTES;
        if (p->kind == CONTEXT_TOOLS) { /* the names come first: a list shows them */
            struct buf text = BUF_INIT;
            AUTO(buf_release) struct buf all = BUF_INIT;
            for (const struct tool *t = next_tool(a, NULL); t; t = next_tool(a, t)) {
                const struct tool_spec *s = &t->spec;
                if (strcmp(t->source->name, p->source) != 0)
                    continue;
                buf_addf(&text, "%s%s", text.len > 0 ? ", " : "", s->name);
                buf_addf(&all, "\n\n%s\n%s\n%s", s->name, s->description, s->schema);
            }
            buf_add(&text, all.data, all.len);
            p->text = buf_take(&text);
        } else if (p->kind == CONTEXT_SUMMARY || p->kind == CONTEXT_MESSAGE) {
            p->text = text_of_message(a->history, message++, most);
        }
        if (p->kind == CONTEXT_SUMMARY || p->kind == CONTEXT_MESSAGE)
            left -= strlen(p->text) < left ? strlen(p->text) : left;
    }
}
