#include "provider/http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "provider/provider.h"

/* libcurl as a table of its functions, loaded when the first request needs it: with all that it
 * brings (TLS, HTTP/2, Kerberos, LDAP) it is half of what an idle program would hold in memory, and
 * of the time that a start takes. */

/* X(name) for each curl_NAME() that is called. */
#define LIBCURL_FUNCTIONS(X)                                                                       \
    X(easy_cleanup)                                                                                \
    X(easy_getinfo)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_strerror)                                                                               \
    X(getdate)                                                                                     \
    X(global_init)                                                                                 \
    X(multi_add_handle)                                                                            \
    X(multi_cleanup)                                                                               \
    X(multi_info_read)                                                                             \
    X(multi_init)                                                                                  \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_remove_handle)                                                                         \
    X(multi_setopt)                                                                                \
    X(multi_strerror)                                                                              \
    X(slist_append)                                                                                \
    X(slist_free_all)

struct libcurl {
#define X(name) __typeof__(curl_##name) *name;
    LIBCURL_FUNCTIONS(X)
#undef X
};

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

/* Loaded and started; from any thread. NULL: it cannot be, SETUP says why, and the next call tries
 * again. */
static const struct libcurl *libcurl_load(struct failure *f)
{
    static struct libcurl library;
    static bool started;
    pthread_mutex_lock(&lock);
    if (!started && load(&library, f)) {
        CURLcode code = library.global_init(CURL_GLOBAL_DEFAULT);
        started = code == CURLE_OK || failure_set(f, FAILURE_SETUP, "libcurl does not start: %s",
                                                  library.easy_strerror(code));
    }
    bool usable = started;
    pthread_mutex_unlock(&lock);
    return usable ? &library : NULL;
}

/* --- requests and replies --------------------------------------------------------------------- */

#define READ_SIZE 65536L
/* How long a finished answer may take to close its body before its connection is given up. */
#define GRACE_MS 250
#define KEPT_CONNECTIONS 4L
/* Bounds of status lines, headers and trailers together: libcurl keeps all and bounds the single
 * line alone. Other clients take 8 to 256 KiB and 100 lines. */
#define MAX_HEADER_BYTES ((size_t)256 * 1024)
#define MAX_HEADER_LINES 1000
/* Whatever the server says, the wait fits an int of milliseconds. */
#define LONGEST_RETRY_AFTER_S 2000000

struct http {
    const struct libcurl *curl; /* NULL before the first request */
    CURLM *multi;               /* likewise */
    http_answer_fn *answer;     /* NULL: the network does */
    void *answer_context;
    bool distrusts;
};

struct transfer {
    const struct libcurl *curl;
    const struct http_request *request;
    const struct wakeup *wakeup;
    struct http_reply *reply;
    struct failure *failure;
    CURL *easy;
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
    bool refused;        /* by the sink, the wakeup, may_connect() or for its size; the failure is
                            filled in */
    bool arrived;        /* body bytes since the last on_read */
    size_t header_bytes; /* with those of trailers and interim replies */
    size_t header_lines;
    bool head_came;       /* the header is whole */
    curl_off_t moved;     /* bytes of bodies both ways, and one for the whole header */
    int64_t moved_ms;     /* when that last changed */
    int64_t grace_end_ms; /* 0: the answer is not over */
};

struct http *http_new(void)
{
    return mem_alloc(sizeof(struct http));
}

struct http *http_new_answered(http_answer_fn *answer, void *context)
{
    struct http *h = http_new();
    h->answer = answer;
    h->answer_context = context;
    return h;
}

void http_free(struct http *h)
{
    if (h && h->multi)
        h->curl->multi_cleanup(h->multi);
    free(h);
}

struct http_reach http_reach_of(const struct config *config)
{
    return (struct http_reach){.ca_file = config_string(config, CONFIG_PROVIDER_CA_FILE),
                               .connect_timeout_ms =
                                   config_integer(config, CONFIG_PROVIDER_CONNECT_TIMEOUT) * 1000};
}

void http_headers_add(struct http_headers *h, const char *format, ...)
{
    struct buf line = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&line, format, args);
    va_end(args);
    vec_push(&h->list, buf_take(&line));
}

void http_headers_release(struct http_headers *h)
{
    for (size_t i = 0; i < h->list.len; i++) {
        mem_wipe(h->list.items[i], strlen(h->list.items[i]));
        free(h->list.items[i]);
    }
    vec_release(&h->list);
}

void http_reply_init(struct http_reply *r)
{
    *r = (struct http_reply){.retry_after_ms = -1};
    buf_init(&r->body, PROVIDER_MAX_EVENT);
}

