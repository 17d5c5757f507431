/* Files derived from a log: however they came about, they are the same. */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/entropy.h"
#include "session/projection.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "tests/kept.h"
#include "tests/record.h"
#include "tests/suite.h"

static struct record record;
static char *dir, *transcript, *events, *summary; /* paths */

static int set_up(void **state)
{
    if (kept_setup(state) != 0)
        return -1;
    record_begin(&record, store);
    dir = support_keep(projection_directory(&catalog, record.info.id));
    transcript = support_text("%s/transcript.md", dir);
    events = support_text("%s/events.jsonl", dir);
    summary = support_text("%s/summary.txt", dir);
    return 0;
}

static int tear_down(void **state)
{
    record_release(&record);
    return kept_teardown(state);
}

static void update(void)
{
    assert_ok(projection_write(&catalog, record.info.id, false, &e), e);
}

static void rebuild(void)
{
    assert_ok(projection_write(&catalog, record.info.id, true, &e), e);
}

static unsigned mode_of(const char *file)
{
    struct stat st;
    assert_int_equal(lstat(file, &st), 0);
    return (unsigned)st.st_mode & 07777u;
}

static ino_t inode_of(const char *file)
{
    struct stat st;
    assert_int_equal(lstat(file, &st), 0);
    return st.st_ino;
}

static void append(const char *file, const char *text)
{
    support_write(file, support_text("%s%s", support_read(file), text));
}

/* The files must equal those that a rebuild makes from the log. */
static void check_files(void)
{
    char *text = support_read(transcript);
    char *lines = support_read(events);
    assert_string_equal(lines, support_keep(record_lines(store, record.info.id)));
    rebuild();
    char *new_text = support_read(transcript);
    char *new_lines = support_read(events);
    assert_string_equal(text, new_text);
    assert_string_equal(lines, new_lines);
}

FIXTURE(set_up, tear_down);

TEST(test_what_is_in_them)
{
    record_run(&record, "Why?", "Because.");
    update();
    char *head = support_text(
        "# %s\n\n2026-03-09 14:05 UTC · /home/ana/größe\n\n"
        "## you · 2026-03-09 14:05 UTC\n\nWhy?\n\n## tiro\n\nBecause.\n\n",
        record.info.id);
    assert_string_equal(support_read(transcript), head);
    check_files();
    char *sessions = support_path("sessions");
    assert_int_equal(mode_of(transcript), 0600);
    assert_int_equal(mode_of(events), 0600);
    assert_int_equal(mode_of(dir), 0700);
    assert_int_equal(mode_of(sessions), 0700);
}

/* Any updates at any places, with a rename in between, give the files of a rebuild. */
TEST(test_any_updates_of_any_log)
{
    entropy_seed(support_seed());
    for (int i = 0; i < (int)suite_sample(10, 25); i++) {
        tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
        for (size_t runs = 1 + (size_t)(entropy_unit() * 8); runs > 0; runs--) {
            record_random_run(&record);
            if (entropy_unit() < 0.4)
                update();
            if (entropy_unit() < 0.2)
                assert_true(catalog_rename(&catalog, record.info.id, "Other", NULL, &e));
            if (entropy_unit() < 0.1)
                rebuild();
        }
        update();
        check_files();
    }
}

static void check_transcript_ends(const char *end)
{
    char *text = support_read(transcript);
    size_t len = strlen(text), wanted = strlen(end);
    if (len < wanted || strcmp(text + len - wanted, end) != 0)
        fail_msg("it should end\n%s\nbut is\n%s", end, text);
}

