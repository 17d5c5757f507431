#include "provider/libcurl.h"

#include <pthread.h>
#include <stddef.h>

#include "base/late_library.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef LIBCURL_FILE

static bool load(struct libcurl *library, struct failure *f)
{
    static const struct late_function functions[] = {
#define X(name) {"curl_" #name, offsetof(struct libcurl, name)},
        LIBCURL_FUNCTIONS(X)
#undef X
    };
    struct error e;
    return late_library_load(library, "libcurl", LIBCURL_FILE, functions,
                             sizeof functions / sizeof *functions, &e) ||
           failure_set(f, FAILURE_SETUP, "%s", e.text);
}

#else

static bool load(struct libcurl *library, struct failure *f)
{
    (void)f;
#define X(name) library->name = curl_##name;
    LIBCURL_FUNCTIONS(X)
#undef X
    return true;
}

#endif

static bool start(struct libcurl *library, struct failure *f)
{
    if (!load(library, f))
        return false;
    CURLcode code = library->global_init(CURL_GLOBAL_DEFAULT);
    return code == CURLE_OK || failure_set(f, FAILURE_SETUP, "libcurl does not start: %s",
                                           library->easy_strerror(code));
}

const struct libcurl *libcurl_load(struct failure *f)
{
    static struct libcurl library;
    static bool started;
    pthread_mutex_lock(&lock);
    started = started || start(&library, f);
    bool usable = started;
    pthread_mutex_unlock(&lock);
    return usable ? &library : NULL;
}