void http_reply_release(struct http_reply *r)
{
    free(r->redirect);
    free(r->header);
    r->redirect = r->header = NULL;
    buf_release(&r->body);
}

/* "12" or "1.5", as milliseconds; -1 if it is anything else. */
static int64_t parse_seconds(const char *s)
{
    int64_t ms = 0;
    size_t digits = strspn(s, "0123456789");
    if (digits == 0)
        return -1;
    for (size_t i = 0; i < digits && ms <= LONGEST_RETRY_AFTER_S; i++)
        ms = ms * 10 + (s[i] - '0');
    ms = (ms > LONGEST_RETRY_AFTER_S ? LONGEST_RETRY_AFTER_S : ms) * 1000;
    s += digits;
    if (*s == '.') {
        s++;
        for (int64_t unit = 100; *s >= '0' && *s <= '9'; s++, unit /= 10)
            ms += unit * (*s - '0');
    }
    return s[strspn(s, " \t\r\n")] == '\0' ? ms : -1;
}

int64_t http_retry_after(const char *value, int64_t now_wall_ms)
{
    value += strspn(value, " \t");
    int64_t ms = parse_seconds(value);
    if (ms >= 0)
        return ms;
    /* Every form of an HTTP date, whatever the locale; a negative number is no date to us. */
    if (value[0] < 'A' || value[0] > 'z')
        return -1;
    struct failure ignored;
    const struct libcurl *curl = libcurl_load(&ignored);
    time_t date = !curl ? (time_t)-1 : curl->getdate(value, NULL);
    if (date == (time_t)-1)
        return -1;
    if (date > now_wall_ms / 1000 + LONGEST_RETRY_AFTER_S)
        return LONGEST_RETRY_AFTER_S * 1000LL;
    ms = (int64_t)date * 1000 - now_wall_ms;
    return ms < 0 ? 0 : ms;
}

/* The value of header `name` in a raw line, copied, or NULL if it is another header. */
static char *header_value(const char *line, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    if (len <= name_len || line[name_len] != ':' || strncasecmp(line, name, name_len) != 0)
        return NULL;
    const char *start = line + name_len + 1;
    const char *end = line + len;
    while (start < end && isspace((unsigned char)*start))
        start++;
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    return mem_strndup(start, (size_t)(end - start));
}

/* Takes a line of a header or of trailers. */
static size_t take_header(char *line, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    size_t len = size * count;
    long status = 0;
    t->header_bytes += len;
    t->header_lines++;
    if (t->header_bytes > MAX_HEADER_BYTES || t->header_lines > MAX_HEADER_LINES) {
        t->refused = true;
        failure_set(t->failure, FAILURE_PROTOCOL,
                    "the server's headers have more than %zu KiB or %d lines; is the base URL "
                    "right?",
                    MAX_HEADER_BYTES >> 10, MAX_HEADER_LINES);
        return 0;
    }
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
        t->reply->retry_after_ms = -1;
    auto_free char *ms = header_value(line, len, "retry-after-ms");
    auto_free char *seconds = header_value(line, len, "retry-after");
    int64_t value = ms ? http_retry_after(ms, clock_wall_ms()) : -1;
    if (value >= 0)
        t->reply->retry_after_ms = value / 1000;
    else if (!ms && seconds && t->reply->retry_after_ms < 0)
        t->reply->retry_after_ms = http_retry_after(seconds, clock_wall_ms());
    char *wanted = t->request->wanted ? header_value(line, len, t->request->wanted) : NULL;
    if (wanted) {
        free(t->reply->header);
        t->reply->header = wanted;
    }
    t->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && (len == 0 || line[0] == '\r' || line[0] == '\n'))
        t->head_came = true;
    return len;
}

static void read_head(struct transfer *t)
{
    long status = 0;
    const char *type = NULL;
    char *redirect = NULL;
    t->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    t->curl->easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
    t->curl->easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &redirect);
    t->reply->status = (int)status;
    free(t->reply->redirect);
    t->reply->redirect = mem_strdup(redirect);

    size_t len = type ? strcspn(type, "; \t") : 0;
    if (len >= sizeof t->reply->content_type)
        len = sizeof t->reply->content_type - 1;
    for (size_t i = 0; i < len; i++)
        t->reply->content_type[i] = (char)tolower((unsigned char)type[i]);
    t->reply->content_type[len] = '\0';
}

