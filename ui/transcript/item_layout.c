#include "ui/transcript/item.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/text/markdown.h"
#include "ui/text/wrap.h"
#include "ui/transcript/compaction_card.h"
#include "ui/transcript/messages.h"

/* --- tool calls --- */

enum {
    ARGUMENT_MAX = 400, /* bytes of the argument in the one line */
    LEAST_ARGUMENT = 6, /* columns */
    LAST_LINES = 3,     /* of a command's output, below its row */
    END_NOTES = 4,      /* lines behind the end of a command at most */
    ROWS_MAX = 200,     /* of an open result; a row says how many lines more there are */
    HIT_BYTES = 4096    /* of the text of a hit */
};

static enum glyph symbol_of(const char *name)
{
    static const struct {
        const char *part; /* of the tool's name */
        enum glyph symbol;
    } symbols[] = {
        {"search", GLYPH_TOOL_SEARCH},   {"find", GLYPH_TOOL_SEARCH},
        {"grep", GLYPH_TOOL_SEARCH},     {"read", GLYPH_TOOL_READ},
        {"list", GLYPH_TOOL_READ},       {"edit_file", GLYPH_TOOL_EDIT},
        {"write_file", GLYPH_TOOL_EDIT}, {"fetch_url", GLYPH_TOOL_FETCH},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strstr(name, symbols[i].part))
            return symbols[i].symbol;
    return GLYPH_TOOL;
}

/* The path or URL of a call that is told by it alone, without the name of the tool; NULL: it is
 * not. */
static const char *path_of(const struct item *call, const struct json *args)
{
    if (symbol_of(call->name) == GLYPH_TOOL_FETCH)
        return json_get_string(args, "url");
    bool tells = symbol_of(call->name) == GLYPH_TOOL_EDIT || strcmp(call->name, "read_file") == 0;
    return tells ? json_get_string(args, "path") : NULL;
}

/* Calls that are shown as a sentence: a verb, and a pattern of members for each item of a list. */
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
    {"web_search", N_("searched the web:"), "query", "{}"},
};

static const struct sentence *sentence_of(const char *tool)
{
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (strcmp(sentences[i].tool, tool) == 0)
            return &sentences[i];
    return NULL;
}

