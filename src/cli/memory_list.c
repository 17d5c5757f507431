#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/grid.h"
#include "cli/output.h"
#include "cli/verb.h"

enum {
    ID_COLUMNS = 24,
    DAY_COLUMNS = 11, /* and the sign that the hour was cut off */
    WHO_COLUMNS = 20,
    WHO_LEAST = 4,
    CONTENT_LEAST = 20,
    ROW_BYTES = 400,
    PAGE = 20
};

const char *memory_who(const struct memory_entry *entry)
{
    if (entry->speaker)
        return entry->speaker;
    if (entry->role == ROLE_USER)
        return _("you");
    return entry->role == ROLE_ASSISTANT ? "tiro" : _("tool");
}

/* --- how an entry came --- */

char *memory_origins(void)
{
    return mem_strdup("import dropped session");
}

static int origin_from(const char *name)
{
    for (int i = 0; name && i < MEMORY_ORIGINS; i++)
        if (strcmp(memory_origin_names.words[i], name) == 0)
            return 1 + i;
    return 0;
}

bool memory_take_origin(const struct option *self, void *at, const char *value, struct error *e)
{
    (void)self;
    *(const char **)at = value;
    return origin_from(value) > 0 ||
           err_set(e, ERR_USAGE, _("--origin is import, dropped or session, not \"%.40s\""), value);
}

int memory_origin_of(const struct verb_options *o)
{
    return origin_from(o->origin);
}

const char *memory_origin_words(enum memory_origin origin)
{
    static const char *const words[MEMORY_ORIGINS] = {
        [MEMORY_IMPORTED] = N_("imported"),
        [MEMORY_DROPPED] = N_("dropped by a compaction"),
        [MEMORY_LEFT] = N_("of a conversation that was left")};
    return _(words[origin]);
}

/* --- list --- */

/* clang-format off */
static const struct grid_column columns[] = {
    {.max = ID_COLUMNS},
    {.shrink = DAY_COLUMNS},                                  /* when it was said */
    {.max = WHO_COLUMNS, .shrink = WHO_LEAST},
    {0},                                                      /* pinned */
    {.shrink = CONTENT_LEAST, .first = true},
};
/* clang-format on */

static void add_row(struct grid *g, const struct memory_entry *entry)
{
    struct buf text = BUF_INIT;
    grid_add(g, entry->id);
    output_time(&text, entry->created_ms);
    grid_add(g, text.data);
    grid_add(g, memory_who(entry));
    grid_add(g, entry->pinned ? _("pinned") : NULL);
    buf_clear(&text);
    utf8_add_cut(&text, entry->content, strlen(entry->content), ROW_BYTES);
    grid_add(g, text.data);
    buf_release(&text);
}

static void print_rows(const struct memory_entries *list)
{
    struct grid g = GRID(columns);
    for (size_t i = 0; i < list->items.len; i++)
        add_row(&g, &list->items.items[i]);
    grid_print(&g);
}

static void say_nothing_there(const struct verb_options *o)
{
    if (o->session)
        fprintf(stderr, "%s\n",
                _("memory has no entries of this session; tiro memory list shows all"));
    else if (o->origin)
        fprintf(stderr, "%s\n",
                _("memory has no entries that came so; tiro memory list shows all"));
    else
        fprintf(stderr, "%s\n",
                _("memory is empty: conversations that you leave and tiro memory import fill it"));
}

/* A terminal gets one page, a pipe or a file everything. */
static bool is_page(const struct verb_options *o)
{
    return o->limit == 0 && !o->json && isatty(STDOUT_FILENO);
}

static void print_page(struct memory_entries *list)
{
    bool more = list->items.len > PAGE;
    if (more)
        memory_entry_release(&vec_last(&list->items));
    list->items.len -= more;
    print_rows(list);
    fflush(stdout);
    if (more)
        fprintf(stderr,
                _("only the newest %d are shown; --limit N shows more, tiro memory list | less "
                  "shows all\n"),
                PAGE);
}

static void print_list(struct memory_entries *list, const struct verb_options *o)
{
    if (o->json)
        verb_print_json(&operation_memory_list, "entries", list);
    else if (list->items.len == 0)
        say_nothing_there(o);
    else if (is_page(o))
        print_page(list);
    else
        print_rows(list);
}

static bool run_list(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct memory_entries list = {0};
    char *scope = o->session ? mem_printf("session=%s", o->session) : mem_strdup("all");
    const struct memory_list_params params = {
        .scope = scope, .filter = {.origin = memory_origin_of(o)}, .limit = is_page(o) ? PAGE + 1 : o->limit};
    bool ok = operation_call(c, &operation_memory_list, &params, &list, e);
    if (ok)
        print_list(&list, o);
    memory_entries_release(&list);
    free(scope);
    return ok;
}

static const struct option list_options[] = {
    {"session", 0, OPTION_VALUE, "SESSION", N_("only entries of this session"), VERB_AT(session),
     .offer = {.what = OFFER_SESSIONS}},
    VERB_ORIGIN,
    VERB_LIMIT('n', N_("only the newest N (default: 20 on a terminal, else all)")),
    VERB_JSON,
    {0},
};

const struct verb verb_memory_list =
    VERB(operation_memory_list, run_list, .name = "list", .synopsis = "memory list [OPTION]...",
         .help = N_("list the entries, newest first"),
         .details = N_("On a terminal, the newest 20 are shown unless --limit is given; "
                       "to a pipe or a file, and\n"
                       "with --json, all are written."),
         .options = list_options);

static void add_remark(struct buf *out, bool there, const char *remark)
{
    if (there)
        buf_addf(out, " · %s", remark);
}

static void print_entry(const struct memory_entry *entry)
{
    struct buf out = BUF_INIT;
    buf_addf(&out, "%s  ", entry->id);
    output_time(&out, entry->created_ms);
    buf_addf(&out, "  %s", memory_who(entry));
    add_remark(&out, entry->pinned, _("pinned"));
    add_remark(&out, entry->edited, _("edited"));
    buf_addf(&out, "\n%s %s", _("session"), entry->session_id);
    if (entry->turn > 0)
        buf_addf(&out, _(", turn %lld"), (long long)entry->turn);
    buf_addf(&out, " · %s\n\n%s\n", memory_origin_words(entry->origin), entry->content);
    output_text(out.data);
    buf_release(&out);
}

static bool run_show(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct memory_read_params params = {.id = o->words.items[0]};
    struct memory_entry entry = {0};
    if (!operation_call(c, &operation_memory_read, &params, &entry, e))
        return false;
    if (o->json)
        verb_print_json(&operation_memory_read, NULL, &entry);
    else
        print_entry(&entry);
    memory_entry_release(&entry);
    return true;
}

static const struct option show_options[] = {VERB_JSON, {0}};

const struct verb verb_memory_show =
    VERB(operation_memory_read, run_show, .name = "show", .synopsis = "memory show [--json] ID",
         .help = N_("show an entry in full"), .details = NAMES_AN_ENTRY, .options = show_options,
         VERB_WORDS(1, 1, OFFER_NOTHING));
