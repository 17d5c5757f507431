#include "chat/form.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

enum {
    MESSAGE_MAX = 4096, /* bytes */
    ABOUT_MAX = 1000,
    TITLE_MAX = 200,
    NAME_MAX_BYTES = 256,
    URL_MAX = 4096
};

static void field_release(struct form_field *field)
{
    for (size_t i = 0; i < field->options.len; i++) {
        free(field->options.items[i].value);
        free(field->options.items[i].title);
    }
    vec_release(&field->options);
    free(field->name);
    free(field->title);
    free(field->about);
    json_free(field->preset);
}

void form_release(struct form *f)
{
    for (size_t i = 0; i < f->fields.len; i++)
        field_release(&f->fields.items[i]);
    vec_release(&f->fields);
    free(f->message);
    free(f->url);
    free(f->host);
    *f = (struct form){0};
}

/* --- values ----------------------------------------------------------------------------------- */

static bool fits_bounds(const struct form_field *field, double n, const char *what, struct error *e)
{
    if (n < field->least)
        return err_set(e, ERR_USAGE, "%s: at least %g%s", field->title, field->least, what);
    return n <= field->most ||
           err_set(e, ERR_USAGE, "%s: at most %g%s", field->title, field->most, what);
}

static bool fits_format(enum form_format format, const char *text)
{
    const char *at = strchr(text, '@'), *colon = strchr(text, ':');
    int64_t ms;
    switch (format) {
    case FORM_EMAIL:
        return at && at > text && at[1] && !strchr(at + 1, '@') && !strpbrk(text, " \t\r\n");
    case FORM_URI:
        return colon && colon[1] && isalpha((unsigned char)*text) && !strpbrk(text, " \t\r\n");
    case FORM_DATE:
        return strlen(text) == strlen("2026-11-29") && rfc3339_parse(text, &ms);
    case FORM_DATE_TIME:
        return rfc3339_parse(text, &ms);
    default:
        return true;
    }
}

static const struct form_option *find_option(const struct form_field *field, const char *value)
{
    for (size_t i = 0; value && i < field->options.len; i++)
        if (strcmp(field->options.items[i].value, value) == 0)
            return &field->options.items[i];
    return NULL;
}

static bool fits(const struct form_field *field, const struct json *value, struct error *e)
{
    static const char *const examples[] = {[FORM_EMAIL] = "a mail address such as name@example.org",
                                           [FORM_URI] = "an address such as https://example.org",
                                           [FORM_DATE] = "a date such as 2026-11-29",
                                           [FORM_DATE_TIME] =
                                               "a time such as 2026-11-29T12:00:00Z"};
    static const char *const kinds[] = {"a text",    "a number",           "a whole number",
                                        "yes or no", "one of the options", "some of the options"};
    const char *text = json_string(value);
    double n = json_number(value, 0);
    bool ok = false;
    switch (field->kind) {
    case FORM_TEXT:
        if (text && !fits_format(field->format, text))
            return err_set(e, ERR_USAGE, "%s: give %s", field->title, examples[field->format]);
        if (text && strlen(text) > FORM_TEXT_MAX)
            return err_set(e, ERR_USAGE, "%s: at most %d bytes", field->title, FORM_TEXT_MAX);
        if (text) {
            double points = 0;
            for (const char *p = text; *p; p++)
                points += ((unsigned char)*p & 0xC0) != 0x80;
            return fits_bounds(field, points, " characters", e);
        }
        break;
    case FORM_NUMBER:
    case FORM_INTEGER:
        ok = json_type(value) == JSON_NUMBER && isfinite(n) &&
             (field->kind == FORM_NUMBER || (n == floor(n) && fabs(n) <= 9007199254740992.0));
        if (ok)
            return fits_bounds(field, n, "", e);
        break;
    case FORM_FLAG:
        ok = json_type(value) == JSON_BOOL;
        break;
    case FORM_CHOICE:
        ok = find_option(field, text);
        break;
    case FORM_CHOICES:
        ok = json_type(value) == JSON_ARRAY;
        for (const struct json *v = json_first(value); v && ok; v = json_next(v))
            ok = find_option(field, json_string(v));
        if (ok)
            return fits_bounds(field, (double)json_len(value), " of the options", e);
        break;
    }
    return ok || err_set(e, ERR_USAGE, "%s: give %s", field->title, kinds[field->kind]);
}

/* The value of the option whose number (from 1), title or value this is; NULL: there is none. */
static const char *choose(const struct form_field *field, const char *typed)
{
    char *end;
    unsigned long number = isdigit((unsigned char)*typed) ? strtoul(typed, &end, 10) : 0;
    for (size_t i = 0; i < field->options.len; i++) {
        const struct form_option *o = &field->options.items[i];
        if (strcasecmp(o->title, typed) == 0 || strcmp(o->value, typed) == 0)
            return o->value;
    }
    return number > 0 && !*end && number <= field->options.len
               ? field->options.items[number - 1].value
               : NULL;
}

