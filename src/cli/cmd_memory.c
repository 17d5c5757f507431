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
    DAY_COLUMNS = 11, /* a day and the ellipsis of the cut hour */
    SPEAKER_COLUMNS = 20,
    SPEAKER_LEAST = 4,
    CONTENT_LEAST = 20,
    ROW_BYTES = 400,
    PAGE = 20
};

static const char *speaker_of(const struct memory_entry *entry)
{
    if (entry->speaker)
        return entry->speaker;
    if (entry->role == ROLE_USER)
        return _("you");
    return entry->role == ROLE_ASSISTANT ? "tiro" : _("tool");
}

/* --- the origin of entries --- */

/* 0: all origins, or the name is unknown. */
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
     VERB_AT(origin), .take = take_origin, .offer = {OFFER_CHOICES, .fixed = "import dropped session"}}
/* clang-format on */

/* clang-format off */
static const struct grid_column list_columns[] = {
    {.max = ID_COLUMNS},
    {.shrink = DAY_COLUMNS},                                  /* time */
    {.max = SPEAKER_COLUMNS, .shrink = SPEAKER_LEAST},
    {0},                                                      /* pinned */
    {.shrink = CONTENT_LEAST, .first = true},
};
/* clang-format on */

static void print_rows(const struct memory_entries *list)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct grid g = GRID(list_columns);
    for (size_t i = 0; i < list->items.len; i++) {
        const struct memory_entry *entry = &list->items.items[i];
        grid_add(&g, entry->id);
        buf_clear(&text);
        output_time(&text, entry->created_ms);
        grid_add(&g, text.data);
        grid_add(&g, speaker_of(entry));
        grid_add(&g, entry->pinned ? _("pinned") : NULL);
        buf_clear(&text);
        utf8_add_cut(&text, entry->content, strlen(entry->content), ROW_BYTES);
        grid_add(&g, text.data);
    }
    grid_print(&g);
}

/* Without --limit, a terminal shows one page; a pipe or a file gets everything. */
static bool run_list(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    AUTO(memory_entries_release) struct memory_entries list = {0};
    auto_free char *scope = o->session ? mem_printf("session=%s", o->session) : mem_strdup("all");
    bool page = o->limit == 0 && !o->json && isatty(STDOUT_FILENO);
    const struct memory_list_params params = {.scope = scope,
                                              .filter = {.origin = origin_from(o->origin)},
                                              .limit = page ? PAGE + 1 : o->limit};
    if (!operation_call(c, &operation_memory_list, &params, &list, e))
        return false;
    if (o->json) {
        verb_print_json(&operation_memory_list, "entries", &list);
        return true;
    }
    if (list.items.len == 0)
        fprintf(stderr, "%s\n",
                o->session  ? _("memory has no entries of this session; tiro memory list shows all")
                : o->origin ? _("memory has no entries of this origin; tiro memory list shows all")
                            : _("memory is empty; conversations that you leave and tiro memory "
                                "import add to it"));
    bool more = page && list.items.len > PAGE;
    if (more)
        memory_entry_release(&list.items.items[--list.items.len]);
    print_rows(&list);
    fflush(stdout);
    if (more)
        fprintf(stderr,
                _("only the newest %d are shown; --limit N shows more, tiro memory list | less "
                  "shows all\n"),
                PAGE);
    return true;
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

/* --- memory show ------------------------------------------------------------------------------ */

static void print_entry(const void *result)
{
    static const char *const origin_words[MEMORY_ORIGINS] = {
        [MEMORY_IMPORTED] = N_("imported"),
        [MEMORY_DROPPED] = N_("dropped by a compaction"),
        [MEMORY_LEFT] = N_("of a conversation that was left")};
    const struct memory_entry *entry = result;
    AUTO(buf_release) struct buf out = BUF_INIT;
    buf_addf(&out, "%s  ", entry->id);
    output_time(&out, entry->created_ms);
    buf_addf(&out, "  %s", speaker_of(entry));
    if (entry->pinned)
        buf_addf(&out, " · %s", _("pinned"));
    if (entry->edited)
        buf_addf(&out, " · %s", _("edited"));
    buf_addf(&out, "\n%s %s", _("session"), entry->session_id);
    if (entry->turn > 0)
        buf_addf(&out, _(", turn %lld"), (long long)entry->turn);
    buf_addf(&out, " · %s\n\n%s\n", _(origin_words[entry->origin]), entry->content);
    output_text(out.data);
}

static bool run_show(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct memory_read_params params = {.id = o->words.items[0]};
    return verb_show(c, o, &operation_memory_read, &params, NULL, print_entry, e);
}

static const struct verb verb_memory_show =
    VERB(operation_memory_read, run_show, .name = "show", .synopsis = "memory show [--json] ID",
         .help = N_("show an entry in full"), .details = NAMES_AN_ENTRY,
         .options = verb_json_options, VERB_WORDS(1, 1, OFFER_NOTHING));

/* --- memory search ---------------------------------------------------------------------------- */

enum { DEFAULT_HITS = 5, MOST_HITS = 1000, INDENT = 2 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The passage of a hit, cleaned and on one line, and the marks in it. */
struct excerpt {
    struct buf text;
    VEC(struct memory_span) marks;
};

/* Leaves out marks that are not within the passage. */
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
        utf8_clean(&x.text, content + at, m.start - at, UTF8_ONE_LINE);
        size_t start = x.text.len;
        utf8_clean(&x.text, content + m.start, m.len, UTF8_ONE_LINE);
        vec_push(&x.marks, (struct memory_span){start, x.text.len - start});
        at = m.start + m.len;
    }
    utf8_clean(&x.text, content + at, end - at, UTF8_ONE_LINE);
    return x;
}

