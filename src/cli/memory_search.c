#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/verb.h"

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
    buf_addf(&line, "  %s  %s", memory_who(&h->entry), session);
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
                                         .filter = {.origin = memory_origin_of(o)},
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

const struct verb verb_memory_search =
    VERB(operation_memory_search, run_search, .name = "search",
         .synopsis = "memory search [OPTION]... QUERY...",
         .help = N_("search the entries, best match first"),
         .details = N_("\"Words in quotes\" must occur in that order; if no entry has them, the "
                       "other words of the query\n"
                       "are searched. After the first word, -word excludes entries that contain "
                       "this word."),
         .options = options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING), .dashes = true);
