#include "tests/sent.h"
#include "tests/suite.h"

void sent_take(void *sent, struct command *c)
{
    sent_commands *to = sent;
    vec_push(to, c);
}

static const char *const names[] = {
#define X(name) #name,
    COMMAND_TYPES(X)
#undef X
};

void sent_tell(const struct command *c, struct buf *out)
{
    const char *name = names[c->type];
    buf_addf(out, "%s\n", name);
    if (c->text)
        buf_addf(out, "%s text=%s\n", name, c->text);
    if (c->name)
        buf_addf(out, "%s name=%s\n", name, c->name);
    buf_addf(out, "%s limit=%d\n%s number=%lld\n", name, c->limit, name, (long long)c->number);
}

void sent_forget(sent_commands *sent)
{
    for (size_t i = 0; i < sent->len; i++)
        command_free(sent->items[i]);
    vec_clear(sent);
}

void sent_release(sent_commands *sent)
{
    sent_forget(sent);
    vec_release(sent);
}

const struct command *sent_last(const sent_commands *sent, enum command_type type)
{
    for (size_t i = sent->len; i-- > 0;)
        if (sent->items[i]->type == type)
            return sent->items[i];
    return NULL;
}

const struct command *sent_only(const sent_commands *sent, enum command_type type)
{
    assert_true(sent_count(sent, type) <= 1);
    return sent_last(sent, type);
}

size_t sent_count(const sent_commands *sent, enum command_type type)
{
    size_t count = 0;
    for (size_t i = 0; i < sent->len; i++)
        count += sent->items[i]->type == type;
    return count;
}

void started_take(started_requests *started, const struct operation *o, const void *params)
{
    vec_push(started, operation_request_new(o, params));
}

void started_release(started_requests *started)
{
    for (size_t i = 0; i < started->len; i++)
        operation_request_free(started->items[i]);
    vec_release(started);
}

const void *started_params(const started_requests *started, const struct operation *o)
{
    for (size_t i = started->len; i-- > 0;)
        if (started->items[i]->operation == o)
            return started->items[i]->params;
    return NULL;
}

size_t started_count(const started_requests *started, const struct operation *o)
{
    size_t count = 0;
    for (size_t i = 0; i < started->len; i++)
        count += started->items[i]->operation == o;
    return count;
}
