#include "chat/session_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/json_out.h"

#define TITLE_COLUMNS 60
#define TITLE_BYTES 1024 /* of a line are enough to find 60 columns in */

static char **string_field(struct session_info *s, size_t i)
{
    char **const strings[] = {&s->title,  &s->directory, &s->provider, &s->model,
                              &s->system, &s->draft,     &s->last_line};
    return i < sizeof strings / sizeof *strings ? strings[i] : NULL;
}

void session_info_init(struct session_info *s)
{
    *s = (struct session_info){.title = mem_strdup(""), .usage = USAGE_UNKNOWN};
}

void session_info_release(struct session_info *s)
{
    char **string;
    for (size_t i = 0; (string = string_field(s, i)); i++)
        free(*string);
    *s = (struct session_info){0};
}

struct session_info session_info_clone(const struct session_info *s)
{
    struct session_info copy = *s;
    char **string;
    for (size_t i = 0; (string = string_field(&copy, i)); i++)
        *string = mem_strdup(*string);
    return copy;
}

void session_list_release(struct session_list *l)
{
    for (size_t i = 0; i < l->items.len; i++)
        session_info_release(&l->items.items[i]);
    vec_release(&l->items);
}

static const char white[] = " \t\r\n\v\f";

/* Cuts at the column limit, the sign of which takes one. */
static void fit(struct buf *line, bool cut_before)
{
    while (line->len > 0 && line->data[line->len - 1] == ' ')
        buf_splice(line, line->len - 1, 1, "", 0);
    if (!cut_before && utf8_width(line->data, line->len) <= TITLE_COLUMNS)
        return;
    size_t keep = utf8_cut_width(line->data, line->len, TITLE_COLUMNS - 1);
    while (keep > 0 && line->data[keep - 1] == ' ')
        keep--;
    buf_splice(line, keep, line->len - keep, "…", strlen("…"));
}

char *session_title_from(const char *text)
{
    struct buf line = BUF_INIT;
    text += strspn(text, white);
    size_t len = strcspn(text, "\r\n");
    size_t taken = utf8_cut_bytes(text, len, TITLE_BYTES);
    utf8_clean(&line, text, taken, UTF8_ONE_LINE);
    fit(&line, taken < len);
    return buf_take(&line);
}

static void write_time(struct json_out *o, const char *name, int64_t ms)
{
    char text[25];
    clock_format(ms, text);
    json_out_member(o, name, text);
}

struct json *session_info_to_json(const struct session_info *s)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_member(&o, "id", s->id);
    json_out_member(&o, "title", s->title);
    json_out_member(&o, "directory", s->directory);
    json_out_member(&o, "provider", s->provider);
    json_out_member(&o, "model", s->model);
    json_out_member(&o, "system", s->system);
    json_out_member(&o, "draft", s->draft);
    json_out_member(&o, "last_line", s->last_line);
    write_time(&o, "created", s->created_ms);
    write_time(&o, "updated", s->updated_ms);
    json_out_int(&o, "messages", s->messages);
    json_out_int(&o, "turns", s->turns);
    json_out_int(&o, "last_seq", s->last_seq);
    if (usage_known(&s->usage)) {
        json_out_name(&o, "usage");
        usage_write(&o, &s->usage);
    }
    json_out_close(&o, '}');
    return json_out_tree(&text);
}
