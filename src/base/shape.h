/* A shape is a table of the members that a C struct has as a JSON object. Reading, writing,
 * releasing and the JSON Schema come from it. Pure.
 *
 * Every written object can be read: a number out of its bounds is written as the nearest one. */
#ifndef BASE_SHAPE_H
#define BASE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/err.h"
#include "base/json.h"
#include "base/json_out.h"

/* The C type of a field and its JSON. Texts are owned by the struct. */
enum shape_type {
    SHAPE_STRING,  /* char *, or const char * where a caller lends it; `least`, `most`: bytes */
    SHAPE_JSON,    /* the same, a text that should be JSON; its value if that loses nothing, else a
                      string. Reads any value */
    SHAPE_WORDS,   /* char *, words separated by single blanks, NULL: none; an array of strings */
    SHAPE_STRINGS, /* VEC(char *); an array of strings; `least`, `most`: how many */
    SHAPE_UUID,    /* char[UUID_LEN + 1], "" if absent; a string */
    SHAPE_INTEGER, /* int64_t; a whole number */
    SHAPE_COUNT,   /* int; a whole number */
    SHAPE_NUMBER,  /* double; a number */
    SHAPE_BOOLEAN, /* bool */
    SHAPE_TIME,    /* int64_t, milliseconds since 1970; a string (clock.h) */
    SHAPE_ENUM,    /* an enumeration; a string of `names` */
    SHAPE_OBJECT,  /* a struct in the struct, of shape `of`; an object */
    SHAPE_LIST,    /* VEC(struct …), each of shape `of`; an array; `least`, `most`: how many */
    SHAPE_OWN      /* read and written by `codec` */
};

enum shape_presence {
    SHAPE_REQUIRED, /* always written; reading fails without it */
    SHAPE_DEFAULT,  /* always written; `absent` if it is missing or null */
    SHAPE_OPTIONAL  /* the same, but not written while it is absent: a NULL text, no element, false,
                       a number that is `absent` or less than `least`, an object that is not
                       `known`; or as `there` says */
};

/* The words of an enumeration, by its values; a NULL is a value that has none. */
struct shape_names {
    const char *const *words;
    int count;
    int other; /* what an unknown word means; negative: it is refused */
};

/* A member that no type fits. `at` points to the offset in the struct (0: to the struct). NULL
 * functions do nothing. */
struct shape_codec {
    void (*write)(struct json_out *o, const void *at); /* a value */
    bool (*read)(const struct json *v, void *at);      /* false: it does not fit */
    void (*release)(void *at);
    const char *schema;   /* JSON */
    const char *expected; /* "a string or a whole number" */
};

/* The file of this machine that a STRING, or each of STRINGS, names. */
enum shape_place {
    SHAPE_ANY,    /* none */
    SHAPE_READS,  /* a file or folder that is read */
    SHAPE_WRITES, /* a file that is written */
    SHAPE_WORKS   /* the working directory of a session */
};

struct shape_field {
    const char *name; /* a plain ASCII word; NULL ends the table */
    const char *also; /* another name that is read, as another program writes it; NULL: none */
    enum shape_type type;
    enum shape_presence presence;
    size_t offset;
    /* Bounds, 0 and 0: from nothing to what its type holds (2^53, INT_MAX, 10^18). */
    double least, most;
    bool nearest; /* a number above `most` is read as `most`, not refused */
    int decimals; /* of a NUMBER, when written; 0: 15 digits */
    int absent;   /* value of a number or an ENUM that is absent */
    bool (*there)(const void *object);
    const struct shape_names *names;
    const struct shape *of;
    const struct shape_codec *codec;
    enum shape_place place;
    const char *help; /* one line, English */
    /* The option of the command line that gives it, "-l, --label LABEL"; NULL: none. N_(). */
    const char *option, *option_help;
    const char *label; /* of a figure for people, N_(); NULL: it is not shown */
};

struct shape {
    const char *name; /* "session" */
    size_t size;      /* of the struct */
    const struct shape_field *fields;
    bool closed;                       /* an unknown or repeated member is refused, not ignored */
    bool (*known)(const void *object); /* NULL, or whether an OPTIONAL object is written */
};

/* The offset of a member that has this type; anything else does not compile. */
#define SHAPE_AT(T, S, member) (offsetof(S, member) + 0 * sizeof((T *)0 == &((S *)0)->member))
/* The same for a text, which may be const. */
#define SHAPE_AT_TEXT(S, member)                                                                   \
    (offsetof(S, member) +                                                                         \
     0 * sizeof(char[_Generic(((S *)0)->member, char * : 1, const char * : 1)]))

/* A row: the member's name, its type and presence without SHAPE_, its offset, and other members:
 *     SHAPE_FIELD("limit", COUNT, DEFAULT, SHAPE_AT(int, struct x, limit), .most = 9) */
#define SHAPE_FIELD(member, TYPE, PRESENCE, ...)                                                   \
    {                                                                                              \
        .name = member, .type = SHAPE_##TYPE, .presence = SHAPE_##PRESENCE, .offset = __VA_ARGS__  \
    }

/* Rows of a `struct S` with the name of the member, whose C type gives the JSON type: a text, flag,
 * whole number, number or UUID. The first of `...` is the help, other members follow:
 * SHAPE_OPT(list_params, limit, "Hits.", .most = 9). _AS: with another name in JSON. */
