/* Tickets in place of the token: a browser's EventSource can give no header, and a token in a URL
 * would stay in histories and logs. Each opens one stream, and soon or never. Pure. */
#ifndef SERVE_HTTP_TICKET_H
#define SERVE_HTTP_TICKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At once; a further one takes the place of the oldest. */
enum { HTTP_TICKETS = 64, HTTP_TICKET_LEN = 32, HTTP_TICKET_S = 30 };

struct http_tickets {
    struct http_ticket {
        char text[HTTP_TICKET_LEN + 1]; /* "": it was taken, or never given */
        int64_t until_ms;
    } list[HTTP_TICKETS];
    size_t given;
};

/* Borrowed until the next one is made. */
const char *http_ticket_make(struct http_tickets *t, int64_t now_ms);

/* Whether it was made, not taken, and not too long ago. It is taken then. */
bool http_ticket_take(struct http_tickets *t, const char *text, int64_t now_ms);

#endif
