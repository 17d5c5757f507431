#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "base/utf8.h"
#include "ui/term/glyph.h"
#include "ui/text/format.h"
#include "ui/text/markdown_code.h"
#include "ui/text/wrap.h"
#include "ui/transcript/item_layout.h"
#include "ui/transcript/message_row.h"
#include "ui/transcript/recalled.h"

enum {
    ARGUMENT_MAX = 400, /* bytes of the argument in the one line */
    LEAST_ARGUMENT = 6, /* columns */
    ROWS_MAX = 200      /* of an open result; a row says how many lines more there are */
};

static enum glyph symbol_of(const char *name)
{
    static const struct {
        const char *part; /* of the tool's name */
        enum glyph symbol;
    } symbols[] = {
        {"search", GLYPH_TOOL_SEARCH}, {"find", GLYPH_TOOL_SEARCH}, {"grep", GLYPH_TOOL_SEARCH},
        {"read", GLYPH_TOOL_READ},     {"list", GLYPH_TOOL_READ},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strstr(name, symbols[i].part))
            return symbols[i].symbol;
    return GLYPH_TOOL;
}

/* Calls that read as a sentence: a verb, and each item of a list by a pattern of its members. */
static const struct sentence {
    const char *tool, *verb, *list, *pattern;
} sentences[] = {
    {"memory_create_entities", N_("noted"), "entities", "{name} ({entity_type})"},
    {"memory_add_observations", N_("noted"), "observations", "{entity_name}: {contents}"},
    {"memory_create_relations", N_("noted"), "relations", "{from} {relation_type} {to}"},
    {"memory_open_nodes", N_("looked up"), "names", "{}"},
    {"memory_delete_entities", N_("removed"), "entity_names", "{}"},
    {"memory_delete_observations", N_("removed"), "deletions", "{entity_name}: {observations}"},
    {"memory_delete_relations", N_("removed"), "relations", "{from} {relation_type} {to}"},
};

static const struct sentence *sentence_of(const char *tool)
{
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (strcmp(sentences[i].tool, tool) == 0)
            return &sentences[i];
    return NULL;
}

/* A text, or the texts of a list with "; " between them. */
static void add_member(struct buf *out, const struct json *value)
{
    if (json_string(value))
        buf_addstr(out, json_string(value));
    for (const struct json *v = json_first(value); v && out->len < ARGUMENT_MAX; v = json_next(v)) {
        if (v != json_first(value))
            buf_addstr(out, "; ");
        add_member(out, v);
    }
}

/* Ada (person), Acme (company). False if the arguments do not fit the sentence. */
static bool add_items(struct buf *out, const struct sentence *s, const struct json *args)
{
    const struct json *items = json_get(args, s->list), *first = json_first(items);
    for (const struct json *v = first; v && out->len < ARGUMENT_MAX; v = json_next(v)) {
        if (v != first)
            buf_addstr(out, ", ");
        for (const char *p = s->pattern; *p;) {
            char name[32];
            size_t plain = strcspn(p, "{"), len = strcspn(p + plain, "}");
            buf_add(out, p, plain);
            p += plain;
            if (!*p)
                break;
            snprintf(name, sizeof name, "%.*s", (int)len - 1, p + 1);
            add_member(out, *name ? json_get(v, name) : v);
            p += len + 1;
        }
    }
    return json_type(items) == JSON_ARRAY && first;
}

/* What tells most about the call: what it looks for, its first text argument, else all of them. */
static void main_argument(struct buf *out, const struct buf *args, const struct sentence *sentence)
{
    struct json *all = json_parse(args->data, args->len, NULL);
    struct buf items = BUF_INIT;
    const char *text =
        sentence && add_items(&items, sentence, all) ? items.data : json_get_string(all, "query");
    for (const struct json *v = json_first(all); v && !text; v = json_next(v))
        text = json_string(v);
    if (!text && all && json_len(all) == 0)
        text = "";
    if (!text)
        text = args->data;
    utf8_clean(out, text, utf8_cut_bytes(text, strlen(text), ARGUMENT_MAX), UTF8_ONE_LINE);
    buf_release(&items);
    json_free(all);
}

