#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/message.h"
#include "index/doclist.h"
#include "index/rank.h"
#include "index/words.h"
#include "index/words_private.h"
#include "store/sql.h"
#include "store/tokenizer.h"

/* ---- a text as a query ---- */

/* A single letter begins too many words. */
enum { PREFIX_BYTES = 2, STEM_BYTES = 3 };

/* Terms with the other forms of words. */
enum { FORMS = 2 * QUERY_TERMS };

struct parser {
    struct text_languages languages; /* of the whole question */
    struct words_query *out;
};

static struct query_term *find_term(const struct words_query *q, const char *word)
{
    for (size_t i = 0; i < q->terms.len; i++)
        if (strcmp(q->terms.items[i].word, word) == 0)
            return &q->terms.items[i];
    return NULL;
}

/* A part of the question, for FTS5, which stems it in the same language. */
static char *raw_text(const struct language *l, const char *text, size_t len)
{
    int number = language_number(l);
    return number < 0 ? mem_strndup(text, len)
                      : mem_printf("%c%.*s", (char)(TOKEN_LANGUAGE + number), (int)len, text);
}

static void add_term(struct words_query *q, const char *text, const struct token *t, bool also)
{
    size_t words = 0;
    for (size_t i = 0; i < q->terms.len; i++)
        words += !q->terms.items[i].also;
    if (q->terms.len == FORMS || (!also && words == QUERY_TERMS) || find_term(q, t->word))
        return;
    AUTO(buf_release) struct buf folded = BUF_INIT;
    if (t->in_identifier) /* FTS5 would make several words of it */
        token_fold(&folded, text + t->start, t->end - t->start);
    struct query_term term = {
        .raw = t->in_identifier ? raw_text(t->language, folded.data, folded.len)
                                : raw_text(t->language, text + t->start, t->end - t->start),
        .word = mem_strdup(t->word),
        .prefix = t->single,
        .also = also};
    vec_push(&q->terms, term);
}

static void add_words(struct parser *p, const char *text, size_t len)
{
    struct tokens found;
    tokens_of(&p->languages, TOKENS_QUERY, text, len, &found);
    for (size_t i = 0, first = 0; i < found.items.len; i++) {
        const struct token *t = &found.items.items[i];
        if (!t->also)
            first = p->out->terms.len;
        if (!t->also || p->out->terms.len > first) /* the word's own stem is new */
            add_term(p->out, text, t, t->also);
    }
    tokens_release(&found);
}

/* Adds the word of `whole` as another form of the term before. */
static void add_form(struct parser *p, const char *whole)
{
    struct tokens found;
    tokens_of(&p->languages, TOKENS_QUERY, whole, strlen(whole), &found);
    for (size_t i = 0; i < found.items.len && vec_last(&found.items).place == 0; i++)
        add_term(p->out, whole, &found.items.items[i], true);
    tokens_release(&found);
}

/* The index has the stem "paint" for "painting", which does not begin with "painti". So the
 * beginning of a word is also searched for as each word that it becomes with the rest of an ending;
 * and as irregular forms ("bought" for "bough"). */
static void add_completions(struct parser *p, const char *begun)
{
    size_t len = strlen(begun);
    for (const char *const *ending = language_endings(p->languages.items[0]); *ending; ending++)
        for (size_t has = 1; has < strlen(*ending) && len >= has + STEM_BYTES; has++)
            if (memcmp(begun + len - has, *ending, has) == 0) {
                auto_free char *whole = mem_printf("%s%s", begun, *ending + has);
                add_form(p, whole);
            }
    const char *form = NULL;
    while (len >= STEM_BYTES &&
           (form = language_next_form(p->languages.items[0], begun, form)) != NULL)
        add_form(p, form);
}

/* A word that is being typed: as a whole word, and as the beginning of one. */
static void add_open_word(struct parser *p, const char *text, size_t len)
{
    struct tokens folded;
    size_t whole = p->out->terms.len;
    add_words(p, text, len);
    bool also = p->out->terms.len > whole;
    tokens_of(&p->languages, TOKENS_PREFIX, text, len, &folded);
    const struct token *last = folded.items.len > 0 ? &vec_last(&folded.items) : NULL;
    if (last && strlen(last->word) >= PREFIX_BYTES) {
        struct query_term term = {
            .raw = raw_text(last->language, text + last->start, last->end - last->start),
            .word = mem_strdup(last->word),
            .prefix = true,
            .also = also};
        vec_push(&p->out->terms, term);
        add_completions(p, last->word);
    }
    tokens_release(&folded);
}

