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
        return entry->author ? entry->author : _("you");
    bool foreign = entry->from && !entry->author; /* another agent's answer */
    return entry->role != ROLE_ASSISTANT ? _("tool") : foreign ? entry->from : "tiro";
}

/* clang-format off */
static const struct grid_column list_columns[] = {
    {.max = ID_COLUMNS},
    {.shrink = DAY_COLUMNS},                                  /* time */
    {.max = SPEAKER_COLUMNS, .shrink = SPEAKER_LEAST},
    {0},                                                      /* pinned */
    {.shrink = CONTENT_LEAST, .first = true},
};
/* clang-format on */

static void print_list(const struct verb_call *v, const void *result)
{
    const struct memory_entries *list = result;
    const struct memory_list_params *p = v->params;
    bool more = v->page && list->items.len > PAGE;
    if (list->items.len == 0)
        fprintf(stderr, "%s\n",
                v->session ? _("memory has no entries of this session; tiro memory list shows all")
                : p->filter.origin
                    ? _("memory has no entries of this origin; tiro memory list shows all")
                    : _("memory is empty; conversations that you leave and tiro memory "
                        "import add to it"));
    size_t count = more ? PAGE : list->items.len;
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct grid g = GRID(list_columns);
    for (size_t i = 0; i < count; i++) {
        const struct memory_entry *entry = &list->items.items[i];
        grid_add(&g, entry->id);
        buf_clear(&text);
        format_time(&text, entry->created_ms);
        grid_add(&g, text.data);
        grid_add(&g, speaker_of(entry));
        grid_add(&g, entry->pinned ? _("pinned") : NULL);
        buf_clear(&text);
        utf8_add_cut(&text, entry->content, strlen(entry->content), ROW_BYTES);
        grid_add(&g, text.data);
    }
    grid_print(&g);
    fflush(stdout);
    if (more)
        fprintf(stderr,
                _("only the newest %d are shown; --limit N shows more, tiro memory list | less "
                  "shows all\n"),
                PAGE);
}

/* Without --limit, a terminal shows one page; a pipe or a file gets everything. */
static bool run_list(struct verb_call *v, struct error *e)
{
    struct memory_list_params *p = v->params;
    auto_free char *scope = v->session ? mem_printf("session=%s", v->session) : mem_strdup("all");
    v->page = p->limit == 0 && !v->json && isatty(STDOUT_FILENO);
    p->limit = v->page ? PAGE + 1 : p->limit;
    p->scope = scope;
    return verb_call(v, e);
}

static const struct option list_options[] = {
    {"session", 0, OPTION_VALUE, "SESSION", N_("only entries of this session"), VERB_AT(session),
     .offer = {.what = OFFER_SESSIONS}},
    {"from", .offer = {OFFER_CHOICES, .choices = import_source_names}},
    {0},
};

/* --- memory show ------------------------------------------------------------------------------ */

static void print_entry(const struct verb_call *v, const void *result)
{
    static const char *const origin_words[MEMORY_ORIGINS] = {
        [MEMORY_IMPORTED] = N_("imported"),
        [MEMORY_DROPPED] = N_("dropped by a compaction"),
        [MEMORY_LEFT] = N_("of a conversation that was left")};
    const struct memory_entry *entry = result;
    AUTO(buf_release) struct buf out = BUF_INIT;
    (void)v;
    buf_addf(&out, "%s  ", entry->id);
    format_time(&out, entry->created_ms);
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

/* --- memory search ---------------------------------------------------------------------------- */

enum { INDENT = 2 };

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
    format_time(&line, h->entry.created_ms);
    buf_addf(&line, "  %s", speaker_of(&h->entry));
    if (h->entry.from && strcmp(speaker_of(&h->entry), h->entry.from) != 0)
        buf_addf(&line, " (%s)", h->entry.from);
    buf_addf(&line, "  %s", found ? info.title : h->title ? h->title : params.session);
    utf8_clean(&clean, line.data, line.len, UTF8_ONE_LINE);
    buf_add(out, clean.data, utf8_cut_width(clean.data, clean.len, width));
    buf_addch(out, '\n');
}

