/* Import of a history of Claude Code's form, which is made, read and removed piece by piece:
 * IMPORT_GB gigabytes (0.2), of which a message has 10 kB in the middle, most of them what tools
 * gave. Beside it the rows that came of it, as sqlite3's .import takes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "bench/chat.h"
#include "bench/command.h"
#include "bench/measures.h"
#include "bench/memory_texts.h"
#include "bench/piped.h"
#include "bench/prose.h"
#include "bench/table.h"
#include "tests/screen.h"

enum {
    FILE_TURNS = 50,  /* of four messages */
    PIECE_FILES = 50, /* 100 MB */
    RESULT = 18000,   /* bytes that a tool gave; the line has them twice */
    ANSWER_TEXTS = 4,
    SOURCE_BYTES = 1 << 20,
    IDLE_FILES = 10000,
    IDLE_RUNS = 5,
    QUESTIONS = 300
};

struct history {
    struct memory_texts *texts;
    struct buf source; /* what tools read: a text for JSON */
    uint64_t turn;
    size_t files;
    double bytes;
};

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(99);
}

static char *path_of(const char *name)
{
    return mem_printf("%s/.claude/projects/-w/%s", chat_home(), name);
}

static void add_words(struct history *h, struct buf *out, int texts)
{
    AUTO(buf_release) struct buf one = BUF_INIT;
    for (int i = 0; i < texts; i++) {
        memory_texts_turn(h->texts, h->turn * (ANSWER_TEXTS + 2) + (uint64_t)i, &one);
        buf_addf(out, "%s%s", i > 0 ? " " : "", one.data);
    }
}

/* A piece of the source between two blanks. */
static void add_source(struct history *h, struct buf *out)
{
    size_t from = (size_t)(h->turn * 7919 % (SOURCE_BYTES / 2));
    const char *begin = strchr(h->source.data + from, ' ') + 1;
    const char *end = strchr(begin + RESULT, ' ');
    buf_add(out, begin, (size_t)(end - begin));
}

static void add_turn(struct history *h, struct buf *out, size_t file, int turn)
{
    static const char head[] =
        "{\"parentUuid\":%s%s%s,\"isSidechain\":false,\"userType\":"
        "\"external\",\"cwd\":\"/home/kim/src/shop\",\"sessionId\":"
        "\"s-%zu\",\"version\":\"2.0.14\",\"gitBranch\":\"main\",";
    AUTO(buf_release) struct buf id = BUF_INIT;
    AUTO(buf_release) struct buf before = BUF_INIT;
    for (int part = 0; part < 4; part++) {
        buf_clear(&before);
        buf_addf(&before, "%s", id.data);
        buf_clear(&id);
        buf_addf(&id, "s-%zu-%d-%d", file, turn, part);
        if (part == 0 && turn > 0)
            buf_addf(&before, "s-%zu-%d-3", file, turn - 1);
        const char *quote = before.len > 0 ? "\"" : "";
        buf_addf(out, head, quote, before.len > 0 ? before.data : "null", quote, file);
        buf_addf(out, "\"uuid\":\"%s\",\"timestamp\":\"2026-03-%02dT10:%02d:%02d.000Z\",", id.data,
                 1 + (int)(file % 28), turn % 60, part);
        if (part % 2 == 0)
            buf_addstr(out, "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        else
            buf_addf(out,
                     "\"type\":\"assistant\",\"message\":{\"id\":\"m-%zu-%d-%d\",\"type\":"
                     "\"message\",\"role\":\"assistant\",\"model\":\"opus\",\"usage\":{"
                     "\"input_tokens\":100,\"output_tokens\":200},\"content\":[{\"type\":"
                     "\"text\",\"text\":\"",
                     file, turn, part);
        if (part == 0) {
            buf_addch(out, '"');
            add_words(h, out, 1);
            buf_addstr(out, "\"}}\n");
        } else if (part == 1) {
            add_words(h, out, 1);
            buf_addf(out,
                     "\"},{\"type\":\"tool_use\",\"id\":\"t-%zu-%d\",\"name\":\"Read\",\"input\":{"
                     "\"file_path\":\"/home/kim/src/shop/letter.c\"}}]}}\n",
                     file, turn);
        } else if (part == 2) {
            buf_addf(out, "[{\"type\":\"tool_result\",\"tool_use_id\":\"t-%zu-%d\",\"content\":\"",
                     file, turn);
            add_source(h, out);
            buf_addstr(out, "\"}]},\"toolUseResult\":{\"type\":\"text\",\"file\":{\"content\":\"");
            add_source(h, out);
            buf_addstr(out, "\"}}}\n");
        } else {
            add_words(h, out, ANSWER_TEXTS);
            buf_addstr(out, "\"}]}}\n");
        }
        h->turn += part == 3;
    }
}

static void write_file(struct history *h, int turns)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    auto_free char *name = mem_printf("s-%zu.jsonl", h->files);
    auto_free char *path = path_of(name);
    for (int turn = 0; turn < turns; turn++)
        add_turn(h, &out, h->files, turn);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(out.data, 1, out.len, f) != out.len || fclose(f) != 0)
        give_up(path);
    h->bytes += (double)out.len;
    h->files++;
}

