/* The carrier of a PostgreSQL server: who may do what, what happens when it goes away, and that no
 * reader misses a line. What every carrier must do is in test_space_carrier.c. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "space/carrier.h"
#include "space/postgresql_schema.h"
#include "tests/pg_server.h"
#include "tests/suite.h"

#ifdef HAVE_LIBPQ
NEEDS(pg_server_there());
#else
NEEDS(false);
#endif

static struct pg_server *server;
static char space[UUID_LEN + 1]; /* of the test */

static void stop_server(void)
{
    pg_server_stop(server);
}

static int set_up(void **state)
{
    if (!server) {
        server = pg_server_start();
        atexit(stop_server);
    }
    return support_setup(state);
}
FIXTURE(set_up, support_teardown);

/* ---- carriers and lines ---- */

static bool try_open(const char *url, const struct wakeup *wakeup, const char *command,
                     struct carrier **out, struct error *e)
{
    struct carrier_place place = {
        .url = url, .space = space, .writer = "w", .wakeup = wakeup, .password_command = command};
    return carrier_open(&place, out, e);
}

static struct carrier *open_url(const char *url)
{
    struct carrier *c;
    struct error e;
    assert_ok(try_open(url, NULL, NULL, &c, &e), e);
    return c;
}

static struct carrier *join(const char *role)
{
    return open_url(pg_server_url(server, role));
}

static struct space_member member_of(const char *person, enum space_role role)
{
    return (struct space_member){.person = (char *)(uintptr_t)person, .role = role};
}

static void put(struct carrier *c, const char *person, enum space_role role)
{
    struct space_member m = member_of(person, role);
    struct error e;
    assert_ok(c->ops->put_member(c, &m, &e), e);
}

static bool try_make(struct carrier *c, const char *person, struct error *e)
{
    struct space_facts facts = {
        .name = (char *)(uintptr_t) "Team", .schema = SPACE_SCHEMA, .min_client = SPACE_SCHEMA};
    struct space_member owner = member_of(person, SPACE_OWNER);
    memcpy(facts.id, space, sizeof space);
    return c->ops->make(c, &facts, &owner, e);
}

/* A new space of anna's, in which ben writes. */
static struct carrier *make_space(void)
{
    struct error e;
    uuid_new(space);
    struct carrier *c = join("anna");
    assert_ok(try_make(c, "anna", &e), e);
    put(c, "ben", SPACE_WRITER);
    return c;
}

static bool try_push(struct carrier *c, const char *owner, const char *entry, const char *body,
                     struct error *e)
{
    struct space_line line = {.entry = (char *)(uintptr_t)entry,
                              .version = 1,
                              .kind = SPACE_ENTRY,
                              .owner = (char *)(uintptr_t)owner,
                              .at_ms = 1,
                              .key = BUF_INIT,
                              .body = buf_borrow(body)};
    return c->ops->push(c, &line, 1, e);
}

static void push(struct carrier *c, const char *owner, const char *entry)
{
    struct error e;
    assert_ok(try_push(c, owner, entry, "text", &e), e);
}

struct reading {
    struct buf cursor, text; /* "a b c " */
    int64_t lines, skipped;
    bool anew;
};

static bool read_on(struct carrier *c, struct reading *r, struct error *e)
{
    bool more = true;
    while (more) {
        struct space_lines lines;
        if (!c->ops->pull(c, &r->cursor, 1 << 20, &lines, &more, &r->skipped, e))
            return false;
        for (size_t i = 0; i < lines.items.len; i++)
            buf_addf(&r->text, "%s ", lines.items.items[i].entry);
        r->lines += (int64_t)lines.items.len;
        r->anew = r->anew || lines.anew;
        space_lines_release(&lines);
    }
    return true;
}

/* All that the space has, as "a b c "; kept. */
static char *all_lines(struct carrier *c)
{
    struct reading r = {.cursor = BUF_INIT, .text = BUF_INIT};
    struct error e;
    assert_ok(read_on(c, &r, &e), e);
    char *text = support_text("%s", r.text.data);
    buf_release(&r.cursor);
    buf_release(&r.text);
    return text;
}

/* The output of psql for the statement; $S in it is the space. */
static char *sql(const char *role, const char *statement)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (const char *at; (at = strstr(statement, "$S")); statement = at + 2)
        buf_addf(&text, "%.*s'%s'", (int)(at - statement), statement, space);
    buf_addstr(&text, statement);
    char *out = pg_server_sql(server, role, text.data);
    return out ? support_text("%s", out) : NULL;
}

