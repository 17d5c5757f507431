/* Documents and their passages. The first byte chooses the format; the rest is the text, the zip
 * file or the XML member of one. */
#include <string.h>

#include "base/mem.h"
#include "tests/chunk_check.h"
#include "tests/fuzz/fuzz.h"
#include "tests/zip_file.h"

#define CONTAINER "<container><rootfiles><rootfile full-path=\"c\"/></rootfiles></container>"

/* `member`: the part of a package that the input is; NULL: the input is the whole file. */
static const struct kind {
    const char *name, *member;
} kinds[] = {
    {"a.txt", NULL},
    {"a.md", NULL},
    {"a.html", NULL},
    {"a.c", NULL},
    {"a.py", NULL},
    {"a.docx", NULL},
    {"a.odt", NULL},
    {"a.epub", NULL},
    {"a.docx", "word/document.xml"},
    {"a.docx", "word/styles.xml"},
    {"a.odt", "content.xml"},
    {"a.epub", "c"},
    {"a.epub", "META-INF/container.xml"},
};

static const char *write_package(const struct kind *kind, const char *bytes, size_t len)
{
    struct zip_file z = {0};
    const char *path = fuzz_file(kind->name, (const uint8_t *)bytes, len);
    if (!kind->member)
        return path;
    if (strcmp(kind->member, "c") == 0)
        zip_add(&z, "META-INF/container.xml", CONTAINER, strlen(CONTAINER), false);
    zip_add(&z, kind->member, bytes, len, false);
    if (strcmp(kind->member, "word/styles.xml") == 0)
        zip_add(&z, "word/document.xml", "<p/>", 4, false);
    zip_add(&z, "1.html", "<h1>One</h1>", 12, false);
    zip_write(&z, path);
    return path;
}

static void check(const struct loaded_document *d, size_t most, const char *source, size_t len)
{
    AUTO(chunks_release) struct chunks c = {0};
    chunks_make(&c, d, most);
    const char *fault =
        chunks_fault(&c, d, most, d->offsets == DOCUMENT_OFFSETS_BYTES ? source : NULL, len);
    if (fault)
        fuzz_fail(__FILE__, __LINE__, fault, NULL, NULL);
    FUZZ_CHECK(!d->title || fuzz_is_clean(d->title, strlen(d->title), false));
}

int fuzz_document(const uint8_t *data, size_t size)
{
    enum { KINDS = sizeof kinds / sizeof *kinds, MOST = 40 };
    static struct document_options options;
    struct dice dice = fuzz_dice(data, size);
    struct loaded_document d;
    struct error e = {0};
    if (size == 0)
        return -1;
    const struct kind *kind = &kinds[*data % KINDS];
    const char *text = (const char *)data + 1;
    options.limits = document_limits;
    enum document_outcome outcome =
        strstr(kind->name, ".docx") || strstr(kind->name, ".odt") || strstr(kind->name, ".epub")
            ? document_load_file(&d, write_package(kind, text, size - 1), &options, &e)
            : document_load_text(&d, kind->name, text, size - 1, &options, &e);
    if (outcome != DOCUMENT_LOADED) {
        fuzz_check_error(&e);
        return 0;
    }
    check(&d, 1 + dice_below(&dice, MOST), text, size - 1);
    check(&d, CHUNK_CHARACTERS, text, size - 1);
    loaded_document_release(&d);
    return 0;
}
