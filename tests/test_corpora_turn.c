/* Two processes that could ingest the same files or compute the same vectors: each document is read
 * once, and each passage is sent to the endpoint once. */
#include <sys/wait.h>
#include <unistd.h>

#include "session/corpora_desk.h"
#include "session/lock.h"
#include "store/sql.h"
#include "tests/model_server.h"
#include "tests/shelf.h"
#include "tests/suite.h"

FIXTURE(shelf_setup, shelf_teardown);

static const struct wakeup nothing = {.fd = -1};

static int reads(void)
{
    int lines = 0;
    const char *text = support_read(support_path("reads"));
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

static void ingest_in_child(int go)
{
    struct corpora_turn turn = {support_dir(), -1};
    struct ingest *in;
    bool more = true, waits;
    char byte;
    shelf_open();
    if (!ingest_resume(shelf.corpora, &in, &shelf.e) || !in || read(go, &byte, 1) != 1)
        _exit(1);
    while (more) {
        if (!corpora_turn_ingest(&turn, in, NULL, &more, &waits, &shelf.e))
            _exit(2);
        if (waits)
            (void)wakeup_sleep(&nothing, 1);
    }
    _exit(turn.lock == -1 ? 0 : 3);
}

/* Small ones, and one that is written in several steps. */
static void write_documents(int count)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < count; i++)
        shelf_write(support_text("w/f%02d.txt", i), "a lantern\n");
    for (int i = 0; i < 12000; i++)
        buf_addf(&text, "Paragraph %d has a lantern, a harbour and a night train.\n\n", i);
    shelf_write("w/f00.txt", text.data);
}

TEST(two_processes_read_each_file_once)
{
    enum { FILES = 40 };
    int go[2], status;
    pid_t children[2];
    /* A command that notes each file that it reads. */
    struct config_problems problems = {0};
    config_load_text(
        shelf.config, "test",
        support_text("[corpus]\nloader.txt = echo \"$1\" >>'%s'; cat $1\n", support_path("reads")),
        &problems);
    assert_int_equal(problems.list.len, 0);
    write_documents(FILES);
    shelf_ask("w", "w");
    shelf_close();
    for (int i = 0; i < 2; i++)
        children[i] = shelf_start(ingest_in_child, &go[i]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(write(go[i], "x", 1), 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        close(go[i]);
    }
    shelf_open();
    assert_int_equal(reads(), FILES);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_document WHERE state = 'ready'"),
                     FILES);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_set WHERE ended < asked"), 0);
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(who_waits_does_nothing_until_the_other_has_done_its_step)
{
    struct corpora_turn turn = {support_dir(), -1};
    struct corpus_progress progress;
    int lock;
    bool more = true, waits;
    shelf_write("w/a.txt", "a lantern\n");
    shelf_ask("w", "w");
    struct ingest *in = shelf_resume();
    assert_true(lock_try(support_dir(), LOCK_INGEST, &lock, &waits, &shelf.e));
    assert_false(waits);
    for (int i = 0; i < 5; i++) {
        assert_true(corpora_turn_ingest(&turn, in, NULL, &more, &waits, &shelf.e));
        assert_true(waits && more);
    }
    ingest_progress(in, &progress);
    assert_int_equal(progress.files, 0);
    shape_release(&corpus_progress_shape, &progress);
    lock_drop(&lock);
    while (more) {
        assert_true(corpora_turn_ingest(&turn, in, NULL, &more, &waits, &shelf.e));
        assert_false(waits);
    }
    ingest_free(in);
    assert_string_equal(shelf_search("w", "lantern"), "a.txt:1");
}

TEST(a_large_document_is_one_turn)
{
    struct corpora_turn turn = {support_dir(), -1};
    bool more = true, waits, amid = false;
    int lock;
    write_documents(1);
    shelf_ask("w", "w");
    struct ingest *in = shelf_resume();
    while (more) {
        assert_true(corpora_turn_ingest(&turn, in, NULL, &more, &waits, &shelf.e));
        amid = amid || ingest_is_writing(in);
        assert_true(lock_try(support_dir(), LOCK_INGEST, &lock, &waits, &shelf.e));
        assert_int_equal(waits, ingest_is_writing(in));
        lock_drop(&lock);
    }
    assert_true(amid);
    ingest_free(in);
}

TEST(a_store_in_memory_needs_no_turn)
{
    struct corpora_turn turn = {NULL, -1};
    bool more = true, waits;
    shelf_write("w/a.txt", "a lantern\n");
    shelf_ask("w", "w");
    struct ingest *in = shelf_resume();
    while (more) {
        assert_true(corpora_turn_ingest(&turn, in, NULL, &more, &waits, &shelf.e));
        assert_false(waits);
    }
    ingest_free(in);
    assert_int_not_equal(access(support_path("locks"), F_OK), 0);
}

TEST(passages_go_to_an_endpoint_once)
{
    const struct corpora_turn turn = {support_dir(), -1};
    struct model_server *server = model_server_start();
    int lock, retry;
    int64_t left;
    bool waits;
    shelf_configure(CONFIG_EMBEDDING_PROVIDER, "openai");
    shelf_configure(CONFIG_EMBEDDING_MODEL, "m");
    shelf_configure(CONFIG_EMBEDDING_BASE_URL, support_text("%s/v1", model_server_url(server)));
    shelf_write("w/a.txt", "a lantern\n");
    shelf_add("w", "w");
    assert_true(lock_try(support_dir(), LOCK_VECTORS, &lock, &waits, &shelf.e));
    assert_int_equal(corpora_turn_embed(&turn, shelf.corpora, NULL, &left, &retry, &shelf.e),
                     CORPORA_WAITS);
    assert_int_equal(shelf.e.code, ERR_OK);
    assert_true(retry > 0);
    assert_int_equal(model_server_requests(server), 0);
    lock_drop(&lock);
    assert_int_equal(corpora_turn_embed(&turn, shelf.corpora, NULL, &left, &retry, &shelf.e),
                     CORPORA_WORKED);
    assert_int_equal(model_server_requests(server), 1);
    model_server_stop(server);
}
