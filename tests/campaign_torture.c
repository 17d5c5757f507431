/* A scripted session in which one call fails: each step runs many times, with another failing call
 * each time. The call is chosen by its stack, so that every run of a build fails the same call,
 * whatever its threads do. A seed selects some of the calls, or all run:
 *
 *   TORTURE          classes: malloc, file, network, process; unset: all
 *   STEP             only steps whose name contains this; unset: all
 *   TORTURE_TRIALS   the number of failing calls, or "all"
 *   STACK, N, CAUSE, STAYS   the call that a failure printed, with its TORTURE and STEP
 *   TIMES            the number of times to repeat that call
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/torture/trial.h"

#define EVENTS "--output-format", "stream-json"
#define QUESTION "What is a quincunx?"
#define SUMMARY "## Goal\nTo learn what a quincunx is.\n## State\nIt has five points."
#define FORGOTTEN "wallaby"
#define NEW_ENTRY                                                                                  \
    "{\"id\":\"entry-new\",\"session_id\":\"talk-2\",\"role\":\"user\","                           \
    "\"created_at\":\"2026-01-03T10:00:00Z\",\"content\":\"The wombat came to tea.\"}\n"

#define HISTORY                                                                                    \
    "{\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"/w\",\"type\":\"user\",\"uuid\":\"u\","    \
    "\"timestamp\":\"2026-03-01T10:00:00Z\",\"message\":{\"role\":\"user\",\"content\":"           \
    "\"What sweeps well?\"}}\n"                                                                    \
    "{\"parentUuid\":\"u\",\"sessionId\":\"s\",\"cwd\":\"/"                                        \
    "w\",\"type\":\"assistant\",\"uuid\":\"a\","                                                   \
    "\"timestamp\":\"2026-03-01T10:00:01Z\",\"message\":{\"id\":\"m\",\"role\":\"assistant\","     \
    "\"content\":[{\"type\":\"text\",\"text\":\"The besom.\"}]}}\n"

/* Less than the conversation takes. */
#define THRESHOLD "TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "500"

