#include "chat/message_source.h"

#include <assert.h>

const struct message *message_whole(struct message_source *s, const struct message *m,
                                    struct message *room)
{
    struct error e;
    *room = (struct message){.role = m->role};
    if (m->row == 0)
        return m;
    assert(s);
    if (s->read(s, m, room, &e))
        return room;
    if (!s->failed)
        s->fault = e;
    s->failed = true;
    return m;
}
