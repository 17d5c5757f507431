/* The members of a package, a zip file: docx, odt or epub. Read with libarchive, which is loaded at
 * the first. Members are found by their names; none is unpacked into a file, so it does not matter
 * where a name leads. */
#ifndef KNOWLEDGE_PACKAGE_H
#define KNOWLEDGE_PACKAGE_H

#include <sys/types.h>

#include "knowledge/document_loaders.h"
#include "knowledge/markup.h"

struct package {
    struct loading *l;             /* its descriptor is read, its limits hold */
    bool zstd;                     /* it is no zip file but one file that zstd compressed */
    void *archive;                 /* NULL: not open */
    int64_t expanded;              /* bytes that came out so far */
    enum document_outcome outcome; /* once it is not LOADED, nothing more is read */
};

/* Makes the member the one that is read. DOCUMENT_LOADED with `found` false: there is none of that
 * name. Members in the order of the file are found fastest. */
enum document_outcome package_find(struct package *p, const char *name, bool *found);

/* Makes the next member the one that is read, and gives its name, which the caller frees; NULL:
 * that was the last, or a fault in `outcome`. */
char *package_next(struct package *p);

/* markup_source's read(); `context` is the package. */
ssize_t package_read(void *context, char *bytes, size_t len);

/* Reads the member if there is one of that name. Where `events` stop it, they set `outcome`. */
enum document_outcome package_read_xml(struct package *p, const char *name,
                                       const struct markup_events *events, void *context,
                                       bool *found);

void package_close(struct package *p);

#endif
