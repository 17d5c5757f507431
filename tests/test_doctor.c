/* `tiro doctor` through the real program: its report on each state, that it changes nothing, and
 * recovering. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "session/capability.h"
#include "store/store.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/steps.h"
#include "tests/suite.h"

static char *data, *path;

static int set_up(void **state)
{
    support_setup(state);
    setenv("TIRO_PROVIDER_NAME", "offline", 1);
    data = support_path(".local/share/tiro");
    path = support_path(".local/share/tiro/tiro.db");
    return 0;
}

static int tear_down(void **state)
{
    unsetenv("TIRO_PROVIDER_NAME");
    return support_teardown(state);
}

#define DOCTOR(...) RUN("doctor", __VA_ARGS__)

/* The first page of the log. */
static void damage(void)
{
    char zeros[DAMAGE_PAGE] = {0};
    int64_t page = damage_sql(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'event'");
    damage_write(path, (size_t)(page - 1) * DAMAGE_PAGE, zeros, sizeof zeros);
}

/* --json in a directory where nothing may change. */
static struct json *look(int status)
{
    char *before = support_keep(damage_tree(data));
    struct result r = DOCTOR("--json");
    char *after = support_keep(damage_tree(data));
    struct error e;
    struct json *v = json_parse(r.out, strlen(r.out), &e);
    assert_non_null(v);
    assert_string_equal(before, after);
    assert_int_equal(r.status, status);
    assert_int_equal(json_get_bool(v, "well", false), status == 0);
    return v;
}

static void expect_state(const char *state, int status, const char *words)
{
    AUTO(json_free_local) struct json *v = look(status);
    const struct json *store = json_get(v, "store");
    assert_string_equal(json_get_string(store, "state"), state);
    assert_string_equal(json_get_string(store, "path"), path);
    assert_string_equal(json_get_string(json_get(v, "service"), "provider"), "offline");
    char *before = support_keep(damage_tree(data));
    struct result r = DOCTOR("--thorough");
    assert_string_equal(before, support_keep(damage_tree(data)));
    assert_int_equal(r.status, status);
    assert_non_null(strstr(r.out, words));
    assert_int_equal(strstr(r.out, "no problem found") != NULL, status == 0);
}

/* --- looking --------------------------------------------------------------------------------- */

FIXTURE(set_up, tear_down);

TEST_IF(capability_store(), test_nothing_is_made)
{
    struct stat st;
    struct result r = DOCTOR("--json");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "\"missing\""));
    assert_non_null(strstr(r.out, "\"sandbox\":\t\""));
    assert_int_not_equal(stat(data, &st), 0);
    assert_int_not_equal(stat(support_path(".local"), &st), 0);
}

TEST_IF(capability_store(), test_good)
{
    damage_fill(path, 4, 10);
    expect_state("good", 0, "intact, ");
    AUTO(json_free_local) struct json *v = look(0);
    assert_int_equal(json_get_int(json_get(v, "store"), "sessions", -1), 4);
    struct result r = DOCTOR("--thorough");
    assert_non_null(strstr(r.out, "4 sessions, 40 events"));
    r = RUN("doctor");
    assert_non_null(strstr(r.out, "--thorough"));
}

/* The log that a killed tiro left behind is neither merged nor removed. */
TEST_IF(capability_store(), test_log_of_a_dead_process)
{
    damage_fill_and_die(path, 4, 10);
    expect_state("good", 0, "4 sessions, 40 events");
}

TEST_IF(capability_store(), test_not_well)
{
    damage_fill(path, 4, 20);
    damage_sql(path, "PRAGMA user_version = 99");
    expect_state("newer", 1, "sessions export");
    damage_sql(path, support_text("PRAGMA user_version = %d", SCHEMA_VERSION));
    size_t size = damage_size(path);
    damage();
    expect_state("damaged", 1, "--recover");
    damage_cut(path, size / 2);
    expect_state("truncated", 1, "--recover");
    damage_write(path, 0, "a letter", 8);
    expect_state("no_database", 1, "--recover");
    unlink(path);
    mkdir(path, 0700);
    expect_state("unreadable", 1, "permissions");
}

TEST_IF(capability_store(), test_locked)
{
    damage_fill(path, 2, 10);
    struct damage_holder h = damage_hold(path, damage_begin_write);
    expect_state("locked", 1, "quit that program");
    damage_let_go(&h);
    expect_state("good", 0, "intact");
}

TEST_IF(capability_store(), test_not_kept)
{
    damage_fill(path, 2, 10);
    setenv("TIRO_SESSION_PERSIST", "false", 1);
    expect_state("good", 0, "persist = false");
}

/* --- memory ---------------------------------------------------------------------------------- */

TEST_IF(capability_store(), test_entries_are_counted)
{
    damage_fill(path, 2, 10);
    damage_fill_memory(path, 3, 5);
    expect_state("good", 0, "15 memory entries, 15 vectors");
    AUTO(json_free_local) struct json *v = look(0);
    const struct json *store = json_get(v, "store");
    assert_int_equal(json_get_int(store, "entries", -1), 15);
    assert_int_equal(json_get_int(store, "vectors", -1), 15);
    assert_string_equal(json_get_string(store, "language"), "auto");
    setenv("TIRO_MEMORY_LANGUAGE", "german", 1);
    expect_state("good", 0, "indexed for auto, not for german");
}

