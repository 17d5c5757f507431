/* Six screens as in doc/screens/: the real program at a terminal, compared by text. Parts that
 * differ between runs (times, directories, and figures that depend on them) are made constant.
 * CAPTURE=1 writes the files anew. */
#include <regex.h>

#include "base/utf8.h"
#include "tests/scene.h"
#include "tests/suite.h"

NEEDS(capability_store() && capability_memory() && capability_compaction());

/* The length of the directory's name counts in requests. */
static int set_up(void **state)
{
    setenv("TMPDIR", "/tmp", 1);
    return scene_setup(state);
}

FIXTURE(set_up, scene_teardown);

/* Replaces durations; the pane's border after one keeps its column. */
static char *made_constant(const char *screen)
{
    struct buf text = BUF_INIT;
    regex_t r;
    regmatch_t where;
    buf_addstr(&text, screen);
    assert_int_equal(regcomp(&r, " · [0-9.]+ m?s\\>", REG_EXTENDED), 0);
    for (size_t from = 0; regexec(&r, text.data + from, 1, &where, 0) == 0;) {
        size_t len = (size_t)(where.rm_eo - where.rm_so), columns;
        from += (size_t)where.rm_so;
        columns = utf8_width(text.data + from, len);
        buf_splice(&text, from, len, "", 0);
        const char *line = strstr(text.data + from, "  │"), *end = strchr(text.data + from, '\n');
        if (line && line < end)
            buf_splice(&text, (size_t)(line - text.data), 0, "                ", columns);
    }
    regfree(&r);
    return buf_take(&text);
}

static void compare(struct screen *s, const char *name)
{
    char *path = support_text("%s/doc/screens/%s.txt", getenv("SOURCE_DIR"), name);
    auto_free char *now = made_constant(screen_text(s));
    if (getenv("CAPTURE"))
        support_write(path, now);
    auto_free char *captured = support_read(path);
    assert_string_equal(now, captured);
}

TEST(an_empty_chat)
{
    setenv("XDG_STATE_HOME", support_path("state"), 1); /* no message was sent from there */
    struct screen *s = scene_open(24, 80, NULL);
    see(s, "Message, or / for commands", "memory and inbox", "memory on ─", "claude");
    compare(s, "empty");
}

TEST(an_answer_with_code_and_wide_characters)
{
    scene_queue(.text =
                    "In Kyoto (京都) the ryokan by the river has a room:\n\n"
                    "- two nights, *breakfast* included,\n- 川床 in summer 🍵\n\n"
                    "```python\ndef nights(total, price=18_000):\n    return total // price\n"
                    "```\n\nThat leaves **two** nights for Nara.");
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "How many nights in 京都 can we pay with 36,000 yen?", "nights for Nara");
    compare(s, "answer");
}

TEST(tool_calls)
{
    static const char *const full[] = {"--tools", "full", NULL};
    support_write(support_path("trip.txt"), "nights: 1\nroom: west\n");
    scene_queue(.tool_name = "write_file",
                .tool_args = "{\"path\":\"trip.txt\",\"content\":\"nights: 2\\nroom: west\\n\"}");
    scene_queue(.tool_name = "search_files", .tool_args = "{\"pattern\":\"breakfast\"}");
    scene_queue(.tool_name = "run_command", .tool_args = "{\"command\":\"seq 96 100; exit 3\"}");
    scene_queue(.text = "The file is changed; the check found no such room.");
    struct screen *s = scene_open(24, 80, full);
    act(s, "two nights, please<enter>", "wants to write (write_file)", "a allow once");
    compare(s, "question");
    act(s, "a", "wants to run a command (run_command)", "a allow once");
    act(s, "a", "found no such room", IDLE);
    int row, col;
    assert_true(screen_find(s, "trip.txt", &row, &col));
    screen_click(s, row, col);
    see(s, "+nights: 2", "exit 3");
    compare(s, "tools");
}

/* Three turns, dropped by a compaction and kept in memory. */
static struct screen *compacted(int rows, int cols)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(rows, cols, NULL);
    scene_exchange(s, "where did we want to sleep?", "In the ryokan by the river.");
    scene_exchange_long(s, "which train?", "At nine.");
    scene_exchange_long(s, "thanks", "Welcome.");
    act(s, "/compact deterministic<enter>", " memory entr", IDLE);
    unsetenv("TIRO_COMPACTION_MODE");
    return s;
}

TEST(a_compaction)
{
    compare(compacted(24, 80), "compaction");
}

TEST(memory)
{
    struct screen *s = compacted(30, 120);
    act(s, "<f2>", " Memory · all");
    act(s, "ryokan", " by score", "the ryokan by");
    compare(s, "memory");
}

TEST(the_next_request)
{
    struct screen *s = compacted(30, 120);
    act(s, "<f4>", "Context  ~");
    compare(s, "context");
}
