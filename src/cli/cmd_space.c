#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "session/space_operations.h"
#include "ui/text/format.h"

static void print_spaces(const struct verb_call *v, const void *result)
{
    static const struct grid_column columns[] = {{.first = true}, {0}, {0}, {0}, {0},
                                                 {.shrink = 20}};
    const struct space_rows *rows = result;
    struct grid g = GRID(columns);
    (void)v;
    for (size_t i = 0; i < rows->items.len; i++) {
        const struct space_row *r = &rows->items.items[i];
        AUTO(buf_release) struct buf text = BUF_INIT;
        grid_add(&g, r->name);
        buf_addf(&text, _("%s (%s)"), r->person, _(space_role_word(r->role)));
        grid_add(&g, text.data);
        buf_clear(&text);
        buf_addf(&text, ngettext("%lld entry", "%lld entries", (unsigned long)r->entries),
                 (long long)r->entries);
        buf_addf(&text, _(", %lld of others"), (long long)r->foreign);
        grid_add(&g, text.data);
        buf_clear(&text);
        buf_addf(&text, _("%lld waiting"), (long long)r->waiting);
        grid_add(&g, text.data);
        buf_clear(&text);
        if (r->read_ms > 0)
            format_time(&text, r->read_ms);
        grid_add(&g, r->read_ms > 0 ? text.data : _("never read"));
        grid_add(&g, r->url);
    }
    grid_print(&g);
}

static void print_code(const struct verb_call *v, const void *result)
{
    const struct space_code *code = result;
    (void)v;
    printf("%s\n", code->code);
    fprintf(stderr, "%s\n", _("Send this code to the person, who runs tiro space join CODE."));
}

static void print_members(const struct verb_call *v, const void *result)
{
    static const struct grid_column columns[] = {{.first = true}, {0}, {0}, {.shrink = 20}};
    const struct space_persons *members = result;
    struct grid g = GRID(columns);
    (void)v;
    for (size_t i = 0; i < members->items.len; i++) {
        const struct space_person *m = &members->items.items[i];
        AUTO(buf_release) struct buf text = BUF_INIT;
        grid_add(&g, m->person);
        grid_add(&g, _(space_role_word(m->role)));
        if (m->seen_ms > 0)
            format_time(&text, m->seen_ms);
        grid_add(&g, m->seen_ms > 0 ? text.data : _("never read"));
        buf_clear(&text);
        if (m->words)
            buf_addf(&text, "%s%s", m->admitted ? "" : _("not admitted: "), m->words);
        grid_add(&g, text.data);
    }
    grid_print(&g);
}

static void print_warnings(const struct verb_call *v, const void *result)
{
    const struct space_warnings *found = result;
    (void)v;
    for (size_t i = 0; i < found->warnings.len; i++)
        printf("%s\n", found->warnings.items[i]);
    if (found->warnings.len == 0)
        printf("%s\n", _("Nobody sees or changes more than the roles allow."));
}

static void print_sql(const struct verb_call *v, const void *result)
{
    (void)v;
    fputs(((const struct space_sql *)result)->sql, stdout);
}

static void print_shared(const struct verb_call *v, const void *result)
{
    const struct space_share_result *r = result;
    (void)v;
    printf("%s %s; %s: %lld\n", _(r->what), r->space, _(r->noun), (long long)r->entries);
}

/* Before anything leaves the machine, shows how much it is and ten samples, and asks. */
static bool run_share(struct verb_call *v, struct error *e)
{
    const struct operation *o = v->verb->operation;
    struct space_share_params *p = v->params;
    struct space_share_result found;
    AUTO(buf_release) struct buf question = BUF_INIT;
    bool dry = p->dry_run;
    if (p->off)
        return verb_call(v, e);
    p->dry_run = true;
    if (!operation_call(v->context, o, p, &found, e))
        return false;
    for (size_t i = 0; i < found.samples.len && !v->json; i++) {
        AUTO(buf_release) struct buf line = BUF_INIT;
        utf8_clean(&line, found.samples.items[i], strlen(found.samples.items[i]), UTF8_ONE_LINE);
        fprintf(stderr, "  %.*s\n", (int)utf8_cut_width(line.data, line.len, output_width() - 3),
                line.data);
    }
    buf_addf(&question,
             ngettext("Share %lld entry with %s, and what comes later? [y/N] ",
                      "Share %lld entries with %s, and what comes later? [y/N] ",
                      (unsigned long)found.entries),
             (long long)found.entries, found.space);
    bool asks = found.entries > 0 && !dry;
    shape_release(o->result, &found);
    p->dry_run = dry;
    if (asks && !v->yes && !confirm_possible())
        return err_set(e, ERR_USAGE,
                       _("cannot ask without a terminal; --yes shares without asking"));
    if (asks && !v->yes && !confirm(question.data))
        return err_set(e, ERR_INTERRUPTED, _("not confirmed, so nothing is shared"));
    return verb_call(v, e);
}

static const struct verb_more more[] = {
    {&operation_space_status, .print = print_spaces, .member = "spaces"},
    {&operation_space_invite, .print = print_code},
    {&operation_space_members, .print = print_members, .member = "members"},
    {&operation_space_sync, .print = verb_print_figures, .watched = true},
    {&operation_space_check, .print = print_warnings},
    {&operation_space_sql, .print = print_sql},
    {&operation_space_share, .run = run_share, .print = print_shared, .asks = true},
    {0},
};

VERB_GROUP(space, "[ARGUMENT]...", N_("share memory between machines and people"),
           N_("The default command is status. For details: tiro space COMMAND --help."))