/* One line around the first mark, with the marks in bold. */
static void add_passage(struct buf *out, const struct memory_hit *h, size_t width, bool bold)
{
    struct excerpt x = excerpt_of(h);
    size_t room = width > INDENT + 1 ? width - INDENT - 1 : 1;
    size_t at = output_start(x.text.data, x.marks.len > 0 ? x.marks.items[0].start : 0, room);
    room -= at > 0 && room > 1; /* for the ellipsis in front */
    size_t end = at + utf8_cut_width(x.text.data + at, x.text.len - at, room);
    buf_addf(out, "%*s%s", INDENT, "", at > 0 ? "…" : "");
    for (size_t i = 0; bold && i < x.marks.len; i++) {
        struct memory_span m = x.marks.items[i];
        size_t stop = least(m.start + m.len, end);
        if (m.start < at || m.start >= end)
            continue;
        buf_add(out, x.text.data + at, m.start - at);
        buf_addstr(out, "\033[1m");
        buf_add(out, x.text.data + m.start, stop - m.start);
        buf_addstr(out, "\033[0m");
        at = stop;
    }
    buf_add(out, x.text.data + at, end - at);
    buf_addstr(out, end < x.text.len ? "…\n" : "\n");
    buf_release(&x.text);
    vec_release(&x.marks);
}

/* The question stands above a long answer. */
static void add_question(struct buf *out, const struct memory_hit *h, size_t width)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    buf_addf(&line, "%*s> ", INDENT, "");
    utf8_clean(&line, h->question, strlen(h->question), UTF8_ONE_LINE);
    size_t end = line.len;
    if (utf8_width(line.data, line.len) > width)
        end = utf8_cut_width(line.data, line.len, width > 1 ? width - 1 : 1);
    buf_add(out, line.data, end);
    buf_addstr(out, end < line.len ? "…\n" : "\n");
}

/* The score, the id, the time, the speaker and the session: its title, or its id when it has no
 * title or is not stored here. `e` is set when the sessions cannot be read. */
