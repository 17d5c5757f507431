#include "chat/search_hit.h"

#include <stdlib.h>

void search_hits_release(struct search_hits *h)
{
    for (size_t i = 0; i < h->items.len; i++) {
        free(h->items.items[i].title);
        free(h->items.items[i].snippet);
    }
    vec_release(&h->items);
}

#define AT(T, member) SHAPE_AT(T, struct search_hit, member)

/* clang-format off */
static const struct shape_field fields[] = {
    SHAPE_FIELD("session_id", UUID, REQUIRED, offsetof(struct search_hit, session_id),
                .help = "The session."),
    SHAPE_FIELD("title", STRING, OPTIONAL, SHAPE_AT_TEXT(struct search_hit, title),
                .help = "Its title."),
    SHAPE_FIELD("seq", INTEGER, REQUIRED, AT(int64_t, seq),
                .help = "Number of the event that holds the text."),
    SHAPE_FIELD("at", TIME, REQUIRED, AT(int64_t, at_ms), .help = "When it was said."),
    SHAPE_FIELD("role", ENUM, REQUIRED, AT(enum role, role), .names = &role_names,
                .help = "Who said it."),
    SHAPE_FIELD("archived", BOOLEAN, OPTIONAL, AT(bool, archived), .help = "The session is."),
    SHAPE_FIELD("snippet", STRING, OPTIONAL, SHAPE_AT_TEXT(struct search_hit, snippet),
                .help = "One line around what matched first."),
    {0},
};
/* clang-format on */

const struct shape search_hit_shape = {
    .name = "match", .size = sizeof(struct search_hit), .fields = fields};
