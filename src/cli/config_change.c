#include "cli/config_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/url.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/setup.h"
#include "config/config_file.h"
#include "config/edit.h"
#include "ui/term/keymap.h"

enum { CHANGE_UNSET = 1 };

static const struct option options[] = {
    {CHANGE_UNSET, "unset", 0, OPTION_FLAG, NULL, N_("remove the key from the file")},
    {0},
};

struct change {
    const char *key; /* as it was written: SECTION.KEY */
    const char *word;
    bool unset;
    char *section, *name;
    struct buf value;
    struct config_file file;
};

static bool take(void *context, int id, const char *value, struct error *e)
{
    struct change *c = context;
    if (id == CHANGE_UNSET)
        c->unset = true;
    else if (!c->key)
        c->key = value;
    else if (!c->word)
        c->word = value;
    else
        return err_set(e, ERR_USAGE, _("unexpected argument \"%.60s\"; put the value into quotes"),
                       value);
    return true;
}

/* --- what is wanted ----------------------------------------------------------------------------
 */

static const struct config_key_info *find_key(const struct change *c)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        if (strcmp(info->section, c->section) == 0 && strcmp(info->name, c->name) == 0)
            return info;
    }
    return NULL;
}

static bool is_secret(const struct change *c)
{
    const struct config_key_info *info = find_key(c);
    return info && info->type == CONFIG_SECRET;
}

static bool read_value(struct change *c, struct error *e)
{
    if (strcmp(c->word, "-") != 0) {
        buf_addstr(&c->value, c->word);
        return true;
    }
    if (!input_read(&c->value, e))
        return false;
    if (memchr(c->value.data, '\0', c->value.len))
        return err_set(e, ERR_USAGE, _("standard input is not text; send only the value"));
    while (c->value.len > 0 && strchr("\r\n", c->value.data[c->value.len - 1]))
        c->value.data[--c->value.len] = '\0';
    return true;
}

static bool check_words(struct change *c, struct error *e)
{
    if (!c->key || (!c->word && !c->unset))
        return err_set(e, ERR_USAGE, _("an argument is missing; use: tiro %s"),
                       config_change.synopsis);
    if (c->word && c->unset)
        return err_set(e, ERR_USAGE, _("--unset takes no value: \"%.60s\""), c->word);
    if (!config_edit_split(c->key, &c->section, &c->name, e))
        return false;
    if (c->word && *c->word && strcmp(c->word, "-") != 0 &&
        (is_secret(c) || url_has_password(c->word)))
        return err_set(e, ERR_USAGE,
                       _("%s is secret, and others can read a command line; give it on standard "
                         "input: tiro config set %s -"),
                       c->name, c->key);
    return c->unset || read_value(c, e);
}

/* --- whether it may be -------------------------------------------------------------------------
 */

static void read_setup(struct setup *s, const char *path, const char *text)
{
    *s = (struct setup){.config = config_new(), .path = mem_strdup(path)};
    config_load_text(s->config, path, text, &s->problems);
    setup_check_screen(s);
}

static size_t count_problem(const struct setup *s, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < s->problems.list.len; i++)
        count += strcmp(s->problems.list.items[i].text, text) == 0;
    return count;
}

/* A file that has faults is changed all the same, but gets no new ones: of the theme, say, or of a
 * key that two actions want. */
static bool check_changed(const struct change *c, struct error *e)
{
    struct setup before, after;
    bool ok = true;
    read_setup(&before, c->file.path, c->file.text.data);
    read_setup(&after, c->file.path, c->file.changed.data);
    for (size_t i = 0; ok && i < after.problems.list.len; i++) {
        const char *text = after.problems.list.items[i].text;
        if (count_problem(&after, text) > count_problem(&before, text))
            ok = err_set(e, ERR_CONFIG_ERROR, "%s", text);
    }
    setup_release(&before);
    setup_release(&after);
    return ok;
}