static void add_head(struct buf *out, struct operation_context *c, const struct memory_hit *h,
                     size_t width, struct error *e)
{
    AUTO(buf_release) struct buf line = BUF_INIT, clean = BUF_INIT;
    AUTO(session_info_release) struct session_info info = {0};
    struct error here = {0};
    const struct session_params params = {.session = h->entry.session_id};
    bool found = uuid_valid(params.session) &&
                 operation_call(c, &operation_session_read, &params, &info, &here) && *info.title;
    if (here.code == ERR_SESSION_STORE_ERROR)
        *e = here;
    buf_addf(&line, "%.2f  %s  ", h->score, h->entry.id);
    output_time(&line, h->entry.created_ms);
    buf_addf(&line, "  %s  %s", speaker_of(&h->entry), found ? info.title : params.session);
    utf8_clean(&clean, line.data, line.len, UTF8_ONE_LINE);
    buf_add(out, clean.data, utf8_cut_width(clean.data, clean.len, width));
    buf_addch(out, '\n');
}

/* When the sessions cannot be read, prints their ids, then the error. */
static void print_hits(struct operation_context *c, const struct memory_hits *hits)
{
    struct error e = {0};
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *terminal = getenv("TERM");
    bool bold = isatty(STDOUT_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    size_t width = output_width();
    for (size_t i = 0; i < hits->items.len; i++) {
        const struct memory_hit *h = &hits->items.items[i];
        add_head(&out, c, h, width, &e);
        if (h->question)
            add_question(&out, h, width);
        add_passage(&out, h, width, bold);
    }
    fwrite(out.data, 1, out.len, stdout);
    if (e.code == ERR_SESSION_STORE_ERROR)
        cli_fail(&e);
}

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct memory_found found = {0};
    auto_free char *query = verb_join(o, 0);
    const struct memory_search search = {.query = query,
                                         .scope = o->scope,
                                         .filter = {.origin = origin_from(o->origin)},
                                         .limit = o->limit > 0 ? o->limit : DEFAULT_HITS};
    if (!operation_call(c, &operation_memory_search, &search, &found, e))
        return false;
    if (o->json)
        verb_print_json(&operation_memory_search, "hits", &found);
    else
        print_hits(c, &found.hits);
    if (found.hits.badge)
        fprintf(stderr, "tiro: %s\n", found.hits.badge);
    if (found.hits.items.len == 0 && !o->json)
        fprintf(stderr, "%s\n", _("no matches"));
    memory_hits_release(&found.hits);
    return true;
}

static bool take_limit(const struct option *self, void *at, const char *value, struct error *e)
{
    return cli_take_count(self, at, value, e) &&
           (*(int *)at <= MOST_HITS ||
            err_set(e, ERR_USAGE, _("--limit is at most %d here; give a smaller number"),
                    MOST_HITS));
}