static void add_soup(void)
{
    static const char *const texts[] = {"one", "two\nlines\n", "größer", "", " \n"};
    static const enum event_type types[] = {
        EVENT_TURN_STARTED,
        EVENT_CALL_STARTED,
        EVENT_TEXT_DELTA,
        EVENT_TEXT_DELTA,
        EVENT_TEXT_DELTA,
        EVENT_REASONING_DELTA,
        EVENT_REASONING_COMPLETE,
        EVENT_TEXT_COMPLETE,
        EVENT_TOOL_CALL_REQUESTED,
        EVENT_TOOL_CALL_REQUESTED,
        EVENT_CALL_COMPLETED,
        EVENT_TOOL_EXECUTION_COMPLETED,
        EVENT_RETRYING,
        EVENT_WARNING,
        EVENT_TURN_COMPLETED,
        EVENT_INTERRUPTED,
        EVENT_TURN_FAILED,
        EVENT_COMPACTION_STARTED,
        EVENT_COMPACTION_DELTA,
        EVENT_COMPACTION_COMPLETED,
        EVENT_COMPACTION_FAILED,
        EVENT_COMPACTION_UNDONE,
    };
    size_t type = (size_t)(entropy_unit() * (double)(sizeof types / sizeof *types));
    size_t text = (size_t)(entropy_unit() * (double)(sizeof texts / sizeof *texts));
    struct event *ev = event_new(types[type]);
    if (ev->type != EVENT_CALL_STARTED && ev->type != EVENT_CALL_COMPLETED &&
        ev->type != EVENT_INTERRUPTED && ev->type != EVENT_COMPACTION_STARTED &&
        ev->type != EVENT_COMPACTION_UNDONE)
        ev->text = mem_strdup(texts[text]);
    if ((ev->type == EVENT_COMPACTION_STARTED || ev->type == EVENT_COMPACTION_COMPLETED) &&
        entropy_unit() < 0.5)
        ev->compaction.trigger = mem_strdup("manual");
    if (ev->type == EVENT_TOOL_CALL_REQUESTED || ev->type == EVENT_TOOL_EXECUTION_COMPLETED ||
        ev->type == EVENT_TURN_FAILED || ev->type == EVENT_WARNING)
        ev->name = mem_strdup("name");
    if (ev->type == EVENT_TOOL_CALL_REQUESTED || ev->type == EVENT_TOOL_EXECUTION_COMPLETED)
        ev->id = mem_strdup("c1");
    ev->flag = ev->type == EVENT_TEXT_COMPLETE && entropy_unit() < 0.3;
    record_event(&record, ev);
}

/* Events in any order, so that runs are open, and streamed, at most places; crashes are runs behind
 * which another begins. The files are gone on with at each of these places. */
TEST(test_updates_within_runs)
{
    int gone_on = 0, rounds = (int)suite_sample(20, 60);
    entropy_seed(support_seed());
    for (int i = 0; i < rounds; i++) {
        tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
        record_add(&record, EVENT_TURN_STARTED, "Why?");
        update();
        ino_t file = inode_of(transcript);
        for (int n = 0; n < 60; n++) {
            add_soup();
            if (entropy_unit() < 0.3)
                update();
        }
        update();
        gone_on += inode_of(transcript) == file;
        check_files();
    }
    assert_int_equal(gone_on, rounds);
}

/* --- compactions ------------------------------------------------------------------------------ */

static void compact(const char *text)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    ev->text = mem_strdup(text);
    ev->compaction.mode = mem_strdup("structured");
    ev->compaction.effective_mode = mem_strdup("recency_preserving");
    ev->compaction.trigger = mem_strdup("estimate");
    ev->compaction.tokens_before = 101204;
    ev->compaction.tokens_after = 6310;
    ev->compaction.messages_before = 142;
    ev->compaction.messages_after = 9;
    record_event(&record, ev);
}

static void undo(int64_t of)
{
    struct event *ev = event_new(EVENT_COMPACTION_UNDONE);
    ev->number = of;
    record_event(&record, ev);
}

static void check_summary(const char *wanted)
{
    if (wanted) {
        assert_string_equal(support_read(summary), wanted);
        assert_int_equal(mode_of(summary), 0600);
    } else {
        assert_int_not_equal(access(summary, F_OK), 0);
    }
}

TEST(test_a_summary)
{
    record_run(&record, "Why?", "Because.");
    update();
    check_summary(NULL);
    compact("First\x1b[31m\n\n</details>");
    int64_t first = record.info.last_seq;
    update();
    check_summary("First␛[31m\n\n</details>\n");
    check_transcript_ends(
        "Because.\n\n"
        "> compacted · recency_preserving · 101204 → 6310 tokens · 142 → 9 messages\n"
        ">\n> <details><summary>summary</summary>\n>\n"
        "> First␛[31m\n>\n> </details>\n>\n> </details>\n\n");
    compact("Second");
    int64_t second = record.info.last_seq;
    compact(""); /* without a summary of its own */
    update();
    check_summary("Second\n");
    check_transcript_ends(
        "> </details>\n\n> compacted · recency_preserving · 101204 → 6310 tokens · "
        "142 → 9 messages\n\n");
    undo(second);
    undo(99999); /* nothing */
    update();
    check_summary("First␛[31m\n\n</details>\n");
    check_transcript_ends("> compaction undone\n\n> compaction undone\n\n");
    rebuild();
    check_summary("First␛[31m\n\n</details>\n");
    check_files();
    undo(first);
    rebuild();
    check_summary(NULL);
    struct event *ev = event_new(EVENT_COMPACTION_FAILED);
    ev->compaction.mode = mem_strdup("handoff");
    ev->text = mem_strdup("no\nanswer");
    record_event(&record, ev);
    update();
    check_transcript_ends("> compaction failed · handoff · no answer\n\n");
    check_files();
}