/* libcurl hands on 16 KiB at most. */
static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    size_t len = size * count;
    if (t->reply->status == 0)
        read_head(t);
    bool ok;
    /* Asked here, too: libcurl reads megabytes from a fast server before it comes back. */
    if (t->wakeup && !wakeup_sleep(t->wakeup, 0)) {
        ok = failure_set(t->failure, FAILURE_CANCELLED, "interrupted");
    } else if (t->request->on_body && t->reply->status / 100 == 2) {
        t->arrived = true;
        ok = t->request->on_body(t->request->context, bytes, len);
    } else {
        ok = buf_try_add(&t->reply->body, bytes, len) ||
             failure_set(t->failure, FAILURE_TOO_LARGE, "the answer has more than %zu MiB",
                         PROVIDER_MAX_EVENT >> 20);
    }
    t->refused = !ok;
    return ok ? len : 0;
}

/* Opens a socket that no program started meanwhile inherits. libcurl connects it to this very
 * address: a name that leads elsewhere when it is looked up again does not pass the check. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *t = context;
    const struct http_request *r = t->request;
    (void)purpose;
    if (t->refused || (r->may_connect && !r->may_connect(r->context, &address->addr))) {
        t->refused = true;
        return CURL_SOCKET_BAD;
    }
    int fd = descriptors_socket(address->family, address->socktype, address->protocol);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static void add_header(struct transfer *t, const char *line)
{
    struct curl_slist *longer = t->curl->slist_append(t->headers, line);
    if (!longer)
        die("out of memory");
    t->headers = longer;
}

static void set_options(struct transfer *t)
{
    const struct http_request *r = t->request;
    const struct libcurl *curl = t->curl;
    CURL *easy = t->easy;
#if LIBCURL_VERSION_NUM >= 0x075500
    curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl->easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Else giving up while a name is looked up would wait for the resolver's thread. */
    curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    if (r->reach.ca_file && *r->reach.ca_file)
        curl->easy_setopt(easy, CURLOPT_CAINFO, r->reach.ca_file);

    curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl->easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl->easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t);
    if (r->may_connect)
        curl->easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);

    for (size_t i = 0; r->headers && i < r->headers->list.len; i++)
        add_header(t, r->headers->list.items[i]);
    /* libcurl would wait a second for a "100 Continue" that few of these servers send. */
    add_header(t, "Expect:");
    curl->easy_setopt(easy, CURLOPT_URL, r->url);
    curl->easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
    curl->easy_setopt(easy, CURLOPT_USERAGENT, "tiro/" PACKAGE_VERSION);
    curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl->easy_setopt(easy, CURLOPT_BUFFERSIZE, READ_SIZE);
    curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)r->reach.connect_timeout_ms);
    if (r->body) {
        curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
        curl->easy_setopt(easy, CURLOPT_POSTFIELDS, r->body);
    }
    if (r->method)
        curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r->method);
}

static bool transfer_start(struct http *h, struct transfer *t)
{
    h->curl = t->curl = libcurl_load(t->failure);
    if (!t->curl)
        return false;
    if (!h->multi) {
        h->multi = t->curl->multi_init();
        if (!h->multi)
            die("out of memory");
        t->curl->multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, KEPT_CONNECTIONS);
    }
    t->easy = t->curl->easy_init();
    if (!t->easy)
        die("out of memory");
    set_options(t);
    t->curl->easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, h->distrusts ? 1L : 0L);
    h->distrusts = false;
    t->moved_ms = clock_mono_ms();
    CURLMcode code = t->curl->multi_add_handle(h->multi, t->easy);
    return code == CURLM_OK ||
           failure_set(t->failure, FAILURE_SETUP, "%s", t->curl->multi_strerror(code));
}

/* Sleeps until the network, the wakeup or a deadline has something to say. */
static bool wait_for_news(struct http *h, struct transfer *t, int64_t deadline)
{
    const struct wakeup *w = t->wakeup;
    int64_t left = deadline - clock_mono_ms();
    struct curl_waitfd extra = {.fd = w ? w->fd : -1, .events = CURL_WAIT_POLLIN};
    unsigned extras = extra.fd >= 0 ? 1 : 0;
    int timeout = wakeup_timeout(w, left > 60000 ? 60000 : left < 0 ? 0 : (int)left);
    CURLMcode code = t->curl->multi_poll(h->multi, &extra, extras, timeout, NULL);
    if (code != CURLM_OK)
        return failure_set(t->failure, FAILURE_CONNECT, "%s", t->curl->multi_strerror(code));
    bool asked = (extras > 0 && extra.revents != 0) || wakeup_late(w);
    return !asked || w->go_on(w->context) ||
           failure_set(t->failure, FAILURE_CANCELLED, "interrupted");
}

