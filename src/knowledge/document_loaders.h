/* The loaders of documents, a row a format (document.c), and what they have in common. */
#ifndef KNOWLEDGE_DOCUMENT_LOADERS_H
#define KNOWLEDGE_DOCUMENT_LOADERS_H

#include "knowledge/document.h"

/* One file while it is loaded. */
struct loading {
    const struct document_options *options;
    const struct loader *loader;
    const char *name;    /* as the caller has it */
    const char *command; /* of load_command() */
    int fd;              /* open for reading at its beginning; -1: the source is in memory */
    int64_t size;        /* of the file when it was opened */
    int64_t deadline_ms; /* clock_mono_ms() */
    struct buf source;   /* the whole file, for loaders that are `whole` */
    struct loaded_document *out;
    struct error *e;
};

struct loader {
    const char *format;
    const char *extensions; /* lower case, apart by blanks */
    const char *begins;     /* … of a file whose name tells nothing (document.c); NULL: none */
    bool whole;             /* reads `source`, not the descriptor */
    enum document_outcome (*load)(struct loading *l);
};

enum document_outcome load_plain_text(struct loading *l);
enum document_outcome load_markdown(struct loading *l);
enum document_outcome load_code(struct loading *l);
enum document_outcome load_html(struct loading *l);
enum document_outcome load_docx(struct loading *l);
enum document_outcome load_odt(struct loading *l);
enum document_outcome load_epub(struct loading *l);
enum document_outcome load_pdf(struct loading *l);
enum document_outcome load_command(struct loading *l);

/* Ends a loader: `e` gets the reason. */
enum document_outcome loading_fails(struct loading *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum document_outcome loading_skips(struct loading *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* DOCUMENT_LOADED: go on. Asked between pieces of work. */
enum document_outcome loading_goes_on(struct loading *l);

/* Makes `out->text` of the source: UTF-8, UTF-16 with its mark, else one byte a character. */
enum document_outcome loading_decode(struct loading *l);

/* What the document calls itself; nothing for nothing but white space. */
void loading_name(struct loading *l, const char *title, size_t len);

/* For what the text has from `at` to `end`, without the white space around it; nothing for nothing
 * but that. */
void loading_add_part(struct loading *l, struct document_part part, size_t at, size_t end);

#endif
