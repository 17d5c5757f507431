/* The programs of the kill campaign that have no terminal: which is started, when it is hit, and
 * whether it ended as it may. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tests/kill_private.h"
#include "tests/program.h"
#include "tests/suite.h"

enum { FIRST_GUESS = 120 };

static void op_add(struct kill_op *op, const char *const *arguments)
{
    for (; *arguments; arguments++)
        kill_texts_add(&op->args, *arguments);
}
#define ADD(op, ...) op_add(op, TEXTS(__VA_ARGS__))

static bool choose_session(const struct kill_stage *stage, struct kill_op *op)
{
    op->session = kill_choose_session(stage);
    return op->session != NULL;
}

/* The verb and the session. */
static bool op_begin(const struct kill_stage *stage, struct kill_op *op, const char *verb)
{
    if (!choose_session(stage, op))
        return false;
    ADD(op, "sessions", verb);
    return true;
}

/* --- sessions that are there --- */

static bool begin_rename(struct kill_stage *stage, struct kill_op *op)
{
    if (!op_begin(stage, op, "rename"))
        return false;
    op->value = mem_printf("Title %d", ++stage->number);
    ADD(op, op->session->id, op->value);
    kill_texts_add(&op->session->title.tried, op->value);
    return true;
}

static void told_rename(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->session->title.told, op->value);
}

static bool begin_label(struct kill_stage *stage, struct kill_op *op)
{
    if (!op_begin(stage, op, "label") || op->session->labels.items.len > 8)
        return false;
    op->value = mem_printf("label%d", ++stage->number);
    ADD(op, op->session->id, op->value);
    return true;
}

static void told_label(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->session->labels, op->value);
}

static bool begin_archive(struct kill_stage *stage, struct kill_op *op)
{
    bool in = kill_below(2) == 0;
    if (!op_begin(stage, op, in ? "archive" : "unarchive"))
        return false;
    op->value = mem_strdup(in ? "yes" : "no");
    ADD(op, op->session->id);
    kill_texts_add(&op->session->archived.tried, op->value);
    return true;
}

static void told_archive(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->session->archived.told, op->value);
}

static bool begin_delete(struct kill_stage *stage, struct kill_op *op)
{
    if (stage->model.sessions.len < 2 || !op_begin(stage, op, "delete"))
        return false;
    ADD(op, "--yes", op->session->id);
    op->session->delete_tried = true;
    return true;
}

static void told_delete(struct kill_stage *stage, struct kill_op *op)
{
    op->session->delete_told = true;
    stage->model.deletes_told++;
}

static bool begin_rebuild(struct kill_stage *stage, struct kill_op *op)
{
    if (!op_begin(stage, op, "rebuild"))
        return false;
    if (kill_below(3) > 0)
        ADD(op, op->session->id);
    return true;
}

/* --- sessions that come ----------------------------------------------------------------------- */

/* The id that was printed is that of a session with all these words. */
static void told_new(struct kill_stage *stage, struct kill_op *op)
{
    char *id = mem_strndup(op->child.out_text.data, strcspn(op->child.out_text.data, "\n"));
    struct kill_session *s = kill_model_add_session(&stage->model, id);
    kill_texts_add_all(&s->words, &op->words);
    kill_texts_add_all(&s->completed, &op->words);
    s->words_said = s->words.items.len;
    s->archived.was = mem_strdup("no");
    free(id);
}

static void add_whole(struct kill_stage *stage, const struct kill_texts *words)
{
    struct kill_texts whole = {0};
    kill_texts_add_all(&whole, words);
    vec_push(&stage->model.wholes, whole);
}

/* Text that is added to the parent during the fork may be copied or not. */
static bool begin_fork(struct kill_stage *stage, struct kill_op *op)
{
    if (!op_begin(stage, op, "fork"))
        return false;
    ADD(op, op->session->id);
    kill_texts_add_all(&op->words, &op->session->completed);
    add_whole(stage, &op->session->completed);
    return true;
}

static char *messages_of(struct kill_op *op, size_t pairs)
{
    struct buf text = BUF_INIT;
    char word[KILL_WORD_LEN + 1];
    for (size_t i = 0; i < pairs; i++) {
        bool marked = i < 4 || i + 4 >= pairs;
        if (marked) {
            kill_word(word);
            kill_texts_add(&op->words, word);
        }
        buf_addf(&text,
                 "%s{\"role\":\"user\",\"content\":\"Is %s the %zu. quincunx?\"},"
                 "{\"role\":\"assistant\",\"content\":\"It has five points, this %zu.\"}",
                 i ? "," : "[", marked ? word : "that", i, i);
    }
    buf_addstr(&text, "]");
    return buf_take(&text);
}