/* Reads the phrase or word that `text` begins with; returns its length. A phrase has quotes at both
 * ends; other quotes (5\", an open one) mean nothing. */
static size_t parse_next(struct parser *p, const char *text, bool typing)
{
    bool excluded = text[0] == '-' && text[1] && !words_is_blank(text[1]) && text[1] != '-';
    const char *start = excluded ? text + 1 : text;
    const char *end = *start == '"' ? strchr(start + 1, '"') : NULL;
    size_t len = end ? (size_t)(end - start) + 1 : strcspn(start, " \n\t\r");
    size_t terms = p->out->terms.len;
    if ((end || excluded) && p->out->phrases.len < QUERY_PHRASES) {
        const char *phrase = end ? start + 1 : start;
        size_t phrase_len = end ? len - 2 : len;
        struct tokens words;
        tokens_of(&p->languages, TOKENS_QUERY, phrase, phrase_len, &words);
        if (words.items.len > 0)
            vec_push(&p->out->phrases,
                     ((struct query_phrase){raw_text(p->languages.items[0], phrase, phrase_len),
                                            excluded}));
        tokens_release(&words);
    }
    if (excluded)
        return len + 1;
    if (!end && typing && start[len] == '\0')
        add_open_word(p, start, len);
    else
        add_words(p, start, len);
    p->out->beside = p->out->beside || (!end && p->out->terms.len > terms);
    return len;
}

void words_query_parse(struct language *l, const char *text, bool typing, struct words_query *out)
{
    static const enum role roles[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL};
    *out = (struct words_query){0};
    struct parser p = {.languages = text_languages_find(l, text, strnlen(text, QUERY_BYTES)),
                       .out = out};
    auto_free char *copy =
        mem_strndup(text, utf8_cut_bytes(text, strnlen(text, QUERY_BYTES + 4), QUERY_BYTES));
    for (const char *at = copy; *at;)
        at += words_is_blank(*at) ? 1 : parse_next(&p, at, typing);
    /* A text with these words may be in a language with other stop words, or in one in which
     * apostrophes separate words. */
    struct tokens every;
    tokens_of(&p.languages, TOKENS_EVERY, copy, strlen(copy), &every);
    out->span = every.items.len > 0 ? vec_last(&every.items).place + 1 : 0;
    for (size_t at = 0, used, len = strlen(copy); out->span > 0 && at < len; at += used) {
        uint32_t cp;
        used = utf8_decode(copy + at, len - at, &cp);
        out->span += token_is_apostrophe(cp);
    }
    tokens_release(&every);
    /* A quote within an excluded word would end a phrase of FTS5. */
    for (size_t i = 0; i < out->phrases.len; i++)
        for (char *c = out->phrases.items[i].raw; *c; c++)
            if (*c == '"')
                *c = ' ';
    /* A role is indexed where a speaker would be (memory_entry_speaker()), but is nobody's name. */
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        struct tokens word;
        tokens_of(&p.languages, TOKENS_QUERY, role_name(roles[i]), strlen(role_name(roles[i])),
                  &word);
        for (size_t k = 0; k < word.items.len; k++) {
            struct query_term *t = find_term(out, word.items.items[k].word);
            if (t)
                t->role = true;
        }
        tokens_release(&word);
    }
}

bool words_query_loosen(struct words_query *q)
{
    size_t kept = 0, before = q->phrases.len;
    for (size_t i = 0; q->beside && i < before; i++) {
        if (q->phrases.items[i].excluded)
            q->phrases.items[kept++] = q->phrases.items[i];
        else
            free(q->phrases.items[i].raw);
    }
    q->phrases.len = q->beside ? kept : before;
    return q->phrases.len < before;
}

