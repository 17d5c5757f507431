/* Connections that break, stall, drip, or carry something that is no HTTP. */
#include <sys/socket.h>

#include "tests/hostile/mode.h"

/* The whole answer as a decent server sends it. */
static void good_answer(struct peer *p, struct buf *out)
{
    buf_addf(out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n\r\n",
             peer_good_type(p));
    peer_good_body(p, out);
}

static void silence(struct peer *p)
{
    (void)peer_pause(p, 600000);
}

static void hang_up(struct peer *p)
{
    (void)p;
}

/* `number` bytes of a good answer, or as many as the step says, then FIN or RST. */
static void send_part(struct peer *p, size_t len)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    good_answer(p, &answer);
    (void)peer_send(p, answer.data, len < answer.len ? len : answer.len);
}

static void close_within(struct peer *p)
{
    send_part(p, (size_t)p->step);
}

static void reset_within(struct peer *p)
{
    send_part(p, (size_t)p->step);
    /* Gives the data time to arrive before the reset discards it. */
    (void)peer_pause(p, 3);
    peer_reset(p);
}

static long answer_bytes(struct peer *p)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    good_answer(p, &answer);
    return (long)answer.len;
}

static void half_close(struct peer *p)
{
    send_part(p, (size_t)answer_bytes(p) / 2);
    shutdown(p->fd, SHUT_WR);
    (void)peer_pause(p, 600000);
}

static void stall_within(struct peer *p)
{
    send_part(p, (size_t)(answer_bytes(p) * p->mode->number / 100));
    (void)peer_pause(p, 600000);
}

static bool drip(struct peer *p, const char *bytes, size_t len, int ms)
{
    for (size_t i = 0; i < len; i++)
        if (!peer_send(p, bytes + i, 1) || (ms > 0 && !peer_pause(p, ms)))
            return false;
    return true;
}

static void drip_after(struct peer *p)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    good_answer(p, &answer);
    size_t at_once = (size_t)((long)answer.len * p->mode->number / 100);
    if (peer_send(p, answer.data, at_once))
        (void)drip(p, answer.data + at_once, answer.len - at_once, 150);
}

static void drip_all(struct peer *p)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    good_answer(p, &answer);
    (void)drip(p, answer.data, answer.len, 0);
}

static void pause_in_character(struct peer *p)
{
    AUTO(buf_release) struct buf event = BUF_INIT;
    form_events(&event, p->form, p->form->text, VALUES("h\xc3\xa4\xe2\x82\xac"));
    size_t inside = (size_t)(strstr(event.data, "\xe2") - event.data) + 2;
    if (peer_head(p, 200, p->form->type, "") && peer_events(p, p->form->begin, VALUES("m", "1")) &&
        peer_events(p, p->form->open, VALUES(NULL)) && peer_send(p, event.data, inside))
        (void)peer_pause(p, 600000);
}

static void stay_open(struct peer *p)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    buf_addf(&answer, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n", peer_good_type(p));
    peer_good_body(p, &answer);
    if (peer_send(p, answer.data, answer.len))
        (void)peer_pause(p, 600000);
}

static void say_text(struct peer *p)
{
    (void)peer_say(p, p->mode->text);
}

static void say_for_ever(struct peer *p)
{
    (void)peer_repeat(p, p->mode->text, 0);
}

static void echo(struct peer *p)
{
    (void)peer_send(p, p->request.data, p->request.len);
}

static void echo_in_answer(struct peer *p)
{
    if (peer_head(p, 500, "text/plain", ""))
        (void)peer_send(p, p->request.data, p->request.len);
}

static void nothing_but_nul(struct peer *p)
{
    static const char zeros[4096];
    while (peer_send(p, zeros, sizeof zeros))
        ;
}

static void random_bytes(struct peer *p)
{
    unsigned long state = 88172645463325252u;
    char block[4096];
    for (int blocks = 0; blocks < 256; blocks++) {
        for (size_t i = 0; i < sizeof block; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            block[i] = (char)(state >> 56);
        }
        if (!peer_send(p, block, sizeof block))
            return;
    }
}