/* ---- who may do what ---- */

TEST(test_a_stranger_reads_nothing)
{
    struct carrier *anna = make_space(), *carl = join("carl");
    struct reading r = {.cursor = BUF_INIT, .text = BUF_INIT};
    struct space_facts facts;
    struct space_members members;
    struct error e;
    push(anna, "anna", "a");
    assert_error(carl->ops->facts(carl, &facts, &e), e, ERR_FORBIDDEN, "carl");
    assert_err(carl->ops->members(carl, &members, &e), e, ERR_FORBIDDEN);
    assert_err(read_on(carl, &r, &e), e, ERR_FORBIDDEN);
    assert_err(try_push(carl, "carl", "c", "text", &e), e, ERR_FORBIDDEN);
    static const char *const tables[] = {"access", "space", "head",  "member",
                                         "seen",   "log",   "erased"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_string_equal(sql("carl", support_text("SELECT count(*) FROM tiro.%s", tables[i])),
                            "0\n");
    assert_null(sql("carl", "INSERT INTO tiro.access VALUES ($S, 1, 'carl', 'owner')"));
    assert_null(sql("carl", "INSERT INTO tiro.access VALUES ($S, 99, 'carl', 'owner')"));
    assert_null(sql("carl", "INSERT INTO tiro.access VALUES ($S, 99, 'carl', 'none')"));
    assert_null(sql("carl", "INSERT INTO tiro.member VALUES ($S, 'carl', 'owner', 0)"));
    assert_null(sql("carl",
                    "INSERT INTO tiro.log VALUES ($S, 99, 'x', 1, 'entry', 'carl', "
                    "NULL, 1, NULL, 'x')"));
    assert_string_equal(all_lines(anna), "a ");
    carrier_close(carl);
    carrier_close(anna);
}

TEST(test_a_writer_cannot_write_as_another_or_change_what_is_there)
{
    struct carrier *anna = make_space(), *ben = join("ben");
    struct error e;
    const char *const names[] = {"a"};
    push(anna, "anna", "a");
    push(ben, "ben", "b");
    assert_error(try_push(ben, "anna", "c", "lie", &e), e, ERR_FORBIDDEN, "row-level security");
    assert_null(sql("ben", "UPDATE tiro.log SET body = 'lie' WHERE space = $S AND entry = 'b'"));
    assert_null(sql("ben", "UPDATE tiro.log SET owner = 'anna' WHERE space = $S"));
    assert_null(sql("ben", "DELETE FROM tiro.log WHERE space = $S"));
    assert_null(sql("ben", "INSERT INTO tiro.access VALUES ($S, 99, 'ben', 'owner')"));
    assert_null(sql("ben", "UPDATE tiro.member SET role = 'owner' WHERE space = $S"));
    assert_null(sql("ben", "INSERT INTO tiro.member VALUES ($S, 'carl', 'writer', 0)"));
    assert_string_equal(sql("ben", "UPDATE tiro.space SET name = 'x' WHERE space = $S RETURNING 1"),
                        "");
    assert_string_equal(sql("ben",
                            "DELETE FROM tiro.member WHERE space = $S AND person = 'anna' "
                            "RETURNING 1"),
                        "");
    /* A writer cannot erase the lines of others; an owner may erase all. */
    assert_ok(ben->ops->erase(ben, names, 1, &e), e);
    assert_string_equal(sql("anna", "SELECT body FROM tiro.log WHERE space = $S AND entry = 'a'"),
                        "\\x74657874\n");
    const char *const his[] = {"b"};
    assert_ok(anna->ops->erase(anna, his, 1, &e), e);
    assert_string_equal(sql("ben",
                            "SELECT body IS NULL FROM tiro.log WHERE space = $S AND entry "
                            "= 'b'"),
                        "t\n");
    /* His own keys are his to tell. */
    struct space_member m = member_of("ben", SPACE_WRITER);
    m.public_key = (char *)(uintptr_t) "a2V5";
    assert_ok(ben->ops->put_member(ben, &m, &e), e);
    m.role = SPACE_OWNER;
    assert_err(ben->ops->put_member(ben, &m, &e), e, ERR_FORBIDDEN);
    assert_string_equal(all_lines(ben), "a b ");
    carrier_close(ben);
    carrier_close(anna);
}

TEST(test_roles_change_and_end)
{
    struct carrier *anna = make_space(), *ben = join("ben"), *carl = join("carl");
    struct space_facts facts;
    struct error e;
    push(ben, "ben", "a");
    put(anna, "ben", SPACE_READER);
    put(anna, "carl", SPACE_OWNER);
    assert_err(try_push(ben, "ben", "b", "text", &e), e, ERR_FORBIDDEN);
    assert_string_equal(all_lines(ben), "a ");
    assert_ok(ben->ops->drop_member(ben, "ben", &e), e); /* he leaves */
    assert_err(ben->ops->facts(ben, &facts, &e), e, ERR_FORBIDDEN);
    put(carl, "ben", SPACE_WRITER);
    push(ben, "ben", "b");
    assert_ok(carl->ops->drop_member(carl, "anna", &e), e);
    assert_err(anna->ops->facts(anna, &facts, &e), e, ERR_FORBIDDEN);
    assert_err(try_make(anna, "anna", &e), e, ERR_USAGE);
    assert_err(anna->ops->drop_member(anna, "carl", &e), e, ERR_FORBIDDEN);
    assert_string_equal(all_lines(carl), "a b ");
    carrier_close(carl);
    carrier_close(ben);
    carrier_close(anna);
}

/* An invitation has a URL without a role: the member's name is the role. */
TEST(test_the_role_of_a_url_without_one)
{
    struct carrier *anna = make_space(), *c;
    char *url = support_text("postgresql:///postgres?host=%s", server->directory);
    struct carrier_place place = {.url = url, .space = space, .person = "ben"};
    const char *person;
    struct error e;
    assert_ok(carrier_open(&place, &c, &e), e);
    assert_ok(c->ops->person(c, &person, &e), e);
    assert_string_equal(person, "ben");
    carrier_close(c);
    place.url = pg_server_url(server, "anna");
    assert_ok(carrier_open(&place, &c, &e), e);
    assert_error(c->ops->person(c, &person, &e), e, ERR_FORBIDDEN, "anna is the role here");
    carrier_close(c);
    carrier_close(anna);
}

TEST(test_passwords)
{
    struct carrier *anna = make_space();
    const char *url = pg_server_url(server, "locked");
    static const struct {
        const char *command;
        enum err_code code;
        const char *words;
    } cases[] = {{NULL, ERR_FORBIDDEN, "~/.pgpass"},
                 {"echo wrong-sesame", ERR_FORBIDDEN, "check role and password"},
                 {"exit 3", ERR_CONFIG_ERROR, "exit status 3"},
                 {"echo sesame", ERR_OK, NULL}};
    put(anna, "locked", SPACE_READER);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct space_facts facts = {0};
        struct carrier *c;
        struct error e = {0};
        assert_ok(try_open(url, NULL, cases[i].command, &c, &e), e);
        if (cases[i].code == ERR_OK)
            assert_ok(c->ops->facts(c, &facts, &e), e);
        else
            assert_error(c->ops->facts(c, &facts, &e), e, cases[i].code, cases[i].words);
        assert_null(strstr(e.text, "sesame"));
        space_facts_release(&facts);
        carrier_close(c);
    }
    carrier_close(anna);
}

