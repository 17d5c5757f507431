#include "knowledge/package.h"

#ifdef HAVE_LIBARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"

enum { BLOCK = 64 * 1024, HEADERS_BETWEEN_LOOKS = 256 };

#define LIBARCHIVE_FUNCTIONS(X)                                                                    \
    X(archive_entry_is_data_encrypted)                                                             \
    X(archive_entry_pathname)                                                                      \
    X(archive_entry_pathname_utf8)                                                                 \
    X(archive_error_string)                                                                        \
    X(archive_read_data)                                                                           \
    X(archive_read_free)                                                                           \
    X(archive_read_new)                                                                            \
    X(archive_read_next_header)                                                                    \
    X(archive_read_open_fd)                                                                        \
    X(archive_read_support_filter_zstd)                                                            \
    X(archive_read_support_format_raw)                                                             \
    X(archive_read_support_format_zip)

struct libarchive {
#define X(name) __typeof__(name) *name;
    LIBARCHIVE_FUNCTIONS(X)
#undef X
};

#ifdef LIBARCHIVE_FILE
static bool load(struct libarchive *library, struct error *e)
{
    static const struct late_function functions[] = {
#define X(name) {#name, offsetof(struct libarchive, name)},
        LIBARCHIVE_FUNCTIONS(X)
#undef X
    };
    return late_library_load(library, "libarchive", LIBARCHIVE_FILE, functions,
                             sizeof functions / sizeof *functions, e);
}
#else
static bool load(struct libarchive *library, struct error *e)
{
    (void)e;
#define X(name) library->name = name;
    LIBARCHIVE_FUNCTIONS(X)
#undef X
    return true;
}
#endif

static const struct libarchive *libarchive(struct error *e)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct libarchive library;
    static bool loaded;
    pthread_mutex_lock(&lock);
    loaded = loaded || load(&library, e);
    bool usable = loaded;
    pthread_mutex_unlock(&lock);
    return usable ? &library : NULL;
}

static enum document_outcome fail(struct package *p, const struct libarchive *zip)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    const char *said = p->archive ? zip->archive_error_string(p->archive) : NULL;
    if (!said)
        said = "it is no zip file";
    utf8_clean(&text, said, strlen(said), UTF8_ONE_LINE);
    return p->outcome = loading_fails(p->l, "cannot be read: %s", text.data);
}

void package_close(struct package *p)
{
    if (p->archive)
        libarchive(NULL)->archive_read_free(p->archive);
    p->archive = NULL;
}

/* From the next member of the archive to its end. */
static enum document_outcome find_further(struct package *p, const struct libarchive *zip,
                                          const char *name, bool *found)
{
    struct archive_entry *entry;
    for (int i = 1;; i++) {
        int code = zip->archive_read_next_header(p->archive, &entry);
        if (code == ARCHIVE_EOF) {
            package_close(p); /* the next is looked for from the beginning */
            return DOCUMENT_LOADED;
        }
        if (code < ARCHIVE_WARN)
            return fail(p, zip);
        const char *its = zip->archive_entry_pathname_utf8(entry);
        if (!its)
            its = zip->archive_entry_pathname(entry);
        *found = its && strcmp(its, name) == 0;
        if (*found && zip->archive_entry_is_data_encrypted(entry))
            return p->outcome = loading_fails(p->l, "is encrypted");
        if (*found)
            return DOCUMENT_LOADED;
        if (i % HEADERS_BETWEEN_LOOKS == 0)
            p->outcome = loading_goes_on(p->l);
        if (p->outcome != DOCUMENT_LOADED)
            return p->outcome;
    }
}

