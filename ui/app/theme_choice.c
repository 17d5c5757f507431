#include "ui/app/theme_choice.h"

#include <stdlib.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "config/config_file.h"

struct saving {
    struct errand errand;
    char *name;
    bool saved;
    struct error fault;
};

static void save(struct errand *e)
{
    struct saving *s = (struct saving *)e;
    s->saved = config_file_set("ui", "theme", s->name, &s->fault);
}

static bool is_overridden(const struct app *app)
{
    return config_origin(app->config, CONFIG_UI_THEME) == CONFIG_FROM_ENVIRONMENT;
}

static void say_saved(struct app *app, struct errand *e)
{
    const struct saving *s = (const struct saving *)e;
    if (e->refused)
        app_note_briefly(app, STYLE_WARNING, _("Theme: %s. It could not be saved."), s->name);
    else if (!s->saved)
        app_note_briefly(app, STYLE_WARNING, _("Theme: %s. It could not be saved:\n%s"), s->name,
                         s->fault.text);
    else if (is_overridden(app))
        app_note_briefly(app, STYLE_NOTE,
                         _("Theme: %s, saved in tiro.ini. The variable TIRO_UI_THEME comes before "
                           "that at the next start."),
                         s->name);
    else
        app_note_briefly(app, STYLE_NOTE, _("Theme: %s, saved in tiro.ini."), s->name);
}

static void release(struct errand *e)
{
    struct saving *s = (struct saving *)e;
    free(s->name);
    free(s);
}

void theme_choose(struct app *app, const char *name)
{
    if (!app_set_theme(app, name))
        return;
    struct saving *s = mem_alloc(sizeof *s);
    s->errand = (struct errand){.run = save, .done = say_saved, .release = release};
    s->name = mem_strdup(name);
    errand_start(app->errands, &s->errand);
}
