#include "tests/shelf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/health.h"
#include "tests/support.h"

struct shelf shelf;

void shelf_open(void)
{
    assert_ok(store_open(shelf.path, STORE_READ_WRITE, &shelf.store, &shelf.e), shelf.e);
    shelf.corpora = corpora_open(shelf.config, shelf.store, NULL);
}

void shelf_close(void)
{
    corpora_close(shelf.corpora);
    store_close(shelf.store);
}

int shelf_setup(void **state)
{
    support_setup(state);
    shelf.path = support_path("tiro.db");
    shelf.config = config_new();
    shelf.e = (struct error){0};
    shelf_open();
    return 0;
}

int shelf_teardown(void **state)
{
    shelf_close();
    config_free(shelf.config);
    return support_teardown(state);
}

void shelf_write(const char *name, const char *text)
{
    char *file = support_path(name);
    for (char *slash = strchr(file + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(file, 0700);
        *slash = '/';
    }
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* "files 2 added 2 changed 0 unchanged 0 removed 0 failed 0", those that are 0 left out. */
static const char *told(const struct corpus_progress *p)
{
    const struct {
        const char *name;
        int64_t count;
    } rows[] = {{"files", p->files},         {"added", p->added},     {"changed", p->changed},
                {"unchanged", p->unchanged}, {"removed", p->removed}, {"failed", p->failed}};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0)
            buf_addf(&out, "%s%s %lld", out.len > 0 ? " " : "", rows[i].name,
                     (long long)rows[i].count);
    return support_keep(buf_take(&out));
}

bool shelf_step(struct ingest *in)
{
    bool more = true;
    assert_ok(ingest_step(in, NULL, &more, &shelf.e), shelf.e);
    return more;
}

const char *shelf_run(struct ingest *in)
{
    struct corpus_progress progress;
    while (shelf_step(in))
        continue;
    ingest_progress(in, &progress);
    assert_true(progress.finished);
    assert_int_equal(progress.done, progress.files);
    const char *out = told(&progress);
    shape_release(&corpus_progress_shape, &progress);
    ingest_free(in);
    return out;
}

struct ingest *shelf_begin(const char *name, const char *file)
{
    const char *paths[] = {file ? support_path(file) : NULL};
    struct ingest *in;
    assert_ok(ingest_begin(shelf.corpora, name, paths, file ? 1 : 0, &in, &shelf.e), shelf.e);
    return in;
}

struct ingest *shelf_resume(void)
{
    struct ingest *in;
    assert_ok(ingest_resume(shelf.corpora, &in, &shelf.e), shelf.e);
    return in;
}

const char *shelf_add(const char *name, const char *file)
{
    return shelf_run(shelf_begin(name, file));
}

void shelf_ask(const char *corpus, const char *folder)
{
    struct ingest *in = shelf_begin(corpus, folder);
    assert_true(ingest_start(in, &shelf.e));
    ingest_free(in);
}

pid_t shelf_start(void (*act)(int go), int *go)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        act(ends[0]);
        _exit(0);
    }
    close(ends[0]);
    *go = ends[1];
    return child;
}

void shelf_purge(void)
{
    bool more = true;
    while (more)
        assert_ok(corpora_purge(shelf.corpora, &more, &shelf.e), shelf.e);
}

const char *shelf_file_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

void shelf_search_for(const struct corpus_search *what)
{
    shape_release(&corpus_found_shape, &shelf.found);
    assert_ok(corpora_search(shelf.corpora, what, NULL, &shelf.found, &shelf.e), shelf.e);
}

void shelf_find(const char *query, int top_k)
{
    shelf_search_for(&(struct corpus_search){.query = query, .top_k = top_k, .hybrid_weight = -1});
}

/* "a.txt:1 b.md:3", by line. */
const char *shelf_hits(void)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < shelf.found.items.len; i++) {
        const struct corpus_passage *p = &shelf.found.items.items[i];
        buf_addf(&out, "%s%s:%lld", i > 0 ? " " : "", shelf_file_name(p->file), (long long)p->line);
    }
    shape_release(&corpus_found_shape, &shelf.found);
    return support_keep(buf_take(&out));
}

const char *shelf_search(const char *corpus, const char *query)
{
    shelf_search_for(
        &(struct corpus_search){.corpus = corpus, .query = query, .hybrid_weight = -1});
    return shelf_hits();
}

void shelf_sql(const char *sql)
{
    assert_ok(store_exec(shelf.store, sql, &shelf.e), shelf.e);
}

int64_t shelf_number(const char *sql)
{
    int64_t n = -1;
    assert_ok(store_number(shelf.store, sql, &n, &shelf.e), shelf.e);
    return n;
}

const char *shelf_expect_sound(void)
{
    struct health health;
    shelf_close();
    health_check(shelf.path, true, health_extensions, &health);
    shelf_open();
    if (health.state != HEALTH_GOOD)
        fail_msg("%s", health.detail);
    return "sound";
}

enum corpora_work shelf_embed(void)
{
    enum corpora_work work;
    int64_t left;
    int retry;
    do
        work = corpora_embed(shelf.corpora, NULL, &left, &retry, &shelf.e);
    while (work == CORPORA_WORKED);
    return work;
}

void shelf_configure(enum config_key key, const char *value)
{
    assert_true(config_set(shelf.config, key, value, &shelf.e));
}