static bool open_archive(struct package *p, const struct libarchive *zip)
{
    struct archive *a = p->archive = zip->archive_read_new();
    if (!a || lseek(p->l->fd, 0, SEEK_SET) < 0 ||
        (p->zstd ? zip->archive_read_support_filter_zstd(a) < ARCHIVE_WARN ||
                       zip->archive_read_support_format_raw(a) < ARCHIVE_WARN
                 : zip->archive_read_support_format_zip(a) < ARCHIVE_WARN) ||
        zip->archive_read_open_fd(p->archive, p->l->fd, BLOCK) < ARCHIVE_WARN)
        fail(p, zip);
    return p->outcome == DOCUMENT_LOADED;
}

char *package_next(struct package *p)
{
    struct archive_entry *entry;
    struct error e;
    const struct libarchive *zip = libarchive(&e);
    if (p->outcome == DOCUMENT_LOADED && !zip)
        p->outcome = loading_fails(p->l, "cannot be read: %s", e.text);
    if (p->outcome != DOCUMENT_LOADED || (!p->archive && !open_archive(p, zip)))
        return NULL;
    int code = zip->archive_read_next_header(p->archive, &entry);
    if (code == ARCHIVE_EOF)
        return NULL;
    if (code < ARCHIVE_WARN || zip->archive_entry_is_data_encrypted(entry)) {
        p->outcome = code < ARCHIVE_WARN ? fail(p, zip) : loading_fails(p->l, "is encrypted");
        return NULL;
    }
    const char *name = zip->archive_entry_pathname_utf8(entry);
    return mem_strdup(name ? name : "");
}

enum document_outcome package_find(struct package *p, const char *name, bool *found)
{
    struct error e;
    const struct libarchive *zip = libarchive(&e);
    *found = false;
    if (p->outcome == DOCUMENT_LOADED && !zip)
        p->outcome = loading_fails(p->l, "cannot be read: %s", e.text);
    if (p->outcome == DOCUMENT_LOADED && p->archive)
        find_further(p, zip, name, found);
    if (p->outcome != DOCUMENT_LOADED || *found)
        return p->outcome;
    package_close(p);
    if (!open_archive(p, zip))
        return p->outcome;
    find_further(p, zip, name, found);
    return p->outcome;
}

ssize_t package_read(void *context, char *bytes, size_t len)
{
    struct package *p = context;
    const struct libarchive *zip = libarchive(NULL);
    int64_t most = p->l->options->limits.expanded;
    if (p->outcome == DOCUMENT_LOADED)
        p->outcome = loading_goes_on(p->l);
    if (p->outcome != DOCUMENT_LOADED)
        return -1;
    la_ssize_t n = zip->archive_read_data(p->archive, bytes, len);
    if (n < 0) {
        fail(p, zip);
        return -1;
    }
    p->expanded += n;
    if (p->expanded > most) {
        p->outcome = loading_fails(p->l, "grows to more than %lld MiB when it is unpacked",
                                   (long long)(most >> 20));
        return -1;
    }
    return n;
}

#else

enum document_outcome package_find(struct package *p, const char *name, bool *found)
{
    (void)name;
    *found = false;
    p->outcome = loading_fails(p->l, "cannot be read: this program is built without libarchive");
    return p->outcome;
}

char *package_next(struct package *p)
{
    p->outcome = loading_fails(p->l, "cannot be read: this program is built without libarchive");
    return NULL;
}

ssize_t package_read(void *context, char *bytes, size_t len)
{
    (void)context, (void)bytes, (void)len;
    return -1;
}

void package_close(struct package *p)
{
    (void)p;
}

#endif

enum document_outcome package_read_xml(struct package *p, const char *name,
                                       const struct markup_events *events, void *context,
                                       bool *found)
{
    const struct markup_source source = {.read = package_read, .context = p};
    if (package_find(p, name, found) != DOCUMENT_LOADED || !*found)
        return p->outcome;
    struct error e;
    enum markup_end end = markup_read_xml(&source, events, context, &e);
    if (end == MARKUP_BROKEN && p->outcome == DOCUMENT_LOADED)
        p->outcome = loading_fails(p->l, "cannot be read: %s: %s", name, e.text);
    return p->outcome;
}
