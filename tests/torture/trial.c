#include "tests/torture/trial.h"
#include "tests/suite.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "tests/history_check.h"
#include "tests/program.h"
#include "tests/scene.h"

enum {
    STATUS_OUT_OF_MEMORY = 70,
    PATIENCE_MS = 60000,
    SCREEN_ROWS = 24,
    SCREEN_COLUMNS = 80,
    PRESSES = 10,
    PRESS_MS = 100
};

#define DRAFT "a draft that is not sent"

static const struct trial *trial;
static char *database;
static struct result result;

/* --- comparing runs --------------------------------------------------------------------------- */

/* Removes digits and the letters of hexadecimal numbers (ids, times and figures differ), and the
 * directory of the test. */
static char *without_numbers(const char *text)
{
    struct buf out = BUF_INIT;
    size_t home = strlen(support_dir());
    for (; *text; text++) {
        if (strncmp(text, support_dir(), home) == 0)
            text += home;
        if (!strchr("0123456789abcdef-", *text))
            buf_addch(&out, *text);
    }
    return buf_take(&out);
}

static char *read_without_numbers(const char *path)
{
    auto_free char *text = support_read(path);
    return without_numbers(text);
}

static void add_names(struct buf *out, const char *directory)
{
    DIR *d = opendir(directory);
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        auto_free char *path = mem_printf("%s/%s", directory, entry->d_name);
        auto_free char *plain = without_numbers(path + strlen(support_dir()));
        if (!strstr(out->data, plain))
            buf_addf(out, "%s\n", plain);
        add_names(out, path);
    }
    closedir(d);
}

static char *names_of_files(void)
{
    struct buf out = BUF_INIT;
    buf_addch(&out, '\n');
    add_names(&out, support_dir());
    return buf_take(&out);
}

/* --- the outcome without faults --------------------------------------------------------------- */

static char *inside(const char *directory, const char *name)
{
    return mem_printf("%s/%s", directory, name);
}

static void keep(const char *name, const char *text)
{
    auto_free char *path = inside(trial->outcome, name);
    support_write(path, text);
}

static char *kept_file(const char *directory, const char *name)
{
    auto_free char *path = inside(directory, name);
    return access(path, R_OK) == 0 ? support_read(path) : NULL;
}

struct step_outcome trial_outcome(const char *directory)
{
    return (struct step_outcome){.printed = kept_file(directory, "printed"),
                                 .file = kept_file(directory, "file"),
                                 .names = kept_file(directory, "names"),
                                 .database = inside(directory, "tiro.db")};
}

