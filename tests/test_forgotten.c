/* Forgotten text is in no byte of the data directory a second later, while the server that did it
 * goes on. Other texts, stored between the forgotten ones, stay. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw() and memmem() */
#endif
#include <ftw.h>
#include <unistd.h>

#include "session/capability.h"
#include "store/sql.h"
#include "store/store.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/scene.h"
#include "tests/suite.h"

NEEDS(capability_store() && capability_memory() && capability_graph());
FIXTURE(scene_setup, scene_teardown);

/* GONE_MS: a second, with a margin for a loaded machine. */
enum { LISTED = 100, GONE_MS = 10000 };

static struct rpc_client client;

/* --- the bytes of the directory --------------------------------------------------------------- */

/* nftw() has no context. */
static struct {
    const char *text;
    struct buf found;
} search;

static int look_into(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    AUTO(buf_release) struct buf bytes = BUF_INIT;
    (void)where;
    if (kind != FTW_F || !S_ISREG(st->st_mode))
        return 0;
    FILE *f = fopen(path, "rb");
    char piece[65536];
    for (size_t n; f && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buf_add(&bytes, piece, n);
    if (f)
        fclose(f);
    const char *at =
        bytes.len > 0 ? memmem(bytes.data, bytes.len, search.text, strlen(search.text)) : NULL;
    if (at)
        buf_addf(&search.found, "%s at %zu; ", path, (size_t)(at - bytes.data));
    return 0;
}

/* The places of the text; kept. "" if there are none. */
static const char *places_of(const char *text)
{
    char *directory = support_text("%s", scene_store());
    *strrchr(directory, '/') = '\0';
    search.text = text;
    search.found = (struct buf)BUF_INIT;
    assert_int_equal(nftw(directory, look_into, 16, FTW_PHYS), 0);
    buf_addstr(&search.found, "");
    return support_keep(buf_take(&search.found));
}

static bool is_nowhere(void *text)
{
    return !*places_of(text);
}

static void expect_gone(const char *text)
{
    if (!support_wait_until(is_nowhere, (void *)(uintptr_t)text, GONE_MS))
        fail_msg("%s is still there: %s", text, places_of(text));
}

/* --- texts to be forgotten -------------------------------------------------------------------- */

/* Pieces of JSON with ' for ", in which $W is the text, and $N its number. A piece that stands for
 * one text becomes a list of all between head and tail; without a head it is a call of its own. */
struct batch {
    const char *method, *head, *each, *tail;
};

/* Runs turns with both words; NULL leaves out that turn. */
static void run(const struct batch *b, const char *const words[2])
{
    AUTO(buf_release) struct buf params = BUF_INIT;
    int listed = 0;
    for (int i = 0; i < 2 * (int)suite_sample(60, 300); i++) {
        if (!words[i % 2])
            continue;
        if (b->head)
            buf_addstr(&params, params.len > 0 ? "," : b->head);
        const char *piece = b->each;
        const char *word = words[i % 2];
        for (; *piece; piece++) {
            if (*piece == '$')
                buf_addf(&params, *++piece == 'W' ? "%s%d" : "%.0s%d", word, i);
            else
                buf_addch(&params, *piece);
        }
        if (!b->head || ++listed % LISTED == 0 || i >= 2 * (int)suite_sample(60, 300) - 2) {
            buf_addstr(&params, b->tail ? b->tail : "");
            (void)rpc_client_result(&client, b->method, params.data);
            buf_clear(&params);
        }
    }
}

#define LINE(member, value) "\\'" member "\\':\\'" value "\\'"

static const struct kind {
    const char *text; /* that goes; one word for the tokenizer */
    struct batch make[3], remove;
} kinds[] = {
    {"quillmemory",
     {{"memory/import", NULL,
       "{'content':'{" LINE("id", "m$N") "," LINE("session_id", "old$N") "," LINE(
           "role", "user") "," LINE("created_at",
                                    "2026-03-09T14:05:07Z") "," LINE("content",
                                                                     "the $W by the river") "}'}",
       NULL}},
     {"memory/forget", "{'ids':[", "'m$N'", "]}"}},
    {"quillentity",
     {{"graph/create_entities", "{'entities':[",
       "{'name':'$W','entity_type':'thing','observations':['all about $W']}", "]}"}},
     {"graph/delete_entities", "{'entity_names':[", "'$W'", "]}"}},
    {"quillobserved",
     {{"graph/create_entities", "{'entities':[",
       "{'name':'holder$N','entity_type':'thing','observations':['all about $W']}", "]}"}},
     {"graph/delete_observations", "{'deletions':[",
      "{'entity_name':'holder$N','observations':['all about $W']}", "]}"}},
    {"quillrelated",
     {{"graph/create_entities", "{'entities':[",
       "{'name':'end$N','entity_type':'thing','observations':[]}", "]}"},
      {"graph/create_relations", "{'relations':[",
       "{'from':'end$N','to':'end$N','relation_type':'$W'}", "]}"}},
     {"graph/delete_relations", "{'relations':[",
      "{'from':'end$N','to':'end$N','relation_type':'$W'}", "]}"}},
    {"quillcorpus",
     {{"corpus/ingest", NULL, "{'corpus_id':'c$N','filename':'$W.txt','text':'the $W of Gion'}",
       NULL}},
     {"corpus/remove", NULL, "{'corpus_id':'c$N'}", NULL}},
    {"quillsession",
     {{"session/import", NULL,
       "{'content':'[{" LINE("role", "user") "," LINE("content", "the $W of the talk") "},{" LINE(
           "role", "assistant") "," LINE("content", "yes, the $W") "}]','title':'t$N'}",
       NULL}},
     {"session/delete", NULL, "{'session_id':'t$N'}", NULL}},
};

static void make_and_forget(const struct kind *k)
{
    const char *const both[] = {k->text, "stays"}, *const gone[] = {k->text, NULL};
    for (size_t i = 0; i < sizeof k->make / sizeof *k->make && k->make[i].method; i++)
        run(&k->make[i], both);
    assert_true(*places_of(k->text));
    run(&k->remove, gone);
    expect_gone(k->text);
}

TEST(forgotten_texts_are_in_no_file)
{
    RPC_START(&client, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        make_and_forget(&kinds[i]);
    rpc_client_end(&client);
}

static bool is_purged(void *none)
{
    (void)none;
    return damage_number(scene_store(), "SELECT count(*) FROM words_state WHERE purge") == 0;
}

/* The reader's snapshot keeps the journal; the server retries until the reader has gone. The test
 * opens no file meanwhile, since closing it would drop the reader's locks. */
TEST(a_reader_only_delays_it)
{
    struct store *reader;
    struct error e;
    int64_t entries;
    RPC_START(&client, NULL);
    (void)rpc_client_result(
        &client, kinds[0].make[0].method,
        "{'content':'{" LINE("id", "m") "," LINE("session_id", "old") "," LINE(
            "role", "user") "," LINE("created_at",
                                     "2026-03-09T14:05:07Z") "," LINE("content",
                                                                      "the quillread") "}'}");
    assert_true(store_open(scene_store(), STORE_READ_ONLY, &reader, &e));
    assert_true(store_begin(reader, &e));
    assert_true(store_number(reader, "SELECT count(*) FROM memory_entry", &entries, &e));
    (void)rpc_client_result(&client, "memory/forget", "{'ids':['m']}");
    assert_true(support_wait_until(is_purged, NULL, GONE_MS));
    store_rollback(reader);
    store_close(reader);
    expect_gone("quillread");
    (void)rpc_client_result(&client, "memory/restore", NULL); /* out of the server's memory */
    assert_true(*places_of("quillread"));
    rpc_client_end(&client);
}

/* Ids are the program's. */
TEST(forgotten_items_are_in_no_file)
{
    AUTO(buf_release) struct buf ids = BUF_INIT;
    RPC_START(&client, NULL);
    for (int i = 0; i < 2 * (int)suite_sample(60, 300); i++) {
        const struct json *added = rpc_client_result(
            &client, "learned/add",
            support_text("{'text':'the %s%d is on'}", i % 2 ? "stays" : "quilllearned", i));
        const char *id = json_get_string(json_get(added, "item"), "id");
        if (i % 2 == 0)
            buf_addf(&ids, "%s'%s'", i > 0 ? "," : "", id);
    }
    (void)rpc_client_result(&client, "learned/forget", support_text("{'ids':[%s]}", ids.data));
    expect_gone("quilllearned");
    rpc_client_end(&client);
}

static bool is_settled(void *none)
{
    struct stat st;
    (void)none;
    return stat(support_text("%s-wal", scene_store()), &st) == 0 && st.st_size == 0;
}

/* A separate command forgets, while the server's connections stay open. */
TEST(a_command_forgets_beside_a_server)
{
    RPC_START(&client, NULL);
    const struct json *added =
        rpc_client_result(&client, "learned/add", "{'text':'the quillbeside is on'}");
    const char *id = json_get_string(json_get(added, "item"), "id");
    assert_true(support_wait_until(is_settled, NULL, GONE_MS)); /* the server does nothing more */
    run_ok(RUN("learned", "forget", "--yes", id));
    expect_gone("quillbeside");
    rpc_client_end(&client);
}