/* Models may write entityType for entity_type; the tools take both. */
static const struct json *member_of(const struct json *object, const char *name)
{
    char other[32];
    size_t len = 0;
    for (const char *p = name; *p && len + 1 < sizeof other; p++)
        other[len++] = *p == '_' && p[1] >= 'a' && p[1] <= 'z' ? (char)(*++p - 'a' + 'A') : *p;
    other[len] = '\0';
    const struct json *value = json_get(object, name);
    return value ? value : json_get(object, other);
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

/* Adds the argument that tells most about the call: the items of a sentence, as "Ada (person), Acme
 * (company)", if the arguments fit it; a query, path or command; the first text; or all of them. */
static void add_argument(struct rows *out, const struct item *call, const struct json *all,
                         size_t columns)
{
    static const char *const names[] = {"query", "pattern", "path", "command"};
    AUTO(buf_release) struct buf items = BUF_INIT;
    AUTO(buf_release) struct buf shown = BUF_INIT;
    const struct sentence *sentence = sentence_of(call->name);
    const struct json *list = sentence ? member_of(all, sentence->list) : NULL;
    const struct json *first = json_first(list);
    for (const struct json *v = first; v && items.len < ARGUMENT_MAX; v = json_next(v)) {
        buf_addstr(&items, v != first ? ", " : "");
        for (const char *p = sentence->pattern; *p;) {
            char name[32];
            size_t plain = strcspn(p, "{"), len = strcspn(p + plain, "}");
            buf_add(&items, p, plain);
            p += plain;
            if (!*p)
                break;
            snprintf(name, sizeof name, "%.*s", (int)len - 1, p + 1);
            add_member(&items, *name ? member_of(v, name) : v);
            p += len + 1;
        }
    }
    const char *text = first && json_type(list) == JSON_ARRAY ? items.data : NULL;
    for (size_t i = 0; !text && i < sizeof names / sizeof *names; i++)
        text = json_get_string(all, names[i]);
    for (const struct json *v = json_first(all); v && !text; v = json_next(v))
        text = json_string(v);
    auto_free char *task =
        !text && json_get(all, "task") ? mem_printf("%d", (int)json_get_int(all, "task", 0)) : NULL;
    if (!text && task)
        text = task;
    if (!text)
        text = all && json_len(all) == 0 ? "" : call->text.data;
    if (symbol_of(call->name) == GLYPH_TOOL_FETCH && strncmp(text, "https://", 8) == 0)
        text += 8;
    utf8_clean(&shown, text, utf8_cut_bytes(text, strlen(text), ARGUMENT_MAX), UTF8_ONE_LINE);
    if (columns < LEAST_ARGUMENT || (!sentence && shown.len == 0))
        return;
    rows_addstr(out, " ", STYLE_TOOL, 0);
    if (sentence || path_of(call, all)) {
        (void)rows_add_cut(out, shown.data, columns - 1, STYLE_TEXT);
    } else {
        rows_addstr(out, glyph(GLYPH_QUOTE_OPEN), STYLE_DIM, 0);
        (void)rows_add_cut(out, shown.data, columns - 3, STYLE_DIM);
        rows_addstr(out, glyph(GLYPH_QUOTE_CLOSE), STYLE_DIM, 0);
    }
}

/* The number of values in the lists of a value. */
static size_t count_listed(const struct json *v)
{
    size_t count = json_type(v) == JSON_ARRAY ? json_len(v) : 0;
    for (const struct json *m = json_type(v) == JSON_OBJECT ? json_first(v) : NULL; m;
         m = json_next(m))
        count += count_listed(m);
    return count;
}

/* Counts the matches of search_files, lines "PATH:LINE: …", and their files. Returns whether the
 * search found more. */
static bool count_matches(const char *result, size_t *matches, size_t *files)
{
    const char *last = "";
    size_t last_len = 0;
    for (const char *p = result, *end; *p; p = end + (*end != '\0')) {
        end = p + strcspn(p, "\n");
        const char *colon = p;
        while (colon < end && (*colon != ':' || colon[1 + strspn(colon + 1, "0123456789")] != ':'))
            colon++;
        if (colon == end)
            continue;
        *files += last_len != (size_t)(colon - p) || strncmp(last, p, last_len) != 0;
        ++*matches;
        last = p;
        last_len = (size_t)(colon - p);
    }
    return strstr(result, "\n[more matches;") != NULL;
}

/* Writes "200 · 12 KB" of the first line that fetch_url gives, "URL · 200 · text/html · 12345
 * bytes". False: it is another line. */
static bool write_fetched(const char *result, struct buf *out)
{
    static const char between[] = " · ";
    const char *end = result + strcspn(result, "\n"), *fields[3], *at = result;
    for (size_t i = 0; i < 3; i++) {
        at = strstr(at, between);
        if (!at || at >= end)
            return false;
        fields[i] = at += sizeof between - 1;
    }
    long long status = strtoll(fields[0], NULL, 10), bytes = strtoll(fields[2], NULL, 10);
    buf_addf(out, "%lld %s ", status, glyph(GLYPH_DOT));
    buf_addf(out, bytes < 1024 ? "%lld B" : "%lld KB", bytes < 1024 ? bytes : (bytes + 512) / 1024);
    if (memchr(fields[2], ',', (size_t)(end - fields[2]))) /* the rest was left out */
        buf_addstr(out, glyph(GLYPH_ELLIPSIS));
    return true;
}

/* Writes the size of a result: lines that a change added and removed, hits of a search, status and
 * bytes of a page, or lines. */
static void write_size(const struct item *call, struct buf *out)
{
    static const char no_match[] = "[no match ";
    const struct buf *result = &call->result;
    size_t found = 0, files = 0;
    bool counted = call->recalled != NULL, more = false;
    if (counted) {
        found = call->recalled->hits.items.len;
    } else if (symbol_of(call->name) == GLYPH_TOOL_SEARCH) {
        AUTO(json_free_local)
        struct json *json = json_parse_foreign(result->data, result->len, NULL);
        found = json ? count_listed(json) : 0;
        if (!json)
            more = count_matches(result->data, &found, &files);
        counted = json || found > 0 || strncmp(result->data, no_match, sizeof no_match - 1) == 0;
    }
    if (symbol_of(call->name) == GLYPH_TOOL_FETCH && write_fetched(result->data, out))
        return;
    if (strcmp(call->name, "web_search") == 0)
        buf_addf(out, ngettext("%zu result", "%zu results", call->result_lines),
                 call->result_lines);
    else if (call->difference.len > 0)
        buf_addf(out, "+%zu %s%zu", call->changed.added, glyph(GLYPH_MINUS), call->changed.removed);
    else if (symbol_of(call->name) == GLYPH_TOOL_EDIT) /* the tool's words */
        utf8_clean(out, result->data, strcspn(result->data, "\n"), UTF8_ONE_LINE);
    else if (counted && found == 0)
        buf_addstr(out, _("no match"));
    else if (counted && item_gave_passages(call))
        buf_addf(out, ngettext("%zu passage", "%zu passages", found), found);
    else if (counted)
        buf_addf(out, ngettext("%zu match", "%zu matches", found), found);
    else
        buf_addf(out, ngettext("%zu line", "%zu lines", call->result_lines), call->result_lines);
    if (files > 0)
        buf_addf(out, ngettext(" in %zu file", " in %zu files", files), files);
    if (more)
        buf_addstr(out, glyph(GLYPH_ELLIPSIS));
}

/* The end of a command, read from its result: "…\n[exit status 3]" and notes. */
struct end {
    const char *word, *value; /* NULL: the result has no such line */
    int len;                  /* of the value */
    const char *line;         /* of the result */
    size_t before;            /* lines */
    bool more;                /* some of its output was left out */
    bool goes_on;             /* in the background */
};

static struct end end_of(const struct item *call)
{
    static const struct {
        const char *beginning, *word;
    } ends[] = {{"[exit status ", N_("exit")},
                {"[ended by signal ", N_("signal")},
                {"[timed out after ", N_("timed out after")},
                {"[interrupted", N_("interrupted")},
                {"[runs in the background as task ", N_("task")}};
    const char *text = call->result.data, *line = text + call->result.len;
    struct end end = {0};
    if (!call->answered || strcmp(call->name, "run_command") != 0)
        return end;
    for (size_t behind = 1; behind <= 1 + END_NOTES && line > text; behind++) {
        for (line--; line > text && line[-1] != '\n';)
            line--;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            size_t begins = strlen(ends[i].beginning);
            if (strncmp(line, ends[i].beginning, begins) != 0)
                continue;
            const char *value = line + begins, *stop = strstr(value, " and ");
            size_t len = strcspn(value, "]");
            if (stop && stop < value + len)
                len = (size_t)(stop - value);
            size_t before = call->result_lines > behind ? call->result_lines - behind : 0;
            bool more = strstr(text, " left out …]\n") != NULL;
            bool goes_on = i + 1 == sizeof ends / sizeof *ends;
            return (struct end){ends[i].word, value, (int)len, line, before, more, goes_on};
        }
    }
    return end;
}

