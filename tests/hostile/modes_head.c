/* Status lines and headers. */
#include "tests/hostile/mode.h"

/* Sends `text`, in which are @1: the content type that belongs here, @2: a good body, @3: its
 * length, @4: the key, @5: another port of the server, @6: its own. */
static void fill(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT, out = BUF_INIT;
    char length[24], other[8], own[8];
    peer_good_body(p, &body);
    snprintf(length, sizeof length, "%zu", body.len);
    snprintf(other, sizeof other, "%d", peer_other_port(p));
    snprintf(own, sizeof own, "%d", peer_port(p));
    form_fill(&out, p->mode->text,
              VALUES(peer_good_type(p), body.data, length, p->key, other, own));
    (void)peer_send(p, out.data, out.len);
}

/* `text`, then its last line again and again: `number` times, 0 without an end; then a good end. */
static void flood(struct peer *p)
{
    const char *text = p->mode->text, *last = text;
    for (const char *s = text; (s = strchr(s, '\n')) != NULL && s[1] != '\0'; s++)
        last = s + 1;
    if (!peer_send(p, text, (size_t)(last - text)) ||
        !peer_repeat(p, last, (size_t)p->mode->number))
        return;
    struct buf body = BUF_INIT;
    peer_good_body(p, &body);
    peer_reply(p, 200, peer_good_type(p), "", &body);
}

/* A header of `number` bytes after `text`; 0: without an end. */
static void long_line(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT;
    peer_good_body(p, &body);
    if (peer_say(p, p->mode->text) && peer_repeat(p, "a", (size_t)p->mode->number) &&
        peer_say(p, "\r\nContent-Type: ") && peer_say(p, peer_good_type(p)) &&
        peer_say(p, "\r\nConnection: close\r\n\r\n"))
        (void)peer_send(p, body.data, body.len);
}

static void nul_in_header(struct peer *p)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Type: ";
    AUTO(buf_release) struct buf body = BUF_INIT;
    peer_good_body(p, &body);
    if (peer_send(p, head, sizeof head - 1) && peer_say(p, peer_good_type(p)) &&
        peer_say(p, "\r\n\r\n"))
        (void)peer_send(p, body.data, body.len);
}

#define OK "HTTP/1.1 200 OK\r\nContent-Type: @1\r\n"
#define CLOSE "Connection: close\r\n\r\n@2"
#define FAILS_ALL (MODE_FAILS | MODE_ALL)
#define REDIRECT(status) "HTTP/1.1 " status " Moved\r\nContent-Length: 0\r\nConnection: close\r\n"

