#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "ui/term/tty.h"
#include "ui/text/format.h"

#define NAMES_AN_ENTRY N_("ID is the id of an entry or the start of it; search and list show ids.")

/* --- memory list ------------------------------------------------------------------------------ */

enum {
    ID_COLUMNS = 24,
    DAY_COLUMNS = 11, /* and the sign that the hour was cut off */
    WHO_COLUMNS = 20,
    WHO_LEAST = 4,
    CONTENT_LEAST = 20,
    ROW_BYTES = 400,
    PAGE = 20
};

static const char *who(const struct memory_entry *entry)
{
    if (entry->speaker)
        return entry->speaker;
    if (entry->role == ROLE_USER)
        return _("you");
    return entry->role == ROLE_ASSISTANT ? "tiro" : _("tool");
}

/* --- how an entry came --- */

static char *origins(void)
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

static bool take_origin(const struct option *self, void *at, const char *value, struct error *e)
{
    (void)self;
    *(const char **)at = value;
    return origin_from(value) > 0 ||
           err_set(e, ERR_USAGE, _("--origin is import, dropped or session, not \"%.40s\""), value);
}

/* clang-format off */
#define VERB_ORIGIN                                                                                \
    {"origin", 0, OPTION_VALUE, "ORIGIN",                                                          \
     N_("only entries of this origin: import, dropped (by a compaction) or session (that was left)"), \
     VERB_AT(origin), .take = take_origin, .offer = {OFFER_CHOICES, .choices = origins}}
/* clang-format on */

static int origin_of(const struct verb_options *o)
{
    return origin_from(o->origin);
}

static const char *origin_words(enum memory_origin origin)
{
    static const char *const words[MEMORY_ORIGINS] = {
        [MEMORY_IMPORTED] = N_("imported"),
        [MEMORY_DROPPED] = N_("dropped by a compaction"),
        [MEMORY_LEFT] = N_("of a conversation that was left")};
    return _(words[origin]);
}

/* --- list --- */

/* clang-format off */
static const struct grid_column list_columns[] = {
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
    grid_add(g, who(entry));
    grid_add(g, entry->pinned ? _("pinned") : NULL);
    buf_clear(&text);
    utf8_add_cut(&text, entry->content, strlen(entry->content), ROW_BYTES);
    grid_add(g, text.data);
    buf_release(&text);
}

static void print_rows(const struct memory_entries *list)
{
    struct grid g = GRID(list_columns);
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
                _("memory has no entries of this origin; tiro memory list shows all"));
    else
        fprintf(
            stderr, "%s\n",
            _("memory is empty; conversations that you leave and tiro memory import add to it"));
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
    const struct memory_list_params params = {.scope = scope,
                                              .filter = {.origin = origin_of(o)},
                                              .limit = is_page(o) ? PAGE + 1 : o->limit};
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

static const struct verb verb_memory_list =
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
    buf_addf(&out, "  %s", who(entry));
    add_remark(&out, entry->pinned, _("pinned"));
    add_remark(&out, entry->edited, _("edited"));
    buf_addf(&out, "\n%s %s", _("session"), entry->session_id);
    if (entry->turn > 0)
        buf_addf(&out, _(", turn %lld"), (long long)entry->turn);
    buf_addf(&out, " · %s\n\n%s\n", origin_words(entry->origin), entry->content);
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

static const struct verb verb_memory_show =
    VERB(operation_memory_read, run_show, .name = "show", .synopsis = "memory show [--json] ID",
         .help = N_("show an entry in full"), .details = NAMES_AN_ENTRY, .options = show_options,
         VERB_WORDS(1, 1, OFFER_NOTHING));

/* --- memory search ---------------------------------------------------------------------------- */

enum { DEFAULT_HITS = 5, MOST_HITS = 1000, INDENT = 2 };

/* A text that is safe to show, on one line, and where its marks are. */
struct excerpt {
    struct buf text;
    VEC(struct memory_span) marks;
};