static bool begin_import(struct kill_stage *stage, struct kill_op *op)
{
    auto_free char *text = messages_of(op, kill_below(8) == 0 ? 3000 : 1 + kill_below(30));
    op->path = mem_printf("%s/import-%d.json", stage->work, ++stage->number);
    support_write(op->path, text);
    ADD(op, "sessions", "import", op->path);
    add_whole(stage, &op->words);
    return true;
}

static void after_import(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    unlink(op->path);
}

static bool begin_export(struct kill_stage *stage, struct kill_op *op)
{
    static const char *const formats[] = {"json", "jsonl", "markdown"};
    if (!op_begin(stage, op, "export"))
        return false;
    op->path = mem_printf("%s/export-%d", stage->exports, ++stage->number);
    ADD(op, "--format", formats[kill_below(3)], "-o", op->path, op->session->id);
    for (size_t i = 0; i < op->session->words_said; i++)
        kill_texts_add(&op->words, op->session->words.items.items[i]);
    return true;
}

/* An exported file appears whole, and must exist if the export was acknowledged. */
static void after_export(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    if (access(op->path, F_OK) == 0) {
        auto_free char *text = support_read(op->path);
        for (size_t i = 0; i < op->words.items.len; i++)
            assert_text(text, op->words.items.items[i]);
        unlink(op->path);
    } else if (op->status == 0) {
        fail_msg("%s was told written, and is not there", op->path);
    }
}

enum { MOST_ENTRIES = 40 };

/* --- memory ----------------------------------------------------------------------------------- */

static bool choose_entry(const struct kill_stage *stage, struct kill_op *op, const char *verb)
{
    size_t count = stage->model.entries.len;
    if (count == 0)
        return false;
    op->entry = stage->model.entries.items[kill_below(count)];
    if (!op->entry->sure)
        return false;
    ADD(op, "memory", verb);
    return true;
}

static bool begin_remember(struct kill_stage *stage, struct kill_op *op)
{
    AUTO(buf_release) struct buf lines = BUF_INIT;
    size_t count = 1 + kill_below(MOST_ENTRIES);
    char word[KILL_WORD_LEN + 1];
    op->number = ++stage->number;
    op->path = mem_printf("%s/entries-%d.jsonl", stage->work, op->number);
    for (size_t i = 0; i < count; i++) {
        kill_word(word);
        auto_free char *id = mem_printf("e%d-%zu", op->number, i);
        auto_free char *content = mem_printf("%s is entry %zu", word, i);
        buf_addf(&lines,
                 "{\"id\":\"%s\",\"session_id\":\"s%zu\",\"turn\":1,\"role\":\"user\","
                 "\"created_at\":\"2024-05-07T10:00:00Z\",\"content\":\"%s\"}\n",
                 id, i / 10, content);
        kill_model_add_entry(&stage->model, id, content, op->number);
    }
    support_write(op->path, lines.data);
    ADD(op, "memory", "import", op->path);
    return true;
}

static void told_remember(struct kill_stage *stage, struct kill_op *op)
{
    for (size_t i = 0; i < stage->model.entries.len; i++)
        if (stage->model.entries.items[i]->import == op->number)
            stage->model.entries.items[i]->sure = true;
}

static bool begin_pin(struct kill_stage *stage, struct kill_op *op)
{
    bool pin = kill_below(2) == 0;
    if (!choose_entry(stage, op, pin ? "pin" : "unpin"))
        return false;
    op->value = mem_strdup(pin ? "yes" : "no");
    ADD(op, op->entry->id);
    kill_texts_add(&op->entry->pinned.tried, op->value);
    return true;
}

static void told_pin(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->entry->pinned.told, op->value);
}

static bool begin_edit(struct kill_stage *stage, struct kill_op *op)
{
    if (!choose_entry(stage, op, "edit"))
        return false;
    op->value = mem_printf("%s says something else", op->word);
    ADD(op, "--content", op->value, op->entry->id);
    kill_texts_add(&op->entry->content.tried, op->value);
    return true;
}

static void told_edit(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->entry->content.told, op->value);
}

static bool begin_forget(struct kill_stage *stage, struct kill_op *op)
{
    if (!choose_entry(stage, op, "delete"))
        return false;
    ADD(op, "--yes", op->entry->id);
    op->entry->delete_tried = true;
    return true;
}