TEST(test_tables_that_only_an_administrator_may_make)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e;
    uuid_new(space);
    assert_non_null(sql("admin", "CREATE DATABASE closed"));
    char *url = support_text("postgresql://ben@/closed?host=%s", server->directory);
    struct carrier *ben = open_url(url);
    struct space_facts facts;
    assert_error(ben->ops->facts(ben, &facts, &e), e, ERR_USAGE, "no tables");
    assert_error(try_make(ben, "ben", &e), e, ERR_FORBIDDEN, "tiro space sql");
    buf_addstr(&text, "\\c closed\n");
    buf_addstr(&text, postgresql_tables);
    postgresql_policies(&text);
    for (int i = 0; i < 2; i++) { /* it may be run again */
        struct support_child c;
        support_start(&c, TEXTS("/usr/lib/postgresql/15/bin/psql", "-Xq", "-v", "ON_ERROR_STOP=1",
                                "-h", server->directory, "-U", "admin", "-d", "postgres"));
        assert_int_equal(support_finish(&c, text.data), 0);
        support_release(&c);
    }
    assert_ok(try_make(ben, "ben", &e), e);
    push(ben, "ben", "a");
    assert_string_equal(all_lines(ben), "a ");
    carrier_close(ben);
}

static char *doctor(const char *role)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct carrier *c = join(role);
    struct text_list warnings = {0};
    struct error e;
    assert_ok(c->ops->doctor(c, &warnings, &e), e);
    for (size_t i = 0; i < warnings.items.len; i++)
        buf_addf(&text, "%s. ", warnings.items.items[i]);
    vec_free_each(&warnings.items);
    carrier_close(c);
    return support_text("%s", text.data);
}

