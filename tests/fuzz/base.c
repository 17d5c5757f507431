/* Readers of base, config and agent: JSON, UTF-8, times, secrets, the configuration, patterns,
 * schemas and skills. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/pattern.h"
#include "agent/simple_command.h"
#include "agent/tool.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/edit.h"
#include "config/ini.h"
#include "knowledge/skills.h"
#include "memory/content.h"
#include "provider/http.h"
#include "tests/fuzz/fuzz.h"

/* --- json ------------------------------------------------------------------------------------- */

static const char *find_nul(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool escape = text[i] == '\\';
        if (text[i] == '\0' || (escape && len - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0))
            return text + i;
        if (escape && i + 1 < len && text[i + 1] != '\0')
            i++;
    }
    return NULL;
}

/* cJSON writes only as many digits as give the same number except for the last bit; a value that is
 * no number is null. */
static bool same_number(double a, double b)
{
    return !isfinite(a) || fabs(a - b) <= DBL_EPSILON * fmax(fabs(a), fabs(b));
}

static void check_same(const struct json *a, const struct json *b)
{
    FUZZ_CHECK(json_type(a) == json_type(b) || !isfinite(json_number(a, 0)));
    FUZZ_CHECK(json_len(a) == json_len(b));
    if (json_string(a))
        FUZZ_CHECK_SAME(json_string(a), json_string(b));
    FUZZ_CHECK(same_number(json_number(a, 0), json_number(b, 0)));
    const struct json *y = json_first(b);
    for (const struct json *x = json_first(a); x; x = json_next(x), y = json_next(y)) {
        if (json_type(a) == JSON_OBJECT)
            FUZZ_CHECK_SAME(json_name(x), json_name(y));
        check_same(x, y);
    }
}

static void check_written(const struct json *v, char *text)
{
    struct error e = {0};
    AUTO(json_free_local) struct json *again = json_parse(text, strlen(text), &e);
    FUZZ_CHECK_ERROR(again, &e);
    check_same(v, again);
    free(text);
}

static size_t count_values(const struct json *v)
{
    size_t count = 1;
    for (const struct json *m = json_first(v); m; m = json_next(m))
        count += count_values(m);
    return count;
}

/* JSON: a value that was read and written reads as the same; numbers stay; a NUL character is found
 * anywhere. */
int fuzz_json(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct error e = {0};
    FUZZ_CHECK(json_find_nul(text, size) == find_nul(text, size));
    /* A text that only lacked halves of surrogates is JSON then; one that lacked none stays. */
    auto_free char *repaired = json_repair_surrogates(text, size);
    if (repaired) {
        size_t repaired_len = strlen(repaired);
        FUZZ_CHECK(repaired_len <= size);
        char *again = json_repair_surrogates(repaired, repaired_len);
        FUZZ_CHECK(!again);
    }
    AUTO(json_free_local) struct json *v = json_parse(text, size, &e);
    if (!v) {
        fuzz_check_error(&e);
        return 0;
    }
    /* An empty array or object counts as if it had a value, so the bound may be taken for passed
     * sooner, never later. */
    size_t count = count_values(v);
    FUZZ_CHECK(json_has_at_most(text, size, 2 * count));
    FUZZ_CHECK(!json_has_at_most(text, size, count - 1));
    AUTO(json_free_local) struct json *foreign = json_parse_foreign(text, size, NULL);
    FUZZ_CHECK(foreign || count > JSON_FOREIGN_VALUES / 2);
    struct buf pretty = BUF_INIT;
    char *compact = json_print(v);
    json_out_pretty(compact, &pretty);
    check_written(v, compact);
    check_written(v, buf_take(&pretty));
    AUTO(json_free_local) struct json *copy = json_clone(v);
    check_same(v, copy);
    return 0;
}

/* --- utf8 ------------------------------------------------------------------------------------- */

static bool is_raw(uint32_t cp, enum utf8_clean_mode mode)
{
    bool allowed = mode == UTF8_MULTILINE && (cp == '\n' || cp == '\t');
    return (cp < 0x20 && !allowed) || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x202a && cp <= 0x202e) ||
           (cp >= 0x2060 && cp <= 0x206f) || cp == 0x2028 || cp == 0x2029 ||
           (cp >= 0xe0000 && cp <= 0xe0fff);
}

