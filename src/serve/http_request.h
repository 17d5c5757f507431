/* Checks of a request before it is served: its framing, which nobody may be able to read
 * differently, its Host, Origin and token; its target and parameters. Pure. */
#ifndef SERVE_HTTP_REQUEST_H
#define SERVE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/shape.h"
#include "base/vec.h"

/* A request's body, and thus a message, has at most so many bytes, its head so many fields. */
#define HTTP_BODY_MAX ((size_t)32 * 1024 * 1024)
enum { HTTP_FIELDS_MAX = 100 };

struct http_field {
    const char *name, *value; /* borrowed */
};

struct http_head {
    const char *method;
    const char *version;   /* "HTTP/1.1" */
    const char *authority; /* of an absolute target, which counts above Host; NULL: none */
    VEC(struct http_field) fields;
    bool of_machine; /* it comes from a loopback address, where a proxy may stand */
    bool garbled;    /* a line of it is folded, has a NUL, or does not end with CR and LF */
};

/* The demands of the server on requests. */
struct http_policy {
    const char
        *hosts; /* names parted by blanks that Host may have besides addresses and localhost */
    const char *origins; /* of pages that may ask besides its own, likewise */
    const char *token;   /* NULL: none is asked for, in tests of other checks */
};

/* Why a request is not served. */
struct http_refusal {
    int status; /* 0: it is served */
    struct error error;
};

/* The word for a status that is none of base/err.h's errors, as "code" of the body of an error. */
const char *http_status_name(int status);

/* The field of that name, whatever its case; the first. NULL: it is not there. */
const char *http_head_field(const struct http_head *h, const char *name);

/* In this order: 400, 413, 431, 501 for how it is framed (RFC 9112: one Host, one length, no length
 * beside chunks, names that are tokens); 403 for a Host that an attacker's name may have led here
 * (DNS rebinding), or an Origin that is neither this server nor listed; 401 without the token,
 * which is compared in a time that does not tell where it differs. */
void http_check_head(const struct http_head *h, const struct http_policy *p,
                     struct http_refusal *out);

/* Whether both are the same, in a time that depends on the length of what was given alone. */
bool http_is_secret(const char *given, const char *secret);

/* 415 if the request has a body, or says so, that is not JSON. */
void http_check_body_type(const struct http_head *h, struct http_refusal *out);

/* Whether Accept allows this media type ("text/event-stream"), as it does where it is absent. */
bool http_accepts(const struct http_head *h, const char *type);

/* "127.0.0.1:8476", "[::1]:8476", "localhost", ":8476", "8476": the parts, which the caller frees;
 * a port that is not said is `port` as it was, 0: any that is free. False with USAGE. */
bool http_parse_address(const char *text, char **host, int *port, struct error *e);

/* The target of a request ("/sessions/x/history?after=3"), parted and with its escapes read. Pure.
 */

struct http_parameter {
    char *name, *value;
};

struct http_target {
    char *authority;  /* of an absolute target ("http://host/path"); NULL: it has none */
    VEC(char *) path; /* its segments; of "/" a single empty one */
    VEC(struct http_parameter) query;
};

/* Fills a fresh struct; http_target_release() in either case. False with USAGE: it is neither a
 * path nor an http URL, has characters that belong escaped, an escape that is none, a NUL
 * character, or what is no UTF-8. */
bool http_target_parse(const char *raw, struct http_target *t, struct error *e);
void http_target_release(struct http_target *t);

const char *http_target_query(const struct http_target *t,
                              const char *name); /* the first; or NULL */

/* Adds the query to an object as the shape (NULL: there are no parameters) wants its members:
 * numbers and booleans are read, what a list takes is given by repeating it. False with USAGE that
 * names the one which is unknown, there twice, does not fit or has no form in a query. Bounds are
 * the shape's to check. */
bool http_target_add_params(const struct http_target *t, const struct shape *s, struct json *params,
                            struct error *e);

#endif
