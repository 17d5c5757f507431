/* Corpora in the store: ingestion of files, folders and texts, unchanged, changed or removed;
 * search; removal; a program that is killed meanwhile; two at once; a check and a recovery. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "index/transcripts.h"
#include "knowledge/corpora.h"
#include "session/health.h"
#include "store/sql.h"
#include "tests/shelf.h"
#include "tests/suite.h"

FIXTURE(shelf_setup, shelf_teardown);

static void notes(void)
{
    shelf_write("notes/kyoto.md",
                "# Travel\n\nThe ryokan in Kyoto is booked for May.\n\n"
                "## Trains\n\nThe night train leaves at ten.\n");
    shelf_write("notes/garden.txt", "Tomatoes want sun.\n\nBasil grows beside them.\n");
    shelf_write("notes/deep/under/ground.txt", "Moles dig below the basil bed.\n");
}

/* --- ingest ----------------------------------------------------------------------------------- */

TEST(a_folder_is_ingested_and_searched)
{
    notes();
    assert_string_equal(shelf_add("notes", "notes"), "files 3 added 3");
    assert_string_equal(shelf_search("notes", "ryokan"), "kyoto.md:1");
    assert_string_equal(shelf_search("notes", "when does the train leave"), "kyoto.md:5");
    assert_string_equal(shelf_search("notes", "basil"), "ground.txt:1 garden.txt:1");
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(a_hit_says_where_it_stands)
{
    notes();
    shelf_add("notes", "notes");
    shelf_find("night train", 0);
    assert_int_equal(shelf.found.documents, 3);
    assert_int_equal(shelf.found.searched, 4);
    assert_int_equal(shelf.found.items.len, 1);
    const struct corpus_passage *p = &shelf.found.items.items[0];
    assert_string_equal(p->corpus, "notes");
    assert_string_equal(p->heading, "Travel › Trains");
    assert_int_equal(p->line, 5);
    assert_int_equal(p->chunk, 1);
    assert_true(p->score > 0.5 && p->score <= 1);
    assert_true(p->words == p->score && p->vector == -1);
    shape_release(&corpus_found_shape, &shelf.found);
}

TEST(names_of_files_and_headings_are_searched)
{
    notes();
    shelf_add("notes", "notes");
    assert_string_equal(shelf_search("notes", "garden"), "garden.txt:1");
    assert_string_equal(shelf_search("notes", "travel trains"), "kyoto.md:5 kyoto.md:1");
    assert_string_equal(shelf_search("notes", "notes"), ""); /* a folder's name */
}

/* The passage that defines a function comes before those that call it, in any case. */
TEST(names_that_code_defines_count_more)
{
    static const struct {
        const char *file, *line;
    } names[] = {
        {"a.c", "static int retry_delay(int n)\n{"},
        {"a.go", "func (s *Server) RetryDelay(n int) int {"},
        {"a.js", "export const retryDelay = async (n) => {"},
        {"a.lua", "function M.retry_delay(n)"},
        {"a.py", "    async def retry_delay(self, n):"},
        {"a.rs", "pub struct RetryDelay(u32);"},
        {"a.ts", "  private async retryDelay(n: number): Promise<number> {"},
        {"b.js", "  retryDelay: function (n) {"},
    };
    static const char *const others[] = {
        "x = retry_delay(1) + delay_retry(x);", "  if (retryDelay(3) || this.retryDelay(4)) {",
        "# def retry_delay(n):", "struct retry_delay *x = retryDelay(y);"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *folder = support_text("code%zu", i);
        for (size_t k = 0; k < 4; k++)
            shelf_write(support_text("%s/z%zu.py", folder, k),
                        support_text("%s\nstones\n", others[k]));
        shelf_write(support_text("%s/%s", folder, names[i].file),
                    support_text("one(stone);\ntwo(stones);\n%s\n", names[i].line));
        shelf_add(folder, folder);
        const char *found = shelf_search(folder, "where is the delay of a retry");
        if (strncmp(found, names[i].file, strlen(names[i].file)) != 0)
            fail_msg("%s: %s", names[i].line, found);
    }
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(what_is_not_there_tells_how_much_was_searched)
{
    notes();
    shelf_add("notes", "notes");
    shelf_find("zeppelin", 0);
    assert_int_equal(shelf.found.items.len, 0);
    assert_int_equal(shelf.found.documents, 3);
    assert_int_equal(shelf.found.searched, 4);
    const struct corpus_search blank = {.query = " "}, unknown = {.query = "x", .corpus = "none"};
    assert_err(corpora_search(shelf.corpora, &blank, NULL, &shelf.found, &shelf.e), shelf.e,
               ERR_USAGE);
    assert_err(corpora_search(shelf.corpora, &unknown, NULL, &shelf.found, &shelf.e), shelf.e,
               ERR_MEMORY_NOT_FOUND);
}

TEST(a_filter_takes_files_by_a_part_or_a_glob)
{
    static const struct {
        const char *filter, *hits;
    } rows[] = {{"GROUND", "ground.txt:1"},
                {"*.txt", "ground.txt:1 garden.txt:1"},
                {"under/*", "ground.txt:1"},
                {"**/notes/*", "garden.txt:1"},
                {"*.md", ""},
                {"nothing", ""}};
    notes();
    shelf_add("notes", "notes");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shelf_search_for(&(struct corpus_search){
            .query = "basil", .filter = rows[i].filter, .hybrid_weight = -1});
        assert_string_equal(shelf_hits(), rows[i].hits);
    }
}

TEST(k_counts_over_the_whole_corpus)
{
    for (int i = 0; i < 30; i++)
        shelf_write(support_text("many/f%02d.txt", i), "one word: lantern\n");
    shelf_add("many", "many");
    shelf_find("lantern", 0);
    assert_int_equal(shelf.found.items.len, 5);
    shelf_find("lantern", 20);
    assert_int_equal(shelf.found.items.len, 20);
    shelf_find("lantern", 50);
    assert_int_equal(shelf.found.items.len, CORPUS_TOP_K_MOST);
    shape_release(&corpus_found_shape, &shelf.found);
}

TEST(corpora_do_not_see_each_other)
{
    shelf_write("a/x.txt", "the lantern is red\n");
    shelf_write("b/y.txt", "the lantern is green\n");
    shelf_add("a", "a");
    shelf_add("b", "b");
    assert_string_equal(shelf_search("a", "lantern"), "x.txt:1");
    assert_string_equal(shelf_search("b", "lantern"), "y.txt:1");
    assert_string_equal(shelf_search(NULL, "green lantern"), "y.txt:1 x.txt:1");
}

/* --- again ------------------------------------------------------------------------------------ */

TEST(what_is_unchanged_is_passed_over)
{
    notes();
    shelf_add("notes", "notes");
    assert_string_equal(shelf_add("notes", NULL), "files 3 unchanged 3");
    shelf_write("notes/garden.txt", "Tomatoes want sun.\n\nBasil grows beside them.\n");
    assert_string_equal(shelf_add("notes", NULL), "files 3 unchanged 3");
    struct stat st;
    assert_int_equal(stat(support_path("notes/garden.txt"), &st), 0);
    assert_int_equal(shelf_number("SELECT modified_ns FROM corpus_document"
                                  " WHERE file LIKE '%garden.txt'"),
                     (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_document"), 3);
    assert_int_equal(shelf_number("SELECT max(number) FROM corpus_document"), 3);
}

TEST(what_changed_takes_the_place_of_what_was_there)
{
    notes();
    shelf_add("notes", "notes");
    shelf_write("notes/garden.txt", "Carrots want sand.\n");
    assert_string_equal(shelf_add("notes", NULL), "files 3 changed 1 unchanged 2");
    assert_string_equal(shelf_search("notes", "tomatoes"), "");
    assert_string_equal(shelf_search("notes", "carrots"), "garden.txt:1");
    shelf_purge();
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_entry"), 4);
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(what_is_gone_is_taken_out)
{
    notes();
    shelf_add("notes", "notes");
    assert_int_equal(unlink(support_path("notes/kyoto.md")), 0);
    assert_string_equal(shelf_add("notes", NULL), "files 2 unchanged 2 removed 1");
    assert_string_equal(shelf_search("notes", "ryokan"), "");
    shelf_purge();
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_document"), 2);
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(a_root_that_is_gone_takes_nothing_out)
{
    bool more;
    notes();
    shelf_add("notes", "notes");
    assert_int_equal(rename(support_path("notes"), support_path("elsewhere")), 0);
    struct ingest *in = shelf_begin("notes", NULL);
    assert_err(ingest_step(in, NULL, &more, &shelf.e), shelf.e, ERR_FILE_ERROR);
    assert_non_null(strstr(shelf.e.text, "notes"));
    ingest_free(in);
    assert_string_equal(shelf_search("notes", "ryokan"), "kyoto.md:1");
    assert_null(shelf_resume()); /* only a person can help */
}

TEST(paths_that_are_added_to_an_ingest_are_ingested_after_it)
{
    shelf_write("a/a.txt", "a lantern\n");
    shelf_write("b/b.txt", "a lantern\n");
    shelf_ask("w", "a");
    struct ingest *first = shelf_resume();
    (void)shelf_step(first);
    shelf_ask("w", "b");
    assert_string_equal(shelf_run(first), "files 1 added 1");
    struct ingest *second = shelf_resume();
    assert_non_null(second);
    assert_string_equal(shelf_run(second), "files 2 added 1 unchanged 1");
    assert_null(shelf_resume());
    assert_string_equal(shelf_search("w", "lantern"), "a.txt:1 b.txt:1");
}

TEST(an_ingest_takes_out_nothing_of_paths_that_were_added_meanwhile)
{
    shelf_write("a/a.txt", "a lantern\n");
    shelf_write("a/old.txt", "a lantern\n");
    shelf_write("b/b.txt", "a lantern\n");
    shelf_add("w", "a");
    assert_int_equal(unlink(support_path("a/old.txt")), 0);
    shelf_ask("w", "a");
    struct ingest *first = shelf_resume();
    (void)shelf_step(first);
    assert_string_equal(shelf_add("w", "b"), "files 2 added 1 unchanged 1 removed 1");
    assert_string_equal(shelf_run(first), "files 1 unchanged 1");
    assert_string_equal(shelf_search("w", "lantern"), "a.txt:1 b.txt:1");
    assert_null(shelf_resume());
}

static int64_t removed(const char *name, const char *file)
{
    struct corpus_removed out;
    assert_ok(corpora_remove(shelf.corpora, &(struct corpus_remove){name, file}, &out, &shelf.e),
              shelf.e);
    return out.documents;
}

TEST(a_corpus_that_is_removed_ends_its_ingest)
{
    bool more = true;
    shelf_write("a/empty.txt", " ");
    struct ingest *in = shelf_begin("w", "a");
    (void)shelf_step(in);
    removed("w", NULL);
    while (more && ingest_step(in, NULL, &more, &shelf.e)) {
    }
    assert_int_equal(shelf.e.code, ERR_MEMORY_NOT_FOUND);
    ingest_free(in);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_document"), 0);
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(what_cannot_be_read_is_listed_and_tried_again)
{
    const struct corpus_documents_query failed = {.name = "x", .failed = true};
    struct corpus_documents listed;
    shelf_write("x/good.txt", "lantern\n");
    shelf_write("x/large.txt", "lantern\n");
    assert_int_equal(truncate(support_path("x/large.txt"), (off_t)1 << 30), 0);
    assert_string_equal(shelf_add("x", "x"), "files 2 added 1 failed 1");
    assert_true(corpora_documents(shelf.corpora, &failed, &listed, &shelf.e));
    assert_int_equal(listed.total, 1);
    assert_string_equal(shelf_file_name(listed.items.items[0].file), "large.txt");
    assert_true(*listed.items.items[0].error);
    shape_release(&corpus_documents_shape, &listed);
    shelf_write("x/large.txt", "a small lantern now\n");
    assert_string_equal(shelf_add("x", NULL), "files 2 changed 1 unchanged 1");
    assert_string_equal(shelf_search("x", "lantern"), "good.txt:1 large.txt:1");
}

/* --- paths ------------------------------------------------------------------------------------ */

TEST(gitignore_is_honoured)
{
    shelf_write("w/.git/info/exclude", "*.tmp\n");
    shelf_write("w/.gitignore", "build/\n*.log\n!keep.log\n/top.txt\n# comment\n");
    shelf_write("w/sub/.gitignore", "secret*\n!secret-not.txt\n");
    const char *const files[] = {"w/a.txt",       "w/a.log",           "w/keep.log",
                                 "w/top.txt",     "w/build/x.txt",     "w/sub/top.txt",
                                 "w/sub/x.tmp",   "w/sub/secret.txt",  "w/sub/secret-not.txt",
                                 "w/.hidden.txt", "w/sub/build/y.txt", "w/secret.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        shelf_write(files[i], "lantern\n");
    assert_string_equal(shelf_add("w", "w"), "files 5 added 5");
    assert_string_equal(shelf_search("w", "lantern"),
                        "a.txt:1 keep.log:1 secret.txt:1 secret-not.txt:1 top.txt:1");
    assert_string_equal(shelf_add("below", "w/sub"), "files 2 added 2");
}

TEST(links_lead_nowhere)
{
    shelf_write("w/a.txt", "lantern\n");
    shelf_write("out.txt", "lantern outside\n");
    assert_int_equal(symlink("..", support_path("w/circle")), 0);
    assert_int_equal(symlink("../out.txt", support_path("w/link.txt")), 0);
    assert_int_equal(symlink("self", support_path("w/self")), 0);
    assert_int_equal(mkfifo(support_path("w/pipe.txt"), 0600), 0);
    assert_string_equal(shelf_add("w", "w"), "files 1 added 1");
    assert_int_equal(symlink("w", support_path("named")), 0);
    assert_string_equal(shelf_add("named", "named"), "files 1 added 1");
}

TEST(paths_and_names_that_are_none_are_refused)
{
    const char *none[] = {support_path("nowhere")};
    const char *device[] = {"/dev/null"};
    struct ingest *in;
    assert_err(ingest_begin(shelf.corpora, "x", none, 1, &in, &shelf.e), shelf.e, ERR_FILE_ERROR);
    assert_err(ingest_begin(shelf.corpora, "x", device, 1, &in, &shelf.e), shelf.e, ERR_FILE_ERROR);
    assert_err(ingest_begin(shelf.corpora, "x", NULL, 0, &in, &shelf.e), shelf.e, ERR_USAGE);
    static const char *const names[] = {"", "a b", "../x", "-x", "ä", "a/b"};
    shelf_write("w/a.txt", "lantern\n");
    const char *good[] = {support_path("w")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_err(ingest_begin(shelf.corpora, names[i], good, 1, &in, &shelf.e), shelf.e,
                   ERR_USAGE);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_set"), 0);
}

TEST(paths_overlap_and_come_from_tiro_ini)
{
    struct config_problems problems = {0};
    shelf_write("w/a.txt", "lantern\n");
    shelf_write("w/sub/b.txt", "lantern\n");
    shelf_write("ini/c.txt", "lantern\n");
    char *text = support_text("[corpus]\nw.paths = %s:~/ini\n", support_path("w/sub"));
    config_load_text(shelf.config, "test", text, &problems);
    assert_int_equal(problems.list.len, 0);
    setenv("HOME", support_dir(), 1);
    assert_string_equal(shelf_add("w", "w"), "files 3 added 3");
    assert_string_equal(shelf_add("w", NULL), "files 3 unchanged 3");
}

TEST(a_corpus_has_so_many_paths_at_most)
{
    const char *paths[CORPUS_PATHS + 1];
    struct ingest *in;
    shelf_write("w/a.txt", "lantern\n");
    for (size_t i = 0; i <= CORPUS_PATHS; i++)
        paths[i] = support_path("w");
    assert_err(ingest_begin(shelf.corpora, "w", paths, CORPUS_PATHS + 1, &in, &shelf.e), shelf.e,
               ERR_USAGE);
    assert_true(ingest_begin(shelf.corpora, "w", paths, CORPUS_PATHS, &in, &shelf.e));
    assert_string_equal(shelf_run(in), "files 1 added 1");
}

/* --- texts ------------------------------------------------------------------------------------ */

static struct corpus_ingested ingest_text(const char *corpus, const char *name, const char *text)
{
    struct corpus_ingested made;
    const struct corpus_ingest given = {corpus, name, text};
    assert_ok(corpora_ingest_text(shelf.corpora, &given, NULL, &made, &shelf.e), shelf.e);
    return made;
}

TEST(a_given_text_is_a_document)
{
    struct corpus_ingested first = ingest_text("t", "meeting.md", "# Monday\n\nBring lanterns.\n");
    assert_int_equal(first.chunks, 1);
    assert_string_equal(shelf_search("t", "lantern"), "meeting.md:1");
    struct corpus_ingested second = ingest_text("t", "meeting.md", "Bring candles.\n");
    assert_true(second.document > first.document);
    assert_string_equal(shelf_search("t", "lantern"), "");
    assert_string_equal(shelf_search("t", "candles"), "meeting.md:1");
    shelf_write("w/a.txt", "a lantern\n");
    shelf_add("t", "w");
    assert_string_equal(shelf_add("t", NULL), "files 1 unchanged 1");
    assert_string_equal(shelf_search("t", "candles"), "meeting.md:1");
}

TEST(a_text_that_is_none_is_refused)
{
    struct corpus_ingested made;
    static const struct corpus_ingest bad[] = {
        {"t", "x.txt", " \n "}, {"t", "", "text"}, {"a b", "x.txt", "text"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_err(corpora_ingest_text(shelf.corpora, &bad[i], NULL, &made, &shelf.e), shelf.e,
                   ERR_USAGE);
    auto_free char *large = mem_alloc(CORPUS_TEXT_BYTES + 2);
    memset(large, 'w', CORPUS_TEXT_BYTES + 1);
    assert_err(corpora_ingest_text(shelf.corpora, &(struct corpus_ingest){"t", "x.txt", large},
                                   NULL, &made, &shelf.e),
               shelf.e, ERR_USAGE);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_document"), 0);
}

/* --- reading ---------------------------------------------------------------------------------- */

TEST(lists_tell_what_there_is)
{
    struct corpus_list listed;
    struct corpus_passages passages;
    struct corpus_stats stats;
    notes();
    shelf_add("notes", "notes");
    ingest_text("other", "x.txt", "lantern");
    assert_true(corpora_list(shelf.corpora, &listed, &shelf.e));
    assert_int_equal(listed.items.len, 2);
    const struct corpus_info *info = &listed.items.items[0];
    assert_string_equal(info->name, "notes");
    assert_int_equal(info->documents, 3);
    assert_int_equal(info->passages, 4);
    assert_int_equal(info->paths.len, 1);
    assert_false(info->pending);
    assert_true(info->updated_ms > 0);
    shape_release(&corpus_list_shape, &listed);

    int64_t document =
        shelf_number("SELECT number FROM corpus_document WHERE file LIKE '%kyoto.md'");
    const struct corpus_passages_query from = {.document = document, .from = 1};
    assert_true(corpora_passages(shelf.corpora, &from, &passages, &shelf.e));
    assert_int_equal(passages.total, 2);
    assert_int_equal(passages.items.len, 1);
    assert_non_null(strstr(passages.items.items[0].content, "night train"));
    shape_release(&corpus_passages_shape, &passages);
    assert_err(corpora_passages(shelf.corpora, &(struct corpus_passages_query){.document = 99},
                                &passages, &shelf.e),
               shelf.e, ERR_MEMORY_NOT_FOUND);

    assert_true(corpora_stats(shelf.corpora, &stats, &shelf.e));
    assert_int_equal(stats.corpora, 2);
    assert_int_equal(stats.documents, 4);
    assert_int_equal(stats.passages, 5);
    assert_true(stats.index > 0 && stats.bytes > 0);
    assert_null(stats.model);
}

/* --- removal ---------------------------------------------------------------------------------- */

TEST(a_folder_is_removed_without_what_begins_like_it)
{
    shelf_write("w/deep/a.txt", "a lantern\n");
    shelf_write("w/deeper.txt", "a lantern\n");
    shelf_add("w", "w");
    assert_int_equal(removed("w", support_path("w/deep")), 1);
    assert_string_equal(shelf_search("w", "lantern"), "deeper.txt:1");
}

TEST(a_document_a_folder_and_a_corpus_are_removed)
{
    struct corpus_removed out;
    notes();
    shelf_add("notes", "notes");
    ingest_text("other", "x.txt", "basil");
    assert_int_equal(removed("notes", support_path("notes/kyoto.md")), 1);
    assert_string_equal(shelf_search("notes", "ryokan"), "");
    assert_int_equal(removed("notes", support_path("notes/deep")), 1);
    assert_string_equal(shelf_search("notes", "basil"), "garden.txt:1");
    assert_int_equal(removed("notes", NULL), 1);
    assert_string_equal(shelf_search(NULL, "basil"), "x.txt:1");
    static const struct corpus_remove unknown[] = {{"notes", NULL}, {"other", "y.txt"}};
    for (size_t i = 0; i < 2; i++)
        assert_err(corpora_remove(shelf.corpora, &unknown[i], &out, &shelf.e), shelf.e,
                   ERR_MEMORY_NOT_FOUND);
    shelf_purge();
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_entry"), 1);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_words_docsize"), 1);
    assert_string_equal(shelf_expect_sound(), "sound");
    (void)support_read(shelf.path);
}

/* --- vectors ---------------------------------------------------------------------------------- */

TEST(vectors_and_words_share_a_score)
{
    notes();
    shelf_configure(CONFIG_EMBEDDING_PROVIDER, "hashed");
    shelf_configure(CONFIG_CORPUS_RANKING, "both");
    shelf_add("notes", "notes");
    shelf_search_for(&(struct corpus_search){.query = "night train", .hybrid_weight = 0.3});
    assert_string_equal(shelf.found.badge,
                        "words only: passages lack vectors; tiro corpus update makes "
                        "them");
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    static const double weights[] = {0, 0.3, 0.7, 1};
    for (size_t i = 0; i < 4; i++) {
        shelf_search_for(
            &(struct corpus_search){.query = "night train", .hybrid_weight = weights[i]});
        assert_null(shelf.found.badge);
        assert_true(shelf.found.items.len > 0);
        const struct corpus_passage *p = &shelf.found.items.items[0];
        assert_int_equal(p->line, 5);
        double expected =
            weights[i] * p->words + (1 - weights[i]) * (p->vector > 0 ? p->vector : 0);
        assert_true(p->score - expected < 1e-9 && expected - p->score < 1e-9);
        assert_true(weights[i] == 1 || p->vector > 0);
        assert_true(weights[i] == 0 ? p->words == 0 : p->words > 0);
    }
    shape_release(&corpus_found_shape, &shelf.found);
    struct corpus_stats stats;
    assert_true(corpora_stats(shelf.corpora, &stats, &shelf.e));
    assert_int_equal(stats.embedded, 4);
    assert_int_equal(stats.missing, 0);
    shape_release(&corpus_stats_shape, &stats);
    removed("notes", support_path("notes/kyoto.md"));
    shelf_purge();
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_vector"), 2);
    assert_string_equal(shelf_expect_sound(), "sound");
}

/* --- a reranker ------------------------------------------------------------------------------- */

/* The server's answers, and the requests that it got. */
static struct {
    const char *body; /* NULL: no connection */
    char *asked;
    int calls;
} server;

static bool serve(void *context, const struct http_request *request, struct http_reply *reply,
                  struct failure *f)
{
    (void)context;
    server.calls++;
    server.asked = support_text("%s %.*s", request->url, (int)request->body_len, request->body);
    if (!server.body)
        return failure_set(f, FAILURE_CONNECT, "nobody is there");
    reply->status = 200;
    snprintf(reply->content_type, sizeof reply->content_type, "application/json");
    const char *body = support_json(server.body);
    return !request->on_body ? (buf_addstr(&reply->body, body), true)
                             : request->on_body(request->context, body, strlen(body));
}

static void with_reranker(void)
{
    shelf_write("w/a.txt", "a red lantern\n");
    shelf_write("w/b.txt", "a green lantern hangs here\n");
    shelf_write("w/c.txt", "a blue lantern hangs over the door there\n");
    shelf_add("w", "w");
    shelf_configure(CONFIG_CORPUS_RERANKER_URL, "http://127.0.0.1:9/v1/rerank");
    shelf_configure(CONFIG_CORPUS_RERANKER_MODEL, "m");
    http_free(shelf.corpora->encoder.http);
    shelf.corpora->encoder.http = http_new_answered(serve, NULL);
    server.calls = 0;
}

TEST(a_reranker_orders_what_was_found)
{
    static const char *const bodies[] = {
        "{'results':[{'index':2,'relevance_score':0.9},{'index':0,'relevance_score':0.2}]}",
        "[{'index':0,'score':-3.5},{'index':2,'score':4}]",
        ("{'data':[{'index':2,'relevance_score':0.9},{'index':0,'relevance_score':0.1},"
         "{'index':1,'relevance_score':0.05}]}")};
    with_reranker();
    for (size_t i = 0; i < 3; i++) {
        server.body = bodies[i];
        shelf_find("lantern", 0);
        assert_null(shelf.found.badge);
        assert_true(shelf.found.items.items[0].score <= 1 &&
                    shelf.found.items.items[0].score > 0.8);
        assert_true(shelf.found.items.items[1].score >= shelf.found.items.items[2].score);
        assert_string_equal(shelf_hits(), "c.txt:1 a.txt:1 b.txt:1");
    }
    assert_string_equal(server.asked,
                        support_text("http://127.0.0.1:9/v1/rerank %s",
                                     support_json("{'model':'m','query':'lantern','documents':["
                                                  "'a red lantern','a green lantern hangs here',"
                                                  "'a blue lantern hangs over the door there'],"
                                                  "'top_n':5}")));
}

static int documents_asked(void)
{
    const char *body = strchr(server.asked, ' ') + 1;
    AUTO(json_free_local) struct json *v = json_parse(body, strlen(body), NULL);
    return (int)json_len(json_get(v, "documents"));
}

TEST(a_reranker_gets_more_than_is_wanted)
{
    for (int i = 0; i < 40; i++)
        shelf_write(support_text("w/f%02d.txt", i), "a lantern\n");
    with_reranker();
    server.body = "[{'index':19,'score':0.9}]";
    shelf_find("lantern", 3);
    assert_int_equal(documents_asked(), 20);
    assert_int_equal(shelf.found.items.len, 3);
    shelf_find("lantern", 9);
    assert_int_equal(documents_asked(), 27);
    assert_int_equal(shelf.found.items.len, 9);
    shape_release(&corpus_found_shape, &shelf.found);
}

/* An entry that the server left out ranks below those that it ranked. */
TEST(a_reranker_that_ranks_some_has_them_first)
{
    with_reranker();
    server.body = "[{'index':2,'score':0.001}]";
    shelf_find("lantern", 0);
    assert_true(shelf.found.items.items[1].score <= 0.001);
    assert_string_equal(shelf_hits(), "c.txt:1 a.txt:1 b.txt:1");
}

TEST(a_reranker_that_fails_leaves_the_order_and_is_left_alone)
{
    static const char *const bodies[] = {NULL,
                                         "{}",
                                         "[]",
                                         "[{'index':7,'score':1}]",
                                         "[{'index':0,'score':1},{'index':0,'score':1}]",
                                         "[{'index':-1,'score':1}]",
                                         "[{'index':0.5,'score':1}]",
                                         "[{'index':0,'score':'x'}]"};
    with_reranker();
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        server.body = bodies[i];
        shelf.corpora->reranker_retry_ms = 0;
        shelf_find("lantern", 0);
        assert_string_equal(shelf.found.badge, "not reranked: the reranker does not answer");
        assert_string_equal(shelf_hits(), "a.txt:1 b.txt:1 c.txt:1");
    }
    int calls = server.calls;
    shelf_search("w", "lantern");
    assert_int_equal(server.calls, calls);
}

/* --- a large one ------------------------------------------------------------------------------ */

/* Begins to ingest a large document. */
static struct ingest *begin_large(void)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 20000; i++)
        buf_addf(&text, "Paragraph %d has a lantern and some words to fill it.\n\n", i);
    shelf_write("w/large.txt", text.data);
    return shelf_begin("w", "w");
}

TEST(a_large_document_is_there_when_all_of_it_is)
{
    struct ingest *in = begin_large();
    int steps = 0;
    for (bool more = true; more; steps++) {
        more = shelf_step(in);
        const char *seen = shelf_search("w", "lantern");
        int64_t chunks = shelf_number("SELECT count(*) FROM corpus_entry");
        assert_true(!*seen ||
                    chunks ==
                        shelf_number("SELECT chunks FROM corpus_document WHERE state = 'ready'"));
    }
    ingest_free(in);
    assert_true(steps > 4);
    assert_true(*shelf_search("w", "lantern"));
}

/* An ingest that has written a part of a large document. */
static struct ingest *half_written(void)
{
    struct ingest *in = begin_large();
    while (shelf_number("SELECT count(*) FROM corpus_entry") == 0)
        assert_true(shelf_step(in));
    return in;
}

TEST(a_document_that_is_removed_while_it_is_written_does_not_come_back)
{
    struct ingest *in = half_written();
    bool more;
    shelf_sql("UPDATE corpus_document SET state = 'gone'");
    assert_err(ingest_step(in, NULL, &more, &shelf.e), shelf.e, ERR_MEMORY_NOT_FOUND);
    ingest_free(in);
    shelf_purge();
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_entry"), 0);
    assert_string_equal(shelf_expect_sound(), "sound");
}

static int64_t wall_ms;

static int64_t replaced_clock(void)
{
    return wall_ms;
}

TEST(a_document_that_is_being_written_is_left_alone_for_some_minutes)
{
    struct ingest *in = half_written();
    shelf_purge();
    assert_true(shelf_number("SELECT count(*) FROM corpus_entry") > 0);
    wall_ms = clock_wall_ms() + 10 * 60 * 1000;
    clock_replace(replaced_clock, NULL);
    shelf_purge();
    clock_replace(NULL, NULL);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_entry"), 0);
    ingest_free(in);
}

/* --- citations of a session ------------------------------------------------------------------- */

#define SESSION "0198c0de-0000-7000-8000-000000000001"

static bool failed; /* the next tool */

static void say(enum event_type type, int64_t seq, const char *name, const char *text)
{
    AUTO(event_free_local) struct event *ev = event_new(type);
    memcpy(ev->session_id, SESSION, sizeof SESSION);
    ev->seq = seq;
    ev->name = name ? mem_strdup(name) : NULL;
    ev->text = mem_strdup(text);
    ev->flag = failed;
    assert_ok(transcripts_append(shelf.store, ev, &shelf.e), shelf.e);
}

static void begin_session(void)
{
    shelf_sql(
        "INSERT INTO session (id, title, title_set, directory, provider, model, created_ms,"
        " updated_ms, messages, turns, last_seq, input_tokens, estimated)"
        " VALUES ('" SESSION "', '', 0, '/', '', '', 1, 1, 0, 0, 0, 0, 0)");
}

TEST(what_the_user_names_can_be_searched_and_nothing_else)
{
    struct text_list names;
    ingest_text("one", "x.txt", "lantern");
    ingest_text("two", "x.txt", "lantern");
    ingest_text("three", "x.txt", "lantern");
    begin_session();
    say(EVENT_TURN_STARTED, 1, NULL, "what does @corpus:two say of it? And @corpus:one.");
    say(EVENT_TEXT_COMPLETE, 2, NULL, "Ask @corpus:three, too.");
    say(EVENT_TURN_STARTED, 3, NULL, "@corpus:two, @corpus:nowhere and mail@corpus:");
    assert_true(corpora_named(shelf.corpora, SESSION, &names, &shelf.e));
    assert_int_equal(names.items.len, 2);
    assert_string_equal(names.items.items[0], "two");
    assert_string_equal(names.items.items[1], "one");
    vec_free_each(&names.items);
}

TEST(what_the_model_was_given_is_known_by_its_numbers)
{
    static const char *const results[] = {
        "[{'n':1,'content':'old','file':'o.md','chunk':0,'document':1}]",
        ("[{'n':1,'content':'first','file':'a.md','chunk':0,'line':3,'document':2},"
         "{'n':2,'content':'second','file':'b.pdf','chunk':4,'page':9,'document':3}]"),
        "{'results':[],'searched':4,'documents':1}",
        "[{'n':3,'content':'third','file':'a.md','chunk':1,'document':2},{'n':4},7]"};
    const struct corpus_cited newest = {SESSION, 0}, older = {SESSION, 3};
    struct corpus_passages given;
    begin_session();
    assert_true(corpora_cited(shelf.corpora, &newest, &given, &shelf.e));
    assert_int_equal(given.items.len, 0);
    say(EVENT_TURN_STARTED, 1, NULL, "one");
    say(EVENT_TOOL_EXECUTION_COMPLETED, 2, "rag_search", support_json(results[0]));
    say(EVENT_TURN_STARTED, 3, NULL, "two");
    for (int i = 1; i < 4; i++)
        say(EVENT_TOOL_EXECUTION_COMPLETED, 3 + i, "rag_search", support_json(results[i]));
    say(EVENT_TOOL_EXECUTION_COMPLETED, 7, "read_file", support_json(results[0]));
    say(EVENT_TURN_STARTED, 8, NULL, "three, which searches nothing");
    failed = true;
    say(EVENT_TOOL_EXECUTION_COMPLETED, 9, "rag_search", support_json(results[0]));
    failed = false;
    assert_true(corpora_cited(shelf.corpora, &newest, &given, &shelf.e));
    assert_int_equal(given.items.len, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(given.items.items[i].number, i + 1);
    assert_string_equal(given.items.items[1].content, "second");
    assert_int_equal(given.items.items[1].page, 9);
    assert_int_equal(given.items.items[0].line, 3);
    shape_release(&corpus_passages_shape, &given);
    assert_true(corpora_cited(shelf.corpora, &older, &given, &shelf.e));
    assert_int_equal(given.items.len, 1);
    assert_string_equal(given.items.items[0].file, "o.md");
    shape_release(&corpus_passages_shape, &given);
}

/* --- killed, and two at once ------------------------------------------------------------------ */

static void ingest_in_child(int go)
{
    struct ingest *in;
    bool more = true;
    char byte;
    (void)!read(go, &byte, 1);
    shelf_open();
    if (!ingest_resume(shelf.corpora, &in, &shelf.e) || !in)
        _exit(1);
    while (more)
        if (!ingest_step(in, NULL, &more, &shelf.e))
            _exit(2);
    _exit(0);
}

static void many_files(int count)
{
    for (int i = 0; i < count; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        for (int k = 0; k < 40; k++)
            buf_addf(&text, "Number %d tells of lanterns and of harbour %d.\n\n", i, k);
        shelf_write(support_text("many/f%03d.txt", i), text.data);
    }
}

static bool has_some(void *least)
{
    return shelf_number("SELECT count(*) FROM corpus_document WHERE state = 'ready'") >=
           *(int *)least;
}

TEST(a_killed_ingest_leaves_whole_documents_and_goes_on)
{
    uint64_t seed = support_seed();
    many_files(300);
    shelf_ask("many", "many");
    for (int round = 0; round < 3; round++) {
        int go, least = 40 + 80 * round, status;
        shelf_close();
        pid_t child = shelf_start(ingest_in_child, &go);
        shelf_open();
        assert_int_equal(write(go, "x", 1), 1);
        assert_true(support_wait_until(has_some, &least, 20000));
        for (uint64_t spin = support_random(&seed) % 4000000; spin > 0; spin--)
            __asm__ volatile("");
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        close(go);
        assert_int_equal(
            shelf_number("SELECT count(*) FROM corpus_document AS d WHERE state = 'ready'"
                         " AND chunks <> (SELECT count(*) FROM corpus_entry"
                         " WHERE key >> 24 = d.number)"),
            0);
        assert_string_equal(shelf_expect_sound(), "sound");
    }
    struct ingest *in = shelf_resume();
    if (in) { /* else the last one came to its end before it was killed */
        const char *unchanged = strstr(shelf_run(in), "unchanged ");
        assert_non_null(unchanged);
        assert_true(atoi(unchanged + strlen("unchanged ")) >= 200);
    }
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_document WHERE state = 'ready'"),
                     300);
    assert_null(shelf_resume());
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(what_a_killed_ingest_had_begun_is_purged)
{
    shelf_sql(
        "INSERT INTO corpus_set VALUES (1, 'x', 0, 0, 1, 1);"
        "INSERT INTO corpus_document VALUES (1, 1, '/f', 0, 1, 1, 1, 1, '1',"
        " 'loading', NULL, 0, 0, 1);"
        "INSERT INTO corpus_entry VALUES (1 << 24, 0, 1, 1, 0, '', 'half');"
        "INSERT INTO corpus_words (rowid, words) VALUES (1 << 24, 'f\n\nhalf');"
        "UPDATE corpus_next SET document = 2;");
    assert_string_equal(shelf_search(NULL, "half"), "");
    shelf_purge();
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_entry"), 0);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_document"), 0);
    assert_string_equal(shelf_expect_sound(), "sound");
}

/* --- a damaged database ----------------------------------------------------------------------- */

static bool index_words(void *context, struct store *s, struct error *why)
{
    (void)context;
    return corpora_reindex(&(struct corpora){.store = s, .language = "english"}, why);
}

TEST(corpora_come_back_from_a_damaged_database)
{
    const struct recovery_help help = {.index = index_words, .extensions = health_extensions};
    struct recovery r = {0};
    notes();
    shelf_add("notes", "notes");
    ingest_text("given", "x.txt", "a lantern");
    shelf_close();
    assert_ok(health_recover(shelf.path, &r, &help, &shelf.e), shelf.e);
    assert_int_equal(r.lost, 0);
    assert_true(health_replace(shelf.path, &r, &shelf.e));
    recovery_release(&r);
    shelf_open();
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_entry"), 5);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_path"), 1);
    assert_string_equal(shelf_search("notes", "ryokan"), "kyoto.md:1");
    assert_string_equal(shelf_search("given", "lantern"), "x.txt:1");
    assert_string_equal(shelf_add("notes", NULL), "files 3 unchanged 3");
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(a_check_tells_what_makes_no_sense)
{
    static const struct {
        const char *sql, *fault;
    } rows[] = {{"DELETE FROM corpus_entry WHERE key & 0xffffff = 1", "not all of their passages"},
                {"UPDATE corpus_document SET corpus = 77", "belong to no corpus"},
                {"DELETE FROM corpus_document WHERE number = 1", "passages belong to no document"},
                {"UPDATE corpus_next SET document = 1", "documents make no sense"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct health health;
        notes();
        shelf_add("notes", "notes");
        shelf_sql("PRAGMA foreign_keys = OFF");
        assert_true(store_exec(shelf.store, rows[i].sql, &shelf.e));
        shelf_close();
        health_check(shelf.path, true, health_extensions, &health);
        assert_int_equal(health.state, HEALTH_INCONSISTENT);
        assert_non_null(strstr(health.detail, rows[i].fault));
        assert_int_equal(unlink(shelf.path), 0);
        unlink(support_text("%s-wal", shelf.path));
        unlink(support_text("%s-shm", shelf.path));
        shelf_open();
    }
}
