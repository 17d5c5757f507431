/* Lengths, chunks and compression: where a body ends, and what its bytes mean. */
#include "tests/hostile/mode.h"

/* The status line and the content type, `text` (@3: the body's length), an empty line and a good
 * body, of which the first `number` percent are sent. */
static void with_header(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT, head = BUF_INIT;
    char length[24];
    peer_good_body(p, &body);
    snprintf(length, sizeof length, "%zu", body.len);
    buf_addf(&head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n", peer_good_type(p));
    form_fill(&head, p->mode->text, VALUES("", "", length));
    buf_addstr(&head, "\r\n");
    long percent = p->mode->number == 0 ? 100 : p->mode->number;
    if (peer_send(p, head.data, head.len))
        (void)peer_send(p, body.data, body.len * (size_t)percent / 100);
}

static bool chunked_head(struct peer *p)
{
    return peer_say(p, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: ") &&
           peer_say(p, peer_good_type(p)) && peer_say(p, "\r\n\r\n");
}

/* A good body in one chunk whose size line is `text` (@3: the size in hexadecimal digits). */
static void with_chunk(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT, line = BUF_INIT;
    char size[24];
    peer_good_body(p, &body);
    snprintf(size, sizeof size, "%zx", body.len);
    form_fill(&line, p->mode->text, VALUES("", "", size));
    if (chunked_head(p) && peer_send(p, line.data, line.len) && peer_send(p, body.data, body.len))
        (void)peer_say(p, "\r\n0\r\n\r\n");
}

/* The body is good, but each byte has a chunk of its own, with `text` behind its size. */
static void small_chunks(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT, out = BUF_INIT;
    peer_good_body(p, &body);
    for (size_t i = 0; i < body.len; i++)
        buf_addf(&out, "1%s\r\n%c\r\n", p->mode->text, body.data[i]);
    buf_addstr(&out, "0\r\n\r\n");
    if (chunked_head(p))
        (void)peer_send(p, out.data, out.len);
}

/* A good body, then its end, which `text` makes longer again and again. */
static void long_end(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT, out = BUF_INIT;
    peer_good_body(p, &body);
    buf_addf(&out, "%zx\r\n%s\r\n0%s", body.len, body.data, p->mode->text[0] == ';' ? "" : "\r\n");
    if (chunked_head(p) && peer_send(p, out.data, out.len))
        (void)peer_repeat(p, p->mode->text, (size_t)p->mode->number);
}

/* The first chunk's size line has no end. */
static void endless_extension(struct peer *p)
{
    if (chunked_head(p) && peer_say(p, "5"))
        (void)peer_repeat(p, p->mode->text, 0);
}

/* The head of a member of gzip that grows a thousandfold, again and again. */
static void bomb(struct peer *p)
{
    static const char member[] = "\x1f\x8b\x08\x01\x01\x01\x01\x01\x02\x03\xed\xc1\x01\x0d";
    auto_free char *more = mem_printf("Content-Encoding: %s\r\n", p->mode->text);
    if (peer_head(p, 200, peer_good_type(p), more))
        (void)peer_repeat(p, member, 2000000);
}

#define FAILS_ALL (MODE_FAILS | MODE_ALL)

const struct mode framing_modes[] = {
    {"length-short", "a content length of 1", with_header, "Content-Length: 1\r\n", 0, FAILS_ALL},
    {"length-zero", "a content length of 0 before a body", with_header, "Content-Length: 0\r\n", 0,
     FAILS_ALL},
    {"length-long", "a content length that is not reached", with_header,
     "Content-Length: 99999\r\n", 0, MODE_ALL},
    {"length-negative", "a content length of -1", with_header, "Content-Length: -1\r\n", 0,
     MODE_ALL},
    {"length-huge", "a content length of 9e18", with_header,
     "Content-Length: 9000000000000000000\r\n", 0, MODE_ALL},
    {"length-overflow", "a content length past 64 bits", with_header,
     "Content-Length: 99999999999999999999999999\r\n", 0, MODE_ALL},
    {"length-letters", "a content length of letters", with_header, "Content-Length: abc\r\n", 0,
     MODE_ALL},
    {"length-twice", "two content lengths", with_header,
     "Content-Length: @3\r\nContent-Length: 5\r\n", 0, MODE_ALL},
    {"length-and-chunks", "a content length, and chunks that are none", with_header,
     "Content-Length: @3\r\nTransfer-Encoding: chunked\r\n", 0, FAILS_ALL},
    {"encoding-unknown", "a transfer encoding that there is not", with_header,
     "Transfer-Encoding: hostile\r\n", 0, MODE_ALL},
    {"encoding-gzip", "a transfer encoding that it has not", with_header,
     "Transfer-Encoding: gzip, chunked\r\n", 0, FAILS_ALL},
    {"encoding-many", "a hundred transfer encodings", with_header,
     "Transfer-Encoding: chunked, chunked, chunked, chunked, chunked, chunked, chunked, "
     "chunked, "
     "chunked, chunked, chunked, chunked, chunked, chunked, chunked, chunked, chunked\r\n",
     0, FAILS_ALL},
    {"chunk-size-negative", "a chunk of -5 bytes", with_chunk, "-5\r\n", 0, FAILS_ALL},
    {"chunk-size-huge", "a chunk of 2^60 bytes", with_chunk, "fffffffffffffff\r\n", 0, MODE_ALL},
    {"chunk-size-overflow", "a chunk past 64 bits", with_chunk, "1ffffffffffffffffff\r\n", 0,
     FAILS_ALL},
    {"chunk-size-letters", "a chunk of xyz bytes", with_chunk, "xyz\r\n", 0, FAILS_ALL},
    {"chunk-size-empty", "a chunk without a size", with_chunk, "\r\n", 0, FAILS_ALL},
    {"chunk-size-hex", "a chunk of 0x bytes", with_chunk, "0x@3\r\n", 0, FAILS_ALL},
    {"chunk-size-newline", "a size line that ends with LF alone", with_chunk, "@3\n", 0, MODE_ALL},
    {"chunk-small", "a chunk that is shorter than its text", with_chunk, "7\r\n", 0, FAILS_ALL},
    {"chunk-long", "a chunk that is never whole", with_chunk, "fffff\r\n", 0, MODE_ALL},
    {"chunk-bytes", "a chunk for each byte", small_chunks, "", 0, MODE_WELL | MODE_ALL},
    {"chunk-extensions", "a chunk with extensions for each byte", small_chunks,
     ";name=\"value\";another=\"\x1b]0;hostile\x07\"", 0, MODE_ALL},
    {"chunk-extension-endless", "an extension without an end", endless_extension, ";hostile=1", 0,
     FAILS_ALL},
    {"chunk-size-endless", "digits of a size without an end", endless_extension, "0", 0, FAILS_ALL},
    {"trailers-endless", "trailers without an end", long_end, "X-Trailer: a\r\n", 0, MODE_ALL},
    {"trailer-long", "a trailer without an end", long_end, "X-Trailer:aaaaaaaaaaaaaaaaaaaaaaa", 0,
     MODE_ALL},
    {"trailers-status", "trailers that look like another answer", long_end, "HTTP/1.1 200 OK\r\n",
     1000, MODE_ALL},
    {"last-chunk-extension", "an extension of the last chunk without an end", long_end,
     ";hostile=1", 0, MODE_ALL},
    {"gzip-claimed", "gzip that it is not", with_header, "Content-Encoding: gzip\r\n", 0, MODE_ALL},
    {"deflate-claimed", "deflate that it is not", with_header, "Content-Encoding: deflate\r\n", 0,
     MODE_ALL},
    {"brotli-claimed", "brotli that it is not", with_header, "Content-Encoding: br\r\n", 0,
     MODE_ALL},
    {"identity-claimed", "identity, nine times", with_header,
     "Content-Encoding: identity, identity, identity, identity, gzip, identity, identity\r\n", 0,
     MODE_ALL},
    {"gzip-bomb", "members of gzip that grow a thousandfold", bomb, "gzip", 0, FAILS_ALL},
    {"deflate-bomb", "the same as deflate", bomb, "deflate", 0, FAILS_ALL},
    {.name = NULL},
};
