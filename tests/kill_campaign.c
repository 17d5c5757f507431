#include "tests/kill_campaign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/mem.h"
#include "store/sessions.h"
#include "tests/damage.h"
#include "tests/history_check.h"
#include "tests/kill_files.h"
#include "tests/kill_private.h"
#include "tests/program.h"

enum { AT_ONCE = 3, ROUNDS_A_STORE = 60, DOCTOR_EVERY = 10, LATEST = 4 };

/* Small enough that a few turns are compacted. */
static const char configuration[] =
    "[model scripted-model]\nwindow = 16000\n[compaction]\nauto_compact_threshold = 4000\n";

size_t kill_below(size_t n)
{
    return (size_t)(entropy_unit() * (double)n);
}

void kill_promise(struct kill_stage *stage, const char *sql)
{
    kill_texts_add(&stage->promises, sql);
    stage->promised++;
}

struct kill_session *kill_choose_session(const struct kill_stage *stage)
{
    size_t count = stage->model.sessions.len;
    size_t latest = kill_below(3) == 0 || count < LATEST ? count : LATEST;
    return count == 0 ? NULL : stage->model.sessions.items[count - 1 - kill_below(latest)];
}

/* --- the stage -------------------------------------------------------------------------------- */

static void begin_stage(struct kill_stage *stage)
{
    *stage = (struct kill_stage){.server = begin_server()};
    stage->data = support_path(".local/share/tiro");
    stage->database = support_path(".local/share/tiro/tiro.db");
    stage->config = support_path(".config/tiro");
    stage->ini = support_path(".config/tiro/tiro.ini");
    stage->work = support_path("work");
    stage->exports = support_path("exports");
    assert_int_equal(mkdir(stage->exports, 0700), 0);
    model_server_set_responder(stage->server, kill_respond, NULL);
}

/* --- checks after the end of all programs ----------------------------------------------------- */

static struct store *open_to_read(const struct kill_stage *stage)
{
    struct store *store;
    struct error e = {0};
    if (access(stage->database, F_OK) != 0)
        return NULL;
    if (store_open(stage->database, STORE_READ_ONLY, &store, &e))
        return store;
    if (e.code != ERR_SESSION_NOT_FOUND)
        fail_msg("%s", e.text);
    return NULL;
}

/* A session can be gone on with; NULL: a new one. */
static void go_on(struct kill_stage *stage, struct kill_session *s)
{
    char word[KILL_WORD_LEN + 1];
    kill_word(word);
    auto_free char *prompt = kill_question(++stage->number, KILL_PLAN_WRITES, word, 0);
    auto_free char *mark = mem_printf("answer-%d: %s", stage->number, word);
    struct result r =
        s ? RUN("run", "--tools", "full", "--allow", "write", "--resume", s->id, prompt)
          : RUN("run", "--tools", "full", "--allow", "write", prompt);
    if (r.status != 0)
        fail_msg("status %d: %s", r.status, r.err);
    assert_text(r.out, mark);
    if (s)
        kill_texts_add(&s->archived.tried, "no");
}

/* Whether a rebuild of the session's files was cut off; its next turn removes the temporary
 * files. */
static bool has_begun(const struct kill_stage *stage, const struct kill_session *s)
{
    auto_free char *path = mem_printf("%s/sessions/%s", stage->data, s->id);
    static const char *const whole[] = {"transcript.md", "events.jsonl", "summary.txt", NULL};
    struct kill_texts begun = {0};
    kill_files_others(path, whole, &begun);
    bool has = begun.items.len > 0;
    kill_texts_clear(&begun);
    return has;
}

/* Continues one session, and every other session that has unfinished work. */
static void go_on_everywhere(struct kill_stage *stage)
{
    bool resumed = false;
    for (size_t i = 0; i < stage->model.sessions.len; i++) {
        struct kill_session *s = stage->model.sessions.items[i];
        if (resumed && !has_begun(stage, s))
            continue;
        go_on(stage, s);
        resumed = true;
    }
    if (!resumed)
        go_on(stage, NULL);
    expect(RUN("sessions", "unarchive", "last"), 0, "");
}

/* The next write to the same files removes the temporary files. */
static void write_again(const struct kill_stage *stage)
{
    static const char *const none[] = {NULL};
    struct kill_texts begun = {0};
    kill_files_others(stage->exports, none, &begun);
    for (size_t i = 0; i < begun.items.len; i++) {
        const char *temporary = begun.items.items[i];
        const char *end = strstr(temporary, ".tiro-");
        auto_free char *path = mem_strndup(temporary, (size_t)(end - temporary));
        run_ok(RUN("memory", "export", "--force", path));
        assert_int_equal(unlink(path), 0);
    }
    kill_texts_clear(&begun);
    auto_free char *seconds = mem_printf("%d", 100 + stage->number);
    run_ok(RUN("config", "set", "tools.command_timeout", seconds));
}

