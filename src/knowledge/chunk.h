/* A document cut into passages that are searched and cited. Pure. Paragraphs are packed up to a
 * number of characters. A longer one is cut at a sentence, else between words, else between
 * grapheme clusters, else between characters. Code is cut at blank lines and where a block ends,
 * else at a line. A heading and a page begin a new passage, so each has one heading path and one
 * page. Only white space is lost, and no text is in two passages. */
#ifndef KNOWLEDGE_CHUNK_H
#define KNOWLEDGE_CHUNK_H

#include "knowledge/document.h"

enum {
    CHUNK_CHARACTERS = 800, /* code points */
    CHUNKS_BYTES_MOST = 40 << 20,
    /* Headings take more room as paths than in the text. Later passages have no heading. */
    CHUNKS_HEADING_BYTES_MOST = 8 << 20
};

struct chunk {
    char *text; /* utf8_clean(), several lines; never empty, and no white space around it but
                   the indentation of code */
    size_t len;
    const char *heading; /* "Install › Debian", clean, owned by the chunks; "": none above it */
    enum document_part_kind kind; /* of its first part that is no heading */
    int64_t byte_from, byte_to;   /* in the source, the end exclusive; -1: not known */
    int64_t line_from, line_to;   /* in the source, from 1, both inclusive; 0: not known */
    int64_t page;                 /* from 1; 0: none */
};

struct chunks {
    VEC(struct chunk) items; /* in the order of the document */
    VEC(char *) headings;
    size_t bytes, heading_bytes; /* of all of them */
    const struct wakeup *wakeup; /* of the caller; NULL: nothing stops it */
    bool is_cut_off;             /* there is more than CHUNKS_BYTES_MOST of text */
    bool is_stopped;             /* the wakeup said so: the rest is missing */
};

/* Appends to `out`. `most` is in characters (code points) of the cleaned text, at least 1. */
void chunks_make(struct chunks *out, const struct loaded_document *d, size_t most);
void chunks_release(struct chunks *c);

#endif