static void begin_history(struct history *h)
{
    *h = (struct history){.texts = memory_texts_new(), .source = BUF_INIT};
    AUTO(buf_release) struct buf text = BUF_INIT;
    prose(&text, SOURCE_BYTES, 3, "The end.");
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\n')
            buf_addstr(&h->source, "\\n");
        else
            buf_addch(&h->source, strchr("\"\\\t", text.data[i]) ? '\'' : text.data[i]);
    auto_free char *line = mem_printf("exec mkdir -p '%s/.claude/projects/-w'", chat_home());
    (void)command_shell(line, 1);
}

static void remove_files(void)
{
    auto_free char *line =
        mem_printf("exec find '%s/.claude' -name '*.jsonl' -delete", chat_home());
    (void)command_shell(line, 1);
}

static struct command_cost scan(int runs)
{
    return command_run((const char *const[]){getenv("TIRO"), "import", NULL}, runs);
}

/* Seconds that sqlite3 takes for the events alone; -1: there is none. */
static double floor_of(void)
{
    if (system("command -v sqlite3 >/dev/null") != 0)
        return -1;
    auto_free char *rows = mem_printf(
        "exec sqlite3 -csv '%s/.local/share/tiro/tiro.db' 'SELECT session, seq, type, "
        "payload FROM event' >'%s/rows.csv'",
        chat_home(), chat_home());
    auto_free char *take = mem_printf(
        "exec sqlite3 '%s/floor.db' 'CREATE TABLE event (session INTEGER, seq INTEGER, type TEXT,"
        " payload TEXT, PRIMARY KEY (session, seq)) WITHOUT ROWID' "
        "'.import --csv \"%s/rows.csv\" event'",
        chat_home(), chat_home());
    (void)command_shell(rows, 1);
    double ms = command_shell(take, 1).ms;
    auto_free char *gone =
        mem_printf("exec rm -f '%s/rows.csv' '%s/floor.db'", chat_home(), chat_home());
    (void)command_shell(gone, 1);
    return ms / 1e3;
}

/* Milliseconds from a question of some rarer words to the hits. */
static double search_p99(struct history *h)
{
    double ms[QUESTIONS];
    AUTO(buf_release) struct buf question = BUF_INIT;
    AUTO(buf_release) struct buf words = BUF_INIT;
    struct piped p =
        piped_start(getenv("TIRO"), (const char *const[]){"tiro", "serve", "--stdio", NULL});
    json_free(piped_call(&p, "initialize", "{}"));
    for (int i = 0; i < QUESTIONS; i++) {
        memory_texts_question(h->texts, (uint64_t)i * 37, &question, &words);
        auto_free char *params = mem_printf("{\"query\":\"%s\"}", words.data);
        double start = screen_clock();
        json_free(piped_call(&p, "session/search", params));
        ms[i] = screen_clock() - start;
    }
    piped_stop(&p);
    return percentile(ms, QUESTIONS, 99);
}

void measure_import(void)
{
    const char *given = getenv("IMPORT_GB");
    double gigabytes = given ? strtod(given, NULL) : 0.2, seconds = 0, peak = 0;
    struct history h;
    begin_history(&h);
    while (h.bytes < gigabytes * 1e9) {
        for (int i = 0; i < PIECE_FILES && h.bytes < gigabytes * 1e9; i++)
            write_file(&h, FILE_TURNS);
        struct command_cost cost = scan(1);
        seconds += cost.ms / 1e3;
        peak = cost.megabytes > peak ? cost.megabytes : peak;
        remove_files();
    }
    double messages = (double)h.turn * 4;
    table_row("import: 10 GB of 1,000,000 messages at this rate", 300, seconds * 10e9 / h.bytes,
              "s", 0);
    table_note("import", "%.2f GB: %.0f MB/s, %.0f messages/s", h.bytes / 1e9,
               h.bytes / 1e6 / seconds, messages / seconds);
    table_row("import: peak memory", 100, peak, "MB", 0);
    double least = floor_of();
    if (least > 0)
        table_note("its events by sqlite3's .import", "%.1f s; ours in times of it: %.1f", least,
                   seconds / least);
    auto_free char *name = mem_printf("import: search over %.0f messages, p99", messages);
    table_row(name, 20, search_p99(&h), "ms", 1);
    for (int i = 0; i < IDLE_FILES; i++)
        write_file(&h, 1);
    (void)scan(1);
    table_row("import: 10,000 files, nothing new", 300, scan(IDLE_RUNS).ms, "ms", 0);
    memory_texts_free(h.texts);
    buf_release(&h.source);
}
