#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/command_line.h"
#include "cli/confirm.h"
#include "cli/sessions.h"

static bool is_among(const struct session_list *list, const char *id)
{
    for (size_t i = 0; i < list->items.len; i++)
        if (strcmp(list->items.items[i].id, id) == 0)
            return true;
    return false;
}

/* All that are named, each once: before the first goes, as "last" is another one afterwards. */
static bool find_all(struct operation_context *c, const struct sessions_options *o,
                     struct session_list *out, struct error *e)
{
    for (size_t i = 0; i < o->words.len; i++) {
        struct session_info info;
        const struct session_params params = {.session = o->words.items[i]};
        if (!operation_call(c, &operation_session_read, &params, &info, e))
            return false;
        if (is_among(out, info.id))
            session_info_release(&info);
        else
            vec_push(&out->items, info);
    }
    return true;
}

static bool ask(const struct session_list *list)
{
    struct buf text = BUF_INIT;
    size_t count = list->items.len;
    for (size_t i = 0; i < count; i++) {
        const struct session_info *s = &list->items.items[i];
        buf_addf(&text, "%s  ", sessions_short_id(s->id));
        utf8_clean(&text, s->title, strlen(s->title), UTF8_ONE_LINE);
        buf_addch(&text, '\n');
    }
    buf_addf(&text,
             ngettext("Delete %zu session for good? [y/N] ", "Delete %zu sessions for good? [y/N] ",
                      (unsigned long)count),
             count);
    bool yes = confirm(text.data);
    buf_release(&text);
    return yes;
}

static bool may_delete(const struct session_list *list, bool yes, struct error *e)
{
    if (yes)
        return true;
    if (!confirm_possible())
        return err_set(e, ERR_USAGE,
                       _("cannot ask without a terminal; --yes deletes without asking"));
    return ask(list) ||
           err_set(e, ERR_INTERRUPTED,
                   _("not confirmed, so nothing was deleted; --yes deletes without asking"));
}

/* One that is open elsewhere does not keep the others. */
static int delete_each(struct operation_context *c, const struct session_list *list)
{
    int status = 0;
    for (size_t i = 0; i < list->items.len; i++) {
        struct error e = {0};
        struct session_changed deleted;
        const struct session_params params = {.session = list->items.items[i].id};
        if (!operation_call(c, &operation_session_delete, &params, &deleted, &e))
            status = cli_fail(&e);
    }
    return status;
}

int verb_delete(struct operation_context *c, const struct sessions_options *o)
{
    struct session_list list = {0};
    struct error e = {0};
    bool ok = find_all(c, o, &list, &e) && may_delete(&list, o->yes, &e);
    int status = ok ? delete_each(c, &list) : cli_fail(&e);
    session_list_release(&list);
    return status;
}