static void add_argument(struct rows *out, const struct item *call, size_t columns)
{
    struct buf text = BUF_INIT;
    const struct sentence *sentence = sentence_of(call->name);
    main_argument(&text, &call->text, sentence);
    if (sentence && columns >= LEAST_ARGUMENT) {
        rows_addstr(out, " ", STYLE_TOOL, 0);
        (void)rows_add_cut(out, text.data, columns - 1, STYLE_TEXT);
    } else if (text.len > 0 && columns >= LEAST_ARGUMENT) {
        rows_addstr(out, " ", STYLE_TOOL, 0);
        rows_addstr(out, glyph(GLYPH_QUOTE_OPEN), STYLE_DIM, 0);
        (void)rows_add_cut(out, text.data, columns - 3, STYLE_DIM);
        rows_addstr(out, glyph(GLYPH_QUOTE_CLOSE), STYLE_DIM, 0);
    }
    buf_release(&text);
}

/* That a search in corpora gave; false: it was none, or too much to be kept. */
static bool count_passages(const struct item *call, size_t *count)
{
    struct json *result = item_gave_passages(call)
                              ? json_parse_foreign(call->result.data, call->result.len, NULL)
                              : NULL;
    bool listed = json_type(result) == JSON_ARRAY;
    const struct json *none = json_get(result, "results");
    *count = listed ? json_len(result) : 0;
    bool known = listed || json_type(none) == JSON_ARRAY;
    json_free(result);
    return known;
}

/* Of memory and corpora the hits count, not the lines of their JSON. */
static void write_size(const struct item *call, struct buf *out)
{
    size_t hits = call->recalled ? call->recalled->hits.items.len : 0, passages;
    if (call->recalled)
        buf_addf(out, ngettext("%zu match", "%zu matches", hits), hits);
    else if (count_passages(call, &passages))
        buf_addf(out, ngettext("%zu passage", "%zu passages", passages), passages);
    else
        buf_addf(out, ngettext("%zu line", "%zu lines", call->result_lines), call->result_lines);
}

/* How it went; returns the looks of that. */
static enum style add_outcome(const struct item *call, struct buf *out)
{
    if (call->failed) {
        const char *reason = call->result.data;
        buf_addf(out, " %s ", glyph(GLYPH_FAILED));
        utf8_clean(out, reason, strcspn(reason, "\n"), UTF8_ONE_LINE);
        return STYLE_ERROR;
    }
    if (call->answered) {
        if (!sentence_of(call->name)) {
            buf_addf(out, " %s ", glyph(GLYPH_ARROW));
            write_size(call, out);
        }
        buf_addf(out, " %s ", glyph(GLYPH_DOT));
        format_duration(out, call->ms);
        return STYLE_TOOL;
    }
    if (call->given_up) {
        buf_addf(out, " %s %s", glyph(GLYPH_FAILED), _("no result"));
        return STYLE_DIM;
    }
    buf_addf(out, " %s", glyph(GLYPH_ELLIPSIS));
    return STYLE_TOOL;
}

static size_t room_in(const struct rows *out, size_t width)
{
    size_t used = rows_width(out, out->list.len - 1);
    return used < width ? width - used : 0;
}

/* Symbol and name, what it was asked, how it went: the middle gives way first, and a long error to
 * half of the line. */