static void two_answers(struct peer *p)
{
    AUTO(buf_release) struct buf answer = BUF_INIT, body = BUF_INIT;
    peer_good_body(p, &body);
    for (int i = 0; i < 2; i++)
        buf_addf(&answer, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
                 peer_good_type(p), body.len, body.data);
    (void)peer_send(p, answer.data, answer.len);
    (void)peer_pause(p, 600000);
}

static void answer_unread(struct peer *p)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    p->target = TARGET_CHAT;
    good_answer(p, &answer);
    if (peer_send(p, answer.data, answer.len))
        (void)peer_pause(p, 600000);
}

static void small_window(struct peer *p)
{
    setsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &(int){1024}, sizeof(int));
    (void)peer_pause(p, 600000);
}

#define FAILS_ALL (MODE_FAILS | MODE_ALL)

const struct mode connection_modes[] = {
    {"refuse", "nobody listens", hang_up, NULL, 0, MODE_REFUSE | FAILS_ALL},
    {"silence", "reads the request and says nothing", silence, NULL, 0, FAILS_ALL},
    {"silence-unread", "reads nothing, says nothing", silence, NULL, 0, MODE_DEAF | FAILS_ALL},
    {"upload-unread", "does not read a long request", small_window, NULL, 0,
     MODE_DEAF | MODE_LONG | MODE_FAILS},
    {"close-at-once", "FIN before the request was read", hang_up, NULL, 0, MODE_DEAF | FAILS_ALL},
    {"reset-at-once", "RST before the request was read", peer_reset, NULL, 0,
     MODE_DEAF | FAILS_ALL},
    {"close-after-request", "FIN in place of an answer", hang_up, NULL, 0, FAILS_ALL},
    {"reset-after-request", "RST in place of an answer", peer_reset, NULL, 0, FAILS_ALL},
    {"close-at-each-byte", "FIN within a good answer", close_within, .steps = answer_bytes},
    {"reset-at-each-byte", "RST within a good answer", reset_within, .steps = answer_bytes},
    {"half-close", "half an answer and FIN, but goes on reading", half_close, NULL, 0, FAILS_ALL},
    {"stall-in-status-line", "a few bytes, then silence", stall_within, NULL, 1, FAILS_ALL},
    {"stall-in-headers", "half a head, then silence", stall_within, NULL, 7, FAILS_ALL},
    {"stall-in-body", "half a body, then silence", stall_within, NULL, 70, FAILS_ALL},
    {"drip-status-line", "a byte now and then from the first on", drip_after, NULL, 0,
     MODE_ENDLESS | MODE_ALL},
    {"drip-headers", "a byte now and then from the headers on", drip_after, NULL, 5,
     MODE_ENDLESS | MODE_ALL},
    {"drip-body", "a byte now and then within the body", drip_after, NULL, 60,
     MODE_ENDLESS | MODE_ALL},
    {"byte-by-byte", "a good answer, each byte by itself", drip_all, NULL, 0, MODE_WELL | MODE_ALL},
    {"pause-in-character", "silence within a character", pause_in_character, NULL, 0, MODE_FAILS},
    {"never-closing", "a good answer that the connection's end should end", stay_open, NULL, 0,
     MODE_WELL},
    {"two-answers", "a second answer that nobody asked for", two_answers, NULL, 0,
     MODE_WELL | MODE_ALL},
    {"answer-unread", "answers before it read the request", answer_unread, NULL, 0, MODE_DEAF},
    {"echo", "the request comes back", echo, NULL, 0, FAILS_ALL},
    {"echo-in-error", "the request comes back as an error's body", echo_in_answer, NULL, 0,
     FAILS_ALL},
    {"tls", "an alert of TLS", say_text, "\x15\x03\x03\x02\x02\x28", 0, FAILS_ALL},
    {"ssh", "the greeting of another protocol", say_text, "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", 0,
     FAILS_ALL},
    {"smtp-for-ever", "greetings without an end", say_for_ever, "220-mail.example ESMTP\r\n", 0,
     FAILS_ALL},
    {"http2-preface", "frames of HTTP/2", say_text,
     "\x01\x01\x04\x01\x7f\x7f\x7f\x7fPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, FAILS_ALL},
    {"nothing-but-nul", "zeros without an end", nothing_but_nul, NULL, 0, FAILS_ALL},
    {"random-bytes", "a MiB of noise", random_bytes, NULL, 0, FAILS_ALL},
    {.name = NULL},
};
