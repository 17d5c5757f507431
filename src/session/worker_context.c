#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "compact/mode.h"
#include "session/worker_private.h"

static void add_part(struct context *c, struct context_part part)
{
    c->tokens += part.tokens;
    vec_push(&c->parts, part);
}

static void add_system(struct context *c, const struct agent *a)
{
    if (a->system && *a->system)
        add_part(c, (struct context_part){.kind = CONTEXT_SYSTEM,
                                          .role = ROLE_SYSTEM,
                                          .tokens = (int64_t)strlen(a->system) / 4,
                                          .text = mem_strdup(a->system)});
}

static void add_skills(struct context *c, const struct agent *a)
{
    if (a->skills)
        add_part(c, (struct context_part){.kind = CONTEXT_SKILLS,
                                          .role = ROLE_SYSTEM,
                                          .tokens = (int64_t)strlen(a->skills) / 4,
                                          .text = mem_strdup(a->skills)});
}

static void add_tools(struct context *c, const struct agent *a)
{
    struct tool_spec *specs;
    size_t count = agent_offered_tools(a, &specs);
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < count; i++)
        buf_addf(&text, "%s%s\n%s\n%s\n", i > 0 ? "\n" : "", specs[i].name, specs[i].description,
                 specs[i].schema);
    if (count > 0)
        add_part(c, (struct context_part){.kind = CONTEXT_TOOLS,
                                          .role = ROLE_SYSTEM,
                                          .tokens = agent_tools_estimate(specs, count),
                                          .text = buf_take(&text)});
    buf_release(&text);
    free(specs);
}

static void add_block(struct buf *out, const struct block *b)
{
    const char *text = b->text ? b->text : "";
    if (out->len > 0)
        buf_addstr(out, "\n\n");
    switch (b->type) {
    case BLOCK_TEXT:
    case BLOCK_REASONING:
        buf_addstr(out, text);
        break;
    case BLOCK_TOOL_CALL:
        buf_addf(out, "[call] %s %s", b->name ? b->name : "", text);
        break;
    case BLOCK_TOOL_RESULT:
        buf_addf(out, "[%s] %s\n%s", b->is_error ? "error" : "result", b->name ? b->name : "",
                 text);
        break;
    case BLOCK_IMAGE:
        buf_addf(out, "[image] %s", text);
        break;
    }
}

static char *text_of(const struct message *m)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < m->blocks.len; i++)
        add_block(&out, &m->blocks.items[i]);
    return buf_take(&out);
}

static void add_message(struct context *c, const struct message *m, int64_t tokens, bool goes)
{
    add_part(c, (struct context_part){.kind = m->summary ? CONTEXT_SUMMARY : CONTEXT_MESSAGE,
                                      .role = m->role,
                                      .seq = m->seq,
                                      .turn = m->turn,
                                      .tokens = tokens,
                                      .text = text_of(m),
                                      .pinned = m->pinned,
                                      .goes = goes});
}

/* What stays beside the history is there after a compaction, too. */
static void foresee(struct context *c, const struct worker *w, const struct compact_input *in,
                    struct compact_plan *plan)
{
    struct rebuild rebuild = {0};
    const struct compact_mode *mode = w->compact.mode;
    if (!compact_plan_make(mode, in, plan))
        return;
    compact_plan_rebuild(mode, in, plan, NULL, &rebuild);
    c->tokens_after = c->tokens + rebuild_estimate(&rebuild, in->estimates);
    rebuild_release(&rebuild);
}

static void add_history(struct context *c, const struct worker *w)
{
    const struct history *h = &w->journal.history;
    const struct compact_limits limits = worker_limits(w);
    const struct compact_input in = compact_input_of(h, &w->compact, &limits);
    struct compact_plan plan = {0};
    if (w->compaction)
        foresee(c, w, &in, &plan);
    for (size_t i = 0; i < h->messages.len; i++)
        add_message(c, &h->messages.items[i], h->estimates.items[i],
                    i < plan.fates.len && plan.fates.items[i] == FATE_GOES);
    compact_plan_release(&plan);
}

/* The parts are estimated; together they are what the meters show. Rounding loses nothing. */
static void fit_to_request(struct context *c, struct request_size size)
{
    const int64_t request = size.tokens;
    const int64_t estimate = c->tokens;
    int64_t seen = 0, given = 0;
    for (size_t i = 0; i < c->parts.len; i++) {
        struct context_part *p = &c->parts.items[i];
        seen += p->tokens;
        p->tokens = request_resized(request, estimate, seen) - given;
        given += p->tokens;
    }
    if (c->tokens_after >= 0)
        c->tokens_after = request_resized(request, estimate, c->tokens_after);
    c->tokens = request;
    c->estimated = size.estimated;
}

static void fill(struct context *c, struct worker *w)
{
    struct agent agent = worker_agent(w);
    c->last_input = w->journal.history.last_input;
    c->cached = w->last_cached;
    c->window = w->backend.facts.window;
    c->threshold = worker_threshold(w);
    c->mode = w->compaction ? mem_strdup(w->compact.mode->name) : NULL;
    add_system(c, &agent);
    add_skills(c, &agent);
    add_tools(c, &agent);
    add_history(c, w);
    fit_to_request(c, agent_request_size(&agent));
    worker_agent_release(&agent);
}

void do_context(struct worker *w, struct command *c)
{
    struct error e = {0};
    if ((!w->backend.chosen && !worker_choose(w, &e)) || !worker_need_history(w, &e)) {
        tell_error(w, c, &e);
        return;
    }
    struct notice *n = notice_new(NOTICE_CONTEXT);
    fill(&n->context, w);
    tell(w, n);
}
