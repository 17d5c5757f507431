#include "session/operation_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void *new_struct(const struct shape *shape)
{
    if (!shape)
        return NULL;
    void *made = mem_alloc(shape->size);
    shape_init(shape, made);
    return made;
}

static void free_struct(const struct shape *shape, void *made)
{
    if (made)
        shape_release(shape, made);
    free(made);
}

struct operation_request *operation_request_new(const struct operation *o, const void *params)
{
    struct operation_request *r = mem_alloc(sizeof *r);
    *r = (struct operation_request){.operation = o, .params = new_struct(o->params)};
    if (params && r->params)
        shape_copy(o->params, r->params, params);
    return r;
}

void operation_request_free(struct operation_request *r)
{
    if (!r)
        return;
    free_struct(r->operation->params, r->params);
    free(r);
}

char **operation_request_session(struct operation_request *r)
{
    const struct shape *s = r->operation->params;
    for (const struct shape_field *f = s ? s->fields : NULL; f && f->name; f++)
        if (f->type == SHAPE_STRING && strcmp(f->name, SESSION_MEMBER) == 0)
            return (char **)(void *)((char *)r->params + f->offset);
    return NULL;
}

void operation_request_name(struct operation_request *r, const char *session)
{
    char **named = operation_request_session(r), *name = mem_strdup(session);
    free(*named);
    *named = name;
}

struct operation_answer *operation_answer_new(struct operation_request *r)
{
    struct operation_answer *a = mem_alloc(sizeof *a);
    *a = (struct operation_answer){.request = r, .result = new_struct(r->operation->result)};
    return a;
}

void operation_answer_free(struct operation_answer *a)
{
    if (!a)
        return;
    free_struct(a->request->operation->result, a->result);
    operation_request_free(a->request);
    free(a);
}

void operation_answer_fail(struct operation_answer *a, const struct error *e)
{
    free_struct(a->request->operation->result, a->result);
    a->result = NULL;
    a->error = *e;
}

bool operation_answers(const struct operation_answer *a, const struct operation *o)
{
    return a->request->operation == o;
}