TEST(test_the_doctor_names_those_who_see_too_much)
{
    carrier_close(make_space());
    assert_string_equal(doctor("ben"), "");
    assert_non_null(strstr(doctor("anna"), "owns the tables"));
    assert_non_null(strstr(doctor("admin"), "superuser. "));
    assert_non_null(strstr(doctor("admin"), "convention"));
    assert_non_null(sql("admin", "CREATE ROLE dora LOGIN BYPASSRLS; GRANT ben TO dora"));
    assert_non_null(strstr(doctor("dora"), "BYPASSRLS"));
    assert_non_null(strstr(doctor("ben"), "not one person's"));
    assert_non_null(sql("admin",
                        "DROP ROLE dora; ALTER TABLE tiro.log NO FORCE ROW LEVEL "
                        "SECURITY"));
    assert_non_null(strstr(doctor("ben"), "row level security is not on"));
    assert_non_null(sql("admin", "ALTER TABLE tiro.log FORCE ROW LEVEL SECURITY"));
    assert_string_equal(doctor("ben"), "");
}

/* ---- strange lines ---- */

TEST(test_lines_that_cannot_be_read_are_passed_over)
{
    struct carrier *anna = make_space();
    struct reading r = {.cursor = BUF_INIT, .text = BUF_INIT};
    struct error e;
    push(anna, "anna", "a");
    assert_non_null(
        sql("admin",
            "INSERT INTO tiro.log (space, seq, entry, version, kind, owner, project, at, key, "
            "body) VALUES ($S, 101, 'k', 1, 'corpus', 'anna', NULL, 1, NULL, 'x'), "
            "($S, 102, '', 1, 'entry', 'anna', NULL, 1, NULL, 'x'), "
            "($S, 103, 'v', 0, 'entry', 'anna', NULL, 1, NULL, 'x'), "
            "($S, 104, 'o', 1, 'entry', repeat('o', 65), NULL, 1, NULL, 'x'), "
            "($S, 105, 'p', 1, 'entry', 'anna', repeat('p', 1001), 1, NULL, 'x'), "
            "($S, 106, 'q', 1, 'entry', 'anna', NULL, 1, convert_to(repeat('q', 513), 'UTF8'), "
            "'x'), ($S, 107, 'r', 1, 'entry', 'anna', NULL, 1, NULL, "
            "convert_to(repeat('r', 9437185), 'UTF8')), "
            "($S, 108, 'good', 1, 'entry', 'anna', NULL, 1, NULL, 'x'); "
            "UPDATE tiro.head SET head = 108 WHERE space = $S"));
    assert_ok(read_on(anna, &r, &e), e);
    assert_string_equal(r.text.data, "a good ");
    assert_int_equal(r.skipped, 7);
    push(anna, "anna", "b");
    assert_ok(read_on(anna, &r, &e), e);
    assert_string_equal(r.text.data, "a good b ");
    assert_int_equal(r.skipped, 7);
    buf_release(&r.cursor);
    buf_release(&r.text);
    carrier_close(anna);
}