/* Without the blanks around it; the caller frees. */
static char *trim(const char *text, size_t len)
{
    while (len > 0 && isspace((unsigned char)*text))
        text++, len--;
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    return mem_strndup(text, len);
}

struct json *form_field_parse(const struct form_field *field, const char *typed, struct error *e)
{
    auto_free char *text = trim(typed, strlen(typed));
    struct json *value = NULL;
    bool yes = strcasecmp(text, "yes") == 0 || strcasecmp(text, "true") == 0 ||
               strcasecmp(text, "y") == 0 || strcmp(text, "1") == 0;
    bool no = strcasecmp(text, "no") == 0 || strcasecmp(text, "false") == 0 ||
              strcasecmp(text, "n") == 0 || strcmp(text, "2") == 0;
    *e = (struct error){0};
    if (!*text) {
        if (field->required)
            err_set(e, ERR_USAGE, "%s: an answer is needed", field->title);
        return NULL;
    }
    switch (field->kind) {
    case FORM_TEXT:
        value = json_new_string(text);
        break;
    case FORM_NUMBER:
    case FORM_INTEGER:
        value = json_parse(text, strlen(text), NULL);
        break;
    case FORM_FLAG:
        value = yes || no ? json_parse(yes ? "true" : "false", yes ? 4 : 5, NULL) : NULL;
        break;
    case FORM_CHOICE:
        value = json_new_string(choose(field, text));
        break;
    case FORM_CHOICES:
        value = json_new_array();
        for (const char *p = text; *p; p += strcspn(p, ","), p += *p == ',') {
            auto_free char *one = trim(p, strcspn(p, ","));
            const char *chosen = choose(field, one);
            if (*one)
                json_push(value, json_new_string(chosen));
        }
        break;
    }
    if (fits(field, value, e))
        return value;
    json_free(value);
    return NULL;
}

static void add_option(const struct form_field *field, const struct json *value, bool shown,
                       struct buf *out)
{
    const struct form_option *o = find_option(field, json_string(value));
    if (o && out->len > 0)
        buf_addstr(out, ", ");
    if (o && shown)
        buf_addstr(out, o->title);
    else if (o)
        buf_addf(out, "%zu", (size_t)(o - field->options.items) + 1);
}

char *form_field_text(const struct form_field *field, const struct json *value, bool shown)
{
    struct buf out = BUF_INIT;
    buf_addstr(&out, "");
    switch (value ? field->kind : FORM_TEXT) {
    case FORM_TEXT:
        buf_addstr(&out, json_string(value) ? json_string(value) : "");
        break;
    case FORM_NUMBER:
    case FORM_INTEGER: {
        auto_free char *number = json_print(value);
        buf_addstr(&out, number);
        break;
    }
    case FORM_FLAG:
        buf_addstr(&out, json_bool(value, false) ? "yes" : "no");
        break;
    case FORM_CHOICE:
        add_option(field, value, shown, &out);
        break;
    case FORM_CHOICES:
        for (const struct json *v = json_first(value); v; v = json_next(v))
            add_option(field, v, shown, &out);
        break;
    }
    return buf_take(&out);
}

bool form_check(const struct form *f, const struct json *content, struct error *e)
{
    if (json_type(content) != JSON_OBJECT)
        return err_set(e, ERR_USAGE, "the content of a form is an object");
    for (const struct json *v = json_first(content); v; v = json_next(v)) {
        size_t i = 0;
        while (i < f->fields.len && strcmp(f->fields.items[i].name, json_name(v)) != 0)
            i++;
        if (i == f->fields.len)
            return err_set(e, ERR_USAGE, "the form has no field \"%.100s\"", json_name(v));
        if (!fits(&f->fields.items[i], v, e))
            return false;
    }
    for (size_t i = 0; i < f->fields.len; i++)
        if (f->fields.items[i].required && !json_get(content, f->fields.items[i].name))
            return err_set(e, ERR_USAGE, "%s: an answer is needed", f->fields.items[i].title);
    return true;
}