static void told_forget(struct kill_stage *stage, struct kill_op *op)
{
    op->entry->delete_told = true;
    stage->model.deletes_told++;
}

static bool begin_reindex(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    ADD(op, "memory", "reindex");
    return true;
}

/* Finds an entry that is in memory and in no other place. */
static bool begin_search(struct kill_stage *stage, struct kill_op *op)
{
    if (!choose_entry(stage, op, "search"))
        return false;
    const char *word = kill_word_find(op->entry->content.was);
    ADD(op, "--json");
    auto_free char *query = mem_strndup(word, KILL_WORD_LEN);
    ADD(op, query);
    return true;
}

static void told_search(struct kill_stage *stage, struct kill_op *op)
{
    bool may_have_changed = op->entry->content.tried.items.len > 0 || op->entry->delete_tried;
    (void)stage;
    if (!may_have_changed)
        assert_text(op->child.out_text.data, op->entry->id);
}

/* --- the configuration, and looking at all of it ---------------------------------------------- */

static bool begin_set(struct kill_stage *stage, struct kill_op *op)
{
    static const char *const keys[] = {"ui.notify_after", "tools.timeout", "tools.max_output_bytes",
                                       "memory.index_tool_results"};
    op->setting = kill_model_setting(&stage->model, keys[kill_below(4)]);
    if (strcmp(op->setting->key, "memory.index_tool_results") == 0)
        op->value = mem_strdup(kill_below(2) ? "true" : "false");
    else
        op->value = mem_printf("%zu", 4096 + kill_below(30000));
    if (strcmp(op->setting->key, "ui.notify_after") == 0 ||
        strcmp(op->setting->key, "tools.timeout") == 0) {
        free(op->value);
        op->value = mem_printf("%zu", 60 + kill_below(500));
    }
    ADD(op, "config", "set", op->setting->key, op->value);
    kill_texts_add(&op->setting->value.tried, op->value);
    return true;
}

static void told_set(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->setting->value.told, op->value);
}

static bool begin_doctor(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    ADD(op, "doctor");
    return true;
}

/* --- turns that stream, call tools, stall and are cut off --- */

enum { LAST_SECOND_MS = 1200 };

static bool begin_run(struct kill_stage *stage, struct kill_op *op)
{
    static const char *const fixed[] = {"run",     "-o",    "stream-json", "--tools", "full",
                                        "--allow", "write", "--allow",     "execute"};
    op->session = kill_below(3) > 0 ? kill_choose_session(stage) : NULL;
    op->number = ++stage->number;
    op->plan = (enum kill_plan)kill_below(KILL_PLAN_COUNT);
    op->until = kill_plan_info(op->plan)->until;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        ADD(op, fixed[i]);
    if (op->session) {
        ADD(op, "--resume", op->session->id);
        kill_texts_add(&op->session->archived.tried, "no");
    }
    auto_free char *prompt = kill_question(op->number, op->plan, op->word, kill_below(200));
    ADD(op, prompt);
    return true;
}

/* The text of all deltas whose time is at least a second before that of the last line. */
static void take_streamed(struct kill_stage *stage, struct kill_op *op)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    int64_t last = 0, at;
    for (int pass = 0; pass < 2; pass++) {
        for (char *line = op->child.out_text.data, *end; (end = strchr(line, '\n'));
             line = end + 1) {
            *end = '\0';
            AUTO(json_free_local) struct json *v = parse_json(line);
            const char *when = json_get_string(v, "at");
            bool delta = strcmp(json_get_string(v, "type"), "text_delta") == 0;
            if (when && rfc3339_parse(when, &at) && pass == 0)
                last = at;
            else if (when && rfc3339_parse(when, &at) && delta && at < last - LAST_SECOND_MS)
                buf_addstr(&text, json_get_string(v, "delta"));
            *end = '\n';
        }
    }
    if (text.len > 0 && !(op->session && op->session->delete_tried)) {
        /* Text that was shown a second before the last event must be kept, although the answer is
         * incomplete. */
        auto_free char *sql = mem_printf(
            "SELECT count(*) > 0 FROM (SELECT group_concat(t, '') AS said FROM"
            " (SELECT json_extract(payload, '$.delta') AS t FROM event"
            " WHERE type = 'text_delta' ORDER BY session, seq)"
            " UNION ALL SELECT json_extract(payload, '$.content') FROM event"
            " WHERE type = 'text_complete') WHERE instr(said, '%s') > 0",
            text.data);
        kill_promise(stage, sql);
    }
}