/* When the sessions cannot be read, prints their ids, then the error. */
static void print_hits(const struct verb_call *v, const void *result)
{
    const struct memory_hits *hits = &((const struct memory_found *)result)->hits;
    struct error e = {0};
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *terminal = getenv("TERM");
    bool bold = isatty(STDOUT_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    size_t width = output_width();
    for (size_t i = 0; i < hits->items.len; i++) {
        const struct memory_hit *h = &hits->items.items[i];
        add_head(&out, v->context, h, width, &e);
        if (h->question) {
            /* The question stands above a long answer. */
            AUTO(buf_release) struct buf line = BUF_INIT;
            buf_addf(&line, "%*s> ", INDENT, "");
            utf8_clean(&line, h->question, strlen(h->question), UTF8_ONE_LINE);
            size_t end = line.len;
            if (utf8_width(line.data, line.len) > width)
                end = utf8_cut_width(line.data, line.len, width > 1 ? width - 1 : 1);
            buf_add(&out, line.data, end);
            buf_addstr(&out, end < line.len ? "…\n" : "\n");
        }
        add_passage(&out, h, width, bold);
    }
    fwrite(out.data, 1, out.len, stdout);
    if (e.code == ERR_SESSION_STORE_ERROR)
        cli_fail(&e);
}

static void remark_hits(const struct verb_call *v, const void *result)
{
    const struct memory_hits *hits = &((const struct memory_found *)result)->hits;
    if (hits->badge)
        fprintf(stderr, "tiro: %s\n", hits->badge);
    if (hits->items.len == 0 && !v->json)
        fprintf(stderr, "%s\n", _("no matches"));
}

static const struct option search_options[] = {
    {"scope", .offer = {OFFER_CHOICES, .fixed = "all project session="}},
    {"from", .offer = {OFFER_CHOICES, .choices = import_source_names}},
    {0}};

/* --- memory pin, edit and delete -------------------------------------------------------------- */

static bool run_pin(struct verb_call *v, struct error *e)
{
    struct memory_pin_params *p = v->params;
    p->pinned = strcmp(v->verb->command.name, "pin") == 0;
    return verb_call(v, e);
}

/* The new text: from the option, else from standard input, else from the user's editor. */
static bool read_content(const char *given, const char *old, struct buf *text, struct error *e)
{
    if (given)
        buf_addstr(text, given);
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

static bool run_edit(struct verb_call *v, struct error *e)
{
    struct memory_edit_params *p = v->params;
    AUTO(memory_entry_release) struct memory_entry entry = {0};
    AUTO(buf_release) struct buf text = {.data = buf_empty, .max = MEMORY_CONTENT_BYTES};
    if (!operation_call(v->context, &operation_memory_read, &(struct memory_read_params){p->id},
                        &entry, e) ||
        !read_content(p->content, entry.content, &text, e))
        return false;
    /* Editors and shells end a file with a newline, which is no change. */
    size_t len = text.len;
    while (len > 0 && text.data[len - 1] == '\n')
        len--;
    if (len == strlen(entry.content) && memcmp(text.data, entry.content, len) == 0) {
        fprintf(stderr, "%s\n", _("the text was not changed"));
        return true;
    }
    *p = (struct memory_edit_params){.id = entry.id, .content = text.data};
    return verb_call(v, e);
}

static bool run_delete(struct verb_call *v, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    struct verb_named named = {0};
    bool ok = verb_read_named(v, &operation_memory_read, "content", &named, &question, e);
    buf_addf(&question,
             ngettext("Delete %zu entry for good? [y/N] ", "Delete %zu entries for good? [y/N] ",
                      (unsigned long)named.ids.len),
             named.ids.len);
    vec_free_each(&named.ids);
    return ok && verb_may_delete(v, &question, e) && verb_call(v, e);
}

static void print_deleted(const struct verb_call *v, const void *result)
{
    const struct memory_forget_result *gone = result;
    (void)v;
    printf(ngettext("%d entry deleted\n", "%d entries deleted\n", (unsigned long)gone->deleted),
           gone->deleted);
    if (gone->summaries > 0)
        printf(ngettext("%d summary quotes deleted text and is marked\n",
                        "%d summaries quote deleted text and are marked\n",
                        (unsigned long)gone->summaries),
               gone->summaries);
}

/* --- memory stats ----------------------------------------------------------------------------- */

enum { NAME_LEAST = 12, REMARK_LEAST = 8 };

static const struct grid_column stats_columns[] = {
    {.shrink = NAME_LEAST}, {0}, {.shrink = REMARK_LEAST, .first = true}};

static void add_count(struct grid *g, const char *name, int64_t n, const char *remark)
{
    auto_free char *number = format_exact(n);
    grid_add(g, name);
    grid_add(g, number);
    grid_add(g, remark);
}

static void print_stats(const struct verb_call *v, const void *result)
{
    const struct memory_stats *s = result;
    struct grid g = GRID(stats_columns);
    (void)v;
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

/* --- memory index, import -------------------------------------------------------------------- */

static bool run_index(struct verb_call *v, struct error *e)
{
    struct memory_index_params *p = v->params;
    const char *word = v->words.len > 0 ? v->words.items[0] : "all";
    bool none = strcmp(word, "none") == 0;
    p->sessions = none ? MEMORY_INDEX_NONE : MEMORY_INDEX_ALL;
    if (!none && strcmp(word, "all") != 0)
        return err_set(e, ERR_USAGE, _("give all or none, not \"%.40s\""), word);
    return verb_call(v, e);
}

static void print_indexed(const struct verb_call *v, const void *result)
{
    const struct memory_index_params *p = v->params;
    int64_t count = ((const struct memory_index_result *)result)->sessions;
    unsigned long n = (unsigned long)count;
    auto_free char *number = format_exact(count);
    if (p->sessions == MEMORY_INDEX_NONE)
        printf(ngettext("%s conversation stays out of memory\n",
                        "%s conversations stay out of memory\n", n),
               number);
    else if (n == 0)
        puts(_("every conversation is in memory already"));
    else
        printf(ngettext("%s conversation was indexed\n", "%s conversations were indexed\n", n),
               number);
}

/* Entries that were stored before an error stay, so their number is printed then, too. */
static void print_imported(const struct verb_call *v, const void *result)
{
    const struct memory_import_result *imported = result;
    if (v->failed && imported->stored == 0)
        return;
    auto_free char *number = format_exact(imported->stored);
    auto_free char *text =
        mem_printf(ngettext("%s entry", "%s entries", (unsigned long)imported->stored), number);
    printf(_("%s added"), text);
    putchar('\n');
    if (imported->stored == 0 && imported->lines > 0)
        fprintf(stderr, "%s\n", _("no new entries"));
}

/* --- the command --- */

static const struct verb_more more[] = {
    {&operation_memory_list, .options = list_options, .run = run_list, .print = print_list,
     .member = "entries"},
    {&operation_memory_search, .options = search_options, .print = print_hits,
     .remark = remark_hits, .member = "hits"},
    {&operation_memory_read, .print = print_entry},
    {&operation_memory_edit, .run = run_edit},
    {&operation_memory_pin, .run = run_pin},
    {&operation_memory_pin, .words = "memory unpin", .help = N_("unpin an entry"),
     .details = NAMES_AN_ENTRY, .run = run_pin},
    {&operation_memory_forget, .asks = true, .run = run_delete, .print = print_deleted},
    {&operation_memory_export, .options = verb_export_options},
    {&operation_memory_import, .print = print_imported, .keeps = true},
    {&operation_memory_stats, .print = print_stats},
    {&operation_memory_index, .run = run_index, .print = print_indexed, .watched = true},
    {0},
};

VERB_GROUP(memory, "[ID]",
           N_("search, list and change memory: what was said in earlier conversations"),
           N_("The default command is list. For details: tiro memory COMMAND --help."))
