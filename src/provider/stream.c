#include "provider/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Bytes that are passed on at once, and that are taken before the wakeup is asked again. */
#define MOST_AT_ONCE ((size_t)64 * 1024)

void stream_init(struct stream *s, const char *provider, const struct mask *mask,
                 const struct provider_call *call, const struct request *request,
                 struct response *response, struct failure *f)
{
    *s = (struct stream){.provider = provider,
                         .mask = mask,
                         .call = call,
                         .request = request,
                         .response = response,
                         .failure = f};
    buf_init(&s->pending, 0);
}

static void part_release(struct stream_part *part)
{
    free(part->id);
    free(part->name);
    buf_release(&part->text);
    buf_release(&part->signature);
}

void stream_release(struct stream *s)
{
    for (size_t i = 0; i < s->parts.len; i++)
        part_release(&s->parts.items[i]);
    vec_release(&s->parts);
    part_release(&s->refused);
    buf_release(&s->pending);
}

/* Masks the part's text as far as it is known, and passes that on. */
static void settle(struct stream *s, struct stream_part *part, bool ended)
{
    size_t before = part->settled;
    mask_settle(s->mask, &part->text, &part->settled, ended);
    if (part->type == BLOCK_TOOL_CALL || part->settled == before)
        return;
    if (s->pending_type != part->type || s->pending.len >= MOST_AT_ONCE)
        stream_flush(s);
    s->pending_type = part->type;
    buf_add(&s->pending, part->text.data + before, part->settled - before);
}

struct stream_part *stream_open(struct stream *s, enum block_type type, int64_t key)
{
    bool call = type == BLOCK_TOOL_CALL;
    if (call && s->calls >= PROVIDER_MAX_CALLS) {
        part_release(&s->refused);
        s->refused = (struct stream_part){.type = type, .key = key};
        s->refusing = s->response->calls_refused = true;
        return &s->refused;
    }
    if (s->parts.len >= STREAM_MAX_PARTS) {
        failure_set(s->failure, FAILURE_TOO_LARGE, "%s: the answer has more than %d parts",
                    s->provider, STREAM_MAX_PARTS);
        return NULL;
    }
    if (s->parts.len > 0 && vec_last(&s->parts).type != BLOCK_TOOL_CALL)
        settle(s, &vec_last(&s->parts), true); /* before what the new part passes on */
    struct stream_part part = {.type = type, .key = key};
    buf_init(&part.text, 0);
    buf_init(&part.signature, 0);
    vec_push(&s->parts, part);
    s->refusing = false;
    s->calls += call;
    if (call)
        s->failure->content_seen = true;
    return &vec_last(&s->parts);
}

struct stream_part *stream_last(struct stream *s)
{
    if (s->refusing)
        return &s->refused;
    return s->parts.len > 0 ? &vec_last(&s->parts) : NULL;
}

struct stream_part *stream_find(struct stream *s, int64_t key)
{
    if (s->response->calls_refused && s->refused.key == key)
        return &s->refused;
    for (size_t i = s->parts.len; i > 0; i--)
        if (s->parts.items[i - 1].key == key)
            return &s->parts.items[i - 1];
    return NULL;
}

static void add_valid(struct buf *out, const char *text, size_t len)
{
    if (utf8_valid(text, len)) {
        buf_add(out, text, len);
        return;
    }
    for (size_t at = 0; at < len;) {
        uint32_t cp = 0;
        char bytes[4];
        at += utf8_decode(text + at, len - at, &cp);
        buf_add(out, bytes, utf8_encode(cp, bytes));
    }
}

/* As much of a text as there is room for; that much of it counts from here on. */
static size_t make_room(struct stream *s, const char *text, size_t len)
{
    size_t room = STREAM_MAX_BYTES - s->total;
    if (len > room)
        len = room - utf8_incomplete_tail(text, room);
    s->total += len;
    return len;
}

bool stream_goes_on(struct stream *s)
{
    const struct wakeup *w = s->call->wakeup;
    return !w || wakeup_sleep(w, 0) ||
           failure_set(s->failure, FAILURE_CANCELLED, "%s: interrupted", s->provider);
}

static bool too_large(struct stream *s)
{
    return failure_set(s->failure, FAILURE_TOO_LARGE,
                       "%s: the answer has more than %zu MiB and was cut there", s->provider,
                       STREAM_MAX_BYTES >> 20);
}

bool stream_add(struct stream *s, struct stream_part *part, const char *text)
{
    size_t len = text ? strlen(text) : 0, left = make_room(s, text, len);
    bool fits = left == len;
    for (size_t piece; left > 0; text += piece, left -= piece) {
        piece = left;
        if (left > MOST_AT_ONCE)
            piece = MOST_AT_ONCE - utf8_incomplete_tail(text, MOST_AT_ONCE);
        if (part != &s->refused) {
            add_valid(&part->text, text, piece);
            if (part->type == BLOCK_TEXT)
                s->failure->content_seen = true;
            settle(s, part, false);
        }
        if (piece < left && !stream_goes_on(s))
            return false;
    }
    return fits || too_large(s);
}

