#include "tests/hostile/mode.h"

#define CHAT (1u << TARGET_CHAT)

const struct mode_table mode_tables[] = {
    {connection_modes, CHAT},
    {head_modes, CHAT},
    {framing_modes, CHAT},
    {status_modes, CHAT},
    {stream_modes, CHAT},
    {json_modes, CHAT},
    {text_modes, CHAT},
    {figure_modes, CHAT},
    {call_modes, CHAT},
    {listing_modes, 1u << TARGET_LISTING},
    {embedding_modes, 1u << TARGET_EMBEDDING},
    {NULL, 0},
};

bool answer_begin_as(struct peer *p, const char *model, const char *tokens)
{
    return peer_head(p, 200, p->form->type, "") &&
           peer_events(p, p->form->begin, VALUES(model, tokens)) &&
           peer_events(p, p->form->open, VALUES(NULL));
}

bool answer_begin(struct peer *p)
{
    return answer_begin_as(p, "m", "5");
}

bool answer_text(struct peer *p, const char *text)
{
    return peer_events(p, p->form->text, VALUES(text));
}

bool answer_end_as(struct peer *p, const char *stop, const char *in, const char *out)
{
    return peer_events(p, p->form->end, VALUES(stop, in, out)) && peer_say(p, p->form->done);
}

bool answer_end(struct peer *p)
{
    return answer_end_as(p, p->form->stop, "5", "5");
}

char *answer_repeat(const char *text, long count)
{
    struct buf out = BUF_INIT;
    for (long i = 0; i < count; i++)
        buf_addstr(&out, text);
    return buf_take(&out);
}