static void add_clean(struct excerpt *x, const char *text, size_t from, size_t to)
{
    if (to > from)
        utf8_clean(&x->text, text + from, to - from, UTF8_ONE_LINE);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Marks outside of the passage fall away. */
static struct excerpt excerpt_of(const struct memory_hit *h)
{
    struct excerpt x = {.text = BUF_INIT};
    const char *content = h->entry.content;
    size_t len = strlen(content);
    size_t at = least(h->passage.start, len);
    size_t end = h->passage.len > 0 ? at + least(h->passage.len, len - at) : len;
    for (size_t i = 0; i < h->marks.len; i++) {
        struct memory_span m = h->marks.items[i];
        if (m.start < at || m.start > end || m.len > end - m.start)
            continue;
        add_clean(&x, content, at, m.start);
        size_t start = x.text.len;
        add_clean(&x, content, m.start, m.start + m.len);
        vec_push(&x.marks, (struct memory_span){start, x.text.len - start});
        at = m.start + m.len;
    }
    add_clean(&x, content, at, end);
    return x;
}

/* The bytes from `at` to `end`, the marks among them in bold. */
static void add_marked(struct buf *out, const struct excerpt *x, size_t at, size_t end, bool bold)
{
    for (size_t i = 0; bold && i < x->marks.len; i++) {
        struct memory_span m = x->marks.items[i];
        size_t stop = least(m.start + m.len, end);
        if (m.start < at || m.start >= end)
            continue;
        buf_add(out, x->text.data + at, m.start - at);
        buf_addstr(out, "\033[1m");
        buf_add(out, x->text.data + m.start, stop - m.start);
        buf_addstr(out, "\033[0m");
        at = stop;
    }
    buf_add(out, x->text.data + at, end - at);
}

static void add_passage(struct buf *out, const struct memory_hit *h, size_t width, bool bold)
{
    struct excerpt x = excerpt_of(h);
    size_t room = width > INDENT + 1 ? width - INDENT - 1 : 1;
    size_t start = output_start(x.text.data, x.marks.len > 0 ? x.marks.items[0].start : 0, room);
    room -= start > 0 && room > 1; /* for the sign in front */
    size_t end = start + utf8_cut_width(x.text.data + start, x.text.len - start, room);
    buf_addf(out, "%*s%s", INDENT, "", start > 0 ? "…" : "");
    add_marked(out, &x, start, end, bold);
    buf_addstr(out, end < x.text.len ? "…\n" : "\n");
    buf_release(&x.text);
    vec_release(&x.marks);
}

/* What a long answer answers stands above it. */
static void add_question(struct buf *out, const struct memory_hit *h, size_t width)
{
    struct buf line = BUF_INIT;
    if (!h->question)
        return;
    buf_addf(&line, "%*s> ", INDENT, "");
    utf8_clean(&line, h->question, strlen(h->question), UTF8_ONE_LINE);
    size_t end = line.len;
    if (utf8_width(line.data, line.len) > width)
        end = utf8_cut_width(line.data, line.len, width > 1 ? width - 1 : 1);
    buf_add(out, line.data, end);
    buf_addstr(out, end < line.len ? "…\n" : "\n");
    buf_release(&line);
}

/* What a person knows the session by: its title, where it is one that is kept here. */
static char *session_name(struct operation_context *c, const char *id, struct error *e)
{
    struct session_info info = {0};
    struct error here = {0};
    const struct session_params params = {.session = id};
    bool found = uuid_valid(id) &&
                 operation_call(c, &operation_session_read, &params, &info, &here) && *info.title;
    if (here.code == ERR_SESSION_STORE_ERROR)
        *e = here;
    char *name = mem_strdup(found ? info.title : id);
    session_info_release(&info);
    return name;
}

static void add_head(struct buf *out, struct operation_context *c, const struct memory_hit *h,
                     size_t width, struct error *e)
{
    struct buf line = BUF_INIT, clean = BUF_INIT;
    char *session = session_name(c, h->entry.session_id, e);
    buf_addf(&line, "%.2f  %s  ", h->score, h->entry.id);
    output_time(&line, h->entry.created_ms);
    buf_addf(&line, "  %s  %s", who(&h->entry), session);
    utf8_clean(&clean, line.data, line.len, UTF8_ONE_LINE);
    buf_add(out, clean.data, utf8_cut_width(clean.data, clean.len, width));
    buf_addch(out, '\n');
    buf_release(&clean);
    buf_release(&line);
    free(session);
}

static bool can_mark(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

/* Without titles where the sessions cannot be read: ids say it too. */
static void print_hits(struct operation_context *c, const struct memory_hits *hits)
{
    struct error e = {0};
    struct buf out = BUF_INIT;
    size_t width = output_width();
    bool bold = can_mark();
    for (size_t i = 0; i < hits->items.len; i++) {
        add_head(&out, c, &hits->items.items[i], width, &e);
        add_question(&out, &hits->items.items[i], width);
        add_passage(&out, &hits->items.items[i], width, bold);
    }
    fwrite(out.data, 1, out.len, stdout);
    if (e.code == ERR_SESSION_STORE_ERROR)
        cli_fail(&e);
    buf_release(&out);
}

static void say_remarks(const struct memory_hits *hits, bool json)
{
    if (hits->badge)
        fprintf(stderr, "tiro: %s\n", hits->badge);
    if (hits->items.len == 0 && !json)
        fprintf(stderr, "%s\n", _("no matches"));
}

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct memory_found found = {0};
    char *query = verb_join(o, 0);
    const struct memory_search search = {.query = query,
                                         .scope = o->scope,
                                         .filter = {.origin = origin_of(o)},
                                         .limit = o->limit > 0 ? o->limit : DEFAULT_HITS};
    bool ok = operation_call(c, &operation_memory_search, &search, &found, e);
    if (ok && o->json)
        verb_print_json(&operation_memory_search, "hits", &found);
    else if (ok)
        print_hits(c, &found.hits);
    if (ok)
        say_remarks(&found.hits, o->json);
    memory_hits_release(&found.hits);
    free(query);
    return ok;
}

static bool take_limit(const struct option *self, void *at, const char *value, struct error *e)
{
    return cli_take_count(self, at, value, e) &&
           (*(int *)at <= MOST_HITS ||
            err_set(e, ERR_USAGE, _("--limit is at most %d here; give a smaller number"),
                    MOST_HITS));
}

static char *scopes(void)
{
    return mem_strdup("all project session=");
}

static const struct option options[] = {
    {"limit", 0, OPTION_VALUE, "N", N_("at most N matches, up to 1000 (default: 5)"),
     VERB_AT(limit), .take = take_limit},
    {"scope", 0, OPTION_VALUE, "SCOPE",
     N_("all, project (sessions started in this directory) or session=ID (default: as "
        "configured)"),
     VERB_AT(scope), .offer = {OFFER_CHOICES, .choices = scopes}},
    VERB_ORIGIN,
    VERB_JSON,
    {0},
};

static const struct verb verb_memory_search =
    VERB(operation_memory_search, run_search, .name = "search",
         .synopsis = "memory search [OPTION]... QUERY...",
         .help = N_("search the entries, best match first"),
         .details = N_("\"Words in quotes\" must occur in that order; if no entry has them, the "
                       "other words of the query\n"
                       "are searched. After the first word, -word excludes entries that contain "
                       "this word."),
         .options = options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING), .dashes = true);