void words_query_release(struct words_query *q)
{
    for (size_t i = 0; i < q->terms.len; i++) {
        free(q->terms.items[i].raw);
        free(q->terms.items[i].word);
    }
    for (size_t i = 0; i < q->phrases.len; i++)
        free(q->phrases.items[i].raw);
    vec_release(&q->terms);
    vec_release(&q->phrases);
}

bool query_term_meets(const struct query_term *t, const char *word, const char *folded)
{
    return strcmp(t->word, word) == 0 ||
           (t->prefix && folded && strncmp(t->word, folded, strlen(t->word)) == 0);
}

/* ---- facts of entries, for the ranking ----
 *
 * The number of words of an entry, whether it asks, whether it is a user's without a name. For a
 * few entries the tables are asked; for many the lists of the marks of all texts are read at once.
 */

/* Postings that are read in the time of one query. */
enum { POSTINGS_A_QUERY = 150 };

struct words_facts {
    const struct corpus *corpus;
    int64_t entries; /* of the corpus */
    struct error *error;

    /* Zeroed at first: */
    int64_t asked;
    bool listed, unlisted;              /* the lists have been read; they cannot be used */
    struct postings lists[TOKEN_MARKS]; /* entries by mark */
    size_t near[TOKEN_MARKS];
    struct place_bytes places;
};

static const char length_sql[] = "SELECT sz FROM #_words_docsize WHERE id = ?";
static const char asks_sql[] = "SELECT asks FROM #_entry INDEXED BY #_asks WHERE key = ?";
static const char user_sql[] =
    "SELECT role = 'user' AND speaker IS NULL FROM #_entry WHERE key = ?";

static void facts_release(struct words_facts *f)
{
    for (size_t i = 0; i < TOKEN_MARKS; i++)
        vec_release_large(&f->lists[i].items);
    vec_release_large(&f->places.bytes);
}

/* Called for each fact: reads the lists when facts of many entries are asked. Texts of some owners
 * have no marks. */
static bool choose_source(struct words_facts *f)
{
    struct words_lists *from;
    int64_t found = 0;
    if (f->listed || f->unlisted || f->asked++ <= f->entries / POSTINGS_A_QUERY)
        return true;
    bool ok = words_lists_open(f->corpus, &from, f->error), whole = from;
    for (int i = 0; ok && whole && i < TOKEN_MARKS; i++) {
        const char mark[] = {words_mark(i & MARK_ASKS, i & MARK_USER), '\0'};
        ok = words_list_read(from, mark, false, &f->lists[i], &f->places, &whole, f->error);
        found += (int64_t)f->lists[i].items.len;
    }
    f->listed = ok && whole && found == f->entries;
    f->unlisted = !f->listed;
    words_lists_close(from);
    if (f->unlisted)
        facts_release(f);
    return ok;
}

/* *tells: flags of the mark of an entry; NULL: there is no such entry. */
static const struct posting *find_mark(struct words_facts *f, int64_t key, int *tells)
{
    for (*tells = 0; *tells < TOKEN_MARKS; ++*tells) {
        const struct postings *p = &f->lists[*tells];
        size_t at = f->near[*tells] = postings_find(p, f->near[*tells], key);
        if (at < p->items.len && p->items.items[at].key == key)
            return &p->items.items[at];
    }
    *tells = 0;
    return NULL;
}

static bool find_length(void *facts, int64_t key, double *out)
{
    struct words_facts *f = facts;
    int tells;
    if (!choose_source(f))
        return false;
    if (!f->listed) {
        struct query q = corpus_query(f->corpus, f->error, length_sql, "i", key);
        *out = query_next(&q) ? (double)words_column_varint(&q, 0, 0) : 0;
        return query_end(&q);
    }
    /* The mark stands at the place of the last word. */
    const struct posting *p = find_mark(f, key, &tells);
    *out = p ? p->last + 1 : 0;
    if (p && p->last >= POSTING_LAST) {
        struct occurrences last = {0};
        places_unpack(f->places.bytes.items + p->places, 1, 0, &last);
        *out = last.items.items[0].at + 1.0;
        vec_release(&last.items);
    }
    return true;
}