static void happen(enum event_type type, const char *id, const char *text)
{
    struct event *ev = event_new(type);
    ev->id = mem_strdup(id);
    ev->name = id ? mem_strdup("memory_search") : NULL;
    ev->text = mem_strdup(text);
    record_event(&record, ev);
}

/* Memory that was saved, and memory that was recalled between a call and its result. */
/* A fence in a text does not end the difference. */
TEST(a_change_of_a_file_is_a_difference)
{
    happen(EVENT_TURN_STARTED, NULL, "Write it.");
    happen(EVENT_CALL_STARTED, NULL, NULL);
    happen(EVENT_TOOL_CALL_REQUESTED, "c1", "{}");
    struct event *ev = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup("c1");
    ev->text = mem_strdup("replaced 1 text");
    ev->change.before = mem_strdup("one\n\n```\nend");
    ev->change.after = mem_strdup("two\n\n```\nend");
    record_event(&record, ev);
    happen(EVENT_TURN_COMPLETED, NULL, "");
    update();
    check_transcript_ends(
        "> ````diff\n> @@ -1,4 +1,4 @@\n> -one\n> +two\n>  \n>  ```\n>  end\n"
        "> \\ No newline at end of file\n> ````\n> 15 bytes, 0.0 s\n\n");
    rebuild();
    check_transcript_ends("> 15 bytes, 0.0 s\n\n");
}

TEST(test_memory)
{
    for (int entries = 0; entries <= 12; entries += 12) {
        struct event *ev = event_new(EVENT_MEMORY_INDEXED);
        ev->count = entries;
        compact("");
        record_event(&record, ev);
    }
    update();
    check_transcript_ends(
        "142 → 9 messages\n\n> compacted · recency_preserving · 101204 → 6310 "
        "tokens · 142 → 9 messages\n\n> stored in memory · 12 messages\n\n");
    happen(EVENT_TURN_STARTED, NULL, "Who?");
    happen(EVENT_CALL_STARTED, NULL, NULL);
    happen(EVENT_TOOL_CALL_REQUESTED, "c1", "{\"query\":\"who\"}");
    struct event *ev = event_new(EVENT_MEMORY_RECALLED);
    ev->id = mem_strdup("c1");
    ev->text = mem_strdup("who");
    ev->hits = mem_strdup("[{\"content\":\"a\"},{\"content\":\"b\"}]");
    record_event(&record, ev);
    happen(EVENT_TOOL_EXECUTION_COMPLETED, "c1", "[]");
    happen(EVENT_TEXT_COMPLETE, NULL, "She.");
    happen(EVENT_TURN_COMPLETED, NULL, "She.");
    update();
    check_transcript_ends(
        "> memory_search {\"query\":\"who\"}\n> recalled · 2 messages\n"
        "> 2 bytes, 0.0 s\n\n## tiro\n\nShe.\n\n");
    rebuild();
    check_transcript_ends("She.\n\n");
    check_files();
}

TEST(a_command_of_the_user_has_its_output_below)
{
    happen(EVENT_TURN_STARTED, NULL, "!ls");
    happen(EVENT_COMMAND_COMPLETED, NULL, "```\n\x1b.c\n[exit status 0]");
    happen(EVENT_TURN_COMPLETED, NULL, "");
    update();
    check_transcript_ends("!ls\n\n````\n```\n\u241b.c\n[exit status 0]\n````\n\n");
}

TEST(what_was_learned_stands_below_the_message)
{
    happen(EVENT_TURN_STARTED, NULL, "No emojis.");
    struct event *ev = event_new(EVENT_LEARNED_NOTED);
    ev->text = mem_strdup("No emojis");
    record_event(&record, ev);
    ev = event_new(EVENT_LEARNED_NOTED);
    ev->text = mem_strdup("Be brief");
    ev->flag = true;
    record_event(&record, ev);
    happen(EVENT_TEXT_COMPLETE, NULL, "Fine.");
    happen(EVENT_TURN_COMPLETED, NULL, "Fine.");
    update();
    check_transcript_ends(
        "No emojis.\n\n> to be remembered? · No emojis\n\n"
        "> remembered for later sessions · Be brief\n\n## tiro\n\nFine.\n\n");
    check_files();
}