/* --- memory change ---------------------------------------------------------------------------- */

static bool run_pin(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct memory_pin_params params = {.id = o->words.items[0],
                                             .pinned = strcmp(o->verb->command.name, "pin") == 0};
    return operation_call(c, &operation_memory_pin, &params, NULL, e);
}

static const struct verb verb_memory_pin = VERB(
    operation_memory_pin, run_pin, .name = "pin", .synopsis = "memory pin ID",
    .help = N_("pin an entry: it ranks above equal matches, and later copies do not replace it"),
    .details = NAMES_AN_ENTRY, VERB_WORDS(1, 1, OFFER_NOTHING));

static const struct verb verb_memory_unpin =
    VERB(operation_memory_pin, run_pin, .name = "unpin", .synopsis = "memory unpin ID",
         .help = N_("unpin an entry"), .details = NAMES_AN_ENTRY, VERB_WORDS(1, 1, OFFER_NOTHING));

static bool write_anew(const struct verb_options *o, const struct memory_entry *entry,
                       struct buf *out, struct error *e)
{
    if (o->content) {
        buf_addstr(out, o->content);
        return true;
    }
    if (!isatty(STDIN_FILENO))
        return input_read(out, e);
    return external_editor_run(entry->content, out, e);
}

static bool check_content(const struct buf *text, struct error *e)
{
    if (memchr(text->data, '\0', text->len))
        return err_set(e, ERR_USAGE, _("the text contains a NUL character; remove it"));
    if (text->len > MEMORY_CONTENT_BYTES)
        return err_set(e, ERR_USAGE, _("the text is longer than %d MiB; shorten it"),
                       MEMORY_CONTENT_BYTES >> 20);
    return utf8_valid(text->data, text->len) ||
           err_set(e, ERR_USAGE, _("the text is not UTF-8; convert it"));
}

