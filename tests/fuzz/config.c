/* The configuration file: loading it complains in clean words, and changing one key in it keeps the
 * rest. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"
#include "config/edit.h"
#include "config/ini.h"
#include "tests/fuzz/fuzz.h"

static void check_load(const char *text)
{
    struct config *c = config_new();
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
            FUZZ_CHECK(n >= info->min && n <= info->max);
    }
    config_free(c);
}

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

int fuzz_config(const uint8_t *data, size_t size)
{
    auto_free char *text = fuzz_text(data, size);
    check_load(text);
    check_set(text, "dark");
    check_set(text, "two\nlines; or more");
    check_unset(text);
    return 0;
}