static void check_clean(const char *text, size_t len, enum utf8_clean_mode mode)
{
    AUTO(buf_release) struct buf once = BUF_INIT, twice = BUF_INIT;
    utf8_clean(&once, text, len, mode);
    FUZZ_CHECK(utf8_valid(once.data, once.len));
    FUZZ_CHECK(once.len <= 3 * len);
    for (size_t at = 0; at < once.len;) {
        uint32_t cp;
        at += utf8_decode(once.data + at, once.len - at, &cp);
        FUZZ_CHECK(!is_raw(cp, mode));
    }
    utf8_clean(&twice, once.data, once.len, mode);
    FUZZ_CHECK_SAME(once.data, twice.data);
}

/* Cleaning: the result is UTF-8 without terminal controls; cleaning it again changes nothing. Cuts
 * and borders stay within the text. */
int fuzz_utf8(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct dice d = fuzz_dice(data, size);
    check_clean(text, size, UTF8_ONE_LINE);
    check_clean(text, size, UTF8_MULTILINE);
    if (size <= 4096) { /* the way back looks for a border each time */
        /* The way back meets the same borders as the way forward. */
        VEC(size_t) borders = {0};
        for (size_t at = 0; at < size;) {
            vec_push(&borders, at);
            size_t next = utf8_next(text, size, at);
            FUZZ_CHECK(next > at && next <= size);
            at = next;
        }
        for (size_t at = size; at > 0; at = vec_last(&borders), borders.len--)
            FUZZ_CHECK(borders.len > 0 && utf8_prev(text, size, at) == vec_last(&borders));
        vec_release(&borders);
        size_t max = dice_below(&d, size + 2), columns = dice_below(&d, 100);
        size_t cut = utf8_cut_bytes(text, size, max);
        FUZZ_CHECK(cut <= max && cut <= size);
        cut = utf8_cut_width(text, size, columns);
        FUZZ_CHECK(cut <= size && utf8_width(text, cut) <= columns);
    }
    FUZZ_CHECK(utf8_incomplete_tail(text, size) <= 3);
    return 0;
}

/* --- time ------------------------------------------------------------------------------------- */

/* Times of other programs: an accepted time survives writing and reading; retry-after never waits
 * for ever. */
int fuzz_time(const uint8_t *data, size_t size)
{
    auto_free char *text = fuzz_text(data, size);
    char written[25];
    int64_t ms, again, now = 1683554160000;
    if (rfc3339_parse(text, &ms)) {
        rfc3339_format(ms, written);
        FUZZ_CHECK(rfc3339_parse(written, &again) && again == ms);
    }
    if (rfc3339_parse_exact(text, &ms)) {
        rfc3339_format(ms, written);
        FUZZ_CHECK_SAME(text, written);
    }
    int64_t wait = http_retry_after(text, now);
    FUZZ_CHECK(wait >= -1 && wait <= INT32_MAX);
    return 0;
}

/* --- secrets ---------------------------------------------------------------------------------- */

/* Masking: a key is masked after any text, masking again changes nothing, and no text grows by more
 * than its mask. */