/* The newline with which editors and shells end a file is no part of the text. */
static bool same_text(const struct buf *text, const char *old)
{
    size_t len = text->len;
    while (len > 0 && text->data[len - 1] == '\n')
        len--;
    return len == strlen(old) && memcmp(text->data, old, len) == 0;
}

static bool read_entry(struct operation_context *c, const char *id, struct memory_entry *out,
                       struct error *e)
{
    const struct memory_read_params params = {.id = id};
    return operation_call(c, &operation_memory_read, &params, out, e);
}

static bool change_entry(struct operation_context *c, const struct verb_options *o,
                         const struct memory_entry *entry, struct buf *text, struct error *e)
{
    if (!write_anew(o, entry, text, e) || !check_content(text, e))
        return false;
    if (same_text(text, entry->content)) {
        fprintf(stderr, "%s\n", _("the text was not changed"));
        return true;
    }
    const struct memory_edit_params params = {.id = entry->id, .content = text->data};
    return operation_call(c, &operation_memory_edit, &params, NULL, e);
}

static bool run_edit(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct memory_entry entry = {0};
    struct buf text;
    buf_init(&text, MEMORY_CONTENT_BYTES);
    bool ok = read_entry(c, o->words.items[0], &entry, e) && change_entry(c, o, &entry, &text, e);
    memory_entry_release(&entry);
    buf_release(&text);
    return ok;
}

static const struct option edit_options[] = {
    {"content", 0, OPTION_VALUE, "TEXT",
     N_("the new text; without it, your editor opens, or standard input is read if it is not a "
        "terminal"),
     VERB_AT(content)},
    {0},
};

static const struct verb verb_memory_edit =
    VERB(operation_memory_edit, run_edit, .name = "edit",
         .synopsis = "memory edit [--content TEXT] ID", .help = N_("change the text of an entry"),
         .details = NAMES_AN_ENTRY, .options = edit_options, VERB_WORDS(1, 1, OFFER_NOTHING));

enum { SHOWN_BYTES = 60 };

static void add_shown(const struct memory_entry *entry, struct buf *out)
{
    struct buf line = BUF_INIT;
    buf_addf(&line, "%s  ", entry->id);
    utf8_add_cut(&line, entry->content, strlen(entry->content), SHOWN_BYTES);
    utf8_clean(out, line.data, line.len, UTF8_ONE_LINE);
    buf_addch(out, '\n');
    buf_release(&line);
}

/* All that are named; false where one is unknown. */
static bool describe_all(struct operation_context *c, const struct verb_options *o, struct buf *out,
                         struct error *e)
{
    for (size_t i = 0; i < o->words.len; i++) {
        struct memory_entry entry = {0};
        if (!read_entry(c, o->words.items[i], &entry, e))
            return false;
        add_shown(&entry, out);
        memory_entry_release(&entry);
    }
    return true;
}

static bool may_delete(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct buf text = BUF_INIT;
    bool ok = describe_all(c, o, &text, e);
    buf_addf(&text,
             ngettext("Delete %zu entry for good? [y/N] ", "Delete %zu entries for good? [y/N] ",
                      (unsigned long)o->words.len),
             o->words.len);
    ok = ok && verb_may_delete(o->yes, &text, e);
    buf_release(&text);
    return ok;
}