/* Writes how the call went, and returns the style for it. */
static enum style write_outcome(const struct item *call, const char *path, struct buf *out)
{
    const struct end end = end_of(call);
    if (end.word) {
        buf_addf(out, " %s ", glyph(call->failed ? GLYPH_FAILED : GLYPH_DONE));
        if (call->failed || end.goes_on)
            buf_addf(out, "%s%s%.*s %s ", _(end.word), end.len > 0 ? " " : "", end.len, end.value,
                     glyph(GLYPH_DOT));
        if (!end.goes_on) {
            buf_addf(out, ngettext("%zu line", "%zu lines", end.before), end.before);
            buf_addf(out, "%s %s ", end.more ? glyph(GLYPH_ELLIPSIS) : "", glyph(GLYPH_DOT));
        }
        format_duration(out, call->ms);
        return call->failed ? STYLE_ERROR : STYLE_TOOL;
    }
    if (call->failed) {
        const char *reason = call->result.data;
        size_t len = path ? strlen(path) : 0; /* it stands before already */
        if (len > 0 && strncmp(reason, path, len) == 0 && reason[len] == ':')
            reason += len + 1 + strspn(reason + len + 1, " ");
        buf_addf(out, " %s ", glyph(GLYPH_FAILED));
        utf8_clean(out, reason, strcspn(reason, "\n"), UTF8_ONE_LINE);
        return STYLE_ERROR;
    }
    if (call->answered && path) {
        if (call->difference.len == 0)
            buf_addf(out, " %s", glyph(GLYPH_DOT));
        buf_addch(out, ' ');
        write_size(call, out);
        return STYLE_TOOL;
    }
    if (call->answered) {
        bool found = symbol_of(call->name) == GLYPH_TOOL_SEARCH, tells = sentence_of(call->name);
        if (found || !tells) {
            buf_addf(out, " %s ", glyph(tells ? GLYPH_DOT : GLYPH_ARROW));
            write_size(call, out);
        }
        if (!found || !tells) { /* nobody says how long a provider's search took */
            buf_addf(out, " %s ", glyph(GLYPH_DOT));
            format_duration(out, call->ms);
        }
        return STYLE_TOOL;
    }
    if (call->given_up) {
        buf_addf(out, " %s %s", glyph(GLYPH_FAILED), _("no result"));
        return STYLE_DIM;
    }
    buf_addf(out, " %s", glyph(GLYPH_ELLIPSIS));
    if (call->runs && call->ms >= 1000) {
        buf_addch(out, ' ');
        buf_addf(out, _("%d s"), (int)(call->ms / 1000));
    }
    return STYLE_TOOL;
}