static bool check_name(const struct change *c, struct error *e)
{
    struct keymap map;
    if (!config_edit_check(c->section, c->name, "", e))
        return false;
    if (strcmp(c->section, "keys") != 0)
        return true;
    keymap_init(&map);
    bool ok = keymap_bind(&map, c->name, "", e);
    keymap_release(&map);
    return ok;
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static bool make_change(struct change *c, struct error *e)
{
    if (c->unset) {
        char *old = config_edit_value(c->file.text.data, c->section, c->name);
        bool known = old || check_name(c, e);
        free(old);
        return known &&
               config_edit_unset(c->file.text.data, c->section, c->name, &c->file.changed, e);
    }
    return config_edit_check(c->section, c->name, c->value.data, e) &&
           config_edit_set(c->file.text.data, c->section, c->name, c->value.data, &c->file.changed,
                           e) &&
           check_changed(c, e);
}

static void add_masked(struct buf *out, const char *value)
{
    struct buf masked = BUF_INIT;
    url_add_masked(&masked, value);
    utf8_clean(out, masked.data, masked.len, UTF8_ONE_LINE);
    buf_release(&masked);
}

/* A value as one line, without what must not be shown. */
static void add_shown(struct buf *out, const struct change *c, const char *value)
{
    if (is_secret(c) && *value)
        buf_addstr(out, "****");
    else
        add_masked(out, value);
}

static void tell(const struct change *c, bool same)
{
    struct buf line = BUF_INIT;
    if (c->unset && same) {
        buf_addf(&line, _("%s: nothing to do, %s is not set"), c->file.path, c->key);
    } else if (c->unset) {
        const struct config_key_info *info = find_key(c);
        buf_addf(&line, _("%s: %s removed"), c->file.path, c->key);
        if (info && *info->fallback)
            buf_addf(&line, _(" (default: %s)"), info->fallback);
    } else {
        buf_addf(&line, same ? _("%s: nothing to do, %s = ") : "%s: %s = ", c->file.path, c->key);
        add_shown(&line, c, c->value.data);
    }
    puts(line.data);
    buf_release(&line);
}

/* What was set may yet not count. */
static void warn_of_environment(const struct change *c)
{
    struct setup setup;
    setup_load(&setup);
    for (int i = 0; !c->unset && i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        if (info == find_key(c) &&
            config_origin(setup.config, (enum config_key)i) == CONFIG_FROM_ENVIRONMENT)
            fprintf(stderr, _("tiro: an environment variable overrides %s in %s\n"), c->key,
                    c->file.path);
    }
    setup_release(&setup);
}

static bool prepare(struct change *c, struct error *e)
{
    return config_file_read(&c->file, e) && make_change(c, e);
}

/* The file may have changed until it was locked. */
static bool change_file(struct change *c, struct error *e)
{
    int lock = config_file_lock(e);
    bool ok = prepare(c, e) && config_file_write(&c->file, e);
    if (lock >= 0)
        close(lock);
    return ok;
}

/* What is secret is nobody else's to read, also where the value was there before. */
static bool is_exposed(const struct change *c)
{
    struct stat st;
    bool secret = !c->unset && (is_secret(c) || url_has_password(c->value.data));
    return secret && stat(c->file.path, &st) == 0 && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

static bool carry_out(struct change *c, struct error *e)
{
    if (!check_words(c, e) || !prepare(c, e))
        return false;
    bool same = strcmp(c->file.text.data, c->file.changed.data) == 0 && !is_exposed(c);
    if (!same && !change_file(c, e))
        return false;
    tell(c, same);
    warn_of_environment(c);
    return true;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct change c = {0};
    struct error e = {0};
    int status = 0;
    buf_init(&c.value, CONFIG_FILE_MAX);
    config_file_init(&c.file);
    if (cli_parse(self, argc, argv, take, &c, &status) && !carry_out(&c, &e))
        status = cli_fail(&e);
    buf_release(&c.value);
    config_file_release(&c.file);
    free(c.section);
    free(c.name);
    return status;
}

/* Every key whose name is whole, parted by blanks. */
static char *all_keys(void)
{
    struct buf out = BUF_INIT;
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        if (!strchr(info->section, '*'))
            buf_addf(&out, "%s.%s ", info->section, info->name);
    }
    for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
        buf_addf(&out, "keys.%s ", action_info((enum action)i)->name);
    return buf_take(&out);
}

static const struct cli_completion completions[] = {
    {.id = OPTION_WORD, .offer = OFFER_CHOICES, .choices = all_keys, .first = true},
    {0},
};

const struct cli_command config_change = {
    .name = "set",
    .synopsis = "config set SECTION.KEY VALUE|-|--unset",
    .help = N_("change a key in the configuration file"),
    .details =
        N_("Examples: ui.theme light, keys.send ctrl-s, \"model NAME.window\" 32768. - reads the "
           "value\n"
           "from standard input, the only way for an api_key. The rest of the file is kept."),
    .options = options,
    .completions = completions,
    .dashes = true,
    .run = run,
};
