#include "agent/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fnmatch.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { MAX_PATTERNS = 64 };

/* Without its "**" directories, which may stand for none. */
static char *shallow(const char *pattern)
{
    struct buf out = BUF_INIT;
    for (const char *p = pattern; *p; p++) {
        if (strncmp(p, "**/", 3) == 0 && (p == pattern || p[-1] == '/'))
            p += 2;
        else
            buf_addch(&out, *p);
    }
    return buf_take(&out);
}

bool glob_read(struct glob *g, const char *text, struct error *e)
{
    *g = (struct glob){0};
    vec_push(&g->patterns, mem_strdup(text));
    for (size_t i = 0; i < g->patterns.len && g->patterns.len <= MAX_PATTERNS;) {
        char *pattern = g->patterns.items[i];
        const char *open = NULL, *close = pattern; /* the innermost braces */
        for (; *close && *close != '}'; close++)
            if (*close == '{')
                open = close;
        if (!open || !*close) {
            i++;
            continue;
        }
        for (const char *word = open + 1; word <= close; word++) {
            size_t len = strcspn(word, ",}");
            vec_push(&g->patterns, mem_printf("%.*s%.*s%s", (int)(open - pattern), pattern,
                                              (int)len, word, close + 1));
            word += len;
        }
        vec_remove(&g->patterns, i, 1);
        free(pattern);
    }
    if (g->patterns.len > MAX_PATTERNS) {
        glob_release(g);
        return err_set(e, ERR_USAGE, "the glob stands for more than %d patterns", MAX_PATTERNS);
    }
    for (size_t i = g->patterns.len; i > 0; i--)
        if (strstr(g->patterns.items[i - 1], "**/"))
            vec_push(&g->patterns, shallow(g->patterns.items[i - 1]));
    return true;
}

void glob_release(struct glob *g)
{
    vec_free_each(&g->patterns);
}

bool glob_matches(const struct glob *g, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < g->patterns.len; i++) {
        const char *pattern = g->patterns.items[i];
        if (fnmatch(pattern, strchr(pattern, '/') ? path : name, 0) == 0)
            return true;
    }
    return false;
}

/* --- regular expressions ---------------------------------------------------------------------- */

enum {
    MAX_PATTERN = 64 * 1024,
    MAX_STEPS = 10000000,         /* at a place of a line; PCRE2's own default */
    MAX_HEAP_KIB = 64 * 1024,     /* of the interpreter */
    FIRST_STACK = 32 * 1024,      /* of compiled code */
    MAX_STACK = 16 * 1024 * 1024, /* … likewise */
    SHORT_LINE = 512,
    QUICK_STEPS = 500, /* together well below a millisecond, measured */
    BYTES_A_UNIT = 64, /* that the shortest loop may pass over */
    UNITS_BETWEEN_ASKING = 4096
};

struct matcher {
    pcre2_code *code;
    pcre2_match_context *limits;
};

struct regex {
    struct matcher quick;   /* takes few steps, and asks nobody between them */
    struct matcher careful; /* asks before each item of the pattern */
    pcre2_match_data *found;
    pcre2_jit_stack *stack;
    bool (*go_on)(void *context);
    void *context;
    size_t cost; /* of a step in the line, in units of work */
    size_t work; /* since it was asked */
};

static void *take(size_t size, void *context)
{
    (void)context;
    return mem_alloc(size);
}

static void give(void *memory, void *context)
{
    (void)context;
    free(memory);
}

static bool may_go_on(struct regex *r)
{
    r->work += r->cost;
    if (r->work < UNITS_BETWEEN_ASKING)
        return true;
    r->work = 0;
    return r->go_on(r->context);
}

/* Between two items there is at most one loop over the line. */
static int before_item(pcre2_callout_block *block, void *context)
{
    (void)block;
    return may_go_on(context) ? 0 : PCRE2_ERROR_CALLOUT;
}

static bool matcher_init(struct matcher *m, struct regex *r, const char *pattern, uint32_t options,
                         uint32_t steps, pcre2_general_context *memory, struct error *e)
{
    unsigned char message[200];
    int fault;
    PCRE2_SIZE at;
    pcre2_compile_context *limits = pcre2_compile_context_create(memory);
    pcre2_set_max_pattern_length(limits, MAX_PATTERN);
    m->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                            options | PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
                                PCRE2_NEVER_BACKSLASH_C,
                            &fault, &at, limits);
    pcre2_compile_context_free(limits);
    if (m->code) {
        pcre2_jit_compile(m->code, PCRE2_JIT_COMPLETE); /* where it cannot, it is interpreted */
    } else {
        pcre2_get_error_message(fault, message, sizeof message);
        err_set(e, ERR_USAGE, "bad pattern: %s (at offset %zu)", (const char *)message, at);
    }
    m->limits = pcre2_match_context_create(memory);
    pcre2_set_match_limit(m->limits, steps);
    pcre2_set_heap_limit(m->limits, MAX_HEAP_KIB);
    pcre2_set_callout(m->limits, before_item, r);
    pcre2_jit_stack_assign(m->limits, NULL, r->stack);
    return m->code;
}

static void matcher_release(struct matcher *m)
{
    pcre2_match_context_free(m->limits);
    pcre2_code_free(m->code);
}

struct regex *regex_new(const char *pattern, bool ignore_case, bool (*go_on)(void *context),
                        void *context, struct error *e)
{
    uint32_t options = ignore_case ? PCRE2_CASELESS : 0;
    pcre2_general_context *memory = pcre2_general_context_create(take, give, NULL);
    struct regex *r = mem_alloc(sizeof *r);
    *r = (struct regex){.found = pcre2_match_data_create(1, memory),
                        .stack = pcre2_jit_stack_create(FIRST_STACK, MAX_STACK, memory),
                        .go_on = go_on,
                        .context = context};
    bool ok =
        matcher_init(&r->quick, r, pattern, options, QUICK_STEPS, memory, e) &&
        matcher_init(&r->careful, r, pattern, options | PCRE2_AUTO_CALLOUT, MAX_STEPS, memory, e);
    pcre2_general_context_free(memory);
    if (ok)
        return r;
    regex_free(r);
    return NULL;
}

void regex_free(struct regex *r)
{
    if (!r)
        return;
    matcher_release(&r->quick);
    matcher_release(&r->careful);
    pcre2_match_data_free(r->found);
    pcre2_jit_stack_free(r->stack);
    free(r);
}

enum regex_result regex_find(struct regex *r, const char *line, size_t len, size_t *at)
{
    r->cost = 1 + len / BYTES_A_UNIT;
    if (!may_go_on(r))
        return REGEX_STOPPED;
    int found = PCRE2_ERROR_MATCHLIMIT;
    if (len <= SHORT_LINE)
        found = pcre2_match(r->quick.code, (PCRE2_SPTR)line, len, 0, 0, r->found, r->quick.limits);
    if (found == PCRE2_ERROR_MATCHLIMIT)
        found =
            pcre2_match(r->careful.code, (PCRE2_SPTR)line, len, 0, 0, r->found, r->careful.limits);
    if (found == PCRE2_ERROR_NOMATCH)
        return REGEX_ABSENT;
    if (found == PCRE2_ERROR_CALLOUT)
        return REGEX_STOPPED;
    if (found < 0)
        return REGEX_TOO_MUCH;
    *at = pcre2_get_ovector_pointer(r->found)[0];
    return REGEX_FOUND;
}
