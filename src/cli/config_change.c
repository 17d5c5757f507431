#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/command_line.h"
#include "cli/input.h"
#include "cli/setup.h"
#include "config/edit.h"
#include "session/config_operations.h"
#include "ui/term/keymap.h"

struct change {
    const char *key; /* as it was written: SECTION.KEY */
    const char *word;
    bool unset;
    struct buf value;
};

static const struct option options[] = {
    {"unset", 0, OPTION_FLAG, NULL, N_("remove the key from the file"),
     .at = offsetof(struct change, unset)},
    {0},
};

static bool take_word(void *context, const char *word, struct error *e)
{
    struct change *c = context;
    if (c->word)
        return err_set(e, ERR_USAGE, _("unexpected argument \"%.60s\"; put the value into quotes"),
                       word);
    *(c->key ? &c->word : &c->key) = word;
    return true;
}

/* --- what is wanted --- */

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

/* Others can read a command line. */
static bool hides_secret(const struct change *c, struct error *e)
{
    char *section, *name;
    if (!config_edit_split(c->key, &section, &name, e))
        return false;
    enum config_key key = config_key_find(section, name);
    bool secret = key < CONFIG_KEY_COUNT && config_key_info(key)->type == CONFIG_SECRET;
    bool shown =
        c->word && *c->word && strcmp(c->word, "-") != 0 && (secret || url_has_secret(c->word));
    if (shown)
        err_set(e, ERR_USAGE,
                _("%s is secret, and others can read a command line; give it on standard "
                  "input: tiro config set %s -"),
                name, c->key);
    free(section);
    free(name);
    return !shown;
}

static bool check_words(struct change *c, struct error *e)
{
    if (!c->key || (!c->word && !c->unset))
        return err_set(e, ERR_USAGE, _("an argument is missing; use: tiro %s"),
                       config_change.synopsis);
    if (c->word && c->unset)
        return err_set(e, ERR_USAGE, _("--unset takes no value: \"%.60s\""), c->word);
    return hides_secret(c, e) && (c->unset || read_value(c, e));
}

/* --- all of it --- */

static void add_clean(struct buf *out, const char *text)
{
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

static void tell(const struct change *c, const struct config_set_result *r)
{
    struct buf line = BUF_INIT;
    if (c->unset && !r->changed) {
        buf_addf(&line, _("%s: nothing to do, %s is not set"), r->path, c->key);
    } else if (c->unset) {
        buf_addf(&line, _("%s: %s removed"), r->path, c->key);
        if (r->fallback)
            buf_addf(&line, _(" (default: %s)"), r->fallback);
    } else {
        buf_addf(&line, r->changed ? "%s: %s = " : _("%s: nothing to do, %s = "), r->path, c->key);
        add_clean(&line, r->value);
    }
    puts(line.data);
    buf_release(&line);
    if (r->overridden && !c->unset)
        fprintf(stderr, _("tiro: an environment variable overrides %s in %s\n"), c->key, r->path);
}

static bool carry_out(struct change *c, struct error *e)
{
    const struct operation *set = &operation_config_set;
    struct setup setup;
    struct config_set_result r = {0};
    if (!check_words(c, e))
        return false;
    setup_load(&setup);
    struct operation_context context = {.config = setup.config, .check_screen = setup_check_screen};
    const struct config_set_params params = {.key = c->key,
                                             .value = c->unset ? NULL : c->value.data};
    bool ok = operation_call(&context, set, &params, &r, e);
    if (ok)
        tell(c, &r);
    shape_release(set->result, &r);
    setup_release(&setup);
    return ok;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct change c = {0};
    struct error e = {0};
    int status = 0;
    buf_init(&c.value, CONFIG_FILE_MAX);
    if (cli_parse(self, argc, argv, &c, &status) && !carry_out(&c, &e))
        status = cli_fail(&e);
    buf_release(&c.value);
    return status;
}

/* Every key whose name is whole, parted by blanks. */
static char *all_keys(void)
{
    struct buf out = BUF_INIT;
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        if (!config_key_is_free(info))
            buf_addf(&out, "%s.%s ", info->section, info->name);
    }
    for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
        buf_addf(&out, "keys.%s ", action_info((enum action)i)->name);
    return buf_take(&out);
}

const struct cli_command config_change = {
    .name = "set",
    .synopsis = "config set SECTION.KEY VALUE|-|--unset",
    .help = N_("change a key in the configuration file"),
    .details =
        N_("Examples: ui.theme light, keys.send ctrl-s, \"model NAME.window\" 32768. - reads the "
           "value\n"
           "from standard input, the only way for an api_key. The rest of the file is kept."),
    .options = options,
    .most = CLI_MANY,
    .words = {OFFER_CHOICES, .choices = all_keys, .first = true},
    .word = take_word,
    .dashes = true,
    .run = run,
};