TEST(test_a_summary_that_was_tampered_with)
{
    char *other = support_path("other");
    record_run(&record, "Why?", "Because.");
    compact("Sum");
    update();
    ino_t inode = inode_of(summary);
    update();
    assert_int_equal(inode_of(summary), inode); /* not written for nothing */
    support_write(summary, "Sun\n");
    update();
    check_summary("Sum\n");
    unlink(summary);
    support_write(other, "mine\n");
    assert_int_equal(symlink(other, summary), 0);
    update();
    check_summary("Sum\n");
    assert_string_equal(support_read(other), "mine\n");
    unlink(summary);
    support_write(other, "Sum\n");
    assert_int_equal(symlink(other, summary), 0);
    update();
    assert_int_equal(mode_of(summary), 0600); /* a summary, no link */
    assert_int_not_equal(inode_of(summary), inode_of(other));
    assert_int_equal(access(other, F_OK), 0);
    struct stat st;
    assert_int_equal(lstat(summary, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_true(projection_remove(&catalog, record.info.id, &e));
    assert_int_not_equal(access(dir, F_OK), 0);
}

#define QUESTION(text) "## you · 2026-03-09 14:05 UTC\n\n" text "\n\n"

/* The run that a crash cut off, while it may still go on and when it is known not to. */
TEST(test_a_crash)
{
    record_run(&record, "Why?", "Because.");
    update();
    ino_t file = inode_of(transcript);
    record_add(&record, EVENT_TURN_STARTED, "And?");
    record_add(&record, EVENT_TEXT_DELTA, "Thrown away. ");
    record_add(&record, EVENT_RETRYING, "overloaded");
    record_add(&record, EVENT_TEXT_DELTA, "It is ");
    update();
    check_transcript_ends("Because.\n\n" QUESTION(
        "And?") "## tiro · unfinished\n\nIt is \n\n"
                "! unfinished: interrupted, or still running\n\n");
    record_add(&record, EVENT_TEXT_DELTA, "so");
    update();
    check_transcript_ends(QUESTION(
        "And?") "## tiro · unfinished\n\nIt is so\n\n"
                "! unfinished: interrupted, or still running\n\n");
    record_run(&record, "And then?", "Then.");
    update();
    check_transcript_ends("Because.\n\n" QUESTION(
        "And?") "## tiro · cut off\n\nIt is so\n\n"
                "! cut off\n\n" QUESTION("And then?") "## tiro\n\nThen.\n\n");
    assert_int_equal(inode_of(transcript), file);
    check_files();
}

/* A long run that goes on after all, in which most was written before. */
TEST(test_a_run_that_goes_on)
{
    record_add(&record, EVENT_TURN_STARTED, "Why?");
    for (int i = 0; i < 300; i++) {
        record_add(&record, EVENT_TEXT_COMPLETE, "I look.");
        record_add(&record, EVENT_TOOL_CALL_REQUESTED, "{}");
        record_add(&record, EVENT_TOOL_EXECUTION_COMPLETED, "no");
    }
    record_add(&record, EVENT_TOOL_CALL_REQUESTED, "{}");
    update();
    check_transcript_ends("> read_file {}\n\n! unfinished: interrupted, or still running\n\n");
    ino_t file = inode_of(transcript);
    record_add(&record, EVENT_TOOL_EXECUTION_COMPLETED, "no");
    record_add(&record, EVENT_TEXT_COMPLETE, "Because.");
    record_add(&record, EVENT_TURN_COMPLETED, "Because.");
    update();
    check_transcript_ends("> read_file {}\n> 2 bytes, 0.0 s\n\n## tiro\n\nBecause.\n\n");
    assert_int_equal(inode_of(transcript), file);
    check_files();
}

/* A file of the noted size that does not end as it was left is not gone on with. */
TEST(test_an_end_that_is_another)
{
    struct projected left;
    record_add(&record, EVENT_TURN_STARTED, "Why?");
    record_add(&record, EVENT_TEXT_DELTA, "Because");
    update();
    char *text = support_read(transcript);
    *strstr(text, "## tiro") = '\0';
    support_write(transcript, text);
    assert_true(projected_get(store, record.info.id, &left, &e));
    left.transcript_bytes = (int64_t)strlen(text);
    assert_true(projected_put(store, record.info.id, &left, &e));
    record_run(&record, "And?", "So.");
    update();
    check_files();
}

TEST(test_updates_append)
{
    record_run(&record, "Why?", "Because.");
    update();
    ino_t file = inode_of(transcript);
    record_run(&record, "And?", "So.");
    update();
    assert_int_equal(inode_of(transcript), file);
    /* An update does not write a part again that it does not read again: a change that keeps the
     * size stays until the files are rebuilt. */
    char *text = support_read(transcript);
    memcpy(strstr(text, "Because."), "BECAUSE.", 8);
    support_write(transcript, text);
    record_run(&record, "Then?", "Then.");
    update();
    char *now = support_read(transcript);
    assert_non_null(strstr(now, "BECAUSE."));
    rebuild();
    now = support_read(transcript);
    assert_null(strstr(now, "BECAUSE."));
    check_files();
}

/* The next update removes the temporary files of a killed rebuild, even if it writes nothing. */
TEST(test_what_was_begun_is_removed)
{
    static const char *const names[] = {"events.jsonl.new", "transcript.md.new", "summary.txt.new"};
    record_run(&record, "Why?", "Because.");
    update();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *begun = support_text("%s/%s", dir, names[i]);
        support_write(begun, "half");
        update();
        assert_int_equal(access(begun, F_OK), -1);
    }
    check_files();
}

TEST(test_a_session_that_was_deleted_meanwhile)
{
    const struct projected now = {.seq = 1};
    assert_false(projected_put(store, "01890a5d-ac96-774b-bcce-b302099a8057", &now, &e));
    assert_int_equal(e.code, ERR_SESSION_NOT_FOUND);
}

TEST(test_nothing_new_writes_nothing)
{
    record_run(&record, "Why?", "Because.");
    update();
    struct projected before, after;
    ino_t file = inode_of(events);
    assert_true(projected_get(store, record.info.id, &before, &e));
    update();
    assert_true(projected_get(store, record.info.id, &after, &e));
    assert_int_equal(inode_of(events), file);
    assert_int_equal(after.seq, before.seq);
    assert_int_equal(before.seq, 5);
}

static void lose_transcript(void)
{
    assert_int_equal(unlink(transcript), 0);
}

static void lose_events(void)
{
    assert_int_equal(unlink(events), 0);
}

static void lose_all(void)
{
    assert_true(projection_remove(&catalog, record.info.id, &e));
}

static void grow(void)
{
    append(transcript, "more");
}

static void shrink(void)
{
    support_write(events, "");
}

static void forget(void)
{
    struct projected nothing = {0};
    assert_true(projected_put(store, record.info.id, &nothing, &e));
}

static char *linked; /* the target of a link */

static void make_link(void)
{
    char *elsewhere = support_path("elsewhere");
    linked = support_read(transcript);
    assert_int_equal(rename(transcript, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, transcript), 0);
}

static void make_hard_link(void)
{
    char *elsewhere = support_path("elsewhere");
    linked = support_read(transcript);
    assert_int_equal(link(transcript, elsewhere), 0);
}

/* A process that died in the middle of a rebuild, and of an update. */
static void die_in_between(void)
{
    support_write(support_text("%s.new", transcript), "half");
    append(events, "{\"type\":\"run_star");
}

static void (*const damages[])(void) = {
    lose_transcript, lose_events, lose_all,       grow,           shrink,
    forget,          make_link,   make_hard_link, die_in_between,
};

static void check_other_end(void)
{
    struct stat st;
    assert_int_equal(lstat(transcript, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    if (!linked)
        return;
    char *elsewhere = support_path("elsewhere");
    assert_string_equal(support_read(elsewhere), linked);
    assert_int_equal(unlink(elsewhere), 0);
    free(linked);
    linked = NULL;
}

TEST(test_what_is_not_as_it_was_left)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        record_run(&record, "Why?", "Because.");
        update();
        damages[i]();
        record_run(&record, "And?", "So.");
        update();
        check_files();
        check_other_end();
    }
    assert_int_equal(access(support_text("%s.new", transcript), F_OK), -1);
}

static void check_fails(void)
{
    struct projected before, after;
    assert_true(projected_get(store, record.info.id, &before, &e));
    assert_err(projection_write(&catalog, record.info.id, false, &e), e, ERR_FILE_ERROR);
    assert_non_null(strstr(e.text, support_dir()));
    assert_true(projected_get(store, record.info.id, &after, &e));
    assert_int_equal(after.seq, before.seq);
    free(record_lines(store, record.info.id));
}

TEST(test_places_that_are_taken)
{
    char *sessions = support_path("sessions");
    char *elsewhere = support_path("elsewhere");
    record_run(&record, "Why?", "Because.");
    support_write(sessions, "a file");
    check_fails();
    assert_int_equal(unlink(sessions), 0);

    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, sessions), 0);
    check_fails();
    assert_int_equal(unlink(sessions), 0);
    assert_int_equal(mkdir(sessions, 0700), 0);
    assert_int_equal(symlink(elsewhere, dir), 0);
    check_fails();
    assert_false(projection_remove(&catalog, record.info.id, &e));
    assert_int_equal(unlink(dir), 0);
    assert_int_equal(rmdir(elsewhere), 0); /* nothing came there */

    update();
    assert_int_equal(unlink(transcript), 0);
    assert_int_equal(mkdir(transcript, 0700), 0);
    record_run(&record, "And?", "So.");
    check_fails();
    assert_int_equal(rmdir(transcript), 0);
    update();
    check_files();
}

