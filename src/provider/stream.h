/* An answer while it streams in: its blocks, its bounds, and the deltas for the screen, of which
 * many small ones from one read of the network become one call. */
#ifndef PROVIDER_STREAM_H
#define PROVIDER_STREAM_H

#include "base/buf.h"
#include "base/json.h"
#include "provider/mask.h"
#include "provider/provider.h"

/* Text, reasoning, arguments and signatures of one answer together. The longest answers of today's
 * models have 128,000 tokens, some 0.6 MiB. What comes before the maximum is kept, to the last
 * whole character; there the call fails with TOO_LARGE, so the answer is marked as cut. */
#define STREAM_MAX_BYTES ((size_t)4 * 1024 * 1024)
#define STREAM_MAX_PARTS 4096

struct stream_part {
    enum block_type type; /* TEXT, REASONING, TOOL_CALL */
    int64_t key;          /* the server's number for it */
    bool redacted;
    bool cited;      /* TEXT: it counts signed */
    char *id, *name; /* TOOL_CALL; NULL until they came */
    struct buf text;
    size_t settled; /* bytes of text before what may become a secret; these were passed on */
    struct buf signature;
};

struct stream {
    const char *provider; /* for error texts */
    const struct mask *mask;
    const struct provider_call *call;
    const struct request *request;
    struct response *response;
    struct failure *failure;

    VEC(struct stream_part) parts;
    size_t calls;               /* tool calls among them */
    struct stream_part refused; /* stands for the newest call past PROVIDER_MAX_CALLS */
    bool refusing;              /* it is what opened last */
    struct buf pending;         /* not yet passed on as a delta */
    enum block_type pending_type;
    size_t total;
    bool begun;    /* something of the answer came */
    bool stopped;  /* the reason why the model stopped came */
    bool ended;    /* nothing more will come */
    bool unwanted; /* nobody takes any more */
};

/* The mask is borrowed. Its secrets are masked (mask_settle()) in all that the answer hands on,
 * unless the server spreads one over several parts. */
void stream_init(struct stream *s, const char *provider, const struct mask *mask,
                 const struct provider_call *call, const struct request *request,
                 struct response *response, struct failure *f);
void stream_release(struct stream *s);

/* Parts are borrowed until the next one opens. A tool call counts as content from here on. One past
 * PROVIDER_MAX_CALLS is a part like others to the dialect, but what is added to it is dropped, and
 * the response says so. */
struct stream_part *stream_open(struct stream *s, enum block_type type, int64_t key);
/* The newest of this key, and the newest of all; NULL: none. */
struct stream_part *stream_find(struct stream *s, int64_t key);
struct stream_part *stream_last(struct stream *s);

/* Appends to a part, and to the pending delta if it is TEXT or REASONING. NULL and "" add nothing.
 * What is not UTF-8 becomes U+FFFD. False, with the failure, when the answer gets too large or the
 * wakeup says stop in a long text. The same for stream_open() with too many parts: NULL. */
bool stream_add(struct stream *s, struct stream_part *part, const char *text);
/* The same for the current part of this type, which an empty text does not open. */
bool stream_text(struct stream *s, enum block_type type, const char *text);
/* The same for arguments that come as text or, with some servers, as an object. */
bool stream_arguments(struct stream *s, struct stream_part *part, const struct json *arguments);
bool stream_sign(struct stream *s, struct stream_part *part, const char *signature);

/* A call of a tool that the provider runs itself came with its result; both are taken, and signed.
 * The parts so far go into the response before them, except behind the call of another tool, and
 * the caller is told. False, with the failure, when the answer gets too large. */
bool stream_ran(struct stream *s, struct block call, struct block result);

/* The pages that an answer cites, in the order of their numbers. */
struct sources {
    struct source {
        char *url, *title; /* both safe in Markdown */
    } * items;
    size_t len, cap; /* as a VEC */
    size_t listed;   /* of them are in a list of the answer */
};
void sources_release(struct sources *s);

/* Returns the number of the page, from 1; 0: it is no http or https URL, or one too many. */
size_t sources_number(struct sources *all, const char *url, const char *title);

/* Appends the mark of a source, "[[1]](URL)". Otherwise as stream_add(). */
bool stream_cite(struct stream *s, struct stream_part *part, const struct sources *all,
                 size_t number);

/* Appends the sources that are not listed yet, as a numbered list in Markdown. */
bool stream_list_sources(struct stream *s, struct sources *all);

/* Sets a text of the answer, such as the id and name of a call and the name of the model; NULL and
 * "" leave what is there, and the first value is kept. */
void stream_set_once(char **field, const char *value);

void stream_stop(struct stream *s, enum stop_reason reason);

/* Asked between the steps of long work. False, with the failure, when the wakeup says stop. */
bool stream_goes_on(struct stream *s);

/* Passes the pending delta on, which happens by itself each 64 to 128 KiB. False when nobody takes
 * any more. */
bool stream_flush(struct stream *s);

/* Flushes and moves the parts into the response. Tool calls get what they lack: "{}" for no
 * arguments, an id that is unique in the conversation; with one, END_TURN becomes TOOL_USE.
 * A whole answer that gave no reason ended its turn. When
 * `whole` is false (cut off, cancelled, failed) tool calls are dropped: nobody may run half a call.
 * False with PROTOCOL for a call without a name. */
bool stream_finish(struct stream *s, bool whole);

#endif
