#include "serve/http_ticket.h"

#include <stdio.h>

#include "base/entropy.h"
#include "serve/http_checks.h"

const char *http_ticket_make(struct http_tickets *t, int64_t now_ms)
{
    struct http_ticket *made = &t->list[t->given++ % HTTP_TICKETS];
    unsigned char bytes[HTTP_TICKET_LEN / 2];
    entropy_fill(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(made->text + 2 * i, 3, "%02x", bytes[i]);
    made->until_ms = now_ms + 1000 * HTTP_TICKET_S;
    return made->text;
}

bool http_ticket_take(struct http_tickets *t, const char *text, int64_t now_ms)
{
    for (size_t i = 0; i < HTTP_TICKETS; i++) {
        struct http_ticket *one = &t->list[i];
        if (!*one->text || !http_is_secret(text, one->text))
            continue;
        *one->text = '\0';
        return now_ms < one->until_ms;
    }
    return false;
}
