#include "ui/view/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"

struct sheet *sheet_new(const struct notice *n)
{
    AUTO(json_free_local)
    struct json *params = n->args ? json_parse(n->args, strlen(n->args), NULL) : NULL;
    struct sheet *s = mem_alloc(sizeof *s);
    struct error e;
    *s = (struct sheet){.number = n->number, .server = mem_strdup(n->name ? n->name : "")};
    if (!params || !form_read(&s->form, params, &e)) {
        sheet_free(s);
        return NULL;
    }
    for (size_t i = 0; i < s->form.fields.len; i++) {
        const struct json *preset = s->form.fields.items[i].preset;
        vec_push(&s->values, preset ? json_clone(preset) : NULL);
    }
    s->at = s->form.fields.len;
    return s;
}

void sheet_free(struct sheet *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->values.len; i++)
        json_free(s->values.items[i]);
    vec_release(&s->values);
    form_release(&s->form);
    free(s->server);
    free(s->fault);
    free(s);
}

bool sheet_fills(const struct sheet *s)
{
    return s->at < s->form.fields.len;
}

void sheet_show(struct sheet *s, size_t at)
{
    s->at = at;
    mem_replace(&s->fault, NULL);
}

size_t sheet_missing(const struct sheet *s)
{
    size_t i = 0;
    while (i < s->values.len && (s->values.items[i] || !s->form.fields.items[i].required))
        i++;
    return i;
}

/* --- texts ------------------------------------------------------------------------------------ */

char *sheet_title(const struct sheet *s)
{
    return mem_printf(s->form.url ? _("The MCP server %s wants you to open a page")
                                  : _("The MCP server %s asks you"),
                      s->server);
}

/* Appends the values that the field takes, in one line. */
static void add_hint(const struct form_field *f, struct buf *out)
{
    static const char *const kinds[] = {N_("a text"),         N_("a number"),
                                        N_("a whole number"), N_("yes or no"),
                                        N_("one of these"),   N_("some of these, with commas")};
    static const char *const formats[] = {[FORM_EMAIL] = N_("a mail address"),
                                          [FORM_URI] = N_("an address (URI)"),
                                          [FORM_DATE] = N_("a date such as 2026-11-29"),
                                          [FORM_DATE_TIME] =
                                              N_("a time such as 2026-11-29T12:00:00Z")};
    bool of_text = f->kind == FORM_TEXT;
    buf_addstr(out, _(of_text && f->format ? formats[f->format] : kinds[f->kind]));
    auto_free char *least =
        mem_printf(of_text ? _("at least %g characters") : _("at least %g"), f->least);
    auto_free char *most =
        mem_printf(of_text ? _("at most %g characters") : _("at most %g"), f->most);
    if (isfinite(f->least))
        buf_addf(out, ", %s", least);
    if (isfinite(f->most))
        buf_addf(out, ", %s", most);
    for (size_t i = 0; i < f->options.len; i++)
        buf_addf(out, "\n%3zu  %s", i + 1, f->options.items[i].title);
}

char *sheet_text(const struct sheet *s)
{
    struct buf out = BUF_INIT;
    const struct form *form = &s->form;
    if (sheet_fills(s)) {
        const struct form_field *f = &form->fields.items[s->at];
        auto_free char *place = mem_printf(_("%zu of %zu"), s->at + 1, form->fields.len);
        buf_addf(&out, "%s (%s, %s)\n", f->title, place, f->required ? _("needed") : _("optional"));
        if (f->about)
            buf_addf(&out, "%s\n", f->about);
        add_hint(f, &out);
        return buf_take(&out);
    }
    buf_addf(&out, "%s\n\n", form->message);
    if (form->url) {
        auto_free char *host = mem_printf(_("Host: %s"), form->host);
        buf_addf(&out, "%s\n%s\n%s", host, form->url,
                 _("tiro does not open it. Open it yourself if you trust that host, and agree when "
                   "you are done there."));
    }
    for (size_t i = 0; i < form->fields.len; i++) {
        const struct form_field *f = &form->fields.items[i];
        auto_free char *value = form_field_text(f, s->values.items[i], true);
        const char *shown = *value ? value : f->required ? _("(needed)") : "-";
        buf_addf(&out, "%s%s: %s", i > 0 ? "\n" : "", f->title, shown);
    }
    return buf_take(&out);
}

/* --- values ----------------------------------------------------------------------------------- */

char *sheet_typed(const struct sheet *s)
{
    return form_field_text(&s->form.fields.items[s->at], s->values.items[s->at], false);
}

bool sheet_take(struct sheet *s, const char *typed)
{
    struct error e;
    struct json *value = form_field_parse(&s->form.fields.items[s->at], typed, &e);
    if (e.code != ERR_OK) {
        mem_replace(&s->fault, mem_strdup(e.text));
        return false;
    }
    json_free(s->values.items[s->at]);
    s->values.items[s->at] = value;
    sheet_show(s, s->at + 1);
    return true;
}

struct elicitation_decide_params sheet_answer(const struct sheet *s, enum elicitation_action action,
                                              char **content)
{
    AUTO(json_free_local) struct json *values = json_new_object();
    for (size_t i = 0; i < s->values.len; i++)
        if (s->values.items[i])
            json_set(values, s->form.fields.items[i].name, json_clone(s->values.items[i]));
    *content = action == ELICITATION_ACCEPT && !s->form.url ? json_print(values) : NULL;
    return (struct elicitation_decide_params){
        .number = s->number, .action = action, .content = *content};
}
