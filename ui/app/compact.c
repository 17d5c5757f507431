#include "ui/app/compact.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/keys.h"

static const struct {
    const char *name;
    bool keeps_ends;
    const char *help;
} modes[] = {
#define X(id, name, keeps_ends, help) {name, keeps_ends, help},
    COMPACTION_MODES(X)
#undef X
};

enum { MODES = sizeof modes / sizeof *modes };

static const char preview[] = "--preview";
static const char blanks[] = " \t\n";

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

static const char *find_mode(const char *text, size_t len)
{
    for (size_t i = 0; i < MODES; i++)
        if (is_word(text, len, modes[i].name))
            return modes[i].name;
    return NULL;
}

/* The mode that a lone word was perhaps to be; NULL: it is a focus like any other. */
static const char *slip_of(const struct compact_words *words)
{
    const char *names[MODES];
    bool alone = !words->mode && words->focus[strcspn(words->focus, blanks)] == '\0';
    for (size_t i = 0; i < MODES; i++)
        names[i] = modes[i].name;
    return alone ? config_nearest(words->focus, names, MODES) : NULL;
}

struct compact_words compact_parse(const char *arguments)
{
    struct compact_words words = {.focus = ""};
    for (const char *p = arguments; *(p += strspn(p, blanks));) {
        size_t len = strcspn(p, blanks);
        const char *mode = words.mode ? NULL : find_mode(p, len);
        if (mode) {
            words.mode = mode;
        } else if (is_word(p, len, preview)) {
            words.preview = true;
        } else {
            if (strncmp(p, "--", 2) == 0)
                words.unknown = p;
            else
                words.focus = p;
            return words;
        }
        p += len;
    }
    return words;
}

char *compact_read(const char *arguments, struct compaction_run_params *out)
{
    struct compact_words words = compact_parse(arguments);
    const char *slip = slip_of(&words);
    if (slip)
        return mem_printf(
            _("There is no mode %s. Did you mean %s? To use it as the focus, write more than one "
              "word."),
            words.focus, slip);
    if (words.unknown)
        return mem_printf(_("/compact has no option %.*s; %s shows the draft first."),
                          (int)strcspn(words.unknown, blanks), words.unknown, preview);
    *out = (struct compaction_run_params){
        .mode = words.mode, .focus = *words.focus ? words.focus : NULL, .preview = words.preview};
    return NULL;
}

void compact_send(struct app *app, const char *arguments)
{
    struct compaction_run_params params;
    char *complaint = compact_read(arguments, &params);
    app_follow(app);
    if (complaint)
        app_note(app, STYLE_WARNING, "%s", complaint);
    else
        (void)app_ask(app, &operation_compaction_run, &params, NULL);
    free(complaint);
}

static void offer(struct list *list, const char *name, const char *help, const char *word)
{
    if (strncmp(name, word, strlen(word)) == 0)
        list_add(list, name, help, name);
}

static const char *mode_that_keeps_less(void)
{
    for (size_t i = 0; i < MODES; i++)
        if (!modes[i].keeps_ends)
            return modes[i].name;
    return "";
}

static bool keeps_ends(const char *mode)
{
    for (size_t i = 0; i < MODES; i++)
        if (strcmp(modes[i].name, mode) == 0)
            return modes[i].keeps_ends;
    return false;
}

static char *keys_of_ends(const struct config *config)
{
    static const enum config_key keys[] = {CONFIG_COMPACTION_PROTECT_HEAD,
                                           CONFIG_COMPACTION_PROTECT_TAIL,
                                           CONFIG_COMPACTION_TAIL_RATIO};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        buf_addf(&out, "%s%s = %s", i > 0 ? ", " : "", config_key_info(keys[i])->name,
                 config_string(config, keys[i]));
    return buf_take(&out);
}

char *compact_all_stays(const struct config *config, const char *asked)
{
    const char *mode = asked && *asked ? asked : config_string(config, CONFIG_COMPACTION_MODE);
    if (!keeps_ends(mode))
        return mem_printf(_("Nothing to compact: only summaries and pinned messages are left, "
                            "which %s does not shorten."),
                          mode);
    char *keys = keys_of_ends(config);
    char *words =
        mem_printf(_("Nothing to compact: %s keeps everything, because of [compaction] %s. "
                     "Lower these settings, or use a mode that keeps less: /compact %s."),
                   mode, keys, mode_that_keeps_less());
    free(keys);
    return words;
}

void compact_list(struct list *list, const char *before, const char *word)
{
    struct compact_words words = compact_parse(before);
    if (words.unknown || *words.focus)
        return;
    for (size_t i = 0; !words.mode && i < MODES; i++)
        offer(list, modes[i].name, _(modes[i].help), word);
    if (!words.preview)
        offer(list, preview, _("show the summary first, to edit, accept or reject it"), word);
}