static bool find_flag(struct words_facts *f, const char *sql, int64_t key, int flag, bool *out)
{
    int tells;
    int64_t n = 0;
    if (!choose_source(f))
        return false;
    if (f->listed) {
        find_mark(f, key, &tells);
        *out = tells & flag;
        return true;
    }
    bool ok = corpus_number(f->corpus, &n, f->error, sql, "i", key);
    *out = ok && n != 0;
    return ok;
}

static bool find_asks(void *facts, int64_t key, bool *out)
{
    return find_flag(facts, asks_sql, key, MARK_ASKS, out);
}

static bool find_user(void *facts, int64_t key, bool *out)
{
    return find_flag(facts, user_sql, key, MARK_USER, out);
}

static_assert((int)QUERY_TERMS <= (int)PLACE_TERMS, "each has a number in a posting");

/* ---- where the words of a query stand ---- */

/* A word of the query is a term with the `also` terms behind it. */
struct collected {
    VEC(struct postings) lists; /* of each word: entries in scope that the phrases allow, by key */
    struct place_bytes places;
    VEC(int64_t) entries; /* that have it, in scope or not */
    int64_t all;          /* entries that there are */
    double average;       /* words an entry */
};

struct keys {
    VEC(int64_t) items; /* ascending */
};

struct collector {
    const struct words_query *query;
    const struct corpus_scope *scope;
    struct collected *out;
    int64_t words; /* in all entries */

    VEC(size_t) asked; /* terms that FTS5 is asked for */
    struct keys phrases[QUERY_PHRASES];

    int64_t session; /* looked up last */
    bool in_scope;
};

/* The number of the word of a term. */
static size_t word_of(const struct collector *c, size_t term)
{
    size_t word = 0;
    for (size_t i = 1; i <= term; i++)
        word += !c->query->terms.items[i].also;
    return word;
}

/* Ends the postings of a term in the list of its word, from `before` on. */
static void end_term(struct collector *c, size_t term, size_t before)
{
    size_t word = word_of(c, term);
    bool role = c->query->terms.items[term].role;
    struct postings *list = &c->out->lists.items[word];
    int64_t *entries = &c->out->entries.items[word], rows = (int64_t)(list->items.len - before);
    for (size_t i = before; role && i < list->items.len; i++)
        list->items.items[i].named = 0;
    size_t kept = c->scope->all ? list->items.len : before;
    for (size_t i = kept; i < list->items.len; i++) {
        int64_t session = rank_key_session(list->items.items[i].key);
        if (session != c->session) {
            c->session = session;
            c->in_scope = corpus_scope_has(c->scope, session);
        }
        list->items.items[kept] = list->items.items[i];
        kept += c->in_scope;
    }
    list->items.len = kept;
    *entries = rows > *entries ? rows : *entries;
    if (before > 0 && kept > before)
        postings_join(list, before);
}

/* ---- from FTS5 ---- */

/* One row is enough: for it the function reads each phrase by itself. */
static const char collect_sql[] =
    "SELECT words_collect(#_words, ?) FROM #_words WHERE #_words MATCH ? LIMIT 1";
static const char pointer_type[] = "words_collect";

/* The list to which rows of a phrase are added; those of a damaged index come in any order. */
struct phrase_rows {
    struct postings *list;
    size_t first; /* of this phrase in it */
    struct place_bytes *places;
};

static int note_posting(const Fts5ExtensionApi *api, Fts5Context *row, void *context)
{
    struct phrase_rows *to = context;
    struct posting p = {.key = api->xRowid(row), .places = (uint32_t)to->places->bytes.len};
    Fts5PhraseIter at;
    int column, place;
    int64_t last = 0;
    if (to->list->items.len > to->first && vec_last(&to->list->items).key >= p.key)
        return SQLITE_CORRUPT_VTAB;
    if (api->xPhraseFirst(row, 0, &at, &column, &place) != SQLITE_OK)
        column = -1;
    for (; column >= 0; api->xPhraseNext(row, &at, &column, &place)) {
        posting_add_place(&p, (uint64_t)(place - last));
        places_pack(to->places, (uint32_t)(place - last));
        last = place;
    }
    vec_push(&to->list->items, p);
    return SQLITE_OK;
}

