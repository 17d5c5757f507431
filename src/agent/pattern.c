#include "agent/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* In characters, after every repetition was written out. What matches nothing costs a compiler more
 * than what matches something: a border, and the copies of what can be empty. */
enum { MAX_SIZE = 1000, BORDER_SIZE = 50, EMPTY_FACTOR = 5, MAX_DEPTH = 50 };

/* What a part of a pattern becomes when it is compiled. */
struct part {
    long size;
    bool empty; /* it can match nothing at all */
};

/* A group that is open, or the whole. `last` is what a repetition would repeat. */
struct level {
    struct part branch; /* since the last "|", without `last` */
    struct part last;
    long others;       /* size of the branches before */
    bool others_empty; /* one of them can be */
};

enum fault { FAULT_NONE, FAULT_SIZE, FAULT_BACK_REFERENCE, FAULT_EMPTY_LOOP };

struct measure {
    VEC(struct level) levels;
    enum fault fault;
};

static struct level *level(const struct measure *m)
{
    return &vec_last(&m->levels);
}

static void open_group(struct measure *m)
{
    const struct part nothing = {.empty = true};
    vec_push(&m->levels, (struct level){.branch = nothing, .last = nothing});
}

static long total(const struct level *l)
{
    return l->others + l->branch.size + l->last.size;
}

/* `last` becomes a part of the branch. */
static void settle(struct level *l)
{
    l->branch.size += l->last.size;
    l->branch.empty = l->branch.empty && l->last.empty;
    l->last = (struct part){.empty = true};
}

static void add_part(struct measure *m, long size, bool empty)
{
    settle(level(m));
    level(m)->last = (struct part){.size = size, .empty = empty};
}

static void add_border(struct measure *m)
{
    add_part(m, BORDER_SIZE, true);
}

static void add_character(struct measure *m)
{
    add_part(m, 1, false);
}

static void end_branch(struct level *l)
{
    settle(l);
    l->others += l->branch.size + 1;
    l->others_empty = l->others_empty || l->branch.empty;
    l->branch = (struct part){.empty = true};
}

static void close_group(struct measure *m)
{
    if (m->levels.len == 1) {
        add_character(m); /* it closes nothing and stands for itself */
        return;
    }
    struct level closed = *level(m);
    end_branch(&closed);
    m->levels.len--;
    add_part(m, closed.others, closed.others_empty);
}

/* Of `last`, `least` to `most` times; -1: without limit. A loop over nothing takes some compilers
 * a time that doubles with each. */
static void repeat(struct measure *m, long least, long most)
{
    struct part *last = &level(m)->last;
    long copies = most < 0 ? least + 1 : most;
    if (most < 0 && last->empty)
        m->fault = FAULT_EMPTY_LOOP;
    if (copies > 1)
        last->size *=
            (copies > MAX_SIZE ? MAX_SIZE + 1 : copies) * (last->empty ? EMPTY_FACTOR : 1);
    last->empty = last->empty || least == 0;
}

/* Behind a bracket expression, whose first character stands at `p`. */
static const char *skip_bracket(const char *p)
{
    p += *p == '^';
    p += *p == ']';
    while (*p && *p != ']') {
        if (p[0] == '[' && p[1] && strchr(":.=", p[1])) {
            const char close[] = {p[1], ']', '\0'};
            const char *end = strstr(p + 2, close);
            p = end ? end + 2 : p + 1;
        } else {
            p++;
        }
    }
    return *p ? p + 1 : p;
}

/* "{2}", "{2,}", "{2,5}", "{,5}": behind it; `p` stands behind the brace. */
static const char *repeat_as_said(struct measure *m, const char *p)
{
    char *end;
    long least = strtol(p, &end, 10);
    long most = least;
    if (*end == ',') {
        const char *bound = end + 1;
        most = strtol(bound, &end, 10);
        if (end == bound)
            most = -1;
    }
    repeat(m, least > MAX_SIZE ? MAX_SIZE : least, most);
    return *end == '}' ? end + 1 : end;
}

/* Escaped letters are borders of words and the like, where they are anything. */
static const char *measure_escaped(struct measure *m, const char *p)
{
    if (*p >= '1' && *p <= '9')
        m->fault = FAULT_BACK_REFERENCE;
    if (*p && strchr("<>bB`'", *p))
        add_border(m);
    else
        add_character(m);
    return *p ? p + 1 : p;
}

static const char *measure_one(struct measure *m, const char *p)
{
    switch (*p++) {
    case '\\':
        return measure_escaped(m, p);
    case '[':
        add_character(m);
        return skip_bracket(p);
    case '(':
        open_group(m);
        return p;
    case ')':
        close_group(m);
        return p;
    case '|':
        end_branch(level(m));
        return p;
    case '{':
        if ((*p >= '0' && *p <= '9') || *p == ',')
            return repeat_as_said(m, p);
        add_character(m);
        return p;
    case '*':
        repeat(m, 0, -1);
        return p;
    case '+':
        repeat(m, 1, -1);
        return p;
    case '?':
        repeat(m, 0, 1);
        return p;
    case '^':
    case '$':
        add_border(m);
        return p;
    default:
        add_character(m);
        return p;
    }
}

static enum fault find_fault(const char *text)
{
    struct measure m = {.fault = FAULT_NONE};
    open_group(&m);
    for (const char *p = text; *p && m.fault == FAULT_NONE;) {
        p = measure_one(&m, p);
        if (m.levels.len > MAX_DEPTH || total(level(&m)) > MAX_SIZE)
            m.fault = FAULT_SIZE;
    }
    vec_release(&m.levels);
    return m.fault;
}

static bool check_shape(const char *text, struct error *e)
{
    switch (find_fault(text)) {
    case FAULT_SIZE:
        return err_set(e, ERR_USAGE,
                       "the pattern is too large: its repetitions, written out, have more than %d "
                       "characters",
                       MAX_SIZE);
    case FAULT_BACK_REFERENCE:
        return err_set(e, ERR_USAGE, "the pattern has a back reference; those are not supported");
    case FAULT_EMPTY_LOOP:
        return err_set(e, ERR_USAGE,
                       "the pattern repeats without limit what can be empty, as (a*)* does");
    case FAULT_NONE:
        break;
    }
    return true;
}

bool pattern_compile(regex_t *out, const char *text, bool ignore_case, struct error *e)
{
    if (!check_shape(text, e))
        return false;
    int fault = regcomp(out, text, REG_EXTENDED | (ignore_case ? REG_ICASE : 0));
    if (fault == 0)
        return true;
    char reason[128];
    regerror(fault, out, reason, sizeof reason);
    return err_set(e, ERR_USAGE, "bad pattern: %s", reason);
}