/* A disk that is full in the middle: in a child, whose files may not grow. */
TEST(test_a_full_disk)
{
    record_run(&record, "Why?", "Because.");
    update();
    for (int i = 0; i < 400; i++)
        record_run(&record, "What about a text of some length that is said again?", "Well, well.");
    char *before = support_read(events);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 20000, .rlim_max = 20000};
        struct catalog own;
        bool ok = store_open(path, STORE_READ_WRITE, &store, &e);
        catalog_borrow(&own, store, support_dir(), "");
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        bool failed = !projection_write(&own, record.info.id, false, &e);
        _exit(ok && failed && e.code == ERR_FILE_ERROR ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    char *after = support_read(events);
    assert_true(strlen(after) > strlen(before)); /* it got half of it */
    update();
    check_files();
}

TEST(test_remove)
{
    assert_true(projection_remove(&catalog, record.info.id, &e)); /* nothing there */
    record_run(&record, "Why?", "Because.");
    update();
    char *rest = support_text("%s.new", events);
    support_write(rest, "half");
    assert_true(projection_remove(&catalog, record.info.id, &e));
    assert_int_equal(access(dir, F_OK), -1);
    assert_true(projection_remove(&catalog, record.info.id, &e));
}

TEST(test_unknown_sessions)
{
    static const char unknown[] = "01890a5d-0000-774b-bcce-b302099a8057";
    char *sessions = support_path("sessions");
    assert_err(projection_write(&catalog, unknown, false, &e), e, ERR_SESSION_NOT_FOUND);
    assert_err(projection_write(&catalog, unknown, true, &e), e, ERR_SESSION_NOT_FOUND);
    assert_int_equal(access(sessions, F_OK), -1); /* it makes nothing */
    assert_false(projection_write(&catalog, "../../etc", true, &e));
    assert_false(projection_remove(&catalog, "../..", &e));
}

