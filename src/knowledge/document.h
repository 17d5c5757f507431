/* What is in a file that can be searched: its text in reading order, and what of it is a heading,
 * prose, code or a row of a table. A loader (document_loaders.h) makes it of one format.
 *
 * Files are hostile: opened without following a symbolic link at the path's end (the caller
 * resolves links first), only if they are regular files outside of pseudo file systems (/proc,
 * /sys), without waiting, and read up to the size that they have when they are opened and to the
 * limits below. Formats that are read by others' programs are read in a child process of 512 MiB of
 * memory and 20 s of processor time. Nothing that a file names (entities, links, other files) is
 * looked up. */
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

/* Parts follow one another in the text; between them is nothing but white space. */
struct document_part {
    enum document_part_kind kind;
    int level;                /* of a heading, from 1; else 0 */
    size_t at, len;           /* bytes within the document's text */
    size_t name_at, name_len; /* of a heading: what of it is its name, not marks */
    int64_t line;             /* of its beginning in the source, from 1; 0: not known */
    int64_t page;             /* from 1; 0: the format has no pages */
};

/* How an offset in the text becomes one in the source. */
enum document_offsets {
    DOCUMENT_NO_OFFSETS,     /* the text was put together: only parts know their line or page */
    DOCUMENT_OFFSETS_LINES,  /* its lines are the source's, its bytes are not */
    DOCUMENT_OFFSETS_BYTES,  /* its bytes are the source's */
    DOCUMENT_OFFSETS_POINTS, /* each code point is a byte of the source */
    DOCUMENT_OFFSETS_UTF16,
};

struct code_language;
struct loaded_document {
    const char *format; /* "PDF"; a constant */
    char *title;        /* one clean line; NULL: it says none */
    /* No NUL, form feed or vertical tab anywhere. Bytes that are no UTF-8 and controls may still be
     * in it: they are cleaned where it is cut (chunk.h), so that offsets stay the source's. */
    struct buf text;
    VEC(struct document_part) parts;
    enum document_offsets offsets;
    int64_t source_from; /* where the text begins in the source: behind its mark of order */
    const struct code_language *language; /* of source code; else NULL */
};
void loaded_document_release(struct loaded_document *d);

/* A command of the user's for files whose name ends in .EXTENSION, run by /bin/sh, where $1 is the
 * file, and one word even without quotes: "catdoc -w $1". It writes UTF-8; form feeds end pages. */
struct document_command {
    const char *extension; /* without the dot; any case */
    const char *command;
};

struct document_limits {
    int64_t bytes; /* of the file */
    int64_t text;  /* of its text, so also of a file that is read whole */
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
};

enum document_outcome {
    DOCUMENT_LOADED,
    DOCUMENT_SKIPPED, /* has no text to be found: a picture, a program */
    DOCUMENT_FAILED,  /* should have text, and cannot be read */
    DOCUMENT_STOPPED, /* the wakeup said so */
};

/* What a file of this name is taken for ("PDF", "Markdown", …; the extension of a command of the
 * user's; "text" where the name tells nothing): a constant or a string of `options`. NULL: of a
 * kind that has no text, so that it need not be opened. Opens nothing. */
const char *document_format_of(const char *name, const struct document_options *options);

/* In all but DOCUMENT_LOADED `e` has the reason alone, without the file's name, and there is
 * nothing to release. One file's fault is that file's alone. Any thread. */
enum document_outcome document_load_file(struct loaded_document *out, const char *path,
                                         const struct document_options *options, struct error *e);

/* A text in memory under a file's name, which tells Markdown, HTML and the languages; what is no
 * format of text is plain text, whatever its name. */
enum document_outcome document_load_text(struct loaded_document *out, const char *name,
                                         const char *text, size_t len,
                                         const struct document_options *options, struct error *e);

#endif
