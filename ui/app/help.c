#include "ui/app/help.h"

#include "base/i18n.h"
#include "ui/app/slash.h"
#include "ui/term/rows.h"
#include "ui/view/hints.h"

/* A heading has no value and no detail (list.h). */
static void heading(struct list *list, const char *text)
{
    list_add(list, "", NULL, "");
    list_add(list, text, NULL, NULL);
}

static void add_keys(struct list *list, const struct keymap *keymap)
{
    for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
        struct buf keys = BUF_INIT;
        keymap_describe(keymap, (enum action)a, &keys);
        if (keys.len > 0)
            list_add(list, keys.data, _(action_info((enum action)a)->help), "");
        buf_release(&keys);
    }
}

static void add_commands(struct list *list, bool kept)
{
    for (const struct slash_command *c = slash_commands; c->name; c++) {
        struct buf name = BUF_INIT;
        buf_addf(&name, "/%s %s", c->name, c->arguments);
        list_add(list, name.data, slash_help(c, kept), "");
        buf_release(&name);
    }
}

static const struct {
    const char *keys, *help;
} in_lists[] = {
    {"j k g G", N_("in F2, F4, a compaction and the themes: down, up, to the first, to the last")},
    {"n N", N_("in memory: the next entry and the one before; in the context: what a "
               "compaction would drop")},
    {"/", N_("where letters are keys: begin a search or a filter")},
    {N_("letters"), N_("in all other lists, and behind \"/\": filter as you type")},
    {"Enter", N_("choose")},
    {"Esc", N_("close")}};

/* What the last line but one says in a mark or two. */
static void add_marks(struct list *list)
{
    const struct {
        enum glyph mark;
        const char *help;
    } marks[] = {
        {GLYPH_GAUGE_FULL, N_("what the next request contains")},
        {GLYPH_BAR, N_("where automatic compaction begins")},
        {GLYPH_AGAIN, N_("number of compactions")},
    };
    heading(list, _("Status line"));
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        list_add(list, glyph(marks[i].mark), _(marks[i].help), "");
    list_add(list, "~", _("an estimate"), "");
}

static void take_hint(void *context, const char *keys, const char *text)
{
    struct list *list = context;
    if (list_count(list) == 0)
        list_add(list, _("Here"), NULL, NULL);
    list_add(list, keys, text, "");
}

void help_fill(struct list *list, const struct keymap *keymap, struct view *focus, bool kept)
{
    if (focus && focus->ops->rows) {
        hints_collect(take_hint, list);
        (void)focus->ops->rows(focus);
        hints_collect(NULL, NULL);
    }
    if (list_count(list) > 0)
        list_add(list, "", NULL, "");
    list_add(list, _("Write a message and send it; the answer streams in above."), NULL, "");
    list_add(list, _("A text that begins with \"//\" is sent with one slash."), NULL, "");
    heading(list, _("Commands"));
    add_commands(list, kept);
    heading(list, _("Keys ([keys] in tiro.ini changes them)"));
    add_keys(list, keymap);
    heading(list, _("In lists"));
    for (size_t i = 0; i < sizeof in_lists / sizeof *in_lists; i++)
        list_add(list, _(in_lists[i].keys), _(in_lists[i].help), "");
    add_marks(list);
    heading(list, _("Mouse"));
    list_add(list, _("wheel"), _("scrolls; with Shift held, text can be selected"), "");
    list_add(list, _("click"), _("opens and folds a tool call or reasoning, opens a compaction"),
             "");
}
