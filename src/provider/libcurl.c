#include "provider/libcurl.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef LIBCURL_FILE

#include <dlfcn.h>

static bool load(struct libcurl *library, struct failure *f)
{
    static const struct {
        const char *name;
        size_t member;
    } functions[] = {
#define X(name) {"curl_" #name, offsetof(struct libcurl, name)},
        LIBCURL_FUNCTIONS(X)
#undef X
    };
    void *file = dlopen(LIBCURL_FILE, RTLD_LAZY | RTLD_LOCAL);
    if (file == NULL)
        return failure_set(f, FAILURE_SETUP,
                           "libcurl cannot be loaded: %s; check that it is installed", dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(file, functions[i].name);
        if (found == NULL) {
            failure_set(f, FAILURE_SETUP, "this libcurl cannot be used: %s", dlerror());
            dlclose(file);
            return false;
        }
        memcpy((char *)library + functions[i].member, &found, sizeof found);
    }
    return true;
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