static void say_deleted(const struct memory_forget_result *gone)
{
    printf(ngettext("%d entry deleted\n", "%d entries deleted\n", (unsigned long)gone->deleted),
           gone->deleted);
    if (gone->summaries > 0)
        printf(ngettext("%d summary quotes deleted text and is marked\n",
                        "%d summaries quote deleted text and are marked\n",
                        (unsigned long)gone->summaries),
               gone->summaries);
}

static bool run_delete(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct memory_forget_params params = {
        .ids = {.items = o->words.items, .len = o->words.len}};
    struct memory_forget_result gone;
    if (!may_delete(c, o, e) || !operation_call(c, &operation_memory_forget, &params, &gone, e))
        return false;
    say_deleted(&gone);
    return true;
}

static const struct option delete_options[] = {VERB_YES, {0}};

static const struct verb verb_memory_delete =
    VERB(operation_memory_forget, run_delete, .name = "delete",
         .synopsis = "memory delete [--yes] ID...", .help = N_("delete entries for good"),
         .details = N_("Asks once; without a terminal, --yes is required. If one id is "
                       "unknown, nothing is deleted."),
         .options = delete_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

/* --- memory stats ----------------------------------------------------------------------------- */

enum { NAME_LEAST = 12, REMARK_LEAST = 8 };

static const struct grid_column stats_columns[] = {
    {.shrink = NAME_LEAST}, {0}, {.shrink = REMARK_LEAST, .first = true}};

static void add_text(struct grid *g, const char *name, const char *value, const char *remark)
{
    grid_add(g, name);
    grid_add(g, value);
    grid_add(g, remark);
}

static void add_count(struct grid *g, const char *name, int64_t n, const char *remark)
{
    struct buf number = BUF_INIT;
    format_exact(&number, n);
    add_text(g, name, number.data, remark);
    buf_release(&number);
}

static void add_vectors(struct grid *g, const struct memory_stats *s)
{
    if (s->model) {
        add_text(g, _("embedding model"), s->model, NULL);
        if (s->dimension > 0)
            add_count(g, _("dimensions"), s->dimension, NULL);
        add_count(g, _("with a vector"), s->embedded, s->graph ? _("in a graph") : NULL);
        add_count(g, _("without a vector"), s->missing,
                  s->missing > 0 ? _("tiro memory reindex computes them") : NULL);
    }
    if (s->stale > 0)
        add_count(g, _("vectors of other models"), s->stale, NULL);
}

static void print_stats(const struct memory_stats *s)
{
    struct grid g = GRID(stats_columns);
    add_count(&g, _("entries"), s->entries, NULL);
    add_count(&g, _("dropped by compactions"), s->dropped, NULL);
    add_count(&g, _("of conversations that were left"), s->left, NULL);
    add_count(&g, _("imported"), s->entries - s->dropped - s->left, NULL);
    add_count(&g, _("sessions"), s->sessions, NULL);
    add_count(&g, _("pinned"), s->pinned, NULL);
    if (s->deferred > 0)
        add_count(&g, _("messages to be indexed"), s->deferred,
                  _("they are indexed in the background while a conversation is open"));
    if (s->backlog > s->backlog_done)
        add_count(&g, _("conversations to be indexed"), s->backlog - s->backlog_done,
                  _("they are indexed in the background while a conversation is open"));
    if (s->unasked > 0)
        add_count(&g, _("conversations that are not in memory"), s->unasked,
                  _("tiro memory index indexes them"));
    add_count(&g, _("summaries that quote deleted text"), s->flagged, NULL);
    add_count(&g, _("bytes"), s->bytes, s->bytes > 0 ? _("texts, words and vectors") : NULL);
    if (s->language)
        add_text(&g, _("language"), s->language,
                 s->language_stale ? _("another language is configured; run tiro memory reindex")
                                   : NULL);
    add_vectors(&g, s);
    grid_print(&g);
}

static bool run_stats(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct memory_stats stats = {0};
    bool ok = operation_call(c, &operation_memory_stats, NULL, &stats, e);
    if (ok && o->json)
        verb_print_json(&operation_memory_stats, NULL, &stats);
    else if (ok)
        print_stats(&stats);
    memory_stats_release(&stats);
    return ok;
}

static const struct option stats_options[] = {VERB_JSON, {0}};

static const struct verb verb_memory_stats =
    VERB(operation_memory_stats, run_stats, .name = "stats", .synopsis = "memory stats [--json]",
         .help = N_("show the size of the memory"), .options = stats_options);

struct watch {
    bool terminal;    /* standard error is one, to show progress on */
    const char *what; /* that stands on its last line; NULL: nothing */
};

static void end_line(struct watch *w)
{
    if (w->what)
        fputc('\n', stderr);
    w->what = NULL;
}

static const char *words_for(const char *what)
{
    return strcmp(what, "words") == 0      ? _("words")
           : strcmp(what, "sessions") == 0 ? _("conversations")
                                           : _("vectors");
}

static bool tell(void *context, const char *what, int64_t done, int64_t of)
{
    struct watch *w = context;
    if (w->terminal && of > 0) {
        if (w->what && strcmp(w->what, what) != 0)
            end_line(w);
        fprintf(stderr, "\r%s %" PRId64 "/%" PRId64, words_for(what), done, of);
        w->what = what;
    }
    return signals_take() == 0;
}

static bool run_reindex(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .tell = tell, .wake_fd = signals_open(), .context = &watch};
    (void)o;
    c->stream = &stream;
    bool ok = operation_call(c, &operation_memory_reindex, NULL, NULL, e);
    end_line(&watch);
    return ok;
}

