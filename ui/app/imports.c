#include "ui/app/imports.h"

#include <stdlib.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/memory_operations.h"

char *imports_told(const struct import_report *r, const char *find)
{
    struct import_progress sum = {0};
    import_report_sum(r, &sum);
    if (sum.messages == 0)
        return mem_strdup(_("There is nothing new in the histories of other agents."));
    auto_free char *labels = import_report_labels(r);
    auto_free char *told =
        mem_printf(_("%lld %s, %lld %s from %s."), (long long)sum.conversations,
                   ngettext("conversation", "conversations", (unsigned long)sum.conversations),
                   (long long)sum.messages,
                   ngettext("message", "messages", (unsigned long)sum.messages), labels);
    return mem_printf("%s %s", told, find);
}

static bool take_imported(struct app *app, struct operation_answer *a, const char *words)
{
    AUTO(buf_release) struct buf list = BUF_INIT, search = BUF_INIT;
    bool memory = app->pane_host.offers(app, &operation_memory_search);
    app->import.run = 0;
    app_touch_now(app, DIRTY_STATUS);
    if (words)
        return false;
    keymap_describe_first(&app->keymap, ACTION_SESSIONS, &list);
    keymap_describe_first(&app->keymap, ACTION_MEMORY, &search);
    auto_free char *find =
        memory ? mem_printf(_("%s lists and searches them, %s finds what was said."), list.data,
                            search.data)
               : mem_printf(_("%s lists and searches them."), list.data);
    auto_free char *told = imports_told(a->result, find);
    app_note(app, STYLE_NOTE, "%s", told);
    return true;
}

void imports_run(struct app *app, const char *path)
{
    const struct import_params params = {.paths = {.items = &path, .len = *path != '\0'}};
    if (app->import.run) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("An import runs already."));
        return;
    }
    app->import.percent = 0;
    app->import.run = app_ask(app, &operation_import_run, &params, take_imported);
    app_touch_now(app, DIRTY_STATUS);
}

void imports_take_state(struct app *app, const struct notice *n)
{
    app->import.percent = (int)(n->import.files * 100 / n->import.of);
    app_touch_now(app, DIRTY_STATUS);
}

bool imports_stop(struct app *app)
{
    if (!app->import.run)
        return false;
    asked_withdraw(app, NULL, app->import.run);
    app->import.run = 0;
    app_note(app, STYLE_NOTE, "%s",
             _("The import is stopped. What was read is kept, and /import goes on from there."));
    app_touch_now(app, DIRTY_STATUS);
    return true;
}
