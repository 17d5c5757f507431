#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Far below the parser's own limit: the payload nests it deeper. */
#define DEPTH_MAX 100

/* Digits that a double keeps. */
#define DIGITS_MAX 15

/* The text behind the string whose opening quote this is. */
static const char *skip_string(const char *s)
{
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : s;
}

/* Whether numbers and nesting of a JSON text survive the parser. */
static bool survives(const char *s)
{
    int depth = 0;
    if (strstr(s, "\\u0000"))
        return false; /* a string would end there */
    while (*s) {
        size_t digits = strspn(s, "-+.0123456789");
        if (digits > DIGITS_MAX || (digits > 0 && strchr("eE", s[digits]) && s[digits]))
            return false;
        depth += *s == '[' || *s == '{';
        depth -= *s == ']' || *s == '}';
        if (depth > DEPTH_MAX)
            return false;
        s = *s == '"' ? skip_string(s) : s + (digits > 0 ? digits : 1);
    }
    return true;
}

/* NULL when the text must be kept as it is. A JSON string must, too: reading could not tell it
 * from a text. */
static char *as_value(const char *text)
{
    if (!survives(text))
        return NULL;
    struct json *v = json_parse_foreign(text, strlen(text), NULL);
    char *compact = v && json_type(v) != JSON_STRING ? json_print(v) : NULL;
    json_free(v);
    return compact;
}

void json_text_write(struct json_out *o, const char *text)
{
    char *compact = as_value(text);
    if (compact)
        json_out_raw(o, compact);
    else
        json_out_string(o, text);
    free(compact);
}

char *json_text_read(const struct json *v)
{
    const char *text = json_string(v);
    return text ? mem_strdup(text) : json_print(v);
}