static void add_more(struct rows *out, size_t lines, size_t width)
{
    AUTO(buf_release) struct buf more = BUF_INIT;
    buf_addf(&more, "    %s ", glyph(GLYPH_ELLIPSIS));
    buf_addf(&more, ngettext("%zu more line", "%zu more lines", lines), lines);
    rows_begin(out);
    (void)rows_add_cut(out, more.data, width, STYLE_DIM);
}

/* Adds at most ROWS_MAX rows of a text, and the number of its other lines. `lines`: of the whole
 * text, of which this may be the beginning; 0: of this text. */
static void add_block(struct rows *out, const char *text, size_t lines, size_t width,
                      const struct language *language)
{
    struct highlight h = {.language = language};
    AUTO(styled_release) struct styled prefix = STYLED_INIT;
    size_t first = out->list.len, shown = 0;
    if (lines == 0)
        for (const char *p = text; *p; p = strchr(p, '\n'), p = p ? p + 1 : "")
            lines++;
    styled_addstr(&prefix, "  ", STYLE_CODE, 0);
    for (; *text && out->list.len - first < ROWS_MAX; shown++) {
        size_t len = strcspn(text, "\n");
        markdown_code_line(out, &h, text, utf8_cut_bytes(text, len, ROWS_MAX * width), width,
                           &prefix);
        text += len + (text[len] == '\n');
    }
    if (lines > shown)
        add_more(out, lines - shown, width);
}

/* As people write lists: a member a line, the members of a member below it. */
static void write_value(struct buf *out, const struct json *v, int depth)
{
    auto_free char *plain = json_first(v) || json_string(v) ? NULL : json_print(v);
    buf_addstr(out, json_string(v) ? json_string(v) : plain ? plain : "");
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        if (out->len > 0)
            buf_addf(out, "\n%*s", 2 * depth, "");
        buf_addf(out, json_name(m) ? "%s: " : "- ", json_name(m));
        write_value(out, m, depth + 1);
    }
}