static const struct verb verb_memory_reindex =
    VERB(operation_memory_reindex, run_reindex, .name = "reindex", .synopsis = "memory reindex",
         .help = N_("rebuild the word index in the configured language, and compute "
                    "missing vectors"));

static bool choose(const char *word, enum memory_index_choice *out, struct error *e)
{
    *out = word && strcmp(word, "none") == 0 ? MEMORY_INDEX_NONE : MEMORY_INDEX_ALL;
    return !word || strcmp(word, "all") == 0 || *out == MEMORY_INDEX_NONE ||
           err_set(e, ERR_USAGE, _("give all or none, not \"%.40s\""), word);
}

static void print_indexed(const struct memory_index_result *r, enum memory_index_choice choice)
{
    struct buf number = BUF_INIT;
    format_exact(&number, r->sessions);
    unsigned long n = (unsigned long)r->sessions;
    if (choice == MEMORY_INDEX_ALL && n == 0)
        puts(_("every conversation is in memory already"));
    else if (choice == MEMORY_INDEX_ALL)
        printf(ngettext("%s conversation was indexed\n", "%s conversations were indexed\n", n),
               number.data);
    else
        printf(ngettext("%s conversation stays out of memory\n",
                        "%s conversations stay out of memory\n", n),
               number.data);
    buf_release(&number);
}

static bool run_index(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .tell = tell, .wake_fd = signals_open(), .context = &watch};
    struct memory_index_params params;
    struct memory_index_result result = {0};
    if (!choose(o->words.len > 0 ? o->words.items[0] : NULL, &params.sessions, e))
        return false;
    c->stream = &stream;
    bool ok = operation_call(c, &operation_memory_index, &params, &result, e);
    end_line(&watch);
    if (ok)
        print_indexed(&result, params.sessions);
    return ok;
}

static const struct verb verb_memory_index =
    VERB(operation_memory_index, run_index, .name = "index", .synopsis = "memory index [all|none]",
         .help = N_("index the conversations that are not in memory yet"),
         .details = N_("Conversations are indexed when they are left. Conversations from "
                       "before\ntiro did so wait for this command; none keeps them out of memory."),
         VERB_WORDS(0, 1, OFFER_NOTHING));

/* --- memory transfer -------------------------------------------------------------------------- */

static bool run_export(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->output ? o->output : o->words.len > 0 ? o->words.items[0] : "-";
    if (o->output && o->words.len > 0)
        return err_set(e, ERR_USAGE,
                       _("FILE is given twice; give it with -o or without, not both"));
    struct memory_export_result exported;
    return strcmp(path, "-") == 0
               ? verb_write_output(c, &operation_memory_export, NULL, &exported, e)
               : verb_write_file(c, &operation_memory_export, path, o->force, &exported, e);
}