static const struct option options[] = {
    {"limit", 0, OPTION_VALUE, "N", N_("at most N matches, up to 1000 (default: 5)"),
     VERB_AT(limit), .take = take_limit},
    {"scope", 0, OPTION_VALUE, "SCOPE",
     N_("all, project (sessions started in this directory) or session=ID (default: as "
        "configured)"),
     VERB_AT(scope), .offer = {OFFER_CHOICES, .fixed = "all project session="}},
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

/* --- memory pin, edit and delete -------------------------------------------------------------- */

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

static bool read_entry(struct operation_context *c, const char *id, struct memory_entry *out,
                       struct error *e)
{
    const struct memory_read_params params = {.id = id};
    return operation_call(c, &operation_memory_read, &params, out, e);
}

/* The new text: from the option, else from standard input, else from the user's editor. */
static bool read_content(const struct verb_options *o, const char *old, struct buf *text,
                         struct error *e)
{
    if (o->content)
        buf_addstr(text, o->content);
    else if (!isatty(STDIN_FILENO) ? !input_read(text, e) : !external_editor_run(old, text, e))
        return false;
    if (memchr(text->data, '\0', text->len))
        return err_set(e, ERR_USAGE, _("the text contains a NUL character; remove it"));
    if (text->len > MEMORY_CONTENT_BYTES)
        return err_set(e, ERR_USAGE, _("the text is longer than %d MiB; shorten it"),
                       MEMORY_CONTENT_BYTES >> 20);
    return utf8_valid(text->data, text->len) ||
           err_set(e, ERR_USAGE, _("the text is not UTF-8; convert it"));
}

static bool run_edit(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    AUTO(memory_entry_release) struct memory_entry entry = {0};
    AUTO(buf_release) struct buf text = {.data = buf_empty, .max = MEMORY_CONTENT_BYTES};
    if (!read_entry(c, o->words.items[0], &entry, e) || !read_content(o, entry.content, &text, e))
        return false;
    /* Editors and shells end a file with a newline, which is no change. */
    size_t len = text.len;
    while (len > 0 && text.data[len - 1] == '\n')
        len--;
    if (len == strlen(entry.content) && memcmp(text.data, entry.content, len) == 0) {
        fprintf(stderr, "%s\n", _("the text was not changed"));
        return true;
    }
    const struct memory_edit_params params = {.id = entry.id, .content = text.data};
    return operation_call(c, &operation_memory_edit, &params, NULL, e);
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

static bool run_delete(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    for (size_t i = 0; i < o->words.len; i++) {
        AUTO(memory_entry_release) struct memory_entry entry = {0};
        if (!read_entry(c, o->words.items[i], &entry, e))
            return false;
        verb_add_deleted(&question, entry.id, entry.content);
    }
    buf_addf(&question,
             ngettext("Delete %zu entry for good? [y/N] ", "Delete %zu entries for good? [y/N] ",
                      (unsigned long)o->words.len),
             o->words.len);
    const struct memory_forget_params params = {
        .ids = {.items = o->words.items, .len = o->words.len}};
    struct memory_forget_result gone;
    if (!verb_may_delete(o->yes, &question, e) ||
        !operation_call(c, &operation_memory_forget, &params, &gone, e))
        return false;
    printf(ngettext("%d entry deleted\n", "%d entries deleted\n", (unsigned long)gone.deleted),
           gone.deleted);
    if (gone.summaries > 0)
        printf(ngettext("%d summary quotes deleted text and is marked\n",
                        "%d summaries quote deleted text and are marked\n",
                        (unsigned long)gone.summaries),
               gone.summaries);
    return true;
}

static const struct verb verb_memory_delete =
    VERB(operation_memory_forget, run_delete, .name = "delete",
         .synopsis = "memory delete [--yes] ID...", .help = N_("delete entries for good"),
         .details = N_("Asks once; without a terminal, --yes is required. If one id is "
                       "unknown, nothing is deleted."),
         .options = verb_yes_options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));

/* --- memory stats ----------------------------------------------------------------------------- */

enum { NAME_LEAST = 12, REMARK_LEAST = 8 };

static const struct grid_column stats_columns[] = {
    {.shrink = NAME_LEAST}, {0}, {.shrink = REMARK_LEAST, .first = true}};

static void add_count(struct grid *g, const char *name, int64_t n, const char *remark)
{
    AUTO(buf_release) struct buf number = BUF_INIT;
    format_exact(&number, n);
    grid_add(g, name);
    grid_add(g, number.data);
    grid_add(g, remark);
}

static void print_stats(const void *result)
{
    const struct memory_stats *s = result;
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
    if (s->language) {
        grid_add(&g, _("language"));
        grid_add(&g, s->language);
        grid_add(&g, s->language_stale
                         ? _("another language is configured; run tiro memory reindex")
                         : NULL);
    }
    if (s->model) {
        grid_add(&g, _("embedding model"));
        grid_add(&g, s->model);
        grid_add(&g, NULL);
        if (s->dimension > 0)
            add_count(&g, _("dimensions"), s->dimension, NULL);
        add_count(&g, _("with a vector"), s->embedded, s->graph ? _("in a graph") : NULL);
        add_count(&g, _("without a vector"), s->missing,
                  s->missing > 0 ? _("tiro memory reindex computes them") : NULL);
    }
    if (s->stale > 0)
        add_count(&g, _("vectors of other models"), s->stale, NULL);
    grid_print(&g);
}

static bool run_stats(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    return verb_show(c, o, &operation_memory_stats, NULL, NULL, print_stats, e);
}

static const struct verb verb_memory_stats =
    VERB(operation_memory_stats, run_stats, .name = "stats", .synopsis = "memory stats [--json]",
         .help = N_("show the size of the memory"), .options = verb_json_options);

/* --- memory reindex and index ----------------------------------------------------------------- */

static bool run_reindex(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    (void)o;
    return verb_call_watched(c, &operation_memory_reindex, NULL, NULL, e);
}

static const struct verb verb_memory_reindex =
    VERB(operation_memory_reindex, run_reindex, .name = "reindex", .synopsis = "memory reindex",
         .help = N_("rebuild the word index in the configured language, and compute "
                    "missing vectors"));

static bool run_index(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *word = o->words.len > 0 ? o->words.items[0] : "all";
    bool none = strcmp(word, "none") == 0;
    if (!none && strcmp(word, "all") != 0)
        return err_set(e, ERR_USAGE, _("give all or none, not \"%.40s\""), word);
    struct memory_index_params params = {.sessions = none ? MEMORY_INDEX_NONE : MEMORY_INDEX_ALL};
    struct memory_index_result result = {0};
    if (!verb_call_watched(c, &operation_memory_index, &params, &result, e))
        return false;
    AUTO(buf_release) struct buf number = BUF_INIT;
    format_exact(&number, result.sessions);
    unsigned long n = (unsigned long)result.sessions;
    if (none)
        printf(ngettext("%s conversation stays out of memory\n",
                        "%s conversations stay out of memory\n", n),
               number.data);
    else if (n == 0)
        puts(_("every conversation is in memory already"));
    else
        printf(ngettext("%s conversation was indexed\n", "%s conversations were indexed\n", n),
               number.data);
    return true;
}

static const struct verb verb_memory_index =
    VERB(operation_memory_index, run_index, .name = "index", .synopsis = "memory index [all|none]",
         .help = N_("index the conversations that are not in memory yet"),
         .details = N_("Conversations are indexed when they are left. Conversations from "
                       "before\ntiro did so wait for this command; none keeps them out of memory."),
         VERB_WORDS(0, 1, OFFER_NOTHING));

/* --- memory export and import ----------------------------------------------------------------- */

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
    bool terminal; /* standard error is one: progress is shown on it */
    bool shown;
};