/* The hits of memory, at most ROWS_MAX rows: "0.93 left out · you · turn 3 · 2026-03-09 · covers
 * 62 % of the query", and the text. */
static void add_hits(struct rows *out, const struct item *call, size_t width)
{
    AUTO(styled_release) struct styled prefix = STYLED_INIT;
    const struct wrap_look look = {width, WRAP_WORDS, &prefix, &prefix};
    const size_t first = out->list.len;
    styled_addstr(&prefix, "    ", STYLE_TEXT, 0);
    for (size_t i = 0; i < call->recalled->hits.items.len && out->list.len - first < ROWS_MAX;
         i++) {
        const struct memory_hit *h = &call->recalled->hits.items.items[i];
        const char *dot = glyph(GLYPH_DOT), *text = h->entry.content;
        AUTO(buf_release) struct buf head = BUF_INIT;
        AUTO(buf_release) struct buf clean = BUF_INIT;
        buf_addf(&head, "%.2f ", h->score);
        if (h->left_out)
            buf_addf(&head, "%s %s ", _("left out"), dot);
        utf8_clean(&head, message_row_speaker(&h->entry), strlen(message_row_speaker(&h->entry)),
                   UTF8_ONE_LINE);
        if (h->entry.turn > 0) {
            buf_addf(&head, " %s ", dot);
            buf_addf(&head, _("turn %lld"), (long long)h->entry.turn);
        }
        if (h->entry.created_ms > 0) {
            buf_addf(&head, " %s ", dot);
            format_date(&head, h->entry.created_ms);
        }
        if (h->why.held > 0) {
            buf_addf(&head, " %s ", dot);
            buf_addf(&head, _("covers %.0f %% of the query"), h->why.held * 100);
        }
        rows_begin(out);
        rows_addstr(out, "    ", STYLE_TEXT, 0);
        (void)rows_add_cut(out, head.data, rows_room(out, width), STYLE_DIM);
        utf8_clean(&clean, text, utf8_cut_bytes(text, strlen(text), HIT_BYTES), UTF8_MULTILINE);
        if (strlen(text) > HIT_BYTES)
            buf_addstr(&clean, glyph(GLYPH_ELLIPSIS));
        wrap_string(out, clean.data, STYLE_TEXT, 0, &look);
    }
}

/* Returns the beginning of the last lines of a text, which take at most `rows` rows; *left gets the
 * number of lines before them. `width` 0: each line takes one row. */
static const char *last_lines(const char *text, const char *end, size_t rows, size_t width,
                              size_t *left)
{
    const char *from = end;
    *left = 0;
    while (from > text) {
        const char *line = from - 1;
        while (line > text && line[-1] != '\n')
            line--;
        size_t needs = width > 0 ? 1 + (size_t)(from - line) / width : 1;
        if (needs > rows && from < end)
            break;
        rows -= needs < rows ? needs : rows;
        from = line;
    }
    for (const char *p = text; p < from; p++)
        *left += *p == '\n';
    return from;
}

/* Adds the number of the lines that have no room, and then the last lines of a text, ROWS_MAX rows
 * at most. */
static void add_last(struct rows *out, const char *text, size_t len, size_t width)
{
    size_t left;
    const char *from = last_lines(text, text + len, ROWS_MAX, width > 4 ? width - 4 : 1, &left);
    if (left > 0)
        add_more(out, left, width);
    add_block(out, from, 0, width, NULL);
}

/* The last lines of a command's output so far, or of all and the notes behind its end: each cut to
 * one row. */
static void add_last_lines(struct rows *out, const struct item *call, size_t width)
{
    const struct end end = end_of(call);
    const char *line = call->runs ? call->result.data + call->result.len : end.line;
    AUTO(buf_release) struct buf text = BUF_INIT;
    size_t left;
    if (!line || call->given_up)
        return;
    for (const char *p = last_lines(call->result.data, line, LAST_LINES, 0, &left); *p;) {
        size_t len = strcspn(p, "\n");
        if (p != line) {
            buf_add(&text, p, utf8_cut_width(p, len, width > 4 ? width - 4 : 0));
            buf_addch(&text, '\n');
        }
        p += len + (p[len] == '\n');
    }
    add_block(out, text.data, 0, width, NULL);
}