static const struct trial_step steps[] = {
    {.name = "create",
     .form = STEP_EVENTS,
     .arguments = {"run", EVENTS, "--label", "new", QUESTION},
     .fresh = true,
     .look = {"sessions", "show", "last"},
     .there = STEPS_ANSWER},
    {.name = "turn",
     .arguments = {"run", "--resume", "Beta", QUESTION},
     .look = {"sessions", "show", "last"},
     .there = QUESTION},
    {.name = "tools",
     .form = STEP_EVENTS,
     .arguments = {"run", EVENTS, "--resume", "Beta", "--tools", "full", "--allow",
                   "read,write,execute", QUESTION},
     .replies = {{.text = "I read.",
                  .tool_name = "read_file",
                  .tool_args = "{\"path\":\"note.txt\"}",
                  .tool_id = "call-1"},
                 {.tool_name = "write_file",
                  .tool_args = "{\"path\":\"note.txt\",\"content\":\"written by a tool\\n\"}",
                  .tool_id = "call-2"},
                 {.tool_name = "run_command",
                  .tool_args = "{\"command\":\"cat note.txt\"}",
                  .tool_id = "call-3"},
                 {.tool_name = "memory_search",
                  .tool_args = "{\"query\":\"dictation\"}",
                  .tool_id = "call-4"},
                 {.tool_name = "search_files",
                  .tool_args = "{\"pattern\":\"tool\"}",
                  .tool_id = "call-5"},
                 {.tool_name = "list_directory", .tool_args = "{}", .tool_id = "call-6"},
                 {.text = STEPS_ANSWER}},
     .look = {"sessions", "show", "last"},
     .there = QUESTION},
    {.name = "compaction",
     .form = STEP_EVENTS,
     .arguments = {"run", EVENTS, "--resume", "Beta", QUESTION},
     .setting = THRESHOLD,
     .replies = {{.text = SUMMARY}, {.text = STEPS_ANSWER}},
     .look = {"sessions", "show", "last"},
     .there = QUESTION},
    {.name = "sessions list", .arguments = {"sessions", "list"}},
    {.name = "sessions search", .arguments = {"sessions", "search", "quincunx"}},
    {.name = "sessions show", .arguments = {"sessions", "show", "Beta"}},
    {.name = "sessions rename",
     .arguments = {"sessions", "rename", "Alpha", "Renamed"},
     .look = {"sessions", "list"},
     .there = "Renamed"},
    {.name = "sessions archive",
     .arguments = {"sessions", "archive", "Alpha"},
     .look = {"sessions", "list", "--live"},
     .gone = "Alpha"},
    {.name = "sessions fork", .arguments = {"sessions", "fork", "Beta"}, .prints_id = true},
    {.name = "sessions export",
     .arguments = {"sessions", "export", "--format", "jsonl", "-o", "taken.jsonl", "Beta"},
     .file = "taken.jsonl"},
    {.name = "sessions import",
     .arguments = {"sessions", "import", "kept.jsonl"},
     .prints_id = true,
     .look = {"sessions", "search", "imported"},
     .there = "imported"},
    {.name = "histories import",
     .arguments = {"import", "histories"},
     .look = {"sessions", "search", "besom"},
     .there = "besom"},
    {.name = "sessions rebuild", .arguments = {"sessions", "rebuild", "Beta"}},
    {.name = "sessions delete",
     .arguments = {"sessions", "delete", "--yes", "Gamma"},
     .takes = FORGOTTEN,
     .look = {"sessions", "list"},
     .gone = "Gamma"},
    {.name = "memory search", .arguments = {"memory", "search", "dictation"}},
    {.name = "memory export",
     .arguments = {"memory", "export", "taken.jsonl"},
     .file = "taken.jsonl"},
    {.name = "memory import",
     .arguments = {"memory", "import", "new.jsonl"},
     .look = {"memory", "search", "wombat"},
     .there = "wombat"},
    {.name = "memory edit",
     .arguments = {"memory", "edit", "--content", "The burrow was flooded.", "entry-1"},
     .takes = "entry-1",
     .look = {"memory", "search", "burrow"},
     .there = "flooded"},
    {.name = "memory delete",
     .arguments = {"memory", "delete", "--yes", "entry-1"},
     .takes = "entry-1",
     .look = {"memory", "list"},
     .gone = "shorthand of his own"},
    {.name = "memory reindex",
     .arguments = {"memory", "reindex"},
     .look = {"memory", "search", "dictation"},
     .there = "dictation"},
    {.name = "config set",
     .arguments = {"config", "set", "ui.theme", "light"},
     .look = {"config", "show"},
     .there = "light"},
    {.name = "doctor", .form = STEP_REPORT, .arguments = {"doctor", "--thorough"}},
    {.name = "recover",
     .form = STEP_REPORT,
     .arguments = {"doctor", "--recover", "--yes"},
     .breaks_before = true},
    {.name = "chat", .form = STEP_SCREEN, .arguments = {"--resume", "Beta"}},
};

static const size_t step_count = sizeof steps / sizeof *steps;

static void say(struct model_server *s, const char *resume, const char *title, const char *answer)
{
    model_server_queue(s, &(struct reply){.text = answer});
    if (resume)
        run_ok(RUN("run", "--resume", resume, QUESTION));
    else
        run_ok(RUN("run", QUESTION));
    if (title)
        run_ok(RUN("sessions", "rename", "last", title));
}

static void put(const char *name, const char *text)
{
    char *path = support_path(name);
    support_write(path, text);
    free(path);
}