/* Runs the transfer to its end, which may be that of the grace period. False: failure filled in. */
static bool drive(struct http *h, struct transfer *t, CURLcode *result)
{
    const struct libcurl *curl = t->curl;
    const struct http_request *r = t->request;
    for (;;) {
        int running = 0, left = 0;
        CURLMcode code = curl->multi_perform(h->multi, &running);
        int64_t now = clock_mono_ms();
        bool arrived = t->arrived;
        t->arrived = false;
        if (arrived && r->on_read && !r->on_read(r->context) && t->grace_end_ms == 0)
            t->grace_end_ms = now + GRACE_MS;
        if (code != CURLM_OK)
            return failure_set(t->failure, FAILURE_CONNECT, "%s", curl->multi_strerror(code));
        *result = CURLE_OK;
        if (t->refused) /* another address of the host may be about to be connected to */
            return true;
        if (running == 0) {
            CURLMsg *message = curl->multi_info_read(h->multi, &left);
            *result =
                message && message->msg == CURLMSG_DONE ? message->data.result : CURLE_RECV_ERROR;
            return true;
        }
        /* A line of a header is no progress, or a server could drip them for ever. Until it is
         * connected, libcurl's connect timeout counts. */
        curl_off_t up = 0, down = 0, connected = 0;
        curl->easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &up);
        curl->easy_getinfo(t->easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
        curl->easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
        curl_off_t moved = up + down + (t->head_came ? 1 : 0);
        if (connected == 0 || moved != t->moved)
            t->moved_ms = now;
        t->moved = moved;
        if (t->grace_end_ms != 0 && now >= t->grace_end_ms)
            return true;
        int64_t stalled = t->moved_ms + r->stall_timeout_ms;
        if (now >= stalled)
            return failure_set(t->failure, FAILURE_STALL, "nothing came for %lld s",
                               (long long)(r->stall_timeout_ms / 1000));
        if (!wait_for_news(h, t, t->grace_end_ms != 0 ? t->grace_end_ms : stalled))
            return false;
    }
}

static bool lost(struct transfer *t, CURLcode code)
{
    static const struct {
        CURLcode code;
        const char *hint;
    } setup_faults[] = {
        {CURLE_URL_MALFORMAT, ""},
        {CURLE_UNSUPPORTED_PROTOCOL, ""},
        {CURLE_PEER_FAILED_VERIFICATION, "; [provider] ca_file names other certificates to trust"},
        {CURLE_SSL_CACERT_BADFILE, "; see [provider] ca_file"},
    };
    /* libcurl says so of a line past its own bounds, which are far from the machine's. */
    if (code == CURLE_OUT_OF_MEMORY)
        return failure_set(t->failure, FAILURE_PROTOCOL,
                           "the reply does not fit into memory: its headers may be too large; is "
                           "the base URL right?");
    const char *why = t->error[0] != '\0' ? t->error : t->curl->easy_strerror(code);
    for (size_t i = 0; i < sizeof setup_faults / sizeof *setup_faults; i++)
        if (setup_faults[i].code == code)
            return failure_set(t->failure, FAILURE_SETUP, "%s%s", why,
                               t->request->reach.ca_file ? setup_faults[i].hint : "");
    return failure_set(t->failure, FAILURE_CONNECT, "%s", why);
}

bool http_perform(struct http *h, const struct http_request *request, const struct wakeup *wakeup,
                  struct http_reply *reply, struct failure *f)
{
    if (h->answer)
        return h->answer(h->answer_context, request, reply, f);
    struct transfer t = {.request = request, .wakeup = wakeup, .reply = reply, .failure = f};
    CURLcode result = CURLE_OK;
    bool ok = transfer_start(h, &t) && drive(h, &t, &result);
    if (ok) {
        read_head(&t);
        ok = !t.refused && (result == CURLE_OK || lost(&t, result));
    }
    if (t.easy) {
        t.curl->multi_remove_handle(h->multi, t.easy);
        t.curl->easy_cleanup(t.easy);
        for (struct curl_slist *s = t.headers; s; s = s->next)
            mem_wipe(s->data, strlen(s->data));
        t.curl->slist_free_all(t.headers);
    }
    return ok;
}

void http_distrust(struct http *h)
{
    h->distrusts = true;
}

/* --- addresses -------------------------------------------------------------------------------- */