void step_outcome_release(struct step_outcome *o)
{
    free(o->printed);
    free(o->file);
    free(o->names);
    free(o->database);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void set_number(const char *name, long number)
{
    auto_free char *text = mem_printf("%ld", number);
    setenv(name, text, 1);
}

static void arm(void)
{
    const struct torture_choice *c = &trial->choice;
    auto_free char *library = mem_printf("%s/" TRIAL_LIBRARY, getenv("BUILD_DIR"));
    auto_free char *stack = mem_printf("%" PRIx64, c->stack);
    setenv("TORTURE_LOG", trial->log, 1);
    setenv("TORTURE_CLASS", c->class, 1);
    setenv("TORTURE_STACK", stack, 1);
    set_number("TORTURE_NTH", c->nth);
    set_number("TORTURE_CAUSE", c->cause);
    setenv("TORTURE_STAYS", c->stays ? "1" : "", 1);
    setenv("TORTURE_RECORD", trial->expected ? "" : "1", 1);
    setenv("TORTURE_TRACE", trial->trace ? "1" : "", 1);
    if (trial->step->setting)
        setenv(trial->step->setting, trial->step->value, 1);
    setenv("TIRO_TOOLS_SANDBOX", "off", 1); /* its rules are a thousand calls that grant less */
    setenv("LD_PRELOAD", library, 1);
}

static void disarm(void)
{
    unsetenv("LD_PRELOAD");
    if (trial->step->setting)
        unsetenv(trial->step->setting);
}

static void run_command(void)
{
    VEC(const char *) argv = {0};
    AUTO(support_release) struct support_child c = {0};
    vec_push(&argv, support_program());
    for (const char *const *arg = trial->step->arguments; *arg; arg++)
        vec_push(&argv, *arg);
    vec_push(&argv, NULL);
    arm();
    support_start(&c, argv.items);
    disarm();
    result.status = support_finish(&c, "");
    result.out = buf_take(&c.out_text);
    result.err = buf_take(&c.err_text);
    vec_release(&argv);
}

static bool answered_or_gone(struct screen *s, void *context)
{
    (void)context;
    return screen_status(s) >= 0 || strstr(screen_text(s), STEPS_ANSWER);
}

static bool ready_or_gone(struct screen *s, void *context)
{
    (void)context;
    return screen_status(s) >= 0 || screen_alternate(s);
}

static bool has_left(struct screen *s, void *context)
{
    (void)context;
    return screen_status(s) >= 0 || !screen_alternate(s);
}

static void run_screen(void)
{
    VEC(const char *) argv = {0};
    vec_push(&argv, support_program());
    for (const char *const *arg = trial->step->arguments; *arg; arg++)
        vec_push(&argv, *arg);
    vec_push(&argv, NULL);
    arm();
    struct screen *s = screen_start(argv.items, support_dir(), SCREEN_ROWS, SCREEN_COLUMNS);
    disarm();
    screen_wait(s, ready_or_gone, NULL, "the screen", PATIENCE_MS);
    scene_say(s, "What is it?");
    screen_wait(s, answered_or_gone, NULL, "an answer", PATIENCE_MS);
    screen_type(s, DRAFT);
    /* However much of the screen is broken, it can be left: Ctrl-C stops what runs and clears the
     * prompt, Ctrl-D leaves. */
    for (int presses = 0; !has_left(s, NULL) && presses < PRESSES; presses++) {
        screen_ctrl(s, presses % 3 == 0 ? 'c' : 'd');
        screen_wait(s, has_left, NULL, "the screen's end", presses % 3 ? PATIENCE_MS : PRESS_MS);
    }
    if (screen_status(s) < 0 && !screen_wait_exit(s, PATIENCE_MS))
        fail_msg("the screen could not be left: %s", screen_text(s));
    if (screen_alternate(s) || !screen_settings_restored(s))
        fail_msg("status %d, and the terminal is not as it was: %s", screen_status(s),
                 screen_text(s));
    result.status = screen_status(s);
    result.out = mem_strdup("");
    result.err = mem_strdup(screen_text(s));
    screen_free(s);
    vec_release(&argv);
}

/* --- checks ----------------------------------------------------------------------------------- */

static bool begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static bool line_has(const char *line, const char *word)
{
    const char *found = strstr(line, word);
    return found && found < line + strcspn(line, "\n");
}

/* Whether one of the failed calls came from this library, perhaps through the C library. */
static bool came_from(const char *log, const char *library)
{
    bool told = true;
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (begins(line, "hit ") || begins(line, "again ")) {
            told = false;
        } else if (begins(line, "at ") && !told && !line_has(line, "/libc.so")) {
            told = true;
            if (line_has(line, library))
                return true;
        }
    }
    return false;
}

/* Out of memory, newterm() goes on without a string, or ends the program with a line of its own
 * about the terminal's description. The terminal is given back even so, which is looked at
 * elsewhere. */
static bool curses_broke(const char *log)
{
    bool gave_up = result.status == EXIT_FAILURE && strstr(result.err, "col 0: Out of memory");
    return (result.status == 128 + SIGSEGV || gave_up) && came_from(log, "/libtinfo");
}