/* A line with symbol and name, argument and outcome, of which the argument is cut first, and a long
 * error to half of the line. Below it, if it is open, the difference or arguments and result. */
static void add_call(struct rows *out, const struct item *call, size_t width, bool open)
{
    AUTO(buf_release) struct buf end = BUF_INIT;
    const struct recalled *sent =
        call->recalled && call->recalled->tokens > 0 ? call->recalled : NULL;
    if (sent) { /* passages that were sent with a message */
        size_t count = sent->hits.items.len, left_out = 0;
        for (size_t i = 0; i < count; i++)
            left_out += sent->hits.items.items[i].left_out;
        buf_addf(&end, "  %s ", glyph(GLYPH_TOOL_SEARCH));
        buf_addf(&end, ngettext("recalled %zu passage", "recalled %zu passages", count), count);
        buf_addf(&end, " %s ", glyph(GLYPH_DOT));
        buf_addf(&end, ngettext("%lld token", "%lld tokens", (unsigned long)sent->tokens),
                 (long long)sent->tokens);
        if (left_out > 0) {
            buf_addf(&end, " %s ", glyph(GLYPH_DOT));
            buf_addf(&end, ngettext("%zu left out", "%zu left out", left_out), left_out);
        }
        rows_begin(out);
        (void)rows_add_cut(out, end.data, width, STYLE_TOOL);
        if (!open)
            return;
        add_hits(out, call, width);
        if (sent->hints && sent->hints->leave_out && *sent->hints->leave_out) {
            auto_free char *hint =
                mem_printf("    %s %s", sent->hints->leave_out, _("leaves one out"));
            rows_begin(out);
            (void)rows_add_cut(out, hint, width, STYLE_DIM);
        }
        return;
    }
    AUTO(json_free_local) struct json *all = json_parse(call->text.data, call->text.len, NULL);
    const struct sentence *sentence = sentence_of(call->name);
    const char *path = path_of(call, all), *verb = sentence ? _(sentence->verb) : call->name;
    enum style style = write_outcome(call, path, &end);
    auto_free char *name =
        mem_printf("  %s%s%s", glyph(symbol_of(call->name)), path ? "" : " ", path ? "" : verb);
    bool is_command = end_of(call).word != NULL;
    if (is_command && utf8_width(name, strlen(name)) + utf8_width(end.data, end.len) > width)
        name[strlen(name) - strlen(verb) - 1] = '\0'; /* the outcome says more */
    rows_begin(out);
    (void)rows_add_cut(out, name, width, STYLE_TOOL);
    size_t room = rows_room(out, width), needed = utf8_width(end.data, end.len);
    if (needed > room / 2 && call->failed && !is_command)
        needed = room / 2;
    add_argument(out, call, all, room > needed ? room - needed : 0);
    (void)rows_add_cut(out, end.data, rows_room(out, width), style);
    if (!open) {
        add_last_lines(out, call, width);
        return;
    }
    if (call->answered && !call->failed && call->difference.len > 0) {
        add_block(out, call->difference.data, 0, width, language_find("diff", 4));
        return;
    }
    AUTO(buf_release) struct buf text = BUF_INIT;
    AUTO(buf_release) struct buf shown = BUF_INIT;
    if (!all)
        buf_addstr(&text, call->text.data);
    else if (json_len(all) > 0)
        write_value(&text, all, 0);
    utf8_clean(&shown, text.data, text.len, UTF8_MULTILINE);
    add_block(out, shown.data, 0, width, NULL);
    if (!call->answered && call->runs && !call->given_up && call->result.len > 0)
        add_last(out, call->result.data, call->result.len, width);
    if (!call->answered || call->result.len == 0)
        return;
    rows_begin(out);
    (void)rows_add_cut(out, "    ", width, STYLE_TOOL);
    (void)rows_add_cut(out, glyph(call->failed ? GLYPH_FAILED : GLYPH_ARROW), rows_room(out, width),
                       call->failed ? STYLE_ERROR : STYLE_TOOL);
    if (call->recalled && !call->failed)
        add_hits(out, call, width);
    else if (end_of(call).word)
        add_last(out, call->result.data, call->result.len, width);
    else
        add_block(out, call->result.data, call->result_lines, width, NULL);
}