/* A backup knows neither the last lines nor that others got their numbers. */
TEST(test_a_log_that_was_restored_is_read_anew)
{
    struct carrier *anna = make_space();
    struct reading r = {.cursor = BUF_INIT, .text = BUF_INIT};
    struct error e;
    push(anna, "anna", "a");
    push(anna, "anna", "b");
    assert_ok(read_on(anna, &r, &e), e);
    assert_false(r.anew);
    assert_non_null(sql("admin",
                        "DELETE FROM tiro.log WHERE space = $S AND entry = 'b'; "
                        "UPDATE tiro.head SET head = head - 1 WHERE space = $S"));
    push(anna, "anna", "c");
    assert_ok(read_on(anna, &r, &e), e);
    assert_true(r.anew);
    assert_string_equal(r.text.data, "a b a c ");
    assert_non_null(sql("admin", "DELETE FROM tiro.log WHERE space = $S"));
    r.anew = false;
    assert_ok(read_on(anna, &r, &e), e);
    assert_true(r.anew);
    assert_string_equal(r.cursor.data, "");
    buf_release(&r.cursor);
    buf_release(&r.text);
    carrier_close(anna);
}

/* ---- writers at the same time ---- */

/* psql with a push that is not committed: its number is taken. */
static void hold(struct support_child *c, const char *entry)
{
    support_start(c, TEXTS("/usr/lib/postgresql/15/bin/psql", "-Xq", "-h", server->directory, "-U",
                           "anna", "-d", "postgres"));
    char *text = support_text(
        "BEGIN; UPDATE tiro.head SET head = head + 1 WHERE space = '%s'; INSERT INTO tiro.log "
        "SELECT space, head, '%s', 1, 'entry', 'anna', NULL, 1, NULL, 'x' FROM tiro.head WHERE "
        "space = '%s';\n\\echo held\n",
        space, entry, space);
    assert_int_equal(write(c->in, text, strlen(text)), strlen(text));
    assert_true(support_read_until(c, "held", 20000 * support_patience()));
}

static void let_go(struct support_child *c)
{
    assert_int_equal(support_finish(c, "COMMIT;\n"), 0);
    support_release(c);
}

static bool somebody_waits(void *context)
{
    (void)context;
    return strcmp(sql("admin",
                      "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = "
                      "'Lock'"),
                  "t\n") == 0;
}

struct pushing {
    struct carrier *carrier;
    bool ok;
    struct error e;
};

static void *push_b(void *context)
{
    struct pushing *p = context;
    p->ok = try_push(p->carrier, "ben", "b", "text", &p->e);
    return NULL;
}

TEST(test_a_reader_misses_no_line_of_a_slow_transaction)
{
    struct carrier *anna = make_space();
    struct pushing ben = {.carrier = join("ben")};
    struct reading r = {.cursor = BUF_INIT, .text = BUF_INIT};
    struct support_child slow;
    pthread_t thread;
    struct error e;
    hold(&slow, "a");
    assert_int_equal(pthread_create(&thread, NULL, push_b, &ben), 0);
    bool waits = support_wait_until(somebody_waits, NULL, 20000 * support_patience());
    bool read = read_on(anna, &r, &e);
    size_t early = r.text.len;
    let_go(&slow);
    pthread_join(thread, NULL);
    assert_true(waits);
    assert_ok(read, e);
    assert_int_equal(early, 0);
    assert_ok(ben.ok, ben.e);
    assert_ok(read_on(anna, &r, &e), e);
    assert_string_equal(r.text.data, "a b ");
    buf_release(&r.cursor);
    buf_release(&r.text);
    carrier_close(ben.carrier);
    carrier_close(anna);
}

static bool stop(void *context)
{
    (void)context;
    return false;
}

TEST(test_a_call_that_waits_can_be_stopped)
{
    struct carrier *anna = make_space(), *ben;
    struct support_child slow;
    struct error e;
    struct wakeup late = {.fd = -1, .go_on = stop};
    hold(&slow, "a");
    assert_ok(try_open(pg_server_url(server, "ben"), &late, NULL, &ben, &e), e);
    assert_string_equal(all_lines(ben), ""); /* connected */
    late.deadline_ms = clock_mono_ms() + 100;
    assert_err(try_push(ben, "ben", "b", "text", &e), e, ERR_INTERRUPTED);
    let_go(&slow);
    late.deadline_ms = 0;
    push(ben, "ben", "b");
    assert_string_equal(all_lines(anna), "a b ");
    carrier_close(ben);
    carrier_close(anna);
}

enum { WRITERS = 8, LINES = 20 };

struct writing {
    const char *url;
    int number, pushes;
    bool ok;
    struct error e;
};

