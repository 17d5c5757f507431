#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/verb.h"

enum { DEFAULT_LIMIT = 50 };

static void add_clean(struct buf *out, const char *text)
{
    if (text)
        utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

static void add_line(struct buf *out, const struct buf *line, size_t width)
{
    buf_add(out, line->data, utf8_cut_width(line->data, line->len, width));
    buf_addch(out, '\n');
}

static void add_where(struct buf *out, const struct search_hit *h, size_t width)
{
    struct buf line = BUF_INIT;
    buf_addf(&line, "%s  ", sessions_short_id(h->session_id));
    output_time(&line, h->at_ms);
    buf_addstr(&line, "  ");
    add_clean(&line, h->title);
    if (h->archived)
        buf_addf(&line, " (%s)", _("archived"));
    add_line(out, &line, width);
    buf_release(&line);
}

static void add_what(struct buf *out, const struct search_hit *h, size_t width)
{
    struct buf line = BUF_INIT;
    buf_addf(&line, "  %s: ", h->role == ROLE_USER ? _("you") : "tiro");
    size_t taken = utf8_width(line.data, line.len);
    size_t start =
        h->snippet && width > taken ? output_start(h->snippet, h->match, width - taken - 1) : 0;
    if (start > 0)
        buf_addstr(&line, "…");
    add_clean(&line, h->snippet ? h->snippet + start : NULL);
    add_line(out, &line, width);
    buf_release(&line);
}

static void print_hits(const struct search_hits *hits)
{
    struct buf out = BUF_INIT;
    size_t width = output_width();
    if (hits->items.len == 0)
        fprintf(stderr, "%s\n", _("no matches"));
    for (size_t i = 0; i < hits->items.len; i++) {
        add_where(&out, &hits->items.items[i], width);
        add_what(&out, &hits->items.items[i], width);
    }
    fwrite(out.data, 1, out.len, stdout);
    buf_release(&out);
}

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct session_search_result found = {0};
    char *query = verb_join(o, 0);
    const struct session_search_params params = {
        .query = query, .session = o->in, .limit = o->limit > 0 ? o->limit : DEFAULT_LIMIT};
    bool ok = operation_call(c, &operation_session_search, &params, &found, e);
    if (ok && o->json)
        verb_print_json(&operation_session_search, "matches", &found);
    else if (ok)
        print_hits(&found.matches);
    if (found.more)
        fprintf(stderr, _("more than %d matches; --limit N shows more\n"), params.limit);
    search_hits_release(&found.matches);
    free(query);
    return ok;
}

static const struct option options[] = {
    VERB_JSON,
    VERB_LIMIT('n', N_("at most N matches (default: 50)")),
    {"in", 0, OPTION_VALUE, "SESSION", N_("only in this session"), VERB_AT(in),
     .offer = {.what = OFFER_SESSIONS}},
    {0},
};

const struct verb verb_sessions_search =
    VERB(operation_session_search, run_search, .name = "search",
         .synopsis = "sessions search [OPTION]... WORD...",
         .help = N_("search all transcripts for words"),
         .details = N_("\"Words in quotes\" must occur in that order; the last word also matches "
                       "longer words."),
         .options = options, VERB_WORDS(1, CLI_MANY, OFFER_NOTHING));