static const struct option export_options[] = {
    {"output", 'o', OPTION_VALUE, "FILE", N_("write to FILE instead of standard output"),
     VERB_AT(output), .offer = {.what = OFFER_FILES}},
    VERB_FORCE,
    {0},
};

static const struct verb verb_memory_export =
    VERB(operation_memory_export, run_export, .name = "export",
         .synopsis = "memory export [--force] [-o FILE | FILE]",
         .help = N_("export every entry to standard output or a file, one JSON object per "
                    "line"),
         .options = export_options, VERB_WORDS(0, 1, OFFER_FILES, .first = true));

struct import_watch {
    bool terminal; /* standard error is one, to show progress on */
    bool shown;
};

static void add_entries(struct buf *out, int64_t count)
{
    struct buf number = BUF_INIT;
    format_exact(&number, count);
    buf_addf(out, ngettext("%s entry", "%s entries", (unsigned long)count), number.data);
    buf_release(&number);
}

static bool tell_import(void *context, const char *what, int64_t stored, int64_t of)
{
    struct import_watch *w = context;
    (void)what, (void)of;
    if (w->terminal) {
        struct buf text = BUF_INIT;
        add_entries(&text, stored);
        fprintf(stderr, "\r%s", text.data);
        buf_release(&text);
        w->shown = true;
    }
    return signals_take() == 0;
}

static void say_imported(int64_t stored)
{
    struct buf text = BUF_INIT;
    add_entries(&text, stored);
    printf(_("%s added"), text.data);
    putchar('\n');
    buf_release(&text);
}

static bool import_stream(struct operation_context *c, FILE *in, const char *name, struct error *e)
{
    struct import_watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .in = in, .name = name, .tell = tell_import, .wake_fd = -1, .context = &watch};
    struct memory_import_result imported;
    signals_open();
    c->stream = &stream;
    bool ok = operation_call(c, &operation_memory_import, NULL, &imported, e);
    if (watch.shown)
        fputc('\n', stderr);
    if (ok || imported.stored > 0)
        say_imported(imported.stored);
    if (ok && imported.stored == 0 && imported.lines > 0)
        fprintf(stderr, "%s\n", _("no new entries"));
    return ok;
}

static bool run_import(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->words.items[0];
    FILE *in = input_open(path, e);
    bool ok = in && import_stream(c, in, in == stdin ? _("standard input") : path, e);
    if (in)
        input_close(in);
    return ok;
}

static const struct verb verb_memory_import =
    VERB(operation_memory_import, run_import, .name = "import", .synopsis = "memory import FILE|-",
         .help = N_("import entries, one JSON object per line"),
         .details = N_(
             "A line is {\"id\", \"session_id\", \"turn\", \"seq\", \"role\", "
             "\"speaker\", \"created_at\",\n"
             "\"content\", \"pinned\", \"edited\"}; session_id, role, created_at and content are "
             "required.\n"
             "Entries of a session must be in its order. Entries that exist already are "
             "skipped; - is\n"
             "standard input."),
         VERB_WORDS(1, 1, OFFER_FILES, .first = true));

/* --- the command --- */

static const struct cli_command *const verbs[] = {
    &verb_memory_list.command,
    &verb_memory_search.command,
    &verb_memory_show.command,
    &verb_memory_edit.command,
    &verb_memory_pin.command,
    &verb_memory_unpin.command,
    &verb_memory_delete.command,
    &verb_memory_export.command,
    &verb_memory_import.command,
    &verb_memory_stats.command,
    &verb_memory_reindex.command,
    &verb_memory_index.command,
    NULL,
};

const struct cli_command cmd_memory = {
    .name = "memory",
    .synopsis = "memory [COMMAND] [OPTION]... [ID]",
    .help = N_("search, list and change memory: what was said in earlier conversations"),
    .details = N_("The default command is list. For details: tiro memory COMMAND --help."),
    .verbs = verbs,
    .run = cli_run_verb,
};