int fuzz_secrets(const uint8_t *data, size_t size)
{
    AUTO(buf_release) struct buf once = BUF_INIT, twice = BUF_INIT;
    int found = secrets_mask(&once, (const char *)data, size);
    FUZZ_CHECK(found >= 0 && once.len <= size + (size_t)found * strlen("[secret]"));
    FUZZ_CHECK(found > 0 || (once.len == size && memcmp(once.data, data, size) == 0));
    secrets_mask(&twice, once.data, once.len);
    FUZZ_CHECK(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    /* A key on a line of its own is masked whatever text stands before it. */
    static const char *const keys[] = {"ghp_0123456789abcdefghijABCDEFGHIJ012345",
                                       "AKIAIOSFODNN7EXAMPLE",
                                       "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT, masked = BUF_INIT;
        buf_add(&text, data, size);
        buf_addf(&text, "\n%s\n", keys[i]);
        secrets_mask(&masked, text.data, text.len);
        const char *last = masked.len > strlen(keys[i]) + 1
                               ? masked.data + masked.len - strlen(keys[i]) - 1
                               : masked.data;
        FUZZ_CHECK(strncmp(last, keys[i], strlen(keys[i])) != 0);
    }
    return 0;
}

/* --- config ----------------------------------------------------------------------------------- */

static bool is_theme(const struct ini_entry *entry)
{
    return strcmp(entry->section, "ui") == 0 && strcmp(entry->name, "theme") == 0;
}

/* All entries except that of the key, with their values. */
static char *others(const char *text)
{
    AUTO(ini_release) struct ini ini = {0};
    struct buf out = BUF_INIT;
    ini_read(&ini, text);
    for (size_t i = 0; i < ini.entries.len; i++)
        if (!is_theme(&ini.entries.items[i]))
            buf_addf(&out, "[%s]%s=%s\n", ini.entries.items[i].section, ini.entries.items[i].name,
                     ini.entries.items[i].value);
    return buf_take(&out);
}

static void check_others(const char *before, const char *after)
{
    auto_free char *a = others(before), *b = others(after);
    FUZZ_CHECK_SAME(a, b);
}

static void check_unset(const char *text)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    struct error e = {0};
    if (config_edit_set(text, "ui", "theme", NULL, &out, &e)) {
        FUZZ_CHECK(!config_edit_value(out.data, "ui", "theme"));
        check_others(text, out.data);
    } else {
        fuzz_check_error(&e);
    }
}

static void check_set(const char *text, const char *value)
{
    AUTO(buf_release) struct buf out = BUF_INIT, twice = BUF_INIT;
    struct error e = {0};
    if (!config_edit_set(text, "ui", "theme", value, &out, &e)) {
        fuzz_check_error(&e);
        FUZZ_CHECK(out.len == 0);
        return;
    }
    auto_free char *read = config_edit_value(out.data, "ui", "theme");
    FUZZ_CHECK_SAME(read, value);
    check_others(text, out.data);
    FUZZ_CHECK_ERROR(config_edit_set(out.data, "ui", "theme", value, &twice, &e), &e);
    FUZZ_CHECK_SAME(out.data, twice.data);
    check_unset(out.data);
}

/* The configuration file: loading it complains in clean words, and changing one key in it keeps the
 * rest. */
int fuzz_config(const uint8_t *data, size_t size)
{
    auto_free char *text = fuzz_text(data, size);
    AUTO(config_free_local) struct config *c = config_new();
    AUTO(config_problems_release) struct config_problems problems = {0};
    config_load_text(c, "file", text, &problems);
    for (size_t i = 0; i < problems.list.len; i++)
        FUZZ_CHECK(problems.list.items[i].line > 0 && *problems.list.items[i].text);
    for (int key = 0; key < CONFIG_KEY_COUNT; key++) {
        const struct config_key_info *info = config_key_info((enum config_key)key);
        double n = info->type == CONFIG_INTEGER ? (double)config_integer(c, (enum config_key)key)
                   : info->type == CONFIG_REAL  ? config_real(c, (enum config_key)key)
                                                : 0;
        bool number = info->type == CONFIG_INTEGER || info->type == CONFIG_REAL;
        if (number && config_is_set(c, (enum config_key)key))
            FUZZ_CHECK((n >= info->min && n <= info->max) || (n == -1 && *info->choices));
    }
    check_set(text, "dark");
    check_set(text, "two\nlines; or more");
    check_unset(text);
    return 0;
}

/* --- glob ------------------------------------------------------------------------------------- */

/* A pattern of a model (the first line) and a path (the second): the time is bounded, and a pattern
 * without signs means itself. */
int fuzz_glob(const uint8_t *data, size_t size)
{
    char *pattern = fuzz_text(data, size);
    struct glob g;
    struct error e = {0};
    char *path = pattern + strcspn(pattern, "\n");
    if (*path)
        *path++ = '\0';
    if (!glob_read(&g, pattern, &e)) {
        fuzz_check_error(&e);
        free(pattern);
        return 0;
    }
    bool matches = glob_matches(&g, path);
    if (!strpbrk(pattern, "*?[{\\")) {
        const char *slash = strrchr(path, '/');
        FUZZ_CHECK(matches ==
                   (strcmp(pattern, slash && !strchr(pattern, '/') ? slash + 1 : path) == 0));
    }
    glob_release(&g);
    free(pattern);
    return 0;
}