static void *write_lines(void *context)
{
    struct writing *w = context;
    struct carrier *c = NULL;
    w->ok = try_open(w->url, NULL, NULL, &c, &w->e);
    auto_free char *body = mem_alloc(577);
    memset(body, 'x', 576);
    for (int i = 0; i < w->pushes && w->ok; i++) {
        struct space_line lines[LINES];
        char names[LINES][40];
        for (int k = 0; k < LINES; k++) {
            snprintf(names[k], sizeof names[k], "%d-%d-%d", w->number, i, k);
            lines[k] = (struct space_line){.entry = names[k],
                                           .version = 1,
                                           .owner = (char *)(uintptr_t) "ben",
                                           .at_ms = 1,
                                           .key = BUF_INIT,
                                           .body = buf_borrow(body)};
        }
        w->ok = c->ops->push(c, lines, LINES, &w->e);
    }
    carrier_close(c);
    return NULL;
}

TEST(test_eight_writers_and_a_reader_that_polls)
{
    struct carrier *anna = make_space();
    struct reading r = {.cursor = BUF_INIT, .text = BUF_INIT}, again = r;
    struct writing writers[WRITERS];
    pthread_t threads[WRITERS];
    struct error e;
    int pushes = (int)suite_sample(12, 500);
    int64_t want = (int64_t)WRITERS * pushes * LINES, begin = clock_mono_ms();
    const char *url = pg_server_url(server, "ben");
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writing){.url = url, .number = i, .pushes = pushes};
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &writers[i]), 0);
    }
    bool read = true;
    int64_t deadline = begin + (int64_t)60000 * support_patience();
    while (read && r.lines < want && clock_mono_ms() < deadline)
        read = read_on(anna, &r, &e);
    int64_t took = clock_mono_ms() - begin;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert_ok(read, e);
    for (int i = 0; i < WRITERS; i++)
        assert_ok(writers[i].ok, writers[i].e);
    assert_int_equal(r.lines, want);
    assert_non_null(sql("admin", "ANALYZE tiro.log")); /* as a server does after a while */
    begin = clock_mono_ms();
    assert_ok(read_on(anna, &again, &e), e);
    int64_t pulled = clock_mono_ms() - begin;
    assert_int_equal(again.lines, want);
    assert_string_equal(again.text.data, r.text.data); /* the same lines in the same order */
    printf("%lld lines: pushed in %lld ms, pulled in %lld ms\n", (long long)want, (long long)took,
           (long long)pulled);
    buf_release(&r.cursor);
    buf_release(&r.text);
    buf_release(&again.cursor);
    buf_release(&again.text);
    carrier_close(anna);
}

/* ---- servers that go away ---- */

/* The lines "0 1 2 … " of a carrier that tried until each was pushed. */
static void expect_numbers(struct carrier *c, int count)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < count; i++)
        buf_addf(&text, "%d ", i);
    assert_string_equal(all_lines(c), text.data);
}

static bool push_number(struct carrier *c, int number, struct error *e)
{
    char name[20];
    snprintf(name, sizeof name, "%d", number);
    return try_push(c, "anna", name, "text", e);
}

/* Pushes until it is told to stop; a push that failed is repeated. */
struct insisting {
    struct carrier *carrier;
    pthread_mutex_t lock;
    bool stop;
    int pushed, failed;
    enum err_code code; /* of the last failure */
};

static void *insist(void *context)
{
    struct insisting *p = context;
    for (;;) {
        struct error e;
        bool ok = push_number(p->carrier, p->pushed, &e);
        pthread_mutex_lock(&p->lock);
        bool ends = p->stop && ok;
        p->pushed += ok;
        p->failed += !ok;
        if (!ok)
            p->code = e.code;
        pthread_mutex_unlock(&p->lock);
        if (ends)
            return NULL;
        if (!ok)
            usleep(2000);
    }
}

static bool pushed_more(void *context)
{
    struct insisting *p = context;
    pthread_mutex_lock(&p->lock);
    bool yes = p->pushed >= p->failed + 20;
    pthread_mutex_unlock(&p->lock);
    return yes;
}

static bool failed(void *context)
{
    struct insisting *p = context;
    pthread_mutex_lock(&p->lock);
    bool yes = p->failed > 0;
    pthread_mutex_unlock(&p->lock);
    return yes;
}

static void start_insisting(struct insisting *p, struct carrier *c, pthread_t *thread)
{
    *p = (struct insisting){.carrier = c, .lock = PTHREAD_MUTEX_INITIALIZER};
    assert_int_equal(pthread_create(thread, NULL, insist, p), 0);
    assert_true(support_wait_until(pushed_more, p, 20000 * support_patience()));
}

