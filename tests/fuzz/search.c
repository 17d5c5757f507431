/* Search queries: any text is a valid query, in memory and in sessions, and the hits are shown
 * clean. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/transcripts.h"
#include "index/words_private.h"
#include "store/sessions.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_HITS = 5 };

static const char id[] = "01890a5d-ac96-774b-bcce-b302099a8057";

static void say(struct store *store, int64_t seq, const char *text)
{
    struct error e = {0};
    struct event *ev = event_new(EVENT_TURN_STARTED);
    memcpy(ev->session_id, id, sizeof id);
    ev->seq = seq;
    ev->text = mem_strdup(text);
    FUZZ_CHECK_ERROR(transcripts_append(store, ev, &e), &e);
    event_free(ev);
}

/* Makes a store with a few texts to find. */
static struct store *make_store(void)
{
    struct store *store;
    AUTO(session_info_release) struct session_info info = {0};
    struct error e = {0};
    auto_free char *path = store_memory_path();
    FUZZ_CHECK_ERROR(store_open(path, STORE_READ_WRITE, &store, &e), &e);
    session_info_init(&info);
    memcpy(info.id, id, sizeof id);
    FUZZ_CHECK_ERROR(sessions_put(store, &info, &e), &e);
    say(store, 1, "Where is the café in Zürich? It's the 1st AND only one NEAR the lake.");
    say(store, 2, "日本語 \033[31m\xe2\x80\xae tabs\tand \"quotes\" * (or) not");
    return store;
}

static void check_sessions(const char *text)
{
    static struct store *store;
    AUTO(search_hits_release) struct search_hits hits = {0};
    struct error e = {0};
    bool more;
    if (!store)
        store = make_store();
    FUZZ_CHECK_ERROR(transcripts_search(store, text, NULL, MOST_HITS, &hits, &more, &e), &e);
    FUZZ_CHECK(hits.items.len <= MOST_HITS);
    for (size_t i = 0; i < hits.items.len; i++) {
        const char *snippet = hits.items.items[i].snippet;
        FUZZ_CHECK(fuzz_is_clean(snippet, strlen(snippet), false));
    }
}

static void check_query(struct language *l, const char *text, bool typing)
{
    AUTO(words_query_release) struct words_query q = {0};
    words_query_parse(l, text, typing, &q);
    FUZZ_CHECK(q.phrases.len <= QUERY_PHRASES);
    for (size_t i = 0; i < q.terms.len; i++) {
        const struct query_term *t = &q.terms.items[i];
        FUZZ_CHECK(t->raw && t->word && utf8_valid(t->word, strlen(t->word)));
        FUZZ_CHECK(query_term_meets(t, t->word, t->word));
    }
    if (words_query_loosen(&q))
        FUZZ_CHECK(!words_query_loosen(&q));
}

int fuzz_search(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"english", "german", "french", "none"};
    static struct language *languages[sizeof names / sizeof *names];
    auto_free char *text = fuzz_text(data, size);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!languages[i])
            languages[i] = language_new(names[i]);
        if (languages[i]) {
            check_query(languages[i], text, false);
            check_query(languages[i], text, true);
        }
    }
    check_sessions(text);
    return 0;
}