/* Reads every complete line that the program had shown. */
static void take_lines(struct kill_stage *stage, struct kill_op *op)
{
    struct kill_session *s = op->session;
    for (char *line = op->child.out_text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        AUTO(json_free_local) struct json *v = parse_json(line);
        const char *id = json_get_string(v, "session_id");
        if (id && op->session)
            assert_string_equal(id, op->session->id);
        if (id && !s && !(s = kill_model_session(&stage->model, id)))
            s = kill_model_add_session(&stage->model, id);
        if (id)
            kill_session_shown(&stage->model, s, line);
        *end = '\n';
    }
}

static int shell(const char *format, const char *word)
{
    auto_free char *command = mem_printf("%s '%s'", format, word);
    AUTO(support_release) struct support_child c = {0};
    support_start(&c, TEXTS("/bin/sh", "-c", command));
    return support_finish(&c, "");
}

static bool is_over(void *mark)
{
    return shell("pgrep -f", mark) != 0;
}

static char *command_mark(const struct kill_op *op)
{
    auto_free char *argument = kill_command_mark(op->number);
    return mem_printf("^sleep %s$", argument);
}

struct commanding {
    pid_t program;
    char *mark;
};

static bool has_begun_or_ended(void *context)
{
    struct commanding *c = context;
    siginfo_t info = {0};
    return (waitid(P_PID, (id_t)c->program, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != 0) ||
           !is_over(c->mark);
}

static void after_run(struct kill_stage *stage, struct kill_op *op)
{
    bool began = strstr(op->child.out_text.data, "\"run_started\"") != NULL;
    bool ended = strstr(op->child.out_text.data, "\"interrupted\"") ||
                 strstr(op->child.out_text.data, "\"run_completed\"") ||
                 strstr(op->child.out_text.data, "\"run_failed\"");
    take_lines(stage, op);
    if (op->plan == KILL_PLAN_SLOW)
        take_streamed(stage, op);
    if (op->plan == KILL_PLAN_WRITES) {
        /* The file is whole if it is there, and is there if the result was shown. */
        auto_free char *name = mem_printf("out-%d.txt", op->number);
        auto_free char *path = mem_printf("%s/%s", stage->work, name);
        auto_free char *mark = mem_printf("\"call_%d_0\"", op->number);
        const char *done = strstr(op->child.out_text.data, "\"tool_execution_completed\"");
        bool shown = done && strstr(done, mark) && strstr(done, "\"is_error\":false");
        auto_free char *wanted = kill_written(op->word);
        if (access(path, F_OK) == 0) {
            auto_free char *found = support_read(path);
            assert_string_equal(found, wanted);
        } else if (shown) {
            fail_msg("%s was told written, and is not there", name);
        }
    }
    if (op->plan == KILL_PLAN_COMMAND) {
        /* A command dies with its program, but for one that had no time: that is counted. */
        auto_free char *mark = command_mark(op);
        if (op->status == 128 + SIGKILL && !is_over(mark)) {
            stage->commands_left++;
            shell("pkill -KILL -f", mark);
        }
        if (!support_wait_until(is_over, mark, KILL_DEADLINE_MS))
            fail_msg("a command of question %d runs on", op->number);
    }
    if (began && !ended && op->status != 128 + SIGKILL)
        fail_msg("status %d, and the turn has no end: %s", op->status, op->child.out_text.data);
}

/* --- the table --- */

static struct kill_command commands[] = {
    {"run", 14, begin_run, NULL, after_run, 0},
    {"rename", 2, begin_rename, told_rename, NULL, 0},
    {"label", 2, begin_label, told_label, NULL, 0},
    {"archive", 2, begin_archive, told_archive, NULL, 0},
    {"delete", 5, begin_delete, told_delete, NULL, 0},
    {"rebuild", 2, begin_rebuild, NULL, NULL, 0},
    {"fork", 2, begin_fork, told_new, NULL, 0},
    {"import", 2, begin_import, told_new, after_import, 0},
    {"export", 2, begin_export, NULL, after_export, 0},
    {"memory import", 2, begin_remember, told_remember, after_import, 0},
    {"memory pin", 2, begin_pin, told_pin, NULL, 0},
    {"memory edit", 2, begin_edit, told_edit, NULL, 0},
    {"memory delete", 3, begin_forget, told_forget, NULL, 0},
    {"memory search", 1, begin_search, told_search, NULL, 0},
    {"memory reindex", 1, begin_reindex, NULL, NULL, 0},
    {"config set", 3, begin_set, told_set, NULL, 0},
    {"doctor", 1, begin_doctor, NULL, NULL, 0},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static struct kill_command *choose_command(void)
{
    int sum = 0;
    for (int i = 0; i < COMMANDS; i++)
        sum += commands[i].weight;
    int at = (int)kill_below((size_t)sum);
    int i = 0;
    while (at >= commands[i].weight)
        at -= commands[i++].weight;
    return &commands[i];
}

struct kill_moment kill_choose_moment(long most)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGINT};
    struct kill_moment m = {.signal_number = SIGKILL};
    if (kill_below(6) == 0)
        m.signal_number = signals[kill_below(3)];
    if (kill_below(8) > 0)
        m.at = 1 + (long)kill_below((size_t)(most ? most + most / 10 : FIRST_GUESS));
    return m;
}