struct json *form_defaults(const struct form *f)
{
    struct json *content = json_new_object();
    for (size_t i = 0; i < f->fields.len; i++)
        if (f->fields.items[i].preset)
            json_set(content, f->fields.items[i].name, json_clone(f->fields.items[i].preset));
    return content;
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *clean(const char *text, size_t most, enum utf8_clean_mode mode)
{
    AUTO(buf_release) struct buf cut = BUF_INIT;
    struct buf out = BUF_INIT;
    utf8_add_cut(&cut, text, strlen(text), most);
    utf8_clean(&out, cut.data, cut.len, mode);
    return buf_take(&out);
}

/* {enum, enumNames?} or {oneOf or anyOf: [{const, title?}]}. */
static bool read_options(struct form_field *field, const struct json *schema)
{
    const struct json *names = json_get(schema, "enumNames"), *list = json_get(schema, "enum");
    size_t i = 0;
    if (!list)
        list = json_get(schema, "oneOf") ? json_get(schema, "oneOf") : json_get(schema, "anyOf");
    for (const struct json *o = json_first(list); o; o = json_next(o), i++) {
        const char *value = json_string(o) ? json_string(o) : json_get_string(o, "const");
        const char *title =
            json_string(o) ? json_string(json_at(names, i)) : json_get_string(o, "title");
        if (!value || i == FORM_OPTIONS_MAX)
            return false;
        vec_push(&field->options,
                 (struct form_option){mem_strdup(value),
                                      clean(title ? title : value, TITLE_MAX, UTF8_ONE_LINE)});
    }
    return i > 0;
}

static bool read_field(struct form_field *field, const struct json *schema)
{
    static const char *const formats[] = {[FORM_EMAIL] = "email",
                                          [FORM_URI] = "uri",
                                          [FORM_DATE] = "date",
                                          [FORM_DATE_TIME] = "date-time"};
    const char *name = json_name(schema), *title = json_get_string(schema, "title");
    const char *about = json_get_string(schema, "description");
    const char *type = json_get_string(schema, "type"), *least = "minimum", *most = "maximum";
    const char *format = json_get_string(schema, "format");
    bool chosen =
        json_get(schema, "enum") || json_get(schema, "oneOf") || json_get(schema, "anyOf");
    struct error ignored;
    field->name = mem_strdup(name);
    field->title = clean(title && *title ? title : name, TITLE_MAX, UTF8_ONE_LINE);
    field->about = about ? clean(about, ABOUT_MAX, UTF8_ONE_LINE) : NULL;
    if (!type && chosen)
        type = "string";
    if (!type || strlen(name) > NAME_MAX_BYTES)
        return false;
    if (strcmp(type, "string") == 0) {
        field->kind = chosen ? FORM_CHOICE : FORM_TEXT;
        least = chosen ? "" : "minLength";
        most = chosen ? "" : "maxLength";
    } else if (strcmp(type, "array") == 0) {
        field->kind = FORM_CHOICES;
        least = "minItems";
        most = "maxItems";
    } else if (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0) {
        field->kind = *type == 'n' ? FORM_NUMBER : FORM_INTEGER;
    } else if (strcmp(type, "boolean") == 0) {
        field->kind = FORM_FLAG;
    } else {
        return false;
    }
    if (field->kind >= FORM_CHOICE &&
        !read_options(field, field->kind == FORM_CHOICES ? json_get(schema, "items") : schema))
        return false;
    for (size_t i = FORM_EMAIL; format && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i], format) == 0)
            field->format = (enum form_format)i;
    field->least = json_get_number(schema, least, -INFINITY);
    field->most = json_get_number(schema, most, INFINITY);
    const struct json *preset = json_get(schema, "default");
    if (preset && fits(field, preset, &ignored))
        field->preset = json_clone(preset);
    return true;
}

/* Refuses an address that browsers and people could read in two ways. */
static bool read_url(struct form *f, const char *url, struct error *e)
{
    const char *host = url ? strstr(url, "://") : NULL;
    size_t len = host ? strcspn(host + 3, "/?#") : 0;
    bool ok = host && strlen(url) <= URL_MAX && len > 0 && !memchr(host + 3, '@', len) &&
              (strncasecmp(url, "https:", 6) == 0 || strncasecmp(url, "http:", 5) == 0);
    for (const char *p = url; ok && *p; p++)
        ok = *p > ' ' && *p < 0x7F && *p != '\\';
    if (!ok)
        return err_set(e, ERR_USAGE, "its address is none that tiro shows");
    f->url = mem_strdup(url);
    f->host = mem_strndup(host + 3, len);
    return true;
}

bool form_read(struct form *f, const struct json *params, struct error *e)
{
    const char *mode = json_get_string(params, "mode");
    const char *message = json_get_string(params, "message");
    const struct json *schema = json_get(params, "requestedSchema");
    const struct json *properties = json_get(schema, "properties");
    *f = (struct form){.message = clean(message ? message : "", MESSAGE_MAX, UTF8_MULTILINE)};
    if (mode && strcmp(mode, "url") == 0)
        return read_url(f, json_get_string(params, "url"), e);
    if ((mode && strcmp(mode, "form") != 0) || json_type(schema) != JSON_OBJECT)
        return err_set(e, ERR_USAGE, "it is neither a form nor an address");
    if (json_len(properties) > FORM_FIELDS_MAX)
        return err_set(e, ERR_USAGE, "a form has at most %d fields", FORM_FIELDS_MAX);
    for (const struct json *p = json_first(properties); p; p = json_next(p)) {
        vec_push(&f->fields, (struct form_field){.name = NULL});
        if (!read_field(&vec_last(&f->fields), p))
            return err_set(e, ERR_USAGE,
                           "its field \"%.100s\" is of a kind that tiro does not know",
                           json_name(p));
    }
    for (const struct json *r = json_first(json_get(schema, "required")); r; r = json_next(r))
        for (size_t i = 0; json_string(r) && i < f->fields.len; i++)
            if (strcmp(f->fields.items[i].name, json_string(r)) == 0)
                f->fields.items[i].required = true;
    return true;
}