bool stream_text(struct stream *s, enum block_type type, const char *text)
{
    if (!text || !*text)
        return true;
    struct stream_part *last = stream_last(s);
    struct stream_part *part = last && last->type == type ? last : stream_open(s, type, -1);
    return part && stream_add(s, part, text);
}

bool stream_arguments(struct stream *s, struct stream_part *part, const struct json *arguments)
{
    if (json_type(arguments) != JSON_OBJECT)
        return stream_add(s, part, json_string(arguments));
    auto_free char *text = json_print(arguments);
    return stream_add(s, part, text);
}

bool stream_sign(struct stream *s, struct stream_part *part, const char *signature)
{
    size_t len = signature == NULL ? 0 : strlen(signature);
    if (make_room(s, signature, len) < len)
        return too_large(s);
    buf_add(&part->signature, signature, len);
    return true;
}

/* --- sources ---------------------------------------------------------------------------------- */

enum { MOST_SOURCES = 200, URL_BYTES = 2000, TITLE_BYTES = 150 };

void sources_release(struct sources *s)
{
    for (size_t i = 0; i < s->len; i++) {
        free(s->items[i].url);
        free(s->items[i].title);
    }
    vec_release(s);
}

size_t sources_number(struct sources *all, const char *url, const char *title)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "-._~:/?#@!$&*+,;=%";
    static const char marks[] = "\\`*_[]<>&~|#";
    AUTO(buf_release) struct buf address = BUF_INIT;
    AUTO(buf_release) struct buf clean = BUF_INIT;
    struct buf name = BUF_INIT;
    bool web = url && (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0);
    if (!web || strlen(url) > URL_BYTES)
        return 0;
    for (const char *p = url; *p; p++)
        buf_addf(&address, strchr(plain, *p) ? "%c" : "%%%02X", (unsigned char)*p);
    for (size_t i = 0; i < all->len; i++)
        if (strcmp(all->items[i].url, address.data) == 0)
            return i + 1;
    if (all->len == MOST_SOURCES)
        return 0;
    title = title ? title : "";
    utf8_clean(&clean, title, utf8_cut_bytes(title, strlen(title), TITLE_BYTES), UTF8_ONE_LINE);
    if (utf8_is_blank(clean.data))
        buf_addstr(&clean, address.data);
    for (const char *p = clean.data; *p; p++)
        buf_addf(&name, strchr(marks, *p) ? "\\%c" : "%c", *p);
    vec_push(all, ((struct source){.url = buf_take(&address), .title = buf_take(&name)}));
    return all->len;
}

bool stream_cite(struct stream *s, struct stream_part *part, const struct sources *all,
                 size_t number)
{
    auto_free char *mark = mem_printf("[[%zu]](%s)", number, all->items[number - 1].url);
    return stream_add(s, part, mark);
}

bool stream_list_sources(struct stream *s, struct sources *all)
{
    AUTO(buf_release) struct buf list = BUF_INIT;
    struct stream_part *part = stream_last(s);
    if (all->listed == all->len)
        return true;
    bool follows = part && part->type == BLOCK_TEXT;
    buf_addstr(&list, follows ? "\n\n---\n\n" : "");
    for (; all->listed < all->len; all->listed++) {
        const struct source *page = &all->items[all->listed];
        buf_addf(&list, "%zu. [%s](%s)\n", all->listed + 1, page->title, page->url);
    }
    if (!follows)
        part = stream_open(s, BLOCK_TEXT, -1);
    return part && stream_add(s, part, list.data);
}

void stream_set_once(char **field, const char *value)
{
    if (!*field && value && *value)
        *field = mem_strdup(value);
}

void stream_stop(struct stream *s, enum stop_reason reason)
{
    s->response->stop_reason = reason;
    s->stopped = true;
}