static void steps_make_home(void)
{
    struct model_server *s = begin_server();
    write_config("[provider]\nmax_retries = 1\n[compaction]\nmin_turns_between_compactions = 0\n");
    put("note.txt", "Verba volant, scripta manent.\n");
    put("new.jsonl", NEW_ENTRY);
    char *histories = support_path("histories");
    assert_int_equal(mkdir(histories, 0700), 0);
    free(histories);
    put("histories/talk.jsonl", HISTORY);
    put("histories/list.json",
        "[{\"role\":\"user\",\"content\":\"A broom of twigs?\"},"
        "{\"role\":\"assistant\",\"content\":\"A besom.\"}]");
    say(s, NULL, "Imported", "This was imported.");
    run_ok(RUN("sessions", "export", "--format", "jsonl", "-o", "kept.jsonl", "Imported"));
    run_ok(RUN("sessions", "delete", "--yes", "Imported"));
    say(s, NULL, "Alpha", STEPS_ANSWER);
    say(s, NULL, "Gamma", "The " FORGOTTEN " is to be forgotten.");
    say(s, NULL, "Beta", "A secretary who took dictation wrote it so.");
    for (int turn = 0; turn < 6; turn++)
        say(s, "Beta", NULL,
            "Dictation again: a quincunx is an arrangement of five things in a square or "
            "rectangle, one at each corner and one in the middle. Orchards were planted so, and "
            "legions stood so, with the second line behind the gaps of the first. ");
    model_server_queue(s, &(struct reply){.text = SUMMARY});
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "500", 1);
    model_server_queue(s, &(struct reply){.text = "The compacted one has five points, too."});
    expect(RUN("run", "--resume", "Beta", QUESTION), 0, "compacted");
    unsetenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD");
    static const char entries[] =
        "{\"id\":\"entry-1\",\"session_id\":\"talk-1\",\"role\":\"user\","
        "\"created_at\":\"2026-01-02T10:00:00Z\","
        "\"content\":\"He took dictation in a shorthand of his own.\"}\n"
        "{\"id\":\"entry-2\",\"session_id\":\"talk-1\",\"role\":\"assistant\","
        "\"created_at\":\"2026-01-02T10:01:00Z\",\"content\":\"He kept the letters.\"}\n";
    run_ok(RUN_WITH(entries, "memory", "import", "-"));
    end_server(s);
}

enum { TRIALS = 600, AT_ONCE = 2 };

static const struct {
    const char *name;
    unsigned share; /* of ten trials of a sample */
} classes[] = {{"malloc", 5}, {"file", 3}, {"network", 1}, {"process", 1}};
enum { CLASS_COUNT = sizeof classes / sizeof *classes, SHARES = 10 };

struct point {
    size_t step;
    uint64_t stack, near;
    long calls;
    int causes;
};

/* A trial that runs in a process of its own. */
struct job {
    pid_t pid; /* 0: none */
    char *report, *log;
    struct trial trial;
    size_t class;
};

static struct campaign {
    char *directory; /* of all files of the campaign */
    struct damage_events kept;
    char *memory;
    struct step_outcome *outcomes;   /* by step */
    struct damage_events *recovered; /* by step, of those that break the database */
    VEC(struct point) points[CLASS_COUNT];
    struct job jobs[AT_ONCE];
    size_t results[TRIAL_MISSED + 1][CLASS_COUNT];
} campaign;

/* The events of a step that begins with an empty or a broken home. */
static const struct damage_events no_events;

static char *file_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *file_of(const char *format, ...)
{
    va_list args;
    char name[64];
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return mem_printf("%s/%s", campaign.directory, name);
}