static int note_key(const Fts5ExtensionApi *api, Fts5Context *row, void *keys)
{
    vec_push(&((struct keys *)keys)->items, (int64_t)api->xRowid(row));
    return SQLITE_OK;
}

static void collect(const Fts5ExtensionApi *api, Fts5Context *found, sqlite3_context *out,
                    int count, sqlite3_value **values)
{
    struct collector *c = count == 1 ? sqlite3_value_pointer(values[0], pointer_type) : NULL;
    sqlite3_int64 all = 0, words = 0;
    int result = c ? api->xRowCount(found, &all) : SQLITE_MISUSE;
    if (result == SQLITE_OK)
        result = api->xColumnTotalSize(found, -1, &words);
    if (result == SQLITE_OK) {
        c->out->all = all;
        c->words = words;
    }
    for (size_t i = 0; result == SQLITE_OK && i < c->asked.len; i++) {
        size_t term = c->asked.items[i];
        struct postings *list = &c->out->lists.items[word_of(c, term)];
        size_t before = list->items.len;
        struct phrase_rows rows = {list, before, &c->out->places};
        result = api->xQueryPhrase(found, (int)i, &rows, note_posting);
        end_term(c, term, before);
    }
    for (size_t i = 0; result == SQLITE_OK && i < c->query->phrases.len; i++)
        result = api->xQueryPhrase(found, (int)(c->asked.len + i), &c->phrases[i], note_key);
    if (result != SQLITE_OK)
        sqlite3_result_error_code(out, result);
}

static bool ask_fts5(const struct corpus *from, struct collector *c, struct error *e)
{
    AUTO(buf_release) struct buf expression = BUF_INIT;
    for (size_t i = 0; i < c->asked.len; i++) {
        const struct query_term *term = &c->query->terms.items[c->asked.items[i]];
        buf_addf(&expression, "%s\"%s\"%s", i > 0 ? " OR " : "", term->raw,
                 term->prefix ? " *" : "");
    }
    for (size_t i = 0; i < c->query->phrases.len; i++)
        buf_addf(&expression, "%s\"%s\"", expression.len > 0 ? " OR " : "",
                 c->query->phrases.items[i].raw);
    if (expression.len == 0)
        return true;
    if (!store_fts5_function(from->store, "words_collect", collect, &from->store->collects, e))
        return false;
    return corpus_run(from, e, collect_sql, "pt", (void *)c, pointer_type, expression.data);
}

/* ---- from its pages ---- */

static bool read_term(struct collector *c, const struct words_lists *from, size_t term,
                      struct error *e)
{
    const struct query_term *t = &c->query->terms.items[term];
    struct postings *list = &c->out->lists.items[word_of(c, term)];
    size_t before = list->items.len;
    bool whole = false;
    bool ok = !from || words_list_read(from, t->word, t->prefix, list, &c->out->places, &whole, e);
    if (whole) {
        end_term(c, term, before);
    } else {
        list->items.len = before;
        vec_push(&c->asked, term);
    }
    return ok;
}

/* ---- both ---- */

static void collected_release(struct collected *c)
{
    for (size_t i = 0; i < c->lists.len; i++)
        vec_release_large(&c->lists.items[i].items);
    vec_release(&c->lists);
    vec_release_large(&c->places.bytes);
    vec_release(&c->entries);
}

/* Keeps the postings whose entries are among the keys, or are not. */
static void keep_matching(struct postings *p, const struct keys *keys, bool among)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < p->items.len; i++) {
        int64_t key = p->items.items[i].key;
        while (at < keys->items.len && keys->items.items[at] < key)
            at++;
        if ((at < keys->items.len && keys->items.items[at] == key) == among)
            p->items.items[kept++] = p->items.items[i];
    }
    p->items.len = kept;
}