static void settle(struct kill_stage *stage)
{
    struct store *store = open_to_read(stage);
    kill_model_settle_sessions(&stage->model, store);
    store_close(store);
    auto_free char *exported = program_output(RUN("memory", "export"));
    kill_model_settle_entries(&stage->model, exported);
    auto_free char *ini = support_read(stage->ini);
    kill_model_settle_settings(&stage->model, ini);
    expect(RUN("config", "check"), 0, "");
    for (size_t i = 0; i < stage->promises.items.len; i++)
        if (damage_sql(stage->database, stage->promises.items.items[i]) == 0)
            fail_msg("was shown, and is not so: %s", stage->promises.items.items[i]);
    kill_texts_clear(&stage->promises);
}

static void assert_none(const struct kill_texts *paths, const char *what)
{
    for (size_t i = 0; i < paths->items.len; i++)
        print_error("%s: %s\n", what, paths->items.items[i]);
    if (paths->items.len > 0)
        fail_msg("%zu files: %s", paths->items.len, what);
}

/* SQLite's secure_delete leaves copies of cells in the slack of pages that it balances: bytes that
 * a copy of the whole database lacks are such a remainder. They are reported, but do not count as
 * content. */
static bool is_content(const struct kill_stage *stage)
{
    auto_free char *directory = support_path("copied");
    assert_int_equal(mkdir(directory, 0700), 0);
    auto_free char *path = mem_printf("%s/tiro.db", directory);
    auto_free char *sql = mem_printf("VACUUM INTO '%s'", path);
    damage_sql(stage->database, sql);
    assert_int_equal(access(path, F_OK), 0);
    auto_free char *carried = kill_files_carry(directory, &stage->model.gone);
    bool is = carried != NULL;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
    return is;
}

static void check_files(const struct kill_stage *stage)
{
    static const char *const of_config[] = {"tiro.ini", NULL};
    static const char *const of_work[] = {"note.txt", "out-*", NULL};
    static const char *const of_exports[] = {NULL};
    struct kill_texts ids = {0}, strays = {0}, public = {0};
    for (size_t i = 0; i < stage->model.sessions.len; i++)
        kill_texts_add(&ids, stage->model.sessions.items[i]->id);
    kill_files_strays(stage->data, &ids, &strays);
    kill_files_others(stage->config, of_config, &strays);
    kill_files_others(stage->work, of_work, &strays);
    kill_files_others(stage->exports, of_exports, &strays);
    assert_none(&strays, "nobody owns it");
    kill_files_public(stage->data, &public);
    kill_files_public(stage->config, &public);
    assert_none(&public, "others can read it");
    auto_free char *carried = kill_files_carry(stage->data, &stage->model.gone);
    if (carried && (!strstr(carried, "/tiro.db: ") || is_content(stage)))
        fail_msg("was deleted, and is there: %s", carried);
    if (carried)
        print_message("in the slack of a page: %s\n", carried);
    kill_texts_clear(&ids);
    kill_texts_clear(&strays);
    kill_texts_clear(&public);
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void play_round(struct kill_stage *stage, size_t round)
{
    struct kill_op ops[AT_ONCE];
    size_t count = 0;
    bool chats = kill_below(4) == 0;
    for (size_t i = 0, wanted = 1 + kill_below(AT_ONCE); i < wanted; i++)
        count += kill_op_start(stage, &ops[count]);
    if (chats)
        kill_chat(stage);
    for (size_t i = 0; i < count; i++)
        kill_op_finish(stage, &ops[i]);
    model_server_release(stage->server);
    settle(stage);
    go_on_everywhere(stage);
    write_again(stage);
    settle(stage);
    check_files(stage);
    assert_store_sound(stage->database);
    if (round % DOCTOR_EVERY == 0)
        run_ok(RUN("doctor"));
}

void kill_campaign(size_t rounds)
{
    struct kill_stage stage;
    size_t shown = 0, deleted = 0;
    entropy_seed(support_seed());
    begin_stage(&stage);
    for (size_t round = 0; round < rounds; round++) {
        if (round % ROUNDS_A_STORE == 0) {
            shown += stage.model.lines_shown;
            deleted += stage.model.deletes_told;
            kill_model_release(&stage.model);
            auto_free char *command = mem_printf("rm -rf '%s' '%s' '%s'; mkdir -m 700 '%s'",
                                                 stage.data, stage.config, stage.work, stage.work);
            assert_int_equal(system(command), 0);
            auto_free char *note = mem_printf("%s/note.txt", stage.work);
            support_write(note, "Verba volant, scripta manent.\n");
            write_config(configuration);
            assert_int_equal(chdir(stage.work), 0);
        }
        play_round(&stage, round);
    }
    shown += stage.model.lines_shown;
    deleted += stage.model.deletes_told;
    print_message(
        "%zu rounds: %zu killed, %zu ended by a signal, %zu done, %zu failed; %zu chats; "
        "%zu events shown, %zu deletions told, %zu promises of screens and streams; %zu commands "
        "outlived their program\n",
        rounds, stage.ended[1], stage.ended[2], stage.ended[0], stage.ended[3], stage.chats, shown,
        deleted, stage.promised, stage.commands_left);
    kill_commands_print();
    char *const paths[] = {stage.data,    stage.config,   stage.work,
                           stage.exports, stage.database, stage.ini};
    assert_int_equal(chdir("/"), 0);
    end_server(stage.server);
    kill_script_reset();
    kill_model_release(&stage.model);
    kill_texts_clear(&stage.promises);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        free(paths[i]);
}