static bool is_wanted(const char *variable, const char *name)
{
    const char *wanted = getenv(variable);
    return !wanted || !*wanted || strstr(wanted, name) || strstr(name, wanted);
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* Shows the source line, if the system knows it. */
static void show_frame(const char *module, unsigned long offset)
{
    const char *file = strcmp(module, "-") == 0 ? support_program() : module;
    auto_free char *command = mem_printf("addr2line -Cfspe '%s' 0x%lx 2>/dev/null", file, offset);
    fflush(stdout);
    if (system(command) != 0)
        printf("%s 0x%lx\n", module, offset);
}

static void end_job(struct job *j, int status)
{
    enum trial_result r = WIFEXITED(status) && WEXITSTATUS(status) <= TRIAL_MISSED
                              ? WEXITSTATUS(status)
                              : TRIAL_FAILED;
    if (j->trial.expected)
        campaign.results[r][j->class]++;
    if (r == TRIAL_FAILED) {
        const struct torture_choice *c = &j->trial.choice;
        auto_free char *report = support_read(j->report), *log = support_read(j->log);
        printf("\nFAILED: %.*s: TORTURE=%s STEP='%s' STACK=%" PRIx64 " N=%ld CAUSE=%d STAYS=%s\n%s",
               (int)strcspn(log, "\n"), log, c->class, j->trial.step->name, c->stack, c->nth,
               c->cause, c->stays ? "1" : "", report);
        char module[512];
        unsigned long offset;
        for (const char *at = log; (at = strstr(at, "\nat ")); at++)
            if (sscanf(at + 1, "at %511s %lx", module, &offset) == 2)
                show_frame(module, offset);
    }
    if (!j->trial.expected && r != TRIAL_PASSED)
        exit(1);
    fflush(stdout);
    j->pid = 0;
}

/* Waits until one of the jobs has ended; false when there is none. */
static bool wait_for_job(void)
{
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    for (size_t i = 0; pid > 0 && i < AT_ONCE; i++)
        if (campaign.jobs[i].pid == pid)
            end_job(&campaign.jobs[i], status);
    return pid > 0;
}

_Noreturn static void be_job(const struct job *j)
{
    int fd = open(j->report, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
    enum trial_result r = trial_run(&j->trial);
    fflush(NULL);
    _exit((int)r);
}

static void start_job(const struct trial *t, size_t class)
{
    struct job *j = campaign.jobs;
    while (campaign.jobs[0].pid && campaign.jobs[AT_ONCE - 1].pid)
        wait_for_job();
    while (j->pid)
        j++;
    j->trial = *t;
    j->trial.log = j->log;
    j->class = class;
    fflush(NULL);
    j->pid = fork();
    if (j->pid == 0)
        be_job(j);
}

static void wait_for_all(void)
{
    while (wait_for_job())
        continue;
}

/* --- calls that can fail ---------------------------------------------------------------------- */

static struct trial trial_of(size_t step, size_t class)
{
    bool whole = !steps[step].fresh && !steps[step].breaks_before;
    return (struct trial){.step = &steps[step],
                          .home = support_dir(),
                          .kept = whole ? &campaign.kept : &no_events,
                          .memory = whole ? campaign.memory : "",
                          .choice = {.class = classes[class].name}};
}

/* A place in the code is one point, whichever step reached it first. */
static void add_point(size_t class, const struct point *p)
{
    for (size_t i = 0; i < campaign.points[class].len; i++)
        if (campaign.points[class].items[i].near == p->near)
            return;
    vec_push(&campaign.points[class], *p);
}

/* A run without a fault: records its outcome and its calls. */
static void record(size_t step)
{
    auto_free char *outcome = file_of("outcome-%zu", step);
    mkdir(outcome, 0700);
    for (size_t class = 0; class < CLASS_COUNT; class ++) {
        if (!is_wanted("TORTURE", classes[class].name))
            continue;
        struct trial t = trial_of(step, class);
        t.outcome = outcome;
        start_job(&t, class);
        wait_for_all();
        struct point p = {.step = step};
        auto_free char *text = support_read(campaign.jobs[0].log);
        for (const char *line = text; line && *line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (sscanf(line, "point %" SCNx64 " %" SCNx64 " %*s %ld %d", &p.stack, &p.near,
                       &p.calls, &p.causes) == 4)
                add_point(class, &p);
        }
    }
    campaign.outcomes[step] = trial_outcome(outcome);
    if (steps[step].breaks_before)
        campaign.recovered[step] = damage_events(campaign.outcomes[step].database);
}

static void make_home(void **state)
{
    (void)state;
    steps_make_home();
}

/* --- the trials ------------------------------------------------------------------------------- */

static void try(const struct point *p, size_t class, long nth, int cause, bool stays)
{
    struct trial t = trial_of(p->step, class);
    t.expected = &campaign.outcomes[p->step];
    if (steps[p->step].breaks_before)
        t.kept = &campaign.recovered[p->step];
    t.choice.stack = p->stack;
    t.choice.nth = nth;
    t.choice.cause = cause;
    t.choice.stays = stays;
    t.trace = getenv("STACK") && *getenv("STACK");
    start_job(&t, class);
}

static void try_all_of(const struct point *p, size_t class)
{
    for (int cause = 0; cause < p->causes; cause++) {
        try(p, class, 1, cause, false);
        if (p->calls > 1)
            try(p, class, p->calls, cause, false);
        try(p, class, 1, cause, true);
    }
}

static void try_all(void)
{
    for (size_t class = 0; class < CLASS_COUNT; class ++)
        for (size_t i = 0; i < campaign.points[class].len; i++)
            try_all_of(&campaign.points[class].items[i], class);
}

static size_t choose_class(uint64_t *seed)
{
    unsigned at = (unsigned)(support_random(seed) % SHARES);
    size_t class = 0;
    while (at >= classes[class].share)
        at -= classes[class ++].share;
    return class;
}

static void try_some(size_t count)
{
    uint64_t seed = support_seed();
    for (size_t i = 0; i < count;) {
        size_t class = choose_class(&seed);
        size_t points = campaign.points[class].len;
        if (points == 0)
            continue;
        const struct point *p = &campaign.points[class].items[support_random(&seed) % points];
        long nth = support_random(&seed) % 2 ? 1 : 1 + (long)support_random(&seed) % p->calls;
        int cause = (int)(support_random(&seed) % (uint64_t)p->causes);
        try(p, class, nth, cause, support_random(&seed) % 4 == 0);
        i++;
    }
}

static long number_of(const char *variable, long otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strtol(value, NULL, 10) : otherwise;
}

static void try_one(uint64_t stack)
{
    for (size_t class = 0; class < CLASS_COUNT; class ++)
        for (size_t i = 0; i < campaign.points[class].len; i++)
            for (long times = number_of("TIMES", 1);
                 campaign.points[class].items[i].stack == stack && times > 0; times--)
                try(&campaign.points[class].items[i], class, number_of("N", 1),
                    (int)number_of("CAUSE", 0), getenv("STAYS") && *getenv("STAYS"));
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void release(void)
{
    for (size_t i = 0; i < step_count; i++) {
        step_outcome_release(&campaign.outcomes[i]);
        damage_events_release(&campaign.recovered[i]);
    }
    for (size_t i = 0; i < CLASS_COUNT; i++)
        vec_release(&campaign.points[i]);
    for (size_t i = 0; i < AT_ONCE; i++) {
        free(campaign.jobs[i].report);
        free(campaign.jobs[i].log);
    }
    damage_events_release(&campaign.kept);
    free(campaign.memory);
    free(campaign.outcomes);
    free(campaign.recovered);
    auto_free char *command = mem_printf("rm -rf '%s'", campaign.directory);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", campaign.directory);
    free(campaign.directory);
}

static size_t report(void)
{
    size_t failed = 0;
    for (size_t c = 0; c < CLASS_COUNT; c++) {
        size_t passed = campaign.results[TRIAL_PASSED][c];
        failed += campaign.results[TRIAL_FAILED][c];
        printf("%s: %zu places, %zu failures of calls tried, %zu harmful, %zu did not come\n",
               classes[c].name, campaign.points[c].len, passed + campaign.results[TRIAL_FAILED][c],
               campaign.results[TRIAL_FAILED][c], campaign.results[TRIAL_MISSED][c]);
    }
    return failed;
}

static bool can_torture(void)
{
    auto_free char *library = mem_printf("%s/" TRIAL_LIBRARY, getenv("BUILD_DIR"));
    return capability_store() && capability_compaction() && capability_memory() &&
           access(library, R_OK) == 0;
}

int main(void)
{
    if (!can_torture()) {
        puts("skipped: this wants glibc, and a program with sessions and without sanitizers");
        return 0;
    }
    /* If SQLite cannot begin to read, it tries for 10 s at each statement. */
    setenv("TEST_PATIENCE", "3", 0);
    support_setup(NULL);
    campaign.directory = mem_strdup(support_dir());
    setenv("TMPDIR", campaign.directory, 1);
    support_setup(NULL);
    if (chdir(support_dir()) != 0)
        exit(1);
    campaign.outcomes = mem_alloc(step_count * sizeof *campaign.outcomes);
    campaign.recovered = mem_alloc(step_count * sizeof *campaign.recovered);
    for (size_t i = 0; i < AT_ONCE; i++) {
        campaign.jobs[i].report = file_of("report-%zu", i);
        campaign.jobs[i].log = file_of("log-%zu", i);
    }
    /* Runs in a process of its own, since it has threads. */
    const struct CMUnitTest all[] = {cmocka_unit_test(make_home)};
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(cmocka_run_group_tests_name("the home", all, NULL, NULL));
    int status;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        exit(1);
    auto_free char *database = support_path(".local/share/tiro/tiro.db");
    campaign.kept = damage_events(database);
    campaign.memory = damage_memory(database);
    for (size_t step = 0; step < step_count; step++)
        if (is_wanted("STEP", steps[step].name))
            record(step);
    const char *stack = getenv("STACK"), *trials = getenv("TORTURE_TRIALS");
    if (stack && *stack)
        try_one(strtoull(stack, NULL, 16));
    else if (trials && strcmp(trials, "all") == 0)
        try_all();
    else
        try_some((size_t)number_of("TORTURE_TRIALS", TRIALS));
    wait_for_all();
    size_t failed = report();
    release();
    return failed > 0;
}
