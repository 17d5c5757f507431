/* A person deletes imported sessions and forgets entries of them, while the programs that wrote the
 * histories go on, and while files are copied, moved, touched, replaced and packed: nothing of it
 * comes back, and the rest is there once. IMPORT_ROUNDS sets the number of scans; TIRO_TEST_SEED
 * repeats them. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/vec.h"
#include "index/transcripts.h"
#include "memory/memory.h"
#include "session/memory_sink.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "tests/conversation.h"
#include "tests/import_case.h"
#include "tests/suite.h"
#include "tests/zip_file.h"

FIXTURE(import_case_set_up, import_case_tear_down);

enum { ROUNDS = 60, TALKS = 8, FIRST_TURNS = 3 };

#ifdef HAVE_LIBARCHIVE
enum { ZIPS = true };
#else
enum { ZIPS = false };
#endif

enum form { CLAUDE, CODEX, LIST, AIDER, FORMS };

/* A conversation of another program, and the file that it writes. */
struct talk {
    int number;
    enum form form;
    VEC(int) turns;   /* of the newest way; their numbers are unique */
    struct buf bytes; /* of the file */
    char *path;
    bool changed; /* it went back once, so that old copies hold another way */
    bool deleted; /* here */
};

static VEC(struct talk) talks;
static VEC(char *) copies;
static VEC(char *) forgotten; /* contents */
static struct dice dice;
static struct memory *memory;
static struct memory_sink sink;
static struct error e;
static int turns, files;

/* --- what the other programs write ------------------------------------------------------------ */

static const char *question(const struct talk *t, int turn)
{
    return support_text("question %d of talk%d.", turn, t->number);
}

static void add_turn(struct talk *t)
{
    const int n = t->number, turn = ++turns;
    const char *asked = question(t, turn), *text = "";
    int before = t->turns.len > 0 ? vec_last(&t->turns) : 0;
    vec_push(&t->turns, turn);
    if (t->form == CLAUDE)
        text = support_text(
            "{'parentUuid':%s,'cwd':'/w','sessionId':'c%d','type':'user','uuid':'c%d-u%d',"
            "'timestamp':'2026-03-01T10:00:00Z','message':{'role':'user','content':'%s'}}\n"
            "{'parentUuid':'c%d-u%d','cwd':'/w','sessionId':'c%d','type':'assistant','uuid':"
            "'c%d-a%d','timestamp':'2026-03-01T10:00:01Z','message':{'id':'c%d-m%d','role':"
            "'assistant','model':'opus','content':[{'type':'text','text':'answer to %s'}]}}\n",
            before ? support_text("'c%d-a%d'", n, before) : "null", n, n, turn, asked, n, turn, n,
            n, turn, n, turn, asked);
    else if (t->form == CODEX)
        text = support_text(
            "%s{'timestamp':'2026-03-01T10:00:01Z','type':'response_item','payload':{'type':"
            "'message','role':'user','content':[{'type':'input_text','text':'%s'}]}}\n"
            "{'timestamp':'2026-03-01T10:00:02Z','type':'response_item','payload':{'type':"
            "'message','role':'assistant','content':[{'type':'output_text','text':'answer to "
            "%s'}]}}\n",
            t->bytes.len > 0
                ? ""
                : support_text("{'timestamp':'2026-03-01T10:00:00Z','type':'session_meta',"
                               "'payload':{'id':'x%d','timestamp':'2026-03-01T10:00:00Z','cwd':"
                               "'/w'}}\n",
                               n),
            asked, asked);
    else if (t->form == AIDER)
        text = support_text(
            "%s\n#### %s\n\nanswer to %s\n",
            t->bytes.len > 0 ? ""
                             : support_text("# aider chat started at 2026-03-01 10:00:%02d\n", n),
            asked, asked);
    buf_addstr(&t->bytes, support_json(text));
    if (t->form != LIST)
        return;
    buf_clear(&t->bytes);
    buf_addf(&t->bytes, "{\"id\":\"l%d\",\"messages\":[", n);
    for (size_t i = 0; i < t->turns.len; i++) {
        asked = question(t, t->turns.items[i]);
        buf_addf(&t->bytes,
                 "%s{\"role\":\"user\",\"content\":\"%s\"},{\"role\":\"assistant\",\"content\":"
                 "\"answer to %s\"}",
                 i > 0 ? "," : "", asked, asked);
    }
    buf_addstr(&t->bytes, "]}");
}

static void put_file(const char *path, const struct buf *bytes)
{
    auto_free char *folder = paths_parent(path);
    assert_ok(paths_make_dir(folder, &e), e);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes->data, 1, bytes->len, f), bytes->len);
    assert_int_equal(fclose(f), 0);
}