static bool collect_postings(const struct corpus *from, const struct words_query *q,
                             const struct corpus_scope *scope, struct collected *out,
                             struct error *e)
{
    struct collector collector = {
        .query = q, .scope = scope, .out = out, .session = -1, .in_scope = scope->all};
    struct collector *c = &collector;
    struct words_lists *lists;
    *out = (struct collected){0};
    for (size_t i = 0; i < q->terms.len; i++)
        if (!q->terms.items[i].also) {
            vec_push(&out->lists, (struct postings){0});
            vec_push(&out->entries, 0);
        }
    if (q->terms.len == 0)
        return true;
    bool ok = words_lists_open(from, &lists, e);
    if (ok && lists)
        words_lists_totals(lists, &out->all, &c->words);
    for (size_t i = 0; ok && i < q->terms.len; i++)
        ok = read_term(c, lists, i, e);
    words_lists_close(lists);
    ok = ok && ask_fts5(from, c, e);
    for (size_t i = 0; ok && i < q->phrases.len; i++)
        for (size_t k = 0; k < out->lists.len; k++)
            keep_matching(&c->out->lists.items[k], &c->phrases[i],
                          !c->query->phrases.items[i].excluded);
    if (!ok)
        collected_release(out);
    out->average = out->all > 0 ? (double)c->words / (double)out->all : 0;
    for (size_t i = 0; i < QUERY_PHRASES; i++)
        vec_release(&c->phrases[i].items);
    vec_release(&c->asked);
    return ok;
}

/* ---- which texts are the best ---- */

static bool rank(const struct corpus *c, const struct words_question *question, size_t span,
                 const struct collected *found, size_t limit, struct word_weights *weights,
                 struct ranking *out, struct error *e)
{
    struct words_facts facts = {.corpus = c, .entries = found->all, .error = e};
    struct rank_input in = {
        .lists = found->lists.items,
        .average = found->average,
        .span = span,
        .places = found->places.bytes.items,
        .words = find_length,
        .asks = find_asks,
        .is_user = find_user,
        .context = &facts,
    };
    vec_clear(&weights->items);
    weights->known = 0;
    weights->most = rank_idf(found->all, 0);
    for (size_t i = 0; i < found->entries.len; i++) {
        vec_push(&weights->items, rank_idf(found->all, found->entries.items[i]));
        in.idf_sum += vec_last(&weights->items);
        weights->known += found->entries.items[i] > 0 ? vec_last(&weights->items) : 0;
    }
    in.idf = weights->items.items;
    in.terms = weights->items.len;
    bool ok = rank_best(&question->rank, &in, limit, out);
    facts_release(&facts);
    return ok;
}

static bool find(const struct corpus *c, const struct words_query *words,
                 const struct words_question *question, const struct corpus_scope *scope,
                 size_t limit, struct candidates *out, struct word_weights *weights,
                 struct error *e)
{
    struct collected found;
    struct ranking ranking = {0};
    if (!collect_postings(c, words, scope, &found, e))
        return false;
    bool ok = rank(c, question, words->span, &found, limit, weights, &ranking, e);
    for (size_t i = 0; i < ranking.items.len; i++) {
        const struct ranked *r = &ranking.items.items[i];
        vec_push(&out->items, ((struct candidate){.key = r->key,
                                                  .rank = r->rank,
                                                  .score = rank_score(r->why.coverage),
                                                  .why = r->why}));
    }
    /* An entry with the same text as the question has all of its words. */
    out->knows_equals = words->terms.len > 0 && ranking.whole.count <= RANK_WHOLE &&
                        strlen(question->text) <= QUERY_BYTES;
    for (size_t i = 0; i < words->phrases.len; i++)
        out->knows_equals = out->knows_equals && !words->phrases.items[i].excluded;
    out->equals = ranking.whole;
    out->average = found.average;
    collected_release(&found);
    vec_release(&ranking.items);
    return ok;
}

bool words_search(const struct corpus *c, const struct words_question *question,
                  const struct corpus_scope *scope, size_t limit, struct candidates *out,
                  struct word_weights *weights, struct error *e)
{
    struct words_query words;
    struct language *l;
    *out = (struct candidates){0};
    if (!words_open_language(c, &l, e))
        return false;
    words_query_parse(l, question->text, question->typing, &words);
    bool ok = find(c, &words, question, scope, limit, out, weights, e);
    if (ok && out->items.len == 0 && words_query_loosen(&words))
        ok = find(c, &words, question, scope, limit, out, weights, e);
    words_query_release(&words);
    return ok;
}
