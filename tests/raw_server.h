/* A server on 127.0.0.1 that answers every request with raw bytes: a beginning, a repeated piece,
 * an end. It sends data that no HTTP library would: endless headers, trailers and lines. A
 * connection is kept for the next request unless the reply says otherwise. */
#ifndef TESTS_RAW_SERVER_H
#define TESTS_RAW_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct raw_reply {
    const char *begin;
    const char *again; /* NULL: nothing */
    size_t times;      /* 0: until the client disconnects */
    int pause_ms;      /* before each repetition */
    const char *end;   /* NULL: nothing */
    bool close;        /* closes the connection at the end */
};

struct raw_server;

/* The n-th request gets the n-th reply, all that follow the last one. The texts of the
 * replies are borrowed. Ends the test program with a message on failure. */
struct raw_server *raw_server_start(const struct raw_reply *replies, size_t count);
void raw_server_stop(struct raw_server *s);

/* "http://127.0.0.1:PORT". Borrowed. */
const char *raw_server_url(const struct raw_server *s);

/* The state so far; `heard` are all whole requests, kept (tests/support.h). */
struct raw_server_state {
    size_t sent; /* bytes */
    size_t connections, requests;
    const char *heard;
};
struct raw_server_state raw_server_state(struct raw_server *s);

#endif
