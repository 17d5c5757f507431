/* The text of a file in reading order, with its headings, prose, code and rows of tables. A loader
 * (document_loaders.h) reads one format.
 *
 * Files are hostile. The last part of a path is not followed if it is a symbolic link (the caller
 * resolves links first). Only regular files outside of pseudo file systems (/proc, /sys) are read,
 * without waiting, up to the size at opening and to the limits below. Formats that other programs
 * read are read in a child process of 512 MiB of memory and 20 s of processor time. Nothing that a
 * file names (entities, links, other files) is looked up. */
#ifndef KNOWLEDGE_DOCUMENT_H
#define KNOWLEDGE_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "base/wakeup.h"

enum document_part_kind {
    DOCUMENT_PROSE, /* paragraphs, apart by blank lines */
    DOCUMENT_HEADING,
    DOCUMENT_CODE,
    DOCUMENT_ROW, /* of a table: cells apart by tabs */
    DOCUMENT_PART_KINDS
};
const char *document_part_kind_name(enum document_part_kind kind); /* "prose", … */

/* Parts follow one another in the text; between them is only white space. */
struct document_part {
    enum document_part_kind kind;
    int level;                /* of a heading, from 1; else 0 */
    size_t at, len;           /* bytes within the document's text */
    size_t name_at, name_len; /* of a heading: its name without marks */
    int64_t line;             /* of its beginning in the source, from 1; 0: not known */
    int64_t page;             /* from 1; 0: the format has no pages */
};

/* The relation of offsets in the text and in the source. */
enum document_offsets {
    DOCUMENT_NO_OFFSETS,     /* none: only parts have a line or page */
    DOCUMENT_OFFSETS_LINES,  /* its lines are the source's, its bytes are not */
    DOCUMENT_OFFSETS_BYTES,  /* its bytes are the source's */
    DOCUMENT_OFFSETS_POINTS, /* each code point is a byte of the source */
    DOCUMENT_OFFSETS_UTF16,
};

struct code_language;
struct loaded_document {
    const char *format; /* "PDF"; a constant */
    char *title;        /* one clean line; NULL: none */
    /* Without NUL, form feed and vertical tab. Invalid UTF-8 and control characters are cleaned
     * when it is cut (chunk.h), so that offsets stay the source's. */
    struct buf text;
    VEC(struct document_part) parts;
    enum document_offsets offsets;
    int64_t source_from; /* where the text begins in the source: behind its byte order mark */
    const struct code_language *language; /* of source code; else NULL */
};
void loaded_document_release(struct loaded_document *d);

/* The user's command for files whose name ends in .EXTENSION, run by /bin/sh. $1 is the file, one
 * word even without quotes: "catdoc -w $1". Its output is UTF-8; form feeds end pages. */
struct document_command {
    const char *extension; /* without the dot; any case */
    const char *command;
};

struct document_limits {
    int64_t bytes; /* of the file */
    int64_t text;  /* of its text, and of a file that is read whole */
    size_t parts;  /* text after so many parts joins the last part, without headings of its own */
    int64_t expanded; /* bytes that may come out of a package: libxml2 may hold all of them */
    int64_t ms;       /* for the whole file */
};
/* 64 MiB, 32 MiB, 100,000, 128 MiB, 60 s. The text and its passages are in memory together, so that
 * a document takes less than 128 MiB of memory. */
extern const struct document_limits document_limits;

struct document_options {
    struct document_limits limits;
    const struct document_command *commands; /* before the built-in loaders */
    size_t command_count;
    const struct wakeup *wakeup; /* NULL: nothing stops it */
    bool links; /* HTML: the text of a link is followed by " (ADDRESS)", as far as 32 KiB reach */
};

enum document_outcome {
    DOCUMENT_LOADED,
    DOCUMENT_SKIPPED, /* has no text to be found: a picture, a program */
    DOCUMENT_FAILED,  /* should have text, and cannot be read */
    DOCUMENT_STOPPED, /* the wakeup said so */
};

/* The format by the file's name: "PDF", "Markdown", …; the extension of a user's command; "text"
 * where the name tells nothing. A constant or a string of `options`. NULL: such files have no text,
 * and need not be opened. */
const char *document_format_of(const char *name, const struct document_options *options);

/* Unless it is DOCUMENT_LOADED, `e` has the reason, without the file's name, and there is nothing
 * to release. A fault of one file does not affect others. Any thread. */
enum document_outcome document_load_file(struct loaded_document *out, const char *path,
                                         const struct document_options *options, struct error *e);

/* A text in memory under a file's name, which tells Markdown, HTML and languages. A name of another
 * format means plain text. */
enum document_outcome document_load_text(struct loaded_document *out, const char *name,
                                         const char *text, size_t len,
                                         const struct document_options *options, struct error *e);

#endif
