#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "cli/grid.h"
#include "cli/output.h"
#include "cli/verb.h"

enum {
    SHORT_ID = 8,
    TITLE_COLUMNS = 60,
    TITLE_LEAST = 20,
    MODEL_LEAST = 8,
    DIRECTORY_COLUMNS = 40
};

const char *sessions_short_id(const char *id)
{
    size_t len = strlen(id);
    return len > SHORT_ID ? id + len - SHORT_ID : id;
}

/* clang-format off */
static const struct grid_column columns[] = {
    {0},                                                      /* the id's end */
    {0},                                                      /* when it was updated */
    {.right = true},                                          /* turns */
    {.max = TITLE_COLUMNS, .shrink = TITLE_LEAST},
    {.shrink = MODEL_LEAST},                                  /* model */
    {0},                                                      /* archived */
    {.max = DIRECTORY_COLUMNS},                               /* labels */
};
/* clang-format on */

static void add_text(struct grid *g, struct buf *text)
{
    grid_add(g, text->data);
    buf_clear(text);
}

static void add_title(struct grid *g, const struct session_info *s)
{
    char *draft = session_title_of_draft(s);
    char *text = draft ? mem_printf(_("Draft: %s"), draft) : mem_strdup(s->title);
    grid_add(g, text);
    free(text);
    free(draft);
}

static void add_row(struct grid *g, const struct session_info *s)
{
    struct buf text = BUF_INIT;
    grid_add(g, sessions_short_id(s->id));
    output_time(&text, s->updated_ms);
    add_text(g, &text);
    buf_addf(&text, ngettext("%d turn", "%d turns", (unsigned long)s->turns), s->turns);
    add_text(g, &text);
    add_title(g, s);
    grid_add(g, s->model);
    grid_add(g, s->archived_ms > 0 ? _("archived") : NULL);
    grid_add(g, s->labels);
    buf_release(&text);
}

static void say_nothing_there(const struct operation_context *c, const struct verb_options *o)
{
    bool filtered = o->archived || o->live || o->label || o->directory;
    if (!config_boolean(c->config, CONFIG_SESSION_PERSIST))
        fprintf(stderr, "%s\n", _("sessions are not saved: [session] persist is false"));
    else if (filtered)
        fprintf(stderr, "%s\n", _("no session matches; tiro sessions list shows all"));
    else
        fprintf(stderr, "%s\n", _("no sessions yet; tiro starts one"));
}

static void print_rows(const struct session_list *list)
{
    struct grid g = GRID(columns);
    for (size_t i = 0; i < list->items.len; i++)
        add_row(&g, &list->items.items[i]);
    grid_print(&g);
}

static void print_names(const struct session_list *list)
{
    for (size_t i = 0; i < list->items.len; i++) {
        const struct session_info *s = &list->items.items[i];
        struct buf title = BUF_INIT;
        utf8_clean(&title, s->title, strlen(s->title), UTF8_ONE_LINE);
        printf("%s\t%s\n", sessions_short_id(s->id), title.data);
        buf_release(&title);
    }
}

static bool read_filter(const struct verb_options *o, char *directory,
                        struct session_filter *filter, struct error *e)
{
    if (o->archived && o->live)
        return err_set(e, ERR_USAGE, _("--archived and --live exclude each other; give one"));
    if (o->json && o->names)
        return err_set(e, ERR_USAGE, _("--json and --names exclude each other; give one"));
    *filter = (struct session_filter){.label = o->label,
                                      .directory = directory,
                                      .state = o->archived ? SESSION_ARCHIVED
                                               : o->live   ? SESSION_LIVE
                                                           : SESSION_ANY,
                                      .limit = o->limit};
    return true;
}

/* As sessions have it; one that is gone is taken as it was written. */
static char *resolve_directory(const char *path)
{
    char *resolved = path ? realpath(path, NULL) : NULL;
    return resolved ? resolved : mem_strdup(path);
}

static void print_list(const struct operation_context *c, const struct verb_options *o,
                       const struct session_list_result *found)
{
    if (o->json)
        verb_print_json(&operation_session_list, "sessions", found);
    else if (o->names)
        print_names(&found->sessions);
    else if (found->sessions.items.len == 0)
        say_nothing_there(c, o);
    else
        print_rows(&found->sessions);
}

static bool run_list(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct session_list_result found = {0};
    struct session_filter filter;
    char *directory = resolve_directory(o->directory);
    bool ok = read_filter(o, directory, &filter, e) &&
              operation_call(c, &operation_session_list, &filter, &found, e);
    if (ok)
        print_list(c, o, &found);
    session_list_release(&found.sessions);
    free(directory);
    return ok;
}

static const struct option options[] = {
    VERB_JSON,
    VERB_LIMIT('n', N_("only the newest N")),
    {"archived", 0, OPTION_FLAG, NULL, N_("only archived sessions"), VERB_AT(archived)},
    {"live", 0, OPTION_FLAG, NULL, N_("only sessions that are not archived"), VERB_AT(live)},
    {"label", 'l', OPTION_VALUE, "LABEL", N_("only sessions with the label"), VERB_AT(label)},
    {"directory", 'd', OPTION_VALUE, "DIR",
     N_("only sessions started in DIR; . is the current directory"), VERB_AT(directory),
     .offer = {.what = OFFER_DIRECTORIES}},
    {"names", 0, OPTION_FLAG, NULL,
     N_("one line per session: end of the id, tab, title; for scripts"), VERB_AT(names)},
    {0},
};

const struct verb verb_sessions_list =
    VERB(operation_session_list, run_list, .name = "list", .synopsis = "sessions list [OPTION]...",
         .help = N_("list every session, newest first"), .options = options);