static void assert_ended(const char *log)
{
    static const int known[] = {0, 1, 2, 64, STATUS_OUT_OF_MEMORY};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (result.status == known[i])
            return;
    if (curses_broke(log))
        return;
    fail_msg("ended with status %d: %s%s", result.status, result.out, result.err);
}

static bool no_children(void *context)
{
    (void)context;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return waitpid(-1, NULL, WNOHANG) < 0;
}

/* OpenSSL and curses leak unfinished data if their start fails. */
static bool is_forgotten(const char *leak)
{
    static const char *const libraries[] = {"/libcrypto", "/libtinfo", "/libncursesw"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (line_has(leak, libraries[i]))
            return true;
    return false;
}

/* The output must be equal, or there must be a message on standard error. */
static void assert_same_output(void)
{
    if (result.status != 0 || *result.err || trial->step->form != STEP_COMMAND)
        return;
    auto_free char *printed = without_numbers(result.out);
    if (strcmp(printed, trial->expected->printed) != 0)
        fail_msg("status 0 and not a word on standard error, but it printed:\n%s", result.out);
}

static void assert_file(void)
{
    if (!trial->step->file)
        return;
    auto_free char *path = support_path(trial->step->file);
    bool there = access(path, F_OK) == 0;
    if (result.status == 0) {
        auto_free char *text = read_without_numbers(path);
        if (strcmp(text, trial->expected->file) != 0)
            fail_msg("status 0, but the file reads:\n%s", text);
    } else if (there && result.status != STATUS_OUT_OF_MEMORY &&
               !strstr(result.err, "is written")) {
        fail_msg("status %d, but there is a file: %s", result.status, result.err);
    }
}

static struct store *open_store(void)
{
    struct store *store;
    struct error e = {0};
    if (access(database, F_OK) != 0)
        return NULL;
    if (!store_open(database, STORE_READ_ONLY, &store, &e)) {
        if (e.code == ERR_SESSION_NOT_FOUND)
            return NULL;
        fail_msg("the database does not open: %s", e.text);
    }
    return store;
}

static void assert_shown_is_kept(void)
{
    if (trial->step->form != STEP_EVENTS)
        return;
    struct store *store = open_store();
    char *rest = result.out;
    for (char *end; (end = strchr(rest, '\n')); rest = end + 1) {
        *end = '\0';
        /* A line without a number says that it could not be kept. */
        AUTO(json_free_local) struct json *v = parse_json(rest);
        const char *type = json_get_string(v, "type");
        if (json_get_int(v, "seq", 0) > 0 && strcmp(type, "text_delta") != 0 &&
            strcmp(type, "reasoning_delta") != 0 &&
            (!store || !log_has_line(store, json_get_string(v, "session_id"),
                                     json_get_int(v, "seq", 0), rest)))
            fail_msg("shown, but not in the log: %s", rest);
    }
    store_close(store);
}

static const struct damage_event *find_event(const struct damage_events *list,
                                             const struct damage_event *like)
{
    for (size_t i = 0; i < list->items.len; i++) {
        const struct damage_event *ev = &list->items.items[i];
        if (ev->seq == like->seq && strcmp(ev->id, like->id) == 0)
            return ev;
    }
    return NULL;
}

/* The id of the session that the step may take away, or "". */
static const char *taken_session(void)
{
    for (size_t i = 0; trial->step->takes && i < trial->kept->items.len; i++)
        if (strstr(trial->kept->items.items[i].text, trial->step->takes))
            return trial->kept->items.items[i].id;
    return "";
}

/* All events of the deleted session are there, or none. */
static void assert_events_kept(void)
{
    AUTO(damage_events_release) struct damage_events now = damage_events(database);
    const char *taken = taken_session();
    size_t there = 0, gone = 0;
    for (size_t i = 0; i < trial->kept->items.len; i++) {
        const struct damage_event *ev = &trial->kept->items.items[i];
        const struct damage_event *found = find_event(&now, ev);
        bool same = found && strcmp(found->text, ev->text) == 0;
        if (!same && strcmp(ev->id, taken) != 0)
            fail_msg("event %" PRId64 " of %s is lost: %s", ev->seq, ev->id, ev->text);
        there += strcmp(ev->id, taken) == 0 && same;
        gone += strcmp(ev->id, taken) == 0 && !same;
    }
    if (there && gone)
        fail_msg("of a deleted session %zu events are there, and %zu are not", there, gone);
}

/* The column after this number of bars in a line of damage_memory(); NULL if there are fewer. */
static const char *column(const char *line, int bars)
{
    for (; line && bars > 0; bars--) {
        line = strchr(line, '|');
        line += line != NULL;
    }
    return line;
}

enum { COLUMN_SESSION = 1, COLUMN_CONTENT = 13 };

/* An entry whose text is said again in its session moves to the new place (memory/content.h). */
static bool has_moved(const char *now, const char *line)
{
    const char *session = column(line, COLUMN_SESSION), *content = column(line, COLUMN_CONTENT);
    while (content && now && *now) {
        const char *its = column(now, COLUMN_SESSION), *text = column(now, COLUMN_CONTENT);
        if (text && strncmp(its, session, UUID_LEN) == 0 &&
            strncmp(text, content, strlen(content)) == 0)
            return true;
        now = strchr(now, '\n');
        now += now != NULL;
    }
    return false;
}

/* Deleting a session removes all its entries from memory. */
static bool is_deleted(const char *id)
{
    AUTO(damage_events_release) struct damage_events now = damage_events(database);
    bool there = false;
    for (size_t i = 0; i < now.items.len && !there; i++)
        there = strcmp(now.items.items[i].id, id) == 0;
    return *id && !there;
}

static bool may_go(const char *line)
{
    const char *taken = taken_session();
    return trial->step->takes &&
           (strstr(line, trial->step->takes) || (is_deleted(taken) && strstr(line, taken)));
}

/* Every change that the step reported must have been made. */
static void assert_done(void)
{
    if (result.status == 0 && trial->step->prints_id) {
        auto_free char *id = mem_strndup(result.out, strcspn(result.out, "\n"));
        expect(RUN("sessions", "show", id), 0, "");
    }
    if (result.status != 0 || !trial->step->look[0])
        return;
    struct result r = program_run("", trial->step->look);
    if (r.status != 0 || (trial->step->there && !strstr(r.out, trial->step->there)) ||
        (trial->step->gone && strstr(r.out, trial->step->gone)))
        fail_msg("status 0, but now (%d): %s%s", r.status, r.out, r.err);
}

enum { REFUSED_A_TOOL = 3 }; /* answered, but the model asked for a tool that it is not offered */

/* The program named the files that it could not remove, except those that SQLite makes and removes
 * beside a recovery's scratch database. */
static void assert_no_files_left(const char *log)
{
    bool removes_none = trial->choice.stays && strstr(log, "hit unlink ");
    if (removes_none || strstr(result.err, "cannot remove"))
        return;
    char *names = names_of_files(), *rest = names;
    for (char *name; (name = strtok_r(rest, "\n", &rest));) {
        auto_free char *line = mem_printf("\n%s\n", name);
        if (!strstr(trial->expected->names, line))
            fail_msg("a file is left: %s", name);
    }
    free(names);
}

static void assert_all(const char *log)
{
    assert_ended(log);
    if (result.status != 0 && !curses_broke(log) && !strstr(result.err, "tiro: ") &&
        trial->step->form != STEP_REPORT)
        fail_msg("status %d without a word: %s%s", result.status, result.out, result.err);
    if (!support_wait_until(no_children, NULL, PATIENCE_MS))
        fail_msg("a process is left behind");
    for (const char *leak = log; (leak = strstr(leak, "leak ")); leak++)
        if (!is_forgotten(leak))
            fail_msg("memory was lost (status %d, %s): %.*s", result.status, result.err,
                     (int)strcspn(leak, "\n"), leak);
    if (trial->expected) {
        assert_same_output();
        assert_file();
    }
    assert_done();
    if (trial->step->breaks_before) {
        /* Completes any unfinished recovery. */
        RUN("doctor", "--recover", "--yes");
    }
    struct result r =
        !trial->step->fresh ? RUN("run", "--resume", "last", "And then?") : RUN("run", "And then?");
    if (r.status != 0 && r.status != REFUSED_A_TOOL)
        fail_msg("a further turn fails: %s", r.err);
    run_ok(RUN("sessions", "rebuild"));
    r = RUN("doctor");
    if (r.status != 0)
        fail_msg("afterwards doctor says: %s%s", r.out, r.err);
    assert_shown_is_kept();
    assert_events_kept();
    char *now = damage_memory(database), *before = mem_strdup(trial->memory), *rest = before;
    for (char *line; (line = strtok_r(rest, "\n", &rest));)
        if (!strstr(now, line) && !has_moved(now, line) && !may_go(line))
            fail_msg("an entry of memory is lost: %s\nof now:\n%s", line, now);
    free(before);
    free(now);
    assert_store_sound(database);
    if (trial->expected)
        assert_no_files_left(log);
}

/* --- the trial -------------------------------------------------------------------------------- */

static void begin_home(void)
{
    assert_int_equal(chdir(support_dir()), 0);
    if (!trial->step->fresh) {
        auto_free char *from = mem_printf("%s/.", trial->home);
        AUTO(support_release) struct support_child c = {0};
        support_start(&c, TEXTS("/bin/cp", "-a", from, support_dir()));
        assert_int_equal(support_finish(&c, NULL), 0);
    }
    if (trial->step->breaks_before) {
        /* A page in the middle of the file. */
        char zeros[DAMAGE_PAGE] = {0};
        size_t pages = damage_size(database) / DAMAGE_PAGE;
        damage_write(database, pages / 2 * DAMAGE_PAGE, zeros, sizeof zeros);
    }
    unlink(trial->log);
}

static enum trial_result trial_end;

static void run_step(void **state)
{
    (void)state;
    trial_end = TRIAL_FAILED;
    database = support_path(".local/share/tiro/tiro.db");
    begin_home();
    struct model_server *server = begin_server();
    model_server_set_default(server, &(struct reply){.text = STEPS_ANSWER});
    for (size_t i = 0; i < STEP_REPLIES; i++)
        if (trial->step->replies[i].text || trial->step->replies[i].tool_name)
            model_server_queue(server, &trial->step->replies[i]);
    if (trial->step->form == STEP_SCREEN)
        run_screen();
    else
        run_command();
    auto_free char *log = support_read(trial->log);
    if (trial->outcome) {
        /* Runs before any other use of the home. */
        auto_free char *printed = without_numbers(result.out);
        auto_free char *copy = inside(trial->outcome, "tiro.db");
        keep("printed", printed);
        if (trial->step->file) {
            auto_free char *path = support_path(trial->step->file),
                           *file = read_without_numbers(path);
            keep("file", file);
        }
        damage_copy(database, copy);
    }
    if (trial->expected && !strstr(log, "hit "))
        trial_end = TRIAL_MISSED;
    else
        assert_all(log);
    if (trial->outcome) {
        /* Runs after the session was continued. */
        auto_free char *names = names_of_files();
        keep("names", names);
    }
    if (trial_end == TRIAL_FAILED)
        trial_end = TRIAL_PASSED;
    end_server(server);
    free(database);
}

enum trial_result trial_run(const struct trial *t)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(run_step, support_setup, support_teardown)};
    trial = t;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return cmocka_run_group_tests_name(t->step->name, all, NULL, NULL) == 0 ? trial_end
                                                                            : TRIAL_FAILED;
}