static char *new_path(const struct talk *t)
{
    static const char *const names[] = {"%s/%d/c%d.jsonl", "%s/%d/rollout-x%d.jsonl",
                                        "%s/%d/l%d.json", "%s/%d/p%d/.aider.chat.history.md"};
    const char *top = support_path("top");
    char path[4096];
    /* The forms are those of the table. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path, sizeof path, names[t->form], top, ++files, t->number);
#pragma GCC diagnostic pop
    return mem_strdup(path);
}

static void begin_talk(void)
{
    struct talk t = {
        .number = (int)talks.len, .form = (enum form)(talks.len % FORMS), .bytes = BUF_INIT};
    t.path = new_path(&t);
    for (int i = 0; i < FIRST_TURNS; i++)
        add_turn(&t);
    put_file(t.path, &t.bytes);
    vec_push(&talks, t);
}

/* The person goes back there, and another way from there. Claude Code's lines without a parent each
 * begin a tree that is kept. */
static void go_back(struct talk *t)
{
    size_t kept = 1 + dice_below(&dice, t->turns.len);
    if (t->form == AIDER)
        return;
    if (t->form == CODEX)
        buf_addf(&t->bytes,
                 "{\"timestamp\":\"2026-03-01T10:00:03Z\",\"type\":\"event_msg\",\"payload\":"
                 "{\"type\":\"thread_rolled_back\",\"num_turns\":%zu}}\n",
                 t->turns.len - kept);
    t->turns.len = kept;
    t->changed = true;
    add_turn(t);
}

static void touch(const char *path)
{
    const struct timespec at = {1772359200 + turns, ++files}, times[] = {at, at};
    utimensat(AT_FDCWD, path, times, 0); /* it may have been moved into a zip file */
}

static void put_zip(const struct talk *t)
{
    struct zip_file zip = {.bytes = BUF_INIT, .directory = BUF_INIT};
    char *path = mem_printf("%s/%d.zip", support_path("top"), ++files);
    zip_add(&zip, strrchr(t->path, '/') + 1, t->bytes.data, t->bytes.len, false);
    zip_write(&zip, path);
    vec_push(&copies, path);
    if (dice_below(&dice, 2) == 0)
        unlink(t->path);
}

/* Appends messages to a file; a deleted conversation's goes on as the others do. */
static void befall(struct talk *t)
{
    char *path;
    switch (dice_below(&dice, 9)) {
    case 0:
    case 1:
        add_turn(t);
        put_file(t->path, &t->bytes);
        break;
    case 2:
        go_back(t);
        put_file(t->path, &t->bytes);
        break;
    case 3:
        path = new_path(t);
        put_file(path, &t->bytes);
        vec_push(&copies, path);
        break;
    case 4:
        path = new_path(t);
        put_file(path, &t->bytes);
        unlink(t->path);
        mem_replace(&t->path, path);
        break;
    case 5:
        touch(t->path);
        break;
    case 6: /* written anew, as editors do */
        unlink(t->path);
        put_file(t->path, &t->bytes);
        break;
    case 7:
        if (ZIPS)
            put_zip(t);
        break;
    default:
        if (copies.len > 0) {
            size_t i = dice_below(&dice, copies.len);
            touch(copies.items[i]);
            if (dice_below(&dice, 2) == 0) {
                unlink(copies.items[i]);
                free(copies.items[i]);
                copies.items[i] = vec_last(&copies);
                copies.len--;
            }
        }
    }
}

/* --- what the person does here ---------------------------------------------------------------- */

static void scan(void)
{
    struct text_list paths = {0};
    struct import_report report;
    vec_push(&paths.items, support_path("top"));
    assert_ok(import_scan(import_case_store, &paths, &import_case_options, &report, &e), e);
    for (size_t i = 0; i < report.sources.len; i++)
        assert_int_equal(report.sources.items[i].failed, 0);
    import_report_release(&report);
    vec_release(&paths.items);
}

static void remember(void)
{
    struct text_list ids = {0};
    bool more = true;
    struct query q = sql_query(import_case_store, &e, "SELECT id FROM session", "");
    assert_true(query_texts(&q, &ids));
    for (size_t i = 0; i < ids.items.len; i++)
        assert_ok(memory_sink_follow(&sink, import_case_store, ids.items.items[i], &e), e);
    while (more)
        assert_ok(memory_sink_work(&sink, import_case_store, &more, &e), e);
    vec_free_each(&ids.items);
}

static void forget_one(void)
{
    remember();
    struct query q = sql_query(import_case_store, &e,
                               "SELECT id, content FROM memory_entry ORDER BY key LIMIT 1 OFFSET"
                               " ? % max(1, (SELECT count(*) FROM memory_entry))",
                               "i", (int64_t)dice_below(&dice, 1000));
    char *id = NULL, *content = NULL;
    if (query_next(&q)) {
        id = support_keep(query_column_text(&q, 0));
        content = query_column_text(&q, 1);
    }
    assert_true(query_end(&q));
    if (!id)
        return;
    assert_ok(memory->ops->forget(memory, &(const char *){id}, 1, NULL, &e), e);
    vec_push(&forgotten, content);
}

static void delete_one(void)
{
    size_t chosen = dice_below(&dice, talks.len);
    const struct talk *t = &talks.items[chosen];
    struct query q =
        sql_query(import_case_store, &e,
                  "SELECT session FROM import_conversation WHERE id LIKE ?"
                  " AND session <> '' AND NOT deleted",
                  "t",
                  t->form == AIDER ? support_text("%%10:00:%02d %%", t->number)
                                   : support_text("%c%d", "cxl"[t->form], t -> number));
    char *id = query_next(&q) ? support_keep(query_column_text(&q, 0)) : NULL;
    assert_true(query_end(&q));
    assert_int_equal(id != NULL, !t->deleted);
    if (!id)
        return;
    assert_ok(transcripts_delete(import_case_store, id, &e), e);
    talks.items[chosen].deleted = true;
    begin_talk();
}

/* --- what must hold --------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

/* Lines that name the conversation, so that the message is not cut. */
static const char *lines_of(const struct talk *t, const char *all)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *name = support_text(" of talk%d.", t->number);
    for (const char *line = all, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        auto_free char *one = mem_strndup(line, (size_t)(end - line));
        if (strstr(one, name))
            buf_addf(&out, "%s\n", one);
    }
    return support_text("%s", out.data);
}