const struct mode head_modes[] = {
    {"no-http", "a body alone, as in HTTP/0.9", fill, "@2", 0, FAILS_ALL},
    {"status-line-words", "a status line of words", fill, "HELLO WORLD\r\n\r\n@2", 0, FAILS_ALL},
    {"version-9", "a version that there is not", fill,
     "HTTP/9.9 200 OK\r\nContent-Type: @1\r\n" CLOSE, 0, MODE_ALL},
    {"status-zero", "status 0", fill, "HTTP/1.1 000 Zero\r\nContent-Type: @1\r\n" CLOSE, 0,
     FAILS_ALL},
    {"status-negative", "status -200", fill, "HTTP/1.1 -200 OK\r\nContent-Type: @1\r\n" CLOSE, 0,
     FAILS_ALL},
    {"status-huge", "status 99999999999", fill,
     "HTTP/1.1 99999999999 OK\r\nContent-Type: @1\r\n" CLOSE, 0, FAILS_ALL},
    {"status-999", "status 999", fill, "HTTP/1.1 999 OK\r\nContent-Type: @1\r\n" CLOSE, 0,
     FAILS_ALL},
    {"status-letters", "letters for the status", fill, "HTTP/1.1 OK 200\r\n" CLOSE, 0, FAILS_ALL},
    {"status-line-endless", "a reason without an end", long_line, "HTTP/1.1 200 ", 0, FAILS_ALL},
    {"status-line-controls", "escape sequences in the reason", fill,
     "HTTP/1.1 500 \x1b]0;hostile\x07\x1b[31337m\r\n" CLOSE, 0, FAILS_ALL},
    {"bare-newlines", "lines that end with LF alone", fill,
     "HTTP/1.1 200 OK\nContent-Type: @1\nConnection: close\n\n@2", 0, MODE_ALL},
    {"bare-returns", "lines that end with CR alone", fill,
     "HTTP/1.1 200 OK\rContent-Type: @1\r\r@2", 0, MODE_ALL},
    {"header-200k", "a header of 200 KB", long_line, "HTTP/1.1 200 OK\r\nX-Long: ", 200000,
     MODE_ALL},
    {"header-endless", "a header without an end", long_line, "HTTP/1.1 200 OK\r\nX-Long: ", 0,
     FAILS_ALL},
    {"headers-endless", "headers without an end", flood, "HTTP/1.1 200 OK\r\nX-More: a\r\n", 0,
     FAILS_ALL},
    {"headers-many", "a hundred thousand headers", flood, "HTTP/1.1 200 OK\r\nA:\r\n", 100000,
     MODE_ALL},
    {"cookies-endless", "cookies without an end", flood,
     "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\n", 0, FAILS_ALL},
    {"header-controls", "escape sequences in headers", fill,
     OK "X-\x1b[31337m: \x1b]0;hostile\x07\r\n" CLOSE, 0, MODE_ALL},
    {"header-nul", "a zero in a header", nul_in_header, NULL, 0, MODE_ALL},
    {"header-no-colon", "a header without a colon", fill, OK "nonsense\r\n" CLOSE, 0, MODE_ALL},
    {"header-folded", "a header on several lines", fill, OK "X-Fold: a\r\n b\r\n\tc\r\n" CLOSE, 0,
     MODE_ALL},
    {"header-blank-first", "a continued line before any header", fill,
     "HTTP/1.1 200 OK\r\n Content-Type: x\r\nContent-Type: @1\r\n" CLOSE, 0, MODE_ALL},
    {"type-missing", "no content type", fill, "HTTP/1.1 200 OK\r\n" CLOSE, 0, MODE_ALL},
    {"type-wrong", "an image", fill, "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n" CLOSE, 0,
     MODE_ALL},
    {"type-controls", "escape sequences for a type", fill,
     "HTTP/1.1 200 OK\r\nContent-Type: \x1b]0;hostile\x07\x1b[31337m/\xc2\x9b"
     "31337m\r\n" CLOSE,
     0, MODE_ALL},
    {"type-key", "the key for a type", fill, "HTTP/1.1 200 OK\r\nContent-Type: text/@4\r\n" CLOSE,
     0, MODE_ALL},
    {"type-key-cut", "a key that the longest type cuts", fill,
     "HTTP/1.1 200 OK\r\nContent-Type: "
     "application/vnd.a-name-that-is-so-long-that-the-key-is-cut/@4\r\n" CLOSE,
     0, MODE_ALL},
    {"type-twice", "two content types", fill, OK "Content-Type: text/html\r\n" CLOSE, 0, MODE_ALL},
    {"charset-utf16", "a character set that there is not", fill,
     "HTTP/1.1 200 OK\r\nContent-Type: @1; charset=utf-16\r\n" CLOSE, 0, MODE_ALL},
    {"informational-endless", "100 Continue without an end", flood,
     "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", 0, MODE_ENDLESS | MODE_ALL},
    {"processing-endless", "102 Processing without an end", flood,
     "\nHTTP/1.1 102 Processing\r\nX-A: b\r\n\r\n", 0, MODE_ENDLESS | MODE_ALL},
    {"early-hints", "a thousand hints before a good answer", flood,
     "HTTP/1.1 103 Early Hints\r\n\r\n", 1000, MODE_ALL},
    {"upgrade", "101 and another protocol", fill,
     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
     "\x81\x05hello",
     0, FAILS_ALL},
    {"upgrade-h2c", "101 and HTTP/2", fill,
     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nabc", 0,
     FAILS_ALL},
    {"no-content", "204 with a body", fill, "HTTP/1.1 204 None\r\nContent-Type: @1\r\n" CLOSE, 0,
     FAILS_ALL},
    {"reset-content", "205 with a body", fill, "HTTP/1.1 205 Reset\r\nContent-Type: @1\r\n" CLOSE,
     0, MODE_ALL},
    {"partial-content", "206 with a range", fill,
     "HTTP/1.1 206 Partial\r\nContent-Range: bytes 5-9/10\r\nContent-Type: @1\r\n" CLOSE, 0,
     MODE_ALL},
    {"not-modified", "304 with a body", fill, "HTTP/1.1 304 Same\r\nContent-Type: @1\r\n" CLOSE, 0,
     FAILS_ALL},
    {"redirect-301", "moved to itself", fill,
     REDIRECT("301") "Location: http://127.0.0.1:@6/v1/messages\r\n\r\n", 0, FAILS_ALL},
    {"redirect-302-other", "found at another port", fill,
     REDIRECT("302") "Location: http://127.0.0.1:@5/\r\n\r\n", 0, FAILS_ALL},
    {"redirect-303-other", "see another port", fill,
     REDIRECT("303") "Location: http://127.0.0.1:@5/\r\n\r\n", 0, FAILS_ALL},
    {"redirect-307-other", "another port for a while", fill,
     REDIRECT("307") "Location: http://127.0.0.1:@5/\r\n\r\n", 0, FAILS_ALL},
    {"redirect-308-other", "another port for good", fill,
     REDIRECT("308") "Location: http://127.0.0.1:@5/\r\n\r\n", 0, FAILS_ALL},
    {"redirect-file", "moved to a file", fill,
     REDIRECT("301") "Location: file:///etc/passwd\r\n\r\n", 0, FAILS_ALL},
    {"redirect-controls", "moved to escape sequences", fill,
     REDIRECT("301") "Location: http://\x1b]0;hostile\x07/\r\n\r\n", 0, FAILS_ALL},
    {"redirect-key", "moved to a place with the key", fill,
     REDIRECT("301") "Location: http://@4@@127.0.0.1:@5/@4\r\n\r\n", 0, FAILS_ALL},
    {"other-ways", "headers that name the other port", fill,
     OK "Alt-Svc: h2=\":@5\"; ma=86400\r\nRefresh: 0; url=http://127.0.0.1:@5/\r\n"
        "Link: <http://127.0.0.1:@5/>; rel=preload\r\n"
        "Strict-Transport-Security: max-age=31536000\r\n" CLOSE,
     0, MODE_ALL},
    {"ask-for-password", "401 with every way to log in", fill,
     "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"\x1b]0;hostile\x07\"\r\n"
     "WWW-Authenticate: Negotiate\r\nWWW-Authenticate: Digest realm=a, nonce=b\r\n" CLOSE,
     0, FAILS_ALL},
    {.name = NULL},
};