static bool is_public_v4(uint32_t address)
{
    static const struct {
        uint32_t first;
        int bits;
    } others[] = {
        {0x00000000, 8},  /* this network */
        {0x0A000000, 8},  /* private */
        {0x64400000, 10}, /* of providers, behind NAT */
        {0x7F000000, 8},  /* loopback */
        {0xA9FE0000, 16}, /* link-local, where clouds tell keys */
        {0xAC100000, 12}, /* private */
        {0xC0000000, 24}, /* of protocols */
        {0xC0000200, 24}, /* of documentation, as 198.51.100/24 and 203.0.113/24 */
        {0xC0586300, 24}, /* relays of 6to4 */
        {0xC0A80000, 16}, /* private */
        {0xC6120000, 15}, /* of measurements */
        {0xC6336400, 24}, {0xCB007100, 24}, {0xE0000000, 3}, /* multicast and reserved */
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if ((address ^ others[i].first) >> (32 - others[i].bits) == 0)
            return false;
    return true;
}

static bool begins_with_bits(const unsigned char *address, const unsigned char *with, int bits)
{
    int rest = bits % 8;
    return memcmp(address, with, (size_t)bits / 8) == 0 &&
           (rest == 0 || (address[bits / 8] ^ with[bits / 8]) >> (8 - rest) == 0);
}

/* 2000::/3 is all that is given out. */
static bool is_public_v6(const unsigned char *a)
{
    static const unsigned char mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    static const unsigned char nat64[12] = {0x00, 0x64, 0xFF, 0x9B};
    static const struct {
        unsigned char first[4];
        int bits;
    } others[] = {
        {{0x20, 0x01, 0x00, 0x00}, 23}, /* of protocols, as Teredo */
        {{0x20, 0x01, 0x0D, 0xB8}, 32}, /* of documentation, as 3fff::/20 */
        {{0x20, 0x02, 0x00, 0x00}, 16}, /* 6to4 */
        {{0x3F, 0xFF, 0x00, 0x00}, 20},
    };
    if (memcmp(a, mapped, sizeof mapped) == 0 || memcmp(a, nat64, sizeof nat64) == 0)
        return is_public_v4((uint32_t)a[12] << 24 | (uint32_t)a[13] << 16 | (uint32_t)a[14] << 8 |
                            a[15]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins_with_bits(a, others[i].first, others[i].bits))
            return false;
    return a[0] >> 5 == 1;
}

bool address_is_public(const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    switch (address->sa_family) {
    case AF_INET:
        memcpy(&v4, address, sizeof v4);
        return is_public_v4(ntohl(v4.sin_addr.s_addr));
    case AF_INET6:
        memcpy(&v6, address, sizeof v6);
        return is_public_v6(v6.sin6_addr.s6_addr);
    default:
        return false;
    }
}

/* --- the host of a URL ------------------------------------------------------------------------ */

/* The part behind the scheme; its first `login` bytes, with the "@", are a user's. */
static const char *authority_of(const char *url, size_t *len, size_t *login)
{
    const char *scheme = strstr(url, "://");
    const char *start = scheme ? scheme + 3 : url;
    *len = strcspn(start, "/?#");
    *login = *len;
    while (*login > 0 && start[*login - 1] != '@')
        --*login;
    return start;
}

char *host_of_url(const char *url, char port[6])
{
    size_t len, login;
    const char *start = authority_of(url, &len, &login) + login;
    len -= login;
    bool bracket = len > 0 && *start == '[';
    start += bracket;
    len -= bracket;
    size_t host_len = strcspn(start, bracket ? "]" : ":");
    if (host_len > len)
        host_len = len;
    const char *after = start + host_len + (bracket && host_len < len);
    size_t port_len = after < start + len && *after == ':' ? strspn(after + 1, "0123456789") : 0;
    if (port_len > 5)
        port_len = 0;
    memcpy(port, after + (port_len > 0), port_len);
    port[port_len] = '\0';
    return mem_strndup(start, host_len);
}

char *host_unescape(const char *start, size_t len)
{
    char *text = mem_strndup(start, len), *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        const char hex[] = {at[1], at[1] != '\0' ? at[2] : '\0', '\0'};
        bool escape = *at == '%' && strspn(hex, "0123456789abcdefABCDEF") == 2;
        *to++ = escape ? (char)strtoul(hex, NULL, 16) : *at;
        at += escape ? 2 : 0;
    }
    *to = '\0';
    return text;
}

char *host_login_of_url(const char *url)
{
    size_t len, login;
    const char *start = authority_of(url, &len, &login);
    return login <= 1 ? NULL : host_unescape(start, login - 1);
}

bool host_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return (ntohl(v4.s_addr) >> 24) == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}
