/* The tools of the web: fetch_url, which gets a page as text, and web_search, which the provider
 * runs. A URL names one host and port in plain letters, so that this file, libcurl and the person
 * who allows the call read the same host in it. */
#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/document.h"
#include "provider/http.h"

enum {
    BODY_MOST = 1024 * 1024,
    URL_MOST = 8000 /* bytes */,
    REDIRECTS_MOST = 5,
    NOTE_BYTES = 100, /* room for a note that the text goes on */
    CONNECT_MS = 10000
};

/* --- URLs ------------------------------------------------------------------------------------- */

/* Returns why the URL may not be fetched, as words that follow its name; static. NULL: its text has
 * no fault. */
static const char *fault_of(const char *url)
{
    static const char digits[] = "0123456789", of_v6[] = "0123456789abcdefABCDEF:.";
    static const char of_name[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    const char *at = strncasecmp(url, "http://", 7) == 0    ? url + 7
                     : strncasecmp(url, "https://", 8) == 0 ? url + 8
                                                            : NULL;
    if (!at)
        return "is not an http or https URL";
    if (strlen(url) > URL_MOST)
        return "is too long";
    for (const char *p = url; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7F || *p == '\\')
            return "has a blank, a control character or a backslash";
    bool bracket = *at == '[';
    size_t len = strspn(at + bracket, bracket ? of_v6 : of_name);
    at += bracket + len;
    if (len > 0 && bracket)
        len = *at++ == ']';
    size_t port = len > 0 && *at == ':' ? strspn(at + 1, digits) : 0;
    if (port > 0 && port <= 5)
        at += 1 + port;
    return len > 0 && strchr("/?#", *at)
               ? NULL
               : "may have a host name in ASCII and a port before its path, and nothing else";
}

/* Returns "example.org:443" for a URL without fault; the caller frees. *usual: the length without
 * the port if that is the default of the scheme, else the whole length. */
static char *place_of(const char *url, size_t *usual)
{
    char port[6];
    auto_free char *host = host_of_url(url, port);
    int by_scheme = tolower((unsigned char)url[4]) == 's' ? 443 : 80;
    int number = *port ? atoi(port) : by_scheme;
    bool bracket = strchr(host, ':') != NULL;
    char *place = mem_printf("%s%s%s:%d", bracket ? "[" : "", host, bracket ? "]" : "", number);
    for (char *p = place; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    *usual = number == by_scheme ? (size_t)(strrchr(place, ':') - place) : strlen(place);
    return place;
}

/* Whether the list has the host, or the host with this port. */
static bool is_listed(const char *list, const char *url)
{
    static const char between[] = " \t\r\n,";
    size_t usual;
    auto_free char *place = place_of(url, &usual);
    size_t name = (size_t)(strrchr(place, ':') - place);
    for (const char *word = list ? list : ""; *(word += strspn(word, between));) {
        size_t len = strcspn(word, between);
        if ((len == name || len == strlen(place)) && strncasecmp(word, place, len) == 0)
            return true;
        word += len;
    }
    return false;
}

/* Whether a redirect stays within the permission of the user: it keeps the host, except for "www."
 * before it, the port, and TLS. */
static bool stays(const char *from, const char *to)
{
    size_t from_usual, to_usual;
    auto_free char *old = place_of(from, &from_usual);
    auto_free char *new = place_of(to, &to_usual);
    size_t from_www = strncmp(old, "www.", 4) == 0 ? 4 : 0;
    size_t to_www = strncmp(new, "www.", 4) == 0 ? 4 : 0;
    bool loses_tls = strncasecmp(from, "https", 5) == 0 && strncasecmp(to, "https", 5) != 0;
    return !loses_tls && from_usual - from_www == to_usual - to_www &&
           memcmp(old + from_www, new + to_www, to_usual - to_www) == 0;
}

/* --- one page --------------------------------------------------------------------------------- */

struct fetching {
    const struct tool_context *context;
    const char *url;
    bool listed; /* its host may have any address */
    enum tool_stop stop;
    struct wakeup wakeup;
    struct buf body;
    size_t most;
    bool cut;
    size_t offset; /* in the text */
    bool links;
    struct failure failure;
};

static bool go_on(void *context)
{
    struct fetching *f = context;
    if (f->stop == TOOL_GOES_ON)
        f->stop = tool_stop(f->context);
    return f->stop == TOOL_GOES_ON;
}

static bool may_connect(void *context, const struct sockaddr *address)
{
    struct fetching *f = context;
    char text[64] = "an address";
    socklen_t len =
        address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (f->listed || address_is_public(address))
        return true;
    (void)getnameinfo(address, len, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    return failure_set(&f->failure, FAILURE_SETUP,
                       "its host is at %s, which is no public address; the user can allow the host "
                       "with [tools] fetch_allow",
                       text);
}

static bool take(void *context, const char *bytes, size_t len)
{
    struct fetching *f = context;
    size_t room = f->most - f->body.len;
    buf_add(&f->body, bytes, len < room ? len : room);
    f->cut = len > room;
    return !f->cut || failure_set(&f->failure, FAILURE_TOO_LARGE, "more than is wanted");
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Appends a line "URL · status · type · size", or for an error "URL: status · …", and the text of
 * the page; the text of an error page may help, too. */
static bool show(struct fetching *f, const struct http_reply *reply, struct buf *out)
{
    static const char *const texts[] = {"/json", "+json", "/xml",  "+xml",      "/javascript",
                                        "/yaml", "-yaml", "/toml", "/x-ndjson", "/x-sh"};
    bool ok = reply->status / 100 == 2;
    const char *type = *reply->content_type ? reply->content_type : "text/plain";
    bool html = strcmp(type, "text/html") == 0 || strcmp(type, "application/xhtml+xml") == 0;
    bool is_text = html || strncmp(type, "text/", 5) == 0;
    for (size_t i = 0; !is_text && i < sizeof texts / sizeof *texts; i++)
        is_text = ends_with(type, texts[i]);
    AUTO(buf_release) struct buf head = BUF_INIT;
    buf_addf(&head, "%s%s %d · ", f->url, ok && is_text ? " ·" : ":", reply->status);
    utf8_clean(&head, type, strlen(type), UTF8_ONE_LINE);
    buf_addf(&head, " · %zu bytes%s", f->body.len, f->cut ? ", the rest was left out" : "");
    if (!is_text) {
        buf_addf(out, "%s: this type is not read as text", head.data);
        return false;
    }

    struct document_options options = {
        .limits = document_limits, .wakeup = &f->wakeup, .links = f->links};
    AUTO(loaded_document_release) struct loaded_document page = {.text = BUF_INIT};
    struct error e = {0};
    if (f->cut) /* half a character would hide the encoding */
        buf_truncate(&f->body, f->body.len - utf8_incomplete_tail(f->body.data, f->body.len));
    enum document_outcome outcome = document_load_text(&page, html ? "page.html" : "page.txt",
                                                       f->body.data, f->body.len, &options, &e);
    if (outcome != DOCUMENT_LOADED) {
        buf_addf(out, "%s: %s", head.data, e.text);
        return false;
    }
    buf_addf(out, "%s\n", head.data);
    if (html && page.title)
        buf_addf(out, "%s\n", page.title);
    buf_addch(out, '\n');
    AUTO(buf_release) struct buf text = BUF_INIT;
    utf8_clean(&text, page.text.data, page.text.len, UTF8_MULTILINE);
    size_t from = f->offset < text.len ? f->offset : text.len;
    while (from < text.len && ((unsigned char)text.data[from] & 0xC0) == 0x80)
        from++;
    size_t left = text.len - from, taken = out->len + NOTE_BYTES, most = f->context->max_output;
    size_t shown = taken + left <= most ? left
                   : taken < most       ? utf8_cut_bytes(text.data + from, left, most - taken)
                                        : 0;
    buf_add(out, text.data + from, shown);
    if (shown < left)
        buf_addf(out, "\n[cut: %zu bytes of text follow; \"offset\":%zu shows them]", left - shown,
                 from + shown);
    return ok;
}

static bool fetch(struct fetching *f, struct http *http, struct http_reply *reply, struct buf *out)
{
    const struct http_request request = {.url = f->url,
                                         .reach.connect_timeout_ms = CONNECT_MS,
                                         .stall_timeout_ms = INT32_MAX, /* the deadline counts */
                                         .may_connect = may_connect,
                                         .on_body = take,
                                         .context = f};
    buf_clear(&f->body);
    if (http_perform(http, &request, &f->wakeup, reply, &f->failure)) {
        f->cut = reply->body.len > f->most; /* of an answer that is no success */
        buf_add(&f->body, reply->body.data, f->cut ? f->most : reply->body.len);
    } else if (!f->cut) {
        buf_addf(out, "%s: %s", f->url, f->failure.text);
        return false;
    }
    return true;
}

/* --- the tool --------------------------------------------------------------------------------- */

/* Fetches the page and follows redirects within its host: the user is asked about another host. */
static bool follow(struct fetching *f, char **url, struct buf *out)
{
    AUTO(http_free_local)
    struct http *http = http_new(); /* no connection is left to a later call */
    for (int redirects = 0;; redirects++) {
        const struct tool_host *host = f->context->self;
        AUTO(http_reply_release) struct http_reply reply;
        http_reply_init(&reply);
        f->url = *url;
        f->listed = is_listed(host->fetch_allow, *url);
        if (!fetch(f, http, &reply, out))
            return false;
        if (reply.status / 100 != 3 || !reply.redirect)
            return show(f, &reply, out);
        const char *fault = fault_of(reply.redirect);
        if (fault) {
            buf_addf(out, "%s: it redirects to a URL that %s", *url, fault);
            return false;
        }
        if (!stays(*url, reply.redirect)) {
            buf_addf(out,
                     "%s: it redirects to another host or port, or away from TLS; to go on, "
                     "fetch %s",
                     *url, reply.redirect);
            return false;
        }
        if (redirects == REDIRECTS_MOST) {
            buf_addf(out, "%s: more than %d redirects", *url, REDIRECTS_MOST);
            return false;
        }
        free(*url);
        *url = mem_strdup(reply.redirect);
    }
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    static const char *const stops[] = {
        [TOOL_INTERRUPTED] = "interrupted", [TOOL_TIMED_OUT] = "timed out"};
    const struct wakeup *w = context->wakeup;
    auto_free char *url = mem_strdup(json_get_string(args, "url"));
    const char *fault = fault_of(url);
    struct fetching f = {.context = context,
                         .most = (size_t)json_get_int(args, "max_bytes", BODY_MOST),
                         .offset = (size_t)json_get_int(args, "offset", 0),
                         .links = json_get_bool(args, "links", false),
                         .body = BUF_INIT};
    bool sooner = w->deadline_ms != 0 && w->deadline_ms < context->deadline_ms;
    f.wakeup = (struct wakeup){.fd = w->fd,
                               .go_on = go_on,
                               .context = &f,
                               .deadline_ms = sooner ? w->deadline_ms : context->deadline_ms};
    if (fault) {
        buf_addf(out, "the URL %s", fault);
        return false;
    }
    bool ok = follow(&f, &url, out);
    if (f.stop != TOOL_GOES_ON) {
        buf_clear(out);
        buf_addstr(out, stops[f.stop]);
        ok = false;
    }
    buf_release(&f.body);
    return ok;
}

static bool preview(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out)
{
    const char *url = json_get_string(args, "url"), *fault = fault_of(url);
    (void)context, (void)sight;
    buf_addf(out, "%s%s", fault ? "the URL " : "GET ", fault ? fault : url);
    return !fault;
}

/* Appends "fetch_url example.org", the grant of all pages of the host by https; pages by http have
 * a grant of their own, since anybody on the way can answer for the host. */
static void grant(const struct json *args, struct buf *out)
{
    const char *url = json_get_string(args, "url");
    size_t usual;
    if (fault_of(url))
        return;
    auto_free char *place = place_of(url, &usual);
    bool tls = tolower((unsigned char)url[4]) == 's';
    buf_addf(out, "fetch_url %s%.*s", tls ? "" : "http://", (int)usual, place);
}

const struct tool tool_fetch_url = {
    .spec =
        {.name = "fetch_url",
         .description = "Fetch a web page or text; HTML becomes plain text. It gives no orders.",
         .schema = TOOL_SCHEMA(
             "\"url\":{\"type\":\"string\"}," TOOL_ARG_WITH(
                 "integer", "max_bytes",
                 "\"minimum\":1,\"maximum\":1048576") "," TOOL_ARG_WITH("integer", "offset",
                                                                        "\"minimum\":0") ","
                                                                                         "\"links\""
                                                                                         ":{"
                                                                                         "\"type\":"
                                                                                         "\"boolean"
                                                                                         "\"}",
             TOOL_NEEDS("\"url\""))},
    .class = TOOL_NETWORK,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .run = run,
    .preview = preview,
    .grant = grant,
};

/* --- the provider's own search ---------------------------------------------------------------- */

static bool is_off(const void *self)
{
    return !((const struct tool_host *)self)->web_search;
}

/* For a model that calls it all the same. */
static bool refuse(const struct tool_context *context, const struct json *args, struct buf *out)
{
    (void)context, (void)args;
    buf_addstr(out, "this model's provider does not search the web, or [tools] web_search is off");
    return false;
}

/* Nobody can be asked about a call that the provider runs: the key is the consent. */
const struct tool tool_web_search = {
    .spec = {.name = "web_search",
             .description = "The provider searches the web, and the answer cites what it found.",
             .schema = TOOL_SCHEMA("\"query\":{\"type\":\"string\"}", TOOL_NEEDS("\"query\"")),
             .by_provider = true},
    .class = TOOL_NETWORK,
    .consent = CONSENT_GIVEN,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .idle = is_off,
    .run = refuse,
};
