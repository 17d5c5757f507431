#include "chat/search_hit.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"

void search_hits_release(struct search_hits *h)
{
    for (size_t i = 0; i < h->items.len; i++) {
        free(h->items.items[i].title);
        free(h->items.items[i].snippet);
    }
    vec_release(&h->items);
}

struct json *search_hit_to_json(const struct search_hit *h)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    char at[25];
    clock_format(h->at_ms, at);
    json_out_open(&o, '{');
    json_out_member(&o, "session_id", h->session_id);
    json_out_member(&o, "title", h->title);
    json_out_int(&o, "seq", h->seq);
    json_out_member(&o, "at", at);
    json_out_member(&o, "role", role_name(h->role));
    json_out_flag(&o, "archived", h->archived);
    json_out_member(&o, "snippet", h->snippet);
    json_out_close(&o, '}');
    return json_out_tree(&text);
}