static void check_talk(const struct talk *t, const char *all, bool whole)
{
    AUTO(buf_release) struct buf expected = BUF_INIT;
    if (t->deleted) {
        if (strstr(all, support_text(" of talk%d.", t->number)))
            fail_msg("talk%d was deleted and is there:\n%s", t->number, lines_of(t, all));
        return;
    }
    for (size_t i = 0; i < t->turns.len; i++) {
        const char *asked = question(t, t->turns.items[i]);
        const char *user = support_text("user: %s\n", asked);
        buf_addf(&expected, "%sassistant: answer to %s\n", user, asked);
        if (count_of(all, user) > 1)
            fail_msg("twice: %s in\n%s", user, lines_of(t, all));
    }
    /* Nothing before it and nothing behind it in its session. */
    const char *at = strstr(all, expected.data), *before = at;
    while (before && before > all && before[-1] == '\n' && before == at)
        before--;
    while (before && before > all && before[-1] != '\n')
        before--;
    const char *after = at ? at + expected.len : NULL;
    bool is = at && strncmp(before, "==", 2) == 0 && (!*after || strncmp(after, "==", 2) == 0);
    if ((whole || !t->changed) && !is)
        fail_msg("talk%d is not as it was written:\n%s\nbut\n%s", t->number, expected.data,
                 lines_of(t, all));
}

static void check(bool whole)
{
    const char *all = import_case_text();
    for (size_t i = 0; i < talks.len; i++)
        check_talk(&talks.items[i], all, whole);
}

static void check_forgotten(void)
{
    remember();
    for (size_t i = 0; i < forgotten.len; i++) {
        int64_t count = 0;
        assert_true(sql_number(import_case_store, &count, &e,
                               "SELECT count(*) FROM memory_entry WHERE content = ?", "t",
                               forgotten.items[i]));
        if (count > 0)
            fail_msg("was forgotten and is there: %s", forgotten.items[i]);
    }
}

static void free_talks(void)
{
    for (size_t i = 0; i < talks.len; i++) {
        vec_release(&talks.items[i].turns);
        buf_release(&talks.items[i].bytes);
        free(talks.items[i].path);
    }
    vec_release(&talks);
}

/* Ways that are taken back later are sessions of their own with `branches`. */
TEST(test_branches_go_with_a_deleted_session)
{
    begin_talk();
    scan();
    delete_one();
    struct talk *t = &talks.items[0];
    for (int i = 0; i < 3; i++) {
        add_turn(t);
        go_back(t);
    }
    put_file(t->path, &t->bytes);
    import_case_options.branches = true;
    scan();
    check(false);
    free_talks();
}

TEST(test_nothing_that_was_deleted_comes_back)
{
    const char *given = getenv("IMPORT_ROUNDS");
    size_t rounds = given ? strtoul(given, NULL, 10) : ROUNDS, deleted = 0;
    struct config *config = config_new();
    dice = (struct dice){support_seed()};
    memory = memory_open(import_case_store, NULL);
    memory_sink_init(&sink, memory, config);
    while (talks.len < TALKS)
        begin_talk();
    scan();
    check(true);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 1 + dice_below(&dice, 4); i > 0; i--)
            befall(&talks.items[dice_below(&dice, talks.len)]);
        scan();
        check(false);
        if (round % 8 == 4)
            forget_one();
        if (round % 20 == 10)
            delete_one();
        if (dice_below(&dice, 10) == 0)
            check_forgotten();
    }

    /* Without the old copies, every conversation is as its file has it. */
    for (size_t i = 0; i < copies.len; i++)
        unlink(copies.items[i]);
    vec_free_each(&copies);
    for (size_t i = 0; i < talks.len; i++) {
        put_file(talks.items[i].path, &talks.items[i].bytes);
        touch(talks.items[i].path);
    }
    scan();
    check(true);
    check_forgotten();
    for (size_t i = 0; i < talks.len; i++)
        deleted += talks.items[i].deleted;
    print_message("%zu scans; %zu of %zu conversations deleted, %zu entries forgotten\n", rounds,
                  deleted, talks.len, forgotten.len);
    assert_true(deleted > 0 && forgotten.len > 0);
    vec_free_each(&forgotten);
    free_talks();
    memory_close(memory);
    config_free(config);
}