static void release(struct kill_op *op)
{
    kill_texts_clear(&op->args);
    kill_texts_clear(&op->words);
    free(op->value);
    free(op->path);
}

bool kill_op_start(struct kill_stage *stage, struct kill_op *op)
{
    *op = (struct kill_op){.kind = choose_command()};
    kill_word(op->word);
    if (!op->kind->begin(stage, op)) {
        release(op);
        return false;
    }
    struct kill_moment moment = kill_choose_moment(op->kind->most);
    if (op->until && moment.signal_number != SIGKILL)
        moment.at = 0; /* a second signal ends it at once */
    struct kill_argv argv = {0};
    op->signal_number = moment.signal_number;
    op->watch = kill_watch_new(moment.at, moment.signal_number);
    kill_watch_argv(op->watch, &argv);
    vec_push(&argv.items, support_program());
    for (size_t i = 0; i < op->args.items.len; i++)
        vec_push(&argv.items, op->args.items.items[i]);
    vec_push(&argv.items, NULL);
    support_start(&op->child, argv.items.items);
    close(op->child.in); /* it would be a part of a prompt */
    op->child.in = -1;
    vec_release(&argv.items);
    return true;
}

/* The command may fail if another program has the session open, or removed its target. */
static bool may_fail(const struct kill_op *op)
{
    static const char *const reasons[] = {"SESSION_BUSY", "SESSION_NOT_FOUND", "MEMORY_NOT_FOUND",
                                          "INTERRUPTED"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(op->child.err_text.data, reasons[i]))
            return true;
    return strcmp(op->kind->name, "run") == 0 && op->status == 1;
}

/* KILL_TRACE tells what each program did. */
void kill_trace(const char *name, const char *argument, int status, long calls)
{
    if (getenv("KILL_TRACE"))
        print_message("  %s %.60s: status %d after %ld calls\n", name, argument, status, calls);
}

void kill_count_end(struct kill_stage *stage, int status)
{
    stage->ended[status == 0 ? 0 : status == 128 + SIGKILL ? 1 : status > 128 ? 2 : 3]++;
}

void kill_op_finish(struct kill_stage *stage, struct kill_op *op)
{
    if (op->until && support_read_until(&op->child, op->until, KILL_DEADLINE_MS)) {
        if (op->plan == KILL_PLAN_COMMAND) {
            struct commanding c = {.program = op->child.pid, .mark = command_mark(op)};
            if (!support_wait_until(has_begun_or_ended, &c, KILL_DEADLINE_MS))
                fail_msg("the command of question %d does not begin", op->number);
            free(c.mark);
        }
        kill(op->child.pid, op->signal_number);
    }
    op->status = support_finish(&op->child, NULL);
    struct kill_count count = kill_watch_end(op->watch);
    if (count.exact && count.calls > op->kind->most)
        op->kind->most = count.calls;
    kill_trace(op->kind->name, op->args.items.len > 2 ? vec_last(&op->args.items) : "", op->status,
               count.calls);
    bool hit = op->status == 128 + op->signal_number && (count.sent || op->until);
    if (op->status != 0 && !hit && !may_fail(op))
        fail_msg("%s: status %d: %s%s", op->kind->name, op->status, op->child.err_text.data,
                 op->child.out_text.data);
    kill_count_end(stage, op->status);
    if (op->kind->after)
        op->kind->after(stage, op);
    if (op->kind->told && op->status == 0)
        op->kind->told(stage, op);
    support_release(&op->child);
    release(op);
}

void kill_commands_print(void)
{
    for (int i = 0; i < COMMANDS; i++)
        print_message("%s%s %ld", i ? ", " : "calls at most: ", commands[i].name, commands[i].most);
    print_message("\n");
}