static void add_entries(struct buf *out, int64_t count)
{
    AUTO(buf_release) struct buf number = BUF_INIT;
    format_exact(&number, count);
    buf_addf(out, ngettext("%s entry", "%s entries", (unsigned long)count), number.data);
}

static bool show_import(void *context, const char *counter, int64_t stored, int64_t of)
{
    struct import_watch *w = context;
    (void)counter, (void)of;
    if (w->terminal) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        add_entries(&text, stored);
        fprintf(stderr, "\r%s", text.data);
        w->shown = true;
    }
    return signals_take() == 0;
}

/* Entries that were stored before an error stay, so their number is printed then too. */
static bool run_import(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->words.items[0];
    struct import_watch watch = {.terminal = isatty(STDERR_FILENO)};
    struct operation_stream stream = {
        .in = input_open(path, e), .tell = show_import, .wake_fd = -1, .context = &watch};
    struct memory_import_result imported;
    if (!stream.in)
        return false;
    stream.name = stream.in == stdin ? _("standard input") : path;
    signals_open();
    c->stream = &stream;
    bool ok = operation_call(c, &operation_memory_import, NULL, &imported, e);
    c->stream = NULL;
    input_close(stream.in);
    if (watch.shown)
        fputc('\n', stderr);
    if (ok || imported.stored > 0) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        add_entries(&text, imported.stored);
        printf(_("%s added"), text.data);
        putchar('\n');
    }
    if (ok && imported.stored == 0 && imported.lines > 0)
        fprintf(stderr, "%s\n", _("no new entries"));
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