bool stream_flush(struct stream *s)
{
    if (s->pending.len > 0 && s->call->delta != NULL &&
        !s->call->delta(s->call->context, s->pending_type, s->pending.data, s->pending.len))
        s->unwanted = true;
    buf_clear(&s->pending);
    return !s->unwanted;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Ids for the tool calls of servers that give none: "call_1", "call_2", …, unique in a
 * conversation. They cost a sort of the ids that are taken. */
struct call_ids {
    VEC(uint64_t) taken; /* the numbers of ids of this form */
    size_t next;         /* of those, once they are sorted: the first that is not passed */
    uint64_t given;      /* the newest number that was given; 0 before the first */
};

static const char call_id_form[] = "call_";

enum { MOST_DIGITS = 18 }; /* a number that is given has fewer */

/* An id of another form cannot be equal to one that is given. */
static void call_ids_add(struct call_ids *ids, const char *id)
{
    if (!id || strncmp(id, call_id_form, sizeof call_id_form - 1) != 0)
        return;
    const char *digits = id + sizeof call_id_form - 1;
    size_t len = strspn(digits, "0123456789");
    if (len > 0 && len <= MOST_DIGITS && digits[len] == '\0' && digits[0] != '0')
        vec_push(&ids->taken, strtoull(digits, NULL, 10));
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The smallest that is neither taken nor given yet. The caller frees. */
static char *call_ids_next(struct call_ids *ids)
{
    if (ids->given == 0)
        vec_sort(&ids->taken, by_number);
    ids->given++;
    for (; ids->next < ids->taken.len && ids->taken.items[ids->next] <= ids->given; ids->next++)
        ids->given += ids->taken.items[ids->next] == ids->given;
    return mem_printf("%s%" PRIu64, call_id_form, ids->given);
}

static bool complete_calls(struct stream *s)
{
    struct call_ids ids = {.next = 0};
    bool ok = true;
    for (size_t i = 0; s->calls > 0 && i < s->request->message_count; i++) {
        struct message room;
        const struct message *m =
            message_whole(s->request->source, &s->request->messages[i], &room);
        for (size_t k = 0; k < m->blocks.len; k++)
            call_ids_add(&ids, m->blocks.items[k].id);
        message_release(&room);
    }
    for (size_t i = 0; i < s->parts.len; i++)
        call_ids_add(&ids, s->parts.items[i].id);
    /* The results of two calls with one id could not be told apart: the later call gets another. */
    for (size_t i = s->parts.len; i-- > 0;) {
        char **id = &s->parts.items[i].id;
        for (size_t k = 0; k < i + s->response->blocks.len && *id; k++) {
            const char *earlier =
                k < i ? s->parts.items[k].id : s->response->blocks.items[k - i].id;
            if (!earlier || strcmp(earlier, *id) != 0)
                continue;
            free(*id);
            *id = NULL;
        }
    }
    for (size_t i = 0; i < s->parts.len && ok; i++) {
        struct stream_part *part = &s->parts.items[i];
        if (part->type != BLOCK_TOOL_CALL)
            continue;
        ok = part->name ||
             failure_set(s->failure, FAILURE_PROTOCOL, "%s: a tool call has no name", s->provider);
        if (ok && !part->id)
            part->id = call_ids_next(&ids);
        if (part->text.len == 0)
            buf_addstr(&part->text, "{}");
        if (s->response->stop_reason == STOP_END_TURN)
            s->response->stop_reason = STOP_TOOL_USE;
    }
    vec_release(&ids.taken);
    return ok;
}

static void mask_string(const struct mask *mask, char **text)
{
    struct buf masked = BUF_INIT;
    if (!*text)
        return;
    add_valid(&masked, *text, strlen(*text));
    mask_settle(mask, &masked, &(size_t){0}, true);
    free(*text);
    *text = buf_take(&masked);
}

/* Masks what is left of the parts, and passes it on. */
static void settle_all(struct stream *s)
{
    for (size_t i = 0; i < s->parts.len; i++) {
        struct stream_part *part = &s->parts.items[i];
        settle(s, part, true);
        mask_settle(s->mask, &part->signature, &(size_t){0}, true);
        mask_string(s->mask, &part->id);
        mask_string(s->mask, &part->name);
    }
    stream_flush(s);
}

/* Moves the parts into the response, without calls and signed texts unless they are `whole`. */
static void move_parts(struct stream *s, bool whole)
{
    for (size_t i = 0; i < s->parts.len; i++) {
        struct stream_part *part = &s->parts.items[i];
        bool is_signed =
            part->signature.len > 0 && (part->type != BLOCK_TEXT || (whole && part->cited));
        bool empty = part->type == BLOCK_TOOL_CALL ? !whole
                     : part->type == BLOCK_TEXT    ? part->text.len == 0
                                                   : part->text.len + part->signature.len == 0;
        if (!empty) {
            struct block block = {.type = part->type,
                                  .redacted = part->redacted,
                                  .text = buf_take(&part->text),
                                  .signature = is_signed ? buf_take(&part->signature) : NULL,
                                  .id = part->id,
                                  .name = part->name};
            part->id = part->name = NULL;
            vec_push(&s->response->blocks, block);
        }
        part_release(part);
    }
    s->parts.len = 0;
}

bool stream_ran(struct stream *s, struct block call, struct block result)
{
    struct block blocks[] = {call, result};
    size_t len = strlen(call.text) + strlen(call.signature) + strlen(result.text);
    bool fits = len <= STREAM_MAX_BYTES - s->total && s->response->blocks.len < STREAM_MAX_PARTS;
    s->failure->content_seen = true;
    s->total += fits ? len : 0;
    if (s->calls == 0) {
        settle_all(s);
        move_parts(s, true);
    }
    for (size_t i = 0; i < 2; i++) {
        struct block *b = &blocks[i];
        char **const texts[] = {&b->text, &b->id, &b->name, &b->signature};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            mask_string(s->mask, texts[k]);
        if (fits)
            vec_push(&s->response->blocks, *b);
        else
            block_release(b);
    }
    if (s->call->blocks)
        s->call->blocks(s->call->context);
    return fits || too_large(s);
}

bool stream_finish(struct stream *s, bool whole)
{
    settle_all(s);
    mask_string(s->mask, &s->response->model);
    if (whole && !s->stopped)
        stream_stop(s, STOP_END_TURN);
    bool ok = whole && complete_calls(s);
    move_parts(s, ok);
    return ok;
}
