#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "ui/text/format.h"
#include "ui/view/sessions_private.h"

char *sessions_title(const struct session_info *info)
{
    char *draft = session_title_of_draft(info);
    char *text = draft          ? mem_printf(_("Draft: %s"), draft)
                 : *info->title ? mem_strdup(info->title)
                                : mem_strdup(_("(untitled)"));
    char *clean = sessions_clean(text);
    free(text);
    free(draft);
    return clean;
}

/* Of the conversations that are not shown; NULL: none has it. */
static const char *doing_of(const struct sessions *s, const char *id)
{
    const struct view_host *host = s->view.host;
    bool waits;
    if (!host->works || !host->works(host->app, id, &waits))
        return NULL;
    return waits ? _("waits for you") : _("working");
}

static void write_state(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    bool open = strcmp(info->id, s->view.host->session->id) == 0;
    const char *words[] = {open ? _("open") : NULL, doing_of(s, info->id),
                           info->archived_ms > 0 ? _("archived") : NULL};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i])
            buf_addf(out, "%s%s", out->len > 0 ? ", " : "", words[i]);
}

static void write_age(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    (void)s;
    format_age(out, info->updated_ms, clock_wall_ms());
}

static void write_messages(const struct sessions *s, const struct session_info *info,
                           struct buf *out)
{
    (void)s;
    buf_addf(out, ngettext("%lld message", "%lld messages", (unsigned long)info->messages),
             (long long)info->messages);
}

void sessions_write_labels(const struct session_info *info, struct buf *out)
{
    for (const char *at = info->labels; at && *(at += strspn(at, " ")); at += strcspn(at, " "))
        buf_addf(out, "%s#%.*s", out->len > 0 ? " " : "", (int)strcspn(at, " "), at);
}

static void write_labels(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    (void)s;
    sessions_write_labels(info, out);
}

static void write_tokens(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    const struct usage *u = &info->usage;
    (void)s;
    if (!usage_known(u))
        return;
    buf_addstr(out, u->estimated ? "~" : "");
    format_short(out, (u->input > 0 ? u->input : 0) + (u->output > 0 ? u->output : 0));
    buf_addstr(out, _(" tokens"));
}

static void write_model(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    (void)s;
    buf_addstr(out, info->model ? info->model : "");
}

static void (*const session_fields[SESSIONS_FIELDS])(const struct sessions *s,
                                                     const struct session_info *info,
                                                     struct buf *out) = {
    [SESSIONS_STATE] = write_state,       [SESSIONS_AGE] = write_age,
    [SESSIONS_MESSAGES] = write_messages, [SESSIONS_TOKENS] = write_tokens,
    [SESSIONS_MODEL] = write_model,       [SESSIONS_LABELS] = write_labels};

bool sessions_field_is_cut(size_t field)
{
    return field == SESSIONS_MODEL || field == SESSIONS_LABELS;
}

static void write_hit_title(const struct search_hit *hit, struct buf *out)
{
    buf_addstr(out, hit->title && *hit->title ? hit->title : _("(untitled)"));
}

static void write_who(const struct search_hit *hit, struct buf *out)
{
    buf_addstr(out, hit->role == ROLE_USER        ? _("you")
                    : hit->role == ROLE_ASSISTANT ? _("tiro")
                                                  : _("tool"));
}

static void write_hit_age(const struct search_hit *hit, struct buf *out)
{
    format_age(out, hit->at_ms, clock_wall_ms());
}

static void write_hit_state(const struct search_hit *hit, struct buf *out)
{
    buf_addstr(out, hit->archived ? _("archived") : "");
}

static void (*const hit_fields[])(const struct search_hit *hit, struct buf *out) = {
    write_who, write_hit_age, write_hit_title, write_hit_state};

enum { HIT_FIELDS = sizeof hit_fields / sizeof *hit_fields };

char *sessions_field(const struct sessions *s, struct sessions_entry entry, size_t field)
{
    struct buf out = BUF_INIT;
    if (entry.session && field < SESSIONS_FIELDS)
        session_fields[field](s, entry.session, &out);
    else if (entry.hit && field < HIT_FIELDS)
        hit_fields[field](entry.hit, &out);
    char *clean = sessions_clean(out.data);
    buf_release(&out);
    return clean;
}