static void says(const char *name, const char *words)
{
    struct result r = DOCTOR("--json");
    struct error e;
    AUTO(json_free_local) struct json *v = json_parse(r.out, strlen(r.out), &e);
    const char *value = json_get_string(json_get(v, "service"), name);
    assert_non_null(value);
    if (!strstr(value, words))
        fail_msg("%s: %s", name, value);
}

TEST_IF(capability_memory(), test_memory_is_told)
{
    says("memory", "on; scope all, language");
    says("vectors", "none; [embedding] provider is not set");
    says("ranking", "words");
    setenv("TIRO_EMBEDDING_PROVIDER", "hashed", 1);
    says("vectors", "made here");
    says("ranking", "words");
    setenv("TIRO_MEMORY_RANKING", "both", 1);
    says("ranking", "both");
    unsetenv("TIRO_EMBEDDING_PROVIDER");
    says("ranking", "words");
    unsetenv("TIRO_MEMORY_RANKING");
    setenv("TIRO_MEMORY_ENABLED", "false", 1);
    says("memory", "off; ");
}

/* No server listens there, and no request is made. */
TEST_IF(capability_memory(), test_embedding_endpoint)
{
    setenv("TIRO_EMBEDDING_PROVIDER", "openai", 1);
    struct result r = DOCTOR("--json");
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.out, "CONFIG_ERROR"));
    says("vectors", "none: ");
    says("ranking", "words");
    setenv("OPENAI_API_KEY", "sk-not-shown", 1);
    setenv("TIRO_EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1", 1);
    says("vectors", "openai/text-embedding-3-small at http://127.0.0.1:9/v1, key found");
    says("ranking", "both");
    r = DOCTOR("--thorough");
    assert_int_equal(r.status, 0);
    assert_null(strstr(r.out, "sk-not-shown"));
}

/* --- recovering ------------------------------------------------------------------------------ */

static int files_like(const char *name)
{
    DIR *dir = opendir(data);
    int count = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strstr(entry->d_name, name) != NULL;
    closedir(dir);
    return count;
}

TEST(test_recover_wants_a_yes)
{
    damage_fill(path, 4, 20);
    damage();
    char *before = support_keep(damage_tree(data));
    struct result r = DOCTOR("--recover");
    assert_int_equal(r.status, 64);
    assert_says(r.err, "tiro: USAGE: ", "--yes");
    assert_string_equal(before, support_keep(damage_tree(data)));
}

TEST_IF(capability_store(), test_recover)
{
    damage_fill(path, 6, 20);
    damage_fill_memory(path, 4, 5);
    damage();
    struct result r = DOCTOR("--recover", "--yes", "--json");
    struct error e;
    assert_int_equal(r.status, 0);
    struct json *v = json_parse(r.out, strlen(r.out), &e);
    const struct json *recovery = json_get(v, "recovery");
    const struct json *store = json_get(v, "store");
    assert_int_equal(json_get_int(recovery, "sessions", -1), 6);
    assert_int_equal(json_get_int(recovery, "entries", -1), 20);
    int64_t events = json_get_int(recovery, "events", -1);
    assert_true(events >= 120 - DAMAGE_EVENTS_A_PAGE && events <= 120);
    assert_string_equal(json_get_string(store, "state"), "good");
    assert_int_equal(json_get_int(store, "events", -1), events);
    assert_int_equal(access(json_get_string(recovery, "copy"), F_OK), 0);
    json_free(v);
    assert_int_equal(files_like(".damaged-"), 1);
    assert_int_equal(files_like(".recovered-"), 0);
    expect_state("good", 0, "intact");

    r = ended(0, RUN("sessions", "list", "--json"));
    v = json_parse(r.out, strlen(r.out), &e);
    assert_int_equal(json_len(v), 6);
    json_free(v);
}

TEST(test_nothing_to_recover)
{
    damage_fill(path, 2, 10);
    char *before = support_keep(damage_tree(data));
    struct result r = DOCTOR("--recover", "--yes");
    assert_int_equal(r.status, 0);
    assert_string_equal(before, support_keep(damage_tree(data)));
}

TEST_IF(capability_store(), test_recover_while_in_use)
{
    damage_fill(path, 4, 20);
    struct damage_holder h = damage_hold(path, damage_open);
    damage();
    struct result r = DOCTOR("--recover", "--yes");
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "tiro: SESSION_BUSY: "));
    assert_non_null(strstr(r.out, "damaged"));
    assert_int_equal(files_like(".damaged-"), 0);
    damage_let_go(&h);
}

static void answer(const char *keys, int status)
{
    const char *const args[] = {"doctor", "--recover", NULL};
    program_asks(args, 100, (const char *const[]){NULL}, keys, status);
}

TEST_IF(capability_store(), test_recover_asks)
{
    damage_fill(path, 4, 20);
    damage();
    char *before = support_keep(damage_tree(data));
    answer("n", 1);
    answer("", 1);
    assert_string_equal(before, support_keep(damage_tree(data)));
    answer("y", 0);
    assert_int_equal(files_like(".damaged-"), 1);
    expect_state("good", 0, "intact");
}

/* --------------------------------------------------------------------------------------------- */

TEST(test_locales)
{
    static const struct {
        const char *locale, *says;
    } cases[] = {{"C.UTF-8", "locale: UTF-8\n"},
                 {"C", "set LC_ALL to a UTF-8 locale"},
                 {"xx_XX.UTF-8", "locale: UTF-8 (the configured locale is not installed"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("LC_ALL", cases[i].locale, 1);
        struct result r = RUN("doctor");
        assert_text(r.out, cases[i].says);
    }
}