/* --- items --- */

/* The prefixes of the rows of a text. They are static because the layout of a streamed text refers
 * to them over many frames. */
enum prefix { PREFIX_TEXT, PREFIX_USER, PREFIX_REASONING, PREFIXES };

static const struct styled *prefix_of(enum prefix which)
{
    static struct styled prefixes[PREFIXES];
    struct styled *prefix = &prefixes[which];
    enum style style = which == PREFIX_USER        ? STYLE_USER
                       : which == PREFIX_REASONING ? STYLE_REASONING
                                                   : STYLE_TEXT;
    styled_clear(prefix);
    if (which != PREFIX_USER)
        styled_addstr(prefix, "  ", style, 0);
    if (which != PREFIX_TEXT) {
        styled_addstr(prefix, glyph(GLYPH_BAR), style, 0);
        styled_addstr(prefix, " ", style, 0);
    }
    return prefix;
}

static void add_wrapped(struct item *item, const char *text, enum style style, int width)
{
    const struct styled *prefix = prefix_of(item->kind == ITEM_USER ? PREFIX_USER : PREFIX_TEXT);
    wrap_string(&item->rows, text, style, 0,
                &(struct wrap_look){(size_t)width, WRAP_WORDS, prefix, prefix});
}

/* Lays out more of the text, at most `room` bytes, and behind its end the mark of an answer that
 * was interrupted. */
static void give(struct item *item, int width, size_t *room)
{
    size_t end = item->text.len, left = end - item->given;
    if (left > *room)
        end = item->given + *room - utf8_incomplete_tail(item->text.data + item->given, *room);
    *room -= end - item->given;
    item->given = end;
    bool whole = end == item->text.len && !item->streaming;
    markdown_update(item->markdown, item->text.data, end, whole);
    if (whole && item->partial) {
        auto_free char *line = mem_printf("%s %s", glyph(GLYPH_DASH), _("interrupted"));
        add_wrapped(item, line, STYLE_NOTE, width);
    }
}

static void add_markdown(struct item *item, struct markdown_look look, size_t *room)
{
    item->markdown = mem_alloc(sizeof *item->markdown);
    markdown_init(item->markdown, &look, &item->rows);
    item->given = 0;
    give(item, (int)look.width, room);
}

bool item_is_behind(const struct item *item)
{
    return item->markdown && item->given < item->text.len;
}

static void lay_out_reasoning(struct item *item, int width, bool open, size_t *room)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    buf_addf(&line, "%s %s", glyph(open ? GLYPH_UNFOLDED : GLYPH_FOLDED), _("reasoning"));
    if (item->hidden_text) {
        buf_addf(&line, " %s %s", glyph(GLYPH_DOT), _("kept hidden by the provider"));
    } else if (!item->streaming) {
        size_t words = 0;
        for (const char *p = item->text.data; *(p += strspn(p, " \t\n")); words++)
            p += strcspn(p, " \t\n");
        buf_addf(&line, " %s ", glyph(GLYPH_DOT));
        buf_addf(&line, ngettext("%zu word", "%zu words", words), words);
    } else {
        buf_addstr(&line, glyph(GLYPH_ELLIPSIS));
    }
    add_wrapped(item, line.data, STYLE_REASONING, width);
    struct markdown_look look = {(size_t)width, prefix_of(PREFIX_REASONING), STYLE_REASONING, true};
    if (open)
        add_markdown(item, look, room);
}