static void line(struct rows *out, const struct item *call, size_t width)
{
    struct buf name = BUF_INIT, end = BUF_INIT;
    const struct sentence *sentence = sentence_of(call->name);
    buf_addf(&name, "  %s %s", glyph(symbol_of(call->name)),
             sentence ? _(sentence->verb) : call->name);
    enum style style = add_outcome(call, &end);
    rows_begin(out);
    (void)rows_add_cut(out, name.data, width, STYLE_TOOL);
    size_t room = room_in(out, width), needed = utf8_width(end.data, end.len);
    if (needed > room / 2 && call->failed)
        needed = room / 2;
    add_argument(out, call, room > needed ? room - needed : 0);
    (void)rows_add_cut(out, end.data, room_in(out, width), style);
    buf_release(&name);
    buf_release(&end);
}

static void more_lines(struct rows *out, size_t count, size_t width)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "    %s ", glyph(GLYPH_ELLIPSIS));
    buf_addf(&text, ngettext("%zu more line", "%zu more lines", count), count);
    rows_begin(out);
    (void)rows_add_cut(out, text.data, width, STYLE_DIM);
    buf_release(&text);
}

/* At most ROWS_MAX rows of a text, of which `lines` lines exist. */
static void add_block(struct rows *out, const char *text, size_t lines, size_t width,
                      const struct language *language)
{
    struct highlight h = {.language = language};
    struct styled prefix;
    size_t first = out->list.len, shown = 0;
    styled_init(&prefix);
    styled_addstr(&prefix, "  ", STYLE_CODE, 0);
    while (*text && out->list.len - first < ROWS_MAX) {
        size_t len = strcspn(text, "\n");
        markdown_code_line(out, &h, text, utf8_cut_bytes(text, len, ROWS_MAX * width), width,
                           &prefix);
        text += len + (text[len] == '\n');
        shown++;
    }
    if (lines > shown)
        more_lines(out, lines - shown, width);
    styled_release(&prefix);
}

static size_t lines_in(const char *text)
{
    size_t lines = *text != '\0';
    for (; *text; text++)
        lines += *text == '\n' && text[1];
    return lines;
}

static void add_arguments(struct rows *out, const struct item *call, size_t width)
{
    struct json *all = json_parse(call->text.data, call->text.len, NULL);
    char *pretty = all && json_len(all) ? json_print_pretty(all) : NULL;
    struct buf clean = BUF_INIT;
    const char *text = pretty ? pretty : all ? "" : call->text.data;
    utf8_clean(&clean, text, strlen(text), UTF8_MULTILINE);
    add_block(out, clean.data, lines_in(clean.data), width, language_find("json", 4));
    buf_release(&clean);
    free(pretty);
    json_free(all);
}

/* What memory gave, as a person reads it. */
static void add_hits(struct rows *out, const struct item *call, size_t width)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < call->recalled->hits.items.len; i++) {
        const struct memory_hit *h = &call->recalled->hits.items.items[i];
        buf_addf(&text, "%.2f ", h->score);
        buf_addstr(&text, message_row_speaker(&h->entry));
        if (h->entry.turn > 0) {
            buf_addf(&text, " %s ", glyph(GLYPH_DOT));
            buf_addf(&text, _("turn %lld"), (long long)h->entry.turn);
        }
        buf_addf(&text, "\n%s\n", h->entry.content);
    }
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, text.data, text.len, UTF8_MULTILINE);
    add_block(out, clean.data, lines_in(clean.data), width, NULL);
    buf_release(&clean);
    buf_release(&text);
}

void tool_rows(struct rows *out, const struct item *call, int width, bool open)
{
    size_t columns = (size_t)width;
    line(out, call, columns);
    if (!open)
        return;
    add_arguments(out, call, columns);
    if (!call->answered || call->result.len == 0)
        return;
    rows_begin(out);
    (void)rows_add_cut(out, "    ", columns, STYLE_TOOL);
    (void)rows_add_cut(out, glyph(call->failed ? GLYPH_FAILED : GLYPH_ARROW), room_in(out, columns),
                       call->failed ? STYLE_ERROR : STYLE_TOOL);
    if (call->recalled && !call->failed)
        add_hits(out, call, columns);
    else
        add_block(out, call->result.data, call->result_lines, columns, NULL);
}