TEST(test_without_events)
{
    update();
    assert_string_equal(support_read(events), "");
    check_files();
    record_run(&record, "Why?", "Because.");
    update();
    check_files();
}

/* Another program that was stopped while it writes does not stop us. */
TEST(test_one_that_never_ends)
{
    record_run(&record, "Why?", "Because.");
    update();
    int other = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(other, LOCK_EX), 0);
    record_run(&record, "And?", "So.");
    alarm(20);
    assert_false(projection_write(&catalog, record.info.id, false, &e));
    alarm(0);
    assert_int_equal(e.code, ERR_FILE_ERROR);
    assert_int_equal(close(other), 0);
    update();
    check_files();
}

/* Processes that write to the same files at once wait for each other. */
TEST(test_two_at_once)
{
    for (int i = 0; i < 50; i++)
        record_run(&record, "Why?", "Because.");
    store_close(store);
    store = NULL;
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            struct catalog own;
            bool ok = store_open(path, STORE_READ_WRITE, &store, &e);
            if (ok)
                store_set_patience(store, 60000, 0, NULL, NULL); /* a busy machine */
            catalog_borrow(&own, store, support_dir(), "");
            for (int n = 0; ok && n < 40; n++)
                ok = projection_write(&own, record.info.id, n % 2 != i % 2, &e);
            _exit(ok ? 0 : 1);
        }
    }
    for (int i = 0; i < 3; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_true(store_open(path, STORE_READ_WRITE, &store, &e));
    catalog.store = record.store = store;
    record_run(&record, "And?", "So.");
    update();
    check_files();
}