static void lay_out_all(struct item *item, int width, enum reasoning_view reasoning, size_t *room)
{
    struct markdown_look look = {(size_t)width, prefix_of(PREFIX_TEXT), STYLE_TEXT, false};
    bool open = item_is_open(item, reasoning);
    size_t all = SIZE_MAX;
    rows_clear(&item->rows);
    free(item->markdown);
    item->markdown = NULL;
    item->gone = 0;
    if (item->lead)
        rows_begin(&item->rows);
    if (item->kind == ITEM_USER || item->label) {
        bool user = item->kind == ITEM_USER;
        AUTO(styled_release) struct styled label = STYLED_INIT;
        styled_addstr(&label, user ? _("you") : _("tiro"), user ? STYLE_USER : STYLE_ASSISTANT,
                      ATTR_BOLD);
        rows_begin(&item->rows);
        wrap_add_cut(&item->rows, &label, (size_t)width);
    }
    switch (item->kind) {
    case ITEM_USER:
        look.prefix = prefix_of(PREFIX_USER);
        look.keep_lines = true;
        add_markdown(item, look, &all);
        for (const char *p = item->images.data, *end; *p; p = end + 1) {
            end = p + strcspn(p, "\n");
            auto_free char *line = mem_strndup(p, (size_t)(end - p));
            add_wrapped(item, line, STYLE_DIM, width);
        }
        break;
    case ITEM_ANSWER:
        add_markdown(item, look, room);
        break;
    case ITEM_REASONING:
        if (reasoning != REASONING_HIDDEN)
            lay_out_reasoning(item, width, open, room);
        break;
    case ITEM_TOOL:
        add_call(&item->rows, item, (size_t)width, open);
        break;
    case ITEM_NOTE: {
        bool error = item->style == STYLE_ERROR, warning = item->style == STYLE_WARNING;
        auto_free char *text = mem_printf("%s%s%s",
                                          error     ? glyph(GLYPH_FAILED)
                                          : warning ? "!"
                                                    : "",
                                          error || warning ? " " : "", item->text.data);
        add_wrapped(item, text, item->style, width);
        break;
    }
    case ITEM_COMPACTION:
        compaction_card_rows(&item->rows, item, width);
        break;
    }
}

size_t item_lay_out(struct item *item, int width, enum reasoning_view reasoning, size_t *room)
{
    bool fits = item->width == width, open = item_is_open(item, reasoning);
    bool answer = item->kind == ITEM_ANSWER, thought = item->kind == ITEM_REASONING;
    if (fits && item->change == ITEM_SAME)
        return item_row_count(item);
    if (!fits || item->change == ITEM_CHANGED ||
        !(answer || (thought && (open || item->streaming)))) {
        lay_out_all(item, width, reasoning, room);
    } else if (answer || open) { /* only the text that was added; a folded row stays as it is */
        give(item, width, room);
    }
    item->width = width;
    item->change = item_is_behind(item) ? ITEM_GROWN : ITEM_SAME;
    return item_row_count(item);
}

void item_forget_rows(struct item *item)
{
    rows_release(&item->rows);
    rows_init(&item->rows);
    free(item->markdown);
    item->markdown = NULL;
    item->width = 0;
    item->gone = 0;
}

size_t item_row_count(const struct item *item)
{
    return item->gone + item->rows.list.len;
}

bool item_can_fold(const struct item *item, enum reasoning_view reasoning)
{
    return item->kind == ITEM_TOOL ||
           (item->kind == ITEM_REASONING && !item->hidden_text && reasoning != REASONING_HIDDEN);
}

bool item_is_open(const struct item *item, enum reasoning_view reasoning)
{
    bool usual = item->kind == ITEM_REASONING && reasoning == REASONING_OPEN;
    return item_can_fold(item, reasoning) && usual != item->flipped;
}

void item_set_open(struct item *item, bool open, enum reasoning_view reasoning)
{
    if (!item_can_fold(item, reasoning) || item_is_open(item, reasoning) == open)
        return;
    item->flipped = !item->flipped;
    item->change = ITEM_CHANGED;
}
