/* JSON: a value that was read and written reads as the same; numbers stay; a NUL character is found
 * anywhere. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

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
