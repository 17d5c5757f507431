#include "config/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool config_value_integer(const char *text, int64_t *out)
{
    if (!is_digit(text[text[0] == '-']))
        return false;
    char *end;
    errno = 0;
    intmax_t number = strtoimax(text, &end, 10);
    *out = (int64_t)number;
    return *end == '\0' && errno == 0;
}

/* Not strtod(), which would want a comma in half of the world. */
bool config_value_real(const char *text, double *out)
{
    bool negative = *text == '-';
    bool after_point = false, any = false;
    double number = 0, scale = 1;
    for (const char *c = text + negative; *c; c++) {
        if (*c == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!is_digit(*c))
            return false;
        any = true;
        number = number * 10 + (*c - '0');
        if (after_point)
            scale *= 10;
    }
    *out = (negative ? -number : number) / scale;
    return any && strlen(text) < 32; /* so that neither part overflows */
}

bool config_value_boolean(const char *text, bool *out)
{
    static const char *const names[][2] = {
        {"false", "true"}, {"no", "yes"}, {"off", "on"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int value = 0; value < 2; value++) {
            if (strcmp(text, names[i][value]) == 0) {
                *out = value != 0;
                return true;
            }
        }
    }
    return false;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);
    for (const char *word = choices; *word; word += strspn(word, " ")) {
        size_t word_len = strcspn(word, " ");
        if (word_len == len && memcmp(word, text, len) == 0)
            return true;
        word += word_len;
    }
    return false;
}

/* The value as an error quotes it. */
static int quoted_len(const char *text)
{
    return (int)utf8_cut_bytes(text, strlen(text), 60);
}

static bool in_bounds(const struct config_key_info *key, double number)
{
    return (key->min == 0 && key->max == 0) || (number >= key->min && number <= key->max);
}

static bool number_fits(const struct config_key_info *key, const char *text, struct error *e)
{
    int64_t integer = 0;
    double real = 0;
    bool whole = key->type == CONFIG_INTEGER;
    if (!(whole ? config_value_integer(text, &integer) : config_value_real(text, &real)))
        return err_set(e, ERR_CONFIG_ERROR, "%s: \"%.*s\" is not a %s; write one", key->name,
                       quoted_len(text), text, whole ? "whole number" : "number such as 0.5");
    if (!in_bounds(key, whole ? (double)integer : real))
        return err_set(e, ERR_CONFIG_ERROR, "%s: %.*s is out of bounds; write %.10g to %.10g", key->name,
                       quoted_len(text), text, key->min, key->max);
    return true;
}

bool config_value_fits(const struct config_key_info *key, const char *text, struct error *e)
{
    bool ignored;
    if (!*text)
        return true;
    if (!utf8_valid(text, strlen(text)))
        return err_set(e, ERR_CONFIG_ERROR, "%s: the value is not valid UTF-8; convert it",
                       key->name);
    if (key->type == CONFIG_INTEGER || key->type == CONFIG_REAL)
        return number_fits(key, text, e);
    if (key->type == CONFIG_BOOLEAN && !config_value_boolean(text, &ignored))
        return err_set(e, ERR_CONFIG_ERROR, "%s: \"%.*s\" is neither true nor false; write one of them",
                       key->name, quoted_len(text), text);
    if (key->type == CONFIG_CHOICE && !is_choice(key->choices, text))
        return err_set(e, ERR_CONFIG_ERROR, "%s: \"%.*s\" is not allowed; write one of: %s",
                       key->name, quoted_len(text), text, key->choices);
    return true;
}