#define SHAPE_REQ(S, member, ...) SHAPE_ROW(SHAPE_REQUIRED, #member, S, member, __VA_ARGS__)
#define SHAPE_OPT(S, member, ...) SHAPE_ROW(SHAPE_OPTIONAL, #member, S, member, __VA_ARGS__)
#define SHAPE_REQ_AS(label, S, member, ...) SHAPE_ROW(SHAPE_REQUIRED, label, S, member, __VA_ARGS__)
#define SHAPE_OPT_AS(label, S, member, ...) SHAPE_ROW(SHAPE_OPTIONAL, label, S, member, __VA_ARGS__)
#define SHAPE_ROW(PRESENCE, label, S, member, ...)                                                   \
    {                                                                                                \
        .name = label, .presence = PRESENCE, .offset = offsetof(struct S, member),                 \
        .type = _Generic(&((struct S *)0)->member,                                                 \
            char **: SHAPE_STRING,                                                                 \
            const char **: SHAPE_STRING,                                                           \
            char(*)[UUID_LEN + 1]: SHAPE_UUID,                                                     \
            bool *: SHAPE_BOOLEAN,                                                                 \
            int *: SHAPE_COUNT,                                                                    \
            int64_t *: SHAPE_INTEGER,                                                              \
            double *: SHAPE_NUMBER),                                                               \
        .help = __VA_ARGS__ \
    }
/* For the other members of a row. */
#define SHAPE_OPTION(words, text) .option = words, .option_help = text
/* An enumeration with its words, a list of structs with their shape, a list of texts. */
#define SHAPE_REQ_WORD(S, member, words, ...)                                                      \
    SHAPE_WORD(SHAPE_REQUIRED, S, member, words, __VA_ARGS__)
#define SHAPE_OPT_WORD(S, member, words, ...)                                                      \
    SHAPE_WORD(SHAPE_OPTIONAL, S, member, words, __VA_ARGS__)
#define SHAPE_WORD(PRESENCE, S, member, words, ...)                                                \
    {                                                                                              \
        .name = #member, .type = SHAPE_ENUM, .presence = PRESENCE,                                 \
        .offset = offsetof(struct S, member) +                                                     \
                  0 * sizeof(char[sizeof((struct S *)0)->member == sizeof(int) ? 1 : -1]),         \
        .names = &(words), .help = __VA_ARGS__                                                     \
    }
#define SHAPE_REQ_LIST(label, S, member, element, ...)                                             \
    {                                                                                              \
        .name = label, .type = SHAPE_LIST, .offset = offsetof(struct S, member), .of = &(element), \
        .help = __VA_ARGS__                                                                        \
    }
#define SHAPE_REQ_TEXTS(S, member, ...)                                                            \
    {                                                                                              \
        .name = #member, .type = SHAPE_STRINGS, .offset = offsetof(struct S, member),              \
        .help = __VA_ARGS__                                                                        \
    }

/* The initialiser of a shape with its rows: const struct shape s = SHAPE_OF("title", T, row, row);
 * SHAPE_OF_CLOSED() refuses unknown members; SHAPE_PARAMETERS() is for those of an operation. */
/* clang-format off */
#define SHAPE_ROWS(...) (const struct shape_field[]){__VA_ARGS__, {0}}
#define SHAPE_OF(title, T, ...) {.name = title, .size = sizeof(T), .fields = SHAPE_ROWS(__VA_ARGS__)}
#define SHAPE_OF_CLOSED(title, T, ...) \
    {.name = title, .size = sizeof(T), .fields = SHAPE_ROWS(__VA_ARGS__), .closed = true}
#define SHAPE_PARAMETERS(T, ...) SHAPE_OF_CLOSED("parameters", T, __VA_ARGS__)
/* clang-format on */

/* A fresh struct is all zeroes. */

/* Makes every member absent, without looking at what is there. */
void shape_init(const struct shape *s, void *object);
/* Frees what the members hold, and makes them absent. */
void shape_release(const struct shape *s, void *object);
/* Copies the members into a fresh struct; one of SHAPE_OWN becomes absent. */
void shape_copy(const struct shape *s, void *to, const void *from);

/* Fills a fresh struct. False with USAGE that names the member and what was expected
 * ("\"hits[3].score\" does not fit; give a number"); every member is absent then. */
bool shape_read(const struct shape *s, const struct json *v, void *object, struct error *e);

/* An object; its members into one that is open. */
void shape_write(const struct shape *s, const void *object, struct json_out *o);
void shape_write_members(const struct shape *s, const void *object, struct json_out *o);
/* The value of one member that the shape has. */
void shape_write_value(const struct shape *s, const char *name, const void *object,
                       struct json_out *o);

/* The bytes of the object as JSON. */
int64_t shape_bytes(const struct shape *s, const void *object);

/* The object as a tree; the caller frees. */
struct json *shape_to_json(const struct shape *s, const void *object);

/* Appends the values that a field takes: "a whole number from 1 to 1000". */
void shape_add_expected(const struct shape_field *f, struct buf *out);

/* JSON Schema (draft 2020-12) of the object; the caller frees. */
struct json *shape_schema(const struct shape *s);

#endif
