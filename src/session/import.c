#include "session/import.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_tally.h"
#include "session/capability.h"
#include "session/import_private.h"
#include "store/event_log.h"
#include "store/removals.h"

struct place place_of(const char *format, ...)
{
    struct place p;
    va_list args;
    va_start(args, format);
    vsnprintf(p.text, sizeof p.text, format, args);
    va_end(args);
    return p;
}

bool import_fault(const struct place *p, struct error *e, const char *format, ...)
{
    struct buf reason = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&reason, format, args);
    va_end(args);
    err_set(e, ERR_FILE_ERROR, "%s: %s; nothing was imported", p->text, reason.data);
    buf_release(&reason);
    return false;
}

/* --- what a text is --------------------------------------------------------------------------- */

static size_t line_at(const char *text, const char *at)
{
    size_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static size_t blanks(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && text[i] && strchr(" \t\r\n", text[i]))
        i++;
    return i;
}

static bool check_text(const char *text, size_t len, struct error *e)
{
    const struct place whole = place_of("the text");
    if (len > IMPORT_MAX_BYTES)
        return import_fault(&whole, e, "longer than %zu bytes", IMPORT_MAX_BYTES);
    const char *nul = json_find_nul(text, len);
    if (nul) {
        struct place p = place_of("line %zu", line_at(text, nul));
        return import_fault(&p, e, "a NUL character");
    }
    if (!utf8_valid(text, len))
        return import_fault(&whole, e, "not UTF-8");
    return blanks(text, len) < len || import_fault(&whole, e, "there is nothing in it");
}

/* Whether the first line is a JSON object by itself that says what it is. */
static bool is_lines(const char *text, size_t len)
{
    size_t begin = blanks(text, len);
    const char *newline = memchr(text + begin, '\n', len - begin);
    size_t end = newline ? (size_t)(newline - text) : len;
    struct json *line = json_parse(text + begin, end - begin, NULL);
    bool ok = json_get_string(line, "type") != NULL;
    json_free(line);
    return ok;
}

static bool read_tree(const struct json *root, struct imported *out, struct error *e)
{
    struct place whole = place_of("the text");
    if (json_get(root, "tiro"))
        return import_json(root, out, e);
    if (json_type(root) == JSON_ARRAY || json_get(root, "messages"))
        return import_openai(root, out, e);
    return import_fault(&whole, e, "neither a session that tiro exported nor a list of messages");
}

static bool read_text(const char *text, size_t len, struct imported *out, struct error *e)
{
    struct place whole = place_of("the text");
    struct error cause = {0};
    if (is_lines(text, len))
        return import_lines(text, len, out, e);
    struct json *root = json_parse(text, len, &cause);
    if (!root)
        return import_fault(&whole, e, "%s", cause.text);
    bool ok = read_tree(root, out, e);
    json_free(root);
    return ok;
}

/* --- what becomes of it ----------------------------------------------------------------------- */

/* As it would have been named here: after its first message with a text. */
static char *natural_title(const struct imported *im)
{
    struct session_info unnamed = {0};
    for (size_t i = 0; i < im->events.len; i++)
        if (im->events.items[i]->type == EVENT_RUN_STARTED)
            session_tally_name(&unnamed, im->events.items[i]->text);
    return unnamed.title ? unnamed.title : mem_strdup("");
}

static void name_session(struct imported *im, const char *title)
{
    struct session_info *info = &im->info;
    char *natural = natural_title(im);
    if (!*info->title && title) {
        free(info->title);
        info->title = session_title_from(title);
    }
    info->title_set = *info->title && strcmp(info->title, natural) != 0;
    if (*info->title) {
        free(natural);
        return;
    }
    free(info->title);
    info->title = natural;
}

/* Costs are sums of rounded figures in a text; the last digits of their sum may differ. */
static bool nearly_same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Everything that a listing counts is counted anew: a text may say anything. */
static void count(struct imported *im)
{
    struct session_info *info = &im->info;
    char *draft = info->draft;
    info->draft = NULL;
    session_tally_reset(info);
    for (size_t i = 0; i < im->events.len; i++)
        session_tally(info, im->events.items[i]);
    free(info->draft);
    info->draft = draft;
    if (nearly_same(info->cost, im->cost))
        info->cost = im->cost;
}

static void set_times(struct imported *im)
{
    struct session_info *info = &im->info;
    int64_t first = im->events.len > 0 ? im->events.items[0]->wall_ms : clock_wall_ms();
    if (info->created_ms == 0)
        info->created_ms = first;
    if (im->updated_ms > 0)
        info->updated_ms = im->updated_ms;
    else if (info->updated_ms == 0)
        info->updated_ms = first;
}

static void complete(struct imported *im, const char *title, const char *directory)
{
    name_session(im, title);
    count(im);
    set_times(im);
    if (!im->info.directory)
        im->info.directory = mem_strdup(directory);
}

/* Neither a session's nor that of one whose files are still to be removed; "" is not free. */
static bool is_free(struct catalog *c, const char *id, bool *out, struct error *e)
{
    struct session_info there = {0};
    struct error cause = {0};
    bool noted = false;
    *out = false;
    if (!*id)
        return true;
    bool found = sessions_get(c->store, id, &there, &cause);
    session_info_release(&there);
    if (!found && cause.code != ERR_SESSION_NOT_FOUND)
        return err_set(e, cause.code, "%s", cause.text);
    if (!removals_has(c->store, id, &noted, e))
        return false;
    *out = !found && !noted;
    return true;
}

static bool choose_id(struct catalog *c, struct imported *im, struct error *e)
{
    bool keeps;
    if (!is_free(c, im->info.id, &keeps, e))
        return false;
    if (keeps)
        return true;
    uuid_new(im->info.id);
    for (size_t i = 0; i < im->events.len; i++)
        memcpy(im->events.items[i]->session_id, im->info.id, sizeof im->info.id);
    return true;
}

static bool write_session(struct catalog *c, struct imported *im, struct error *e)
{
    if (!store_begin(c->store, e))
        return false;
    if (choose_id(c, im, e) && sessions_put(c->store, &im->info, e) &&
        event_log_fill(c->store, im->events.items, im->events.len, e) && store_commit(c->store, e))
        return true;
    store_rollback(c->store);
    return false;
}

static bool has_content(const struct imported *im, struct error *e)
{
    struct place whole = place_of("the text");
    return im->events.len > 0 || (im->info.draft && *im->info.draft) ||
           import_fault(&whole, e, "there is no message in it");
}

static void imported_release(struct imported *im)
{
    session_info_release(&im->info);
    for (size_t i = 0; i < im->events.len; i++)
        event_free(im->events.items[i]);
    vec_release(&im->events);
}

/* Some editors put it at the beginning. */
static size_t byte_order_mark(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static bool read_all(const char *text, size_t len, struct imported *out, struct error *e)
{
    size_t mark = byte_order_mark(text, len);
    text += mark;
    len -= mark;
    return check_text(text, len, e) && read_text(text, len, out, e) && has_content(out, e);
}

bool import_session(struct catalog *c, const char *text, size_t len, const char *title,
                    const char *directory, struct session_info *out, struct error *e)
{
    struct imported im = {.cost = -1};
    *out = (struct session_info){0};
    if (!c->store)
        return capability_need_store(false, e);
    session_info_init(&im.info);
    bool ok = read_all(text, len, &im, e);
    if (ok) {
        complete(&im, title, directory);
        ok = write_session(c, &im, e);
    }
    if (ok)
        *out = session_info_clone(&im.info);
    imported_release(&im);
    return ok;
}