static void end_insisting(struct insisting *p, pthread_t thread)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_mutex_unlock(&p->lock);
    pthread_join(thread, NULL);
}

TEST(test_a_killed_server_loses_no_line_that_was_pushed)
{
    struct carrier *anna = make_space(), *ben = join("ben");
    struct insisting p;
    pthread_t thread;
    assert_string_equal(all_lines(ben), "");
    start_insisting(&p, anna, &thread);
    pg_server_kill(server);
    bool noticed = support_wait_until(failed, &p, 20000 * support_patience());
    pg_server_again(server);
    end_insisting(&p, thread);
    assert_true(noticed);
    assert_int_equal(p.code, ERR_AGENT_ERROR);
    struct error e;
    struct space_facts facts = {0};
    if (!ben->ops->facts(ben, &facts, &e)) /* its connection is gone; the next call has another */
        assert_int_equal(e.code, ERR_AGENT_ERROR);
    space_facts_release(&facts);
    expect_numbers(ben, p.pushed);
    carrier_close(ben);
    carrier_close(anna);
}

static bool has_lines(void *context)
{
    const char *count = pg_server_sql(context, "admin",
                                      support_text("SELECT count(*) FROM tiro.log WHERE space = "
                                                   "'%s'",
                                                   space));
    return count && atoi(count) >= 1;
}

TEST(test_a_replica_that_is_promoted_goes_on)
{
    struct carrier *anna = make_space();
    struct insisting p;
    pthread_t thread;
    carrier_close(anna);
    struct pg_server *first = server, *second = pg_server_replica(first);
    char *url =
        support_text("postgresql://anna@/postgres?host=%s,%s", first->directory, second->directory);
    /* No push is done before both have it. */
    assert_non_null(sql("admin", "ALTER SYSTEM SET synchronous_standby_names = '*'"));
    assert_non_null(sql("admin", "ALTER SYSTEM SET synchronous_commit = 'remote_apply'"));
    pg_server_kill(first); /* a server that is running takes them some time later */
    pg_server_again(first);
    anna = open_url(url);
    start_insisting(&p, anna, &thread);
    pg_server_kill(first);
    bool noticed = support_wait_until(failed, &p, 20000 * support_patience());
    bool copied = support_wait_until(has_lines, second, 20000 * support_patience());
    assert_non_null(pg_server_sql(second, "admin", "SELECT 1"));
    pg_server_promote(second);
    end_insisting(&p, thread);
    server = second;
    pg_server_stop(first);
    assert_true(noticed && copied);
    expect_numbers(anna, p.pushed);
    carrier_close(anna);
}

/* A stand-in of the network: hands on bytes between its clients and the server, and cuts a
 * connection after so many of them. */
struct wire {
    int listener, port;
    long most;
    pthread_t thread;
};

static void hand_on(int client, int to, long most)
{
    struct pollfd fds[] = {{.fd = client, .events = POLLIN}, {.fd = to, .events = POLLIN}};
    while (most > 0 && poll(fds, 2, -1) > 0)
        for (int i = 0; i < 2; i++) {
            char bytes[4096];
            if (!fds[i].revents)
                continue;
            ssize_t n = read(fds[i].fd, bytes, most < 4096 ? (size_t)most : sizeof bytes);
            if (n <= 0 || write(fds[1 - i].fd, bytes, (size_t)n) != n)
                return;
            most -= n;
        }
}

static void *carry(void *context)
{
    struct wire *w = context;
    for (int client; (client = accept(w->listener, NULL, NULL)) >= 0;) {
        struct sockaddr_un at = {.sun_family = AF_UNIX};
        int to = socket(AF_UNIX, SOCK_STREAM, 0);
        snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.5432", server->directory);
        if (connect(to, (struct sockaddr *)&at, sizeof at) == 0)
            hand_on(client, to, w->most);
        close(client);
        close(to);
    }
    return NULL;
}

static void start_wire(struct wire *w)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    w->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(w->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(w->listener, 10), 0);
    assert_int_equal(getsockname(w->listener, (struct sockaddr *)&at, &size), 0);
    w->port = ntohs(at.sin_port);
}

