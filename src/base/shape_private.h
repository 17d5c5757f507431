/* What the parts of shape.h share: how values stand in a struct. */
#ifndef BASE_SHAPE_PRIVATE_H
#define BASE_SHAPE_PRIVATE_H

#include <limits.h>
#include <string.h>

#include "base/shape.h"

/* Every whole number up to it is exact; and with 15 digits a number up to it reads back. */
#define SHAPE_WHOLE_MAX 9007199254740992.0
#define SHAPE_NUMBER_MAX 1e18

/* A VEC() of any elements. */
struct list {
    char *items;
    size_t len, cap;
};

/* How the member stands in the struct: a text, a VEC() or a number. */
static inline bool is_text(const struct shape_field *f)
{
    return f->type == SHAPE_STRING || f->type == SHAPE_JSON || f->type == SHAPE_WORDS;
}

static inline bool is_list(const struct shape_field *f)
{
    return f->type == SHAPE_STRINGS || f->type == SHAPE_LIST;
}

static inline bool is_number(const struct shape_field *f)
{
    return f->type == SHAPE_INTEGER || f->type == SHAPE_COUNT || f->type == SHAPE_NUMBER;
}

static inline char *get_text(const void *at)
{
    char *text;
    memcpy(&text, at, sizeof text);
    return text;
}

static inline void put_text(void *at, char *text)
{
    memcpy(at, &text, sizeof text);
}

static inline struct list get_list(const void *at)
{
    struct list list;
    memcpy(&list, at, sizeof list);
    return list;
}

static inline void put_list(void *at, struct list list)
{
    memcpy(at, &list, sizeof list);
}

static inline int get_int(const void *at)
{
    int n;
    memcpy(&n, at, sizeof n);
    return n;
}

static inline void put_int(void *at, int n)
{
    memcpy(at, &n, sizeof n);
}

static inline double get_number(const struct shape_field *f, const void *at)
{
    if (f->type == SHAPE_COUNT)
        return get_int(at);
    return f->type == SHAPE_NUMBER ? *(const double *)at : (double)*(const int64_t *)at;
}

static inline void put_number(const struct shape_field *f, void *at, double n)
{
    if (f->type == SHAPE_COUNT)
        put_int(at, (int)n);
    else if (f->type == SHAPE_NUMBER)
        *(double *)at = n;
    else
        *(int64_t *)at = (int64_t)n;
}

static inline double most_of(const struct shape_field *f)
{
    double held = f->type == SHAPE_COUNT    ? INT_MAX
                  : f->type == SHAPE_NUMBER ? SHAPE_NUMBER_MAX
                                            : SHAPE_WHOLE_MAX;
    return f->most != 0 || f->least < 0 ? f->most : held;
}

static inline size_t element_size(const struct shape_field *f)
{
    return f->type == SHAPE_LIST ? f->of->size : sizeof(char *);
}

static inline const struct shape_field *find_field(const struct shape *s, const char *name)
{
    const struct shape_field *f = s->fields;
    while (f->name && strcmp(f->name, name) != 0 && !(f->also && strcmp(f->also, name) == 0))
        f++;
    return f->name ? f : NULL;
}

#endif
