#include "agent/approval.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

#define BETWEEN_WORDS " \t\r\n,"

static bool contains(const struct approval_names *names, const char *word)
{
    for (size_t i = 0; i < names->len; i++)
        if (strcmp(names->items[i], word) == 0)
            return true;
    return false;
}

static void add(struct approval_names *names, const char *word)
{
    if (!contains(names, word))
        vec_push(names, mem_strdup(word));
}

static void take_out(struct approval_names *names, const char *word)
{
    for (size_t i = names->len; i > 0; i--) {
        if (strcmp(names->items[i - 1], word) != 0)
            continue;
        free(names->items[i - 1]);
        vec_remove(names, i - 1, 1);
    }
}

static void clear(struct approval_names *names)
{
    vec_free_each(names);
}

void approval_policy_release(struct approval_policy *p)
{
    clear(&p->allow);
    clear(&p->ask);
    clear(&p->deny);
    clear(&p->session);
}

static bool names_class(const char *word)
{
    for (int i = 0; i < TOOL_CLASS_COUNT; i++)
        if (strcmp(tool_class_name((enum tool_class)i), word) == 0)
            return true;
    return false;
}

static const char *nearest_name(const struct toolset *tools, const char *word)
{
    VEC(const char *) known = {0};
    for (size_t i = 0; i < tools->tools.len; i++)
        vec_push(&known, tools->tools.items[i].spec.name);
    for (int i = 0; i < TOOL_CLASS_COUNT; i++)
        vec_push(&known, tool_class_name((enum tool_class)i));
    const char *nearest = config_nearest(word, known.items, known.len);
    vec_release(&known);
    return nearest;
}

static bool unknown_word(const struct toolset *tools, const char *source, const char *word,
                         struct error *e)
{
#define X(id, name) " " name
    static const char *const classes = TOOL_CLASSES(X);
#undef X
    const char *nearest = nearest_name(tools, word);
    if (nearest)
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s: unknown tool or class \"%s\"; did you mean \"%s\"?", source, word,
                       nearest);
    return err_set(e, ERR_CONFIG_ERROR, "%s: unknown tool or class \"%.64s\"; the classes are%s",
                   source, word, classes);
}

/* Adds what is known, and complains of the first word that is not. */
static bool read_words(struct approval_names *names, const struct toolset *tools,
                       const char *source, const char *text, struct error *e)
{
    bool ok = true;
    for (text += strspn(text, BETWEEN_WORDS); *text; text += strspn(text, BETWEEN_WORDS)) {
        size_t len = strcspn(text, BETWEEN_WORDS);
        char *word = mem_strndup(text, len);
        if (toolset_find(tools, word) || names_class(word))
            add(names, word);
        else if (ok)
            ok = unknown_word(tools, source, word, e);
        free(word);
        text += len;
    }
    return ok;
}

static bool read_also_allow(struct approval_policy *p, const struct toolset *tools,
                            const char *text, struct error *e)
{
    struct approval_names also = {0};
    bool ok = read_words(&also, tools, "--allow", text, e);
    for (size_t i = 0; i < also.len; i++) {
        add(&p->allow, also.items[i]);
        take_out(&p->ask, also.items[i]);
    }
    clear(&also);
    return ok;
}

bool approval_policy_read(struct approval_policy *p, const struct config *config,
                          const struct toolset *tools, const char *also_allow, struct error *e)
{
    *p = (struct approval_policy){0};
    const struct {
        struct approval_names *names;
        const char *source;
        enum config_key key;
    } lists[] = {
        {&p->allow, "[tools] allow", CONFIG_TOOLS_ALLOW},
        {&p->ask, "[tools] ask", CONFIG_TOOLS_ASK},
        {&p->deny, "[tools] deny", CONFIG_TOOLS_DENY},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        ok = read_words(lists[i].names, tools, lists[i].source, config_string(config, lists[i].key),
                        ok ? e : NULL) &&
             ok;
    if (also_allow)
        ok = read_also_allow(p, tools, also_allow, ok ? e : NULL) && ok;
    return ok;
}

static bool decided(const struct approval_policy *p, const char *word, enum approval_verdict *out)
{
    if (contains(&p->deny, word))
        *out = APPROVAL_DENY;
    else if (contains(&p->ask, word))
        *out = APPROVAL_ASK;
    else if (contains(&p->allow, word))
        *out = APPROVAL_ALLOW;
    else
        return false;
    return true;
}

/* As its class is, unless its source says otherwise. */
static enum approval_verdict by_class(const struct approval_policy *p, const struct tool *tool)
{
    enum approval_verdict verdict;
    if (!decided(p, tool_class_name(tool->class), &verdict))
        verdict = APPROVAL_ASK;
    if (verdict == APPROVAL_DENY || tool->consent == CONSENT_BY_CLASS)
        return verdict;
    return tool->consent == CONSENT_GIVEN ? APPROVAL_ALLOW : APPROVAL_ASK;
}

enum approval_verdict approval_decide(const struct approval_policy *p, const struct tool *tool,
                                      const char *grant)
{
    enum approval_verdict verdict;
    if (!decided(p, tool->spec.name, &verdict))
        verdict = by_class(p, tool);
    if (verdict == APPROVAL_ASK && grant && contains(&p->session, grant))
        return APPROVAL_ALLOW;
    return verdict;
}

void approval_allow_session(struct approval_policy *p, const char *grant)
{
    add(&p->session, grant);
}

void approval_forget_session(struct approval_policy *p)
{
    clear(&p->session);
}