TEST(test_a_connection_that_is_cut_anywhere)
{
    struct carrier *anna = make_space();
    struct wire w = {.most = 0};
    int number = 0;
    bool whole = false;
    start_wire(&w);
    char *url = support_text(
        "postgresql://anna@127.0.0.1:%d/postgres?sslmode=disable&"
        "gssencmode=disable",
        w.port);
    const char *wanted = getenv("SPACE_STEP");
    long step = (long)suite_sample(53, wanted ? (size_t)atoi(wanted) : 1);
    assert_int_equal(pthread_create(&w.thread, NULL, carry, &w), 0);
    for (long most = 1; !whole && most < 100000; most += step, number++) {
        struct error e = {0};
        w.most = most; /* nothing is connected */
        struct carrier *c = open_url(url);
        whole = push_number(c, number, &e);
        if (!whole)
            assert_int_equal(e.code, ERR_AGENT_ERROR);
        carrier_close(c);
        assert_ok(push_number(anna, number, &e), e);
    }
    shutdown(w.listener, SHUT_RDWR);
    pthread_join(w.thread, NULL);
    close(w.listener);
    assert_true(whole);
    expect_numbers(anna, number);
    carrier_close(anna);
}

TEST(test_a_server_that_says_nothing)
{
    struct wire w;
    struct carrier *c;
    struct space_facts facts;
    struct error e;
    struct wakeup late = {.fd = -1, .go_on = stop, .deadline_ms = clock_mono_ms() + 100};
    uuid_new(space);
    start_wire(&w); /* nobody accepts */
    assert_ok(try_open(support_text("postgresql://anna@127.0.0.1:%d/postgres", w.port), &late, NULL,
                       &c, &e),
              e);
    assert_err(c->ops->facts(c, &facts, &e), e, ERR_INTERRUPTED);
    carrier_close(c);
    close(w.listener);
    assert_ok(try_open(support_text("postgresql://anna@127.0.0.1:%d/postgres", w.port), NULL, NULL,
                       &c, &e),
              e);
    assert_err(c->ops->facts(c, &facts, &e), e, ERR_AGENT_ERROR);
    carrier_close(c);
}

/* ---- a pooler that gives each transaction whichever connection is free ---- */

static bool pooler_answers(void *context)
{
    struct carrier *c = open_url(context);
    struct space_facts facts = {0};
    struct error e;
    bool ok = c->ops->facts(c, &facts, &e);
    space_facts_release(&facts);
    carrier_close(c);
    return ok;
}

TEST_IF(access("/usr/sbin/pgbouncer", X_OK) == 0, test_through_a_pooler)
{
    struct carrier *owner = make_space();
    char *file = support_text("%s/pool.ini", server->directory);
    struct error e;
    carrier_close(owner);
    support_write(file, support_text("[databases]\n* = host=%s port=5432\n[pgbouncer]\n"
                                     "pool_mode = transaction\ndefault_pool_size = 2\n"
                                     "listen_addr =\nlisten_port = 6432\nunix_socket_dir = %s\n"
                                     "auth_type = trust\nauth_file = users\n",
                                     server->directory, server->directory));
    char *users = support_text("%s/users", server->directory);
    support_write(users, "\"anna\" \"\"\n");
    assert_true(chmod(file, 0644) == 0 && chmod(users, 0644) == 0);
    pid_t pooler = pg_server_run(server, TEXTS("/usr/sbin/pgbouncer", file));
    char *url = support_text("postgresql://anna@/postgres?host=%s&port=6432", server->directory);
    bool answers = support_wait_until(pooler_answers, url, 20000 * support_patience());
    struct carrier *c[5];
    for (int i = 0; i < 5; i++)
        c[i] = open_url(url);
    bool ok = answers;
    for (int n = 0; n < 50 && ok; n++) {
        ok = push_number(c[n % 5], n, &e);
        struct reading r = {.cursor = BUF_INIT, .text = BUF_INIT};
        ok = ok && read_on(c[(n + 3) % 5], &r, &e) && r.lines == n + 1;
        buf_release(&r.cursor);
        buf_release(&r.text);
    }
    if (ok)
        expect_numbers(c[0], 50);
    for (int i = 0; i < 5; i++)
        carrier_close(c[i]);
    kill(pooler, SIGTERM);
    waitpid(pooler, NULL, 0);
    assert_true(answers);
    assert_ok(ok, e);
}