/* --- command --------------------------------------------------------------------------------- */

/* A command line of a model: one that can be allowed beyond the moment has nothing of the shell's
 * own outside quotes, and a list behind it ends that. */
int fuzz_command(const uint8_t *data, size_t size)
{
    auto_free char *text = fuzz_text(data, size);
    AUTO(buf_release) struct buf grant = BUF_INIT, longer = BUF_INIT, again = BUF_INIT;
    if (!simple_command_grant(text, &grant)) {
        FUZZ_CHECK(grant.len == 0);
        return -1;
    }
    FUZZ_CHECK(grant.len > 2 && *grant.data == '`' && grant.data[grant.len - 1] == '`');
    FUZZ_CHECK(!strpbrk(text, "\n\r"));
    char quote = 0;
    for (const char *p = text; *p; p++) {
        if (*p == quote)
            quote = 0;
        else if (quote)
            FUZZ_CHECK(quote == '\'' || !strchr("$`\\", *p));
        else if (*p == '\'' || *p == '"')
            quote = *p;
        else
            FUZZ_CHECK(!strchr(";&|<>()$`\\#{}!", *p));
    }
    FUZZ_CHECK(!quote);
    if (!strstr(grant.data, " …`"))
        return 0;
    buf_addf(&longer, "%s ;", text);
    FUZZ_CHECK(!simple_command_grant(longer.data, &again));
    return 0;
}

/* --- schema ----------------------------------------------------------------------------------- */

static void check_fitting(const struct json *schema, const struct json *value)
{
    struct error e = {0};
    FUZZ_CHECK(json_type(value) == JSON_OBJECT);
    const struct json *required = json_get(schema, "required");
    for (const struct json *r = json_first(required); r; r = json_next(r))
        FUZZ_CHECK(json_get(value, json_string(r)));
    AUTO(json_free_local) struct json *more = json_clone(value);
    json_set_bool(more, "no such member", true);
    FUZZ_CHECK(!tool_schema_check(schema, more, &e));
}

/* Arguments of a model for a tool: arguments that fit the schema still fit without an optional
 * member, and do not with an unknown one. The first byte selects the tool. */
int fuzz_schema(const uint8_t *data, size_t size)
{
    struct error e = {0};
    if (size == 0)
        return -1;
    AUTO(json_free_local) struct json *value = json_parse((const char *)data + 1, size - 1, NULL);
    if (!value)
        return -1;
    static struct toolset tools;
    if (tools.tools.len == 0)
        toolset_init(&tools, tool_sources, &(struct tool_host){.root_fd = -1});
    const struct tool *tool = &tools.tools.items[data[0] % tools.tools.len];
    const char *text = tool->spec.schema;
    AUTO(json_free_local) struct json *schema = json_parse(text, strlen(text), &e);
    FUZZ_CHECK_ERROR(schema, &e);
    if (tool_schema_check(schema, value, &e))
        check_fitting(schema, value);
    else
        fuzz_check_error(&e);
    return 0;
}

/* --- skill ------------------------------------------------------------------------------------ */

/* A SKILL.md: the text below its front matter is a part of the file that begins at a line's
 * start. The values of the front matter are lines that are no longer than the file. */
int fuzz_skill(const uint8_t *data, size_t size)
{
    auto_free char *text = fuzz_text(data, size);
    auto_free char *body = skill_body(text);
    size_t len = strlen(text), rest = strlen(body);
    FUZZ_CHECK(rest <= len && *body != '\n');
    FUZZ_CHECK_SAME(body, text + (len - rest));
    FUZZ_CHECK(rest == 0 || rest == len || text[len - rest - 1] == '\n');
    struct skill skill = {.name = NULL};
    if (skill_read_front(text, &skill.name, &skill)) {
        const char *const values[] = {skill.name, skill.description, skill.license,
                                      skill.compatibility, skill.allowed_tools};
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            FUZZ_CHECK(!values[i] ||
                       (*values[i] && strlen(values[i]) < len && !strpbrk(values[i], "\n\t")));
    }
    AUTO(skills_release) struct skills owner = {0};
    vec_push(&owner.items, skill);
    return 0;
}
