/* The transcript: what events become, and a view that stays where it is. */
#include "base/utf8.h"
#include "chat/event.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "tests/told.h"
#include "ui/transcript/transcript.h"

static struct transcript *t; /* of the test */

/* --- steps --- */

static void exchange(int64_t seq, const char *question, const char *answer)
{
    tale(support_text("=exchange %d %s|%s", (int)seq, question, answer));
}

static void ask_edit(void)
{
    tale("=size 60 20", "=asks 1 q",
         "=call 2 c1 write_file {\"content\":\"one\\ntwo\\n\",\"path\":\"a.txt\"}");
}

/* A search in memory, and the hits that the model got. */
static void search_memory(const char *seq)
{
    tale(support_text("=call %s c1 memory_search {\"query\":\"sleep kyoto\"}", seq));
}

/* "SEQ": by the call; "SEQ TOKENS": with the message. */
static void recall(const char *seq)
{
    struct event *ev = EV(MEMORY_RECALLED, atoi(seq), "sleep kyoto");
    const char *tokens = strchr(seq, ' ');
    ev->id = tokens ? NULL : mem_strdup("c1");
    ev->number = tokens ? atoi(tokens) : 0;
    ev->hits = mem_strdup(
        "[{\"id\":\"a\",\"score\":0.9,\"session_id\":\"s\",\"turn\":3,"
        "\"role\":\"user\",\"created_at\":\"2026-03-09T14:05:07.000Z\","
        "\"content\":\"by the river\"}]");
    told_take(ev);
}

/* "SEQ ID" of an entry. */
static void leave(const char *seq_and_id, bool left_out)
{
    struct event *ev = EV(MEMORY_LEFT_OUT, atoi(seq_and_id), NULL);
    ev->id = mem_strdup(strchr(seq_and_id, ' ') + 1);
    ev->flag = left_out;
    told_take(ev);
}

static void left(const char *seq_and_id)
{
    leave(seq_and_id, true);
}

static void back(const char *seq_and_id)
{
    leave(seq_and_id, false);
}

/* "SEQ ID": three passages of documents. */
static void give_passages(const char *seq_and_id)
{
    int seq = atoi(seq_and_id);
    const char *id = strchr(seq_and_id, ' ') + 1;
    struct event *result = EV(TOOL_EXECUTION_COMPLETED, seq + 1, "[{\"n\":1},{\"n\":2},{\"n\":3}]");
    tale(
        support_text("=call %d %s rag_search {\"corpus_id\":\"x\",\"query\":\"ryokan\"}", seq, id));
    result->id = mem_strdup(id);
    result->name = mem_strdup("rag_search");
    told_take(result);
}

/* "SEQ REASON TEXT": the end of a turn, with an enum stop_reason. */
static void stop(const char *rest)
{
    char *at;
    struct event *ev = EV(TURN_COMPLETED, strtoll(rest, &at, 10), NULL);
    ev->stop_reason = (enum stop_reason)strtol(at, &at, 10);
    ev->text = mem_strdup(at + 1);
    told_take(ev);
}

static void add_end(void *ends, const struct transcript_turn *turn)
{
    struct buf *all = ends;
    buf_addf(all, "%s%lld", all->len ? ", " : "", (long long)turn->last);
}

/* The last event of each turn. */
static void assert_turns(const char *wanted)
{
    AUTO(buf_release) struct buf all = BUF_INIT;
    transcript_each_turn(t, add_end, &all);
    assert_string_equal(all.data, wanted);
}

static void assert_oldest(const char *seq)
{
    assert_int_equal(transcript_oldest(t), atoi(seq));
}

static bool marked(const char *text)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i].rows->list.items[rows[i].index];
        const char *at = rows[i].rows->text.data + row->text;
        for (uint32_t s = 0; s < row->span_count; s++) {
            const struct span *span = &rows[i].rows->spans.items[row->spans + s];
            if (span->style == STYLE_MATCH && span->len == strlen(text) &&
                memcmp(at, text, span->len) == 0)
                return true;
            at += span->len;
        }
    }
    return false;
}

static void assert_marked(const char *text)
{
    assert_true(marked(text));
}

static void assert_unmarked(const char *text)
{
    assert_false(marked(text));
}

/* "SEQ NUMBER": the message, or the rewind. */
static void rewind_conversation(const char *seq_and_message)
{
    struct event *ev = EV(REWOUND, atoi(seq_and_message), NULL);
    ev->number = atoi(strchr(seq_and_message, ' '));
    told_take(ev);
}

static void undo_rewind(const char *seq_and_of)
{
    struct event *ev = EV(REWIND_UNDONE, atoi(seq_and_of), NULL);
    ev->number = atoi(strchr(seq_and_of, ' '));
    told_take(ev);
}

static void select_older(void)
{
    assert_true(transcript_select(t, true));
}

static void select_newer(void)
{
    assert_true(transcript_select(t, false));
}

/* "TURN TEXT": the message of the user that is turned to, and the bytes that are copied. */
static void assert_selected(const char *turn_and_text)
{
    struct transcript_selected m;
    assert_true(transcript_selected(t, &m));
    assert_int_equal(m.turn_seq, atoi(turn_and_text));
    assert_string_equal(m.text, strchr(turn_and_text, ' ') + 1);
}

/* The texts of all items that are rewound. */
static void assert_dimmed(const char *wanted)
{
    AUTO(buf_release) struct buf all = BUF_INIT;
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i].rows->list.items[rows[i].index];
        const struct span *span = &rows[i].rows->spans.items[row->spans];
        bool dim = row->span_count == 1 && span->style == STYLE_DIM && row->len > 2;
        assert_true(dim || !transcript_item(t, rows[i].item)->rewound || row->len <= 2);
        if (dim)
            buf_addf(&all, "%s%.*s", all.len > 0 ? "|" : "", (int)row->len,
                     rows[i].rows->text.data + row->text);
    }
    assert_string_equal(all.data ? all.data : "", wanted);
}

static const struct step steps[] = {{"edit", .alone = ask_edit},
                                    {"search", .run = search_memory},
                                    {"recall", .run = recall},
                                    {"left", .run = left},
                                    {"back", .run = back},
                                    {"passages", .run = give_passages},
                                    {"stop", .run = stop},
                                    {"turns", .run = assert_turns},
                                    {"rewound", .run = rewind_conversation},
                                    {"unrewound", .run = undo_rewind},
                                    {"dimmed", .run = assert_dimmed},
                                    {"upward", .alone = select_older},
                                    {"downward", .alone = select_newer},
                                    {"selected", .run = assert_selected},
                                    {"oldest", .run = assert_oldest},
                                    {"marked", .run = assert_marked},
                                    {"unmarked", .run = assert_unmarked},
                                    {.name = NULL}};

static int new_transcript(void **state)
{
    (void)state;
    t = transcript_new();
    told_to(t, steps);
    transcript_resize(t, 40, 20);
    return 0;
}

static int free_transcript(void **state)
{
    (void)state;
    transcript_free(t);
    return 0;
}

/* "row 1" to "row 30" */
static const char *thirty_rows(void)
{
    struct buf text = BUF_INIT;
    for (int i = 1; i <= 30; i++)
        buf_addf(&text, "row %d\n\n", i);
    return support_keep(buf_take(&text));
}

/* --- items --- */

#define STOP(seq, reason, text) support_text("=stop %d %d %s", seq, STOP_##reason, text)

BEFORE_ALL(support_utf8);
FIXTURE(new_transcript, free_transcript);

TALE(a_run_is_question_and_answer, "=exchange 1 hello\nthere|**Hi**, you",
     "=is \nyou\n│ hello\n│ there\n\ntiro\n  Hi, you\n");

TEST(deltas_make_the_answer)
{
    tale("=asks 1 q");
    assert_false(told(t, EV(CALL_STARTED, 2, NULL)));
    tale("=delta \n\n", "=unshown", "=delta caf\xc3", "=shown", "=delta \xa9 \x1b[31m\r", "=shown",
         "=delta \n\nend", "=shown", "=is \nyou\n│ q\n\ntiro\n  café ␛[31m\n\n  end\n",
         "=answer café ␛[31m\n\nend", "=text 3 \n\ncafé \x1b[31m\r\n\nend", "=shown",
         "=is \nyou\n│ q\n\ntiro\n  café ␛[31m\n\n  end\n", "=answer \n\ncafé \x1b[31m\r\n\nend");
}

TALE(messages_are_selected_and_show_their_numbers, "=exchange 1 one|\n a\t\x1b ",
     "=exchange 11 two|b", "=rewound 21 11", "!you ·", "=upward", "=selected 11 b",
     "you · 1\n│ one\n\ntiro · 1\n", "\nyou\n│ two\n\ntiro\n› b", "=upward", "=selected 11 two",
     "=upward", "=selected 1 \n a\t\x1b ", "=downward", "=selected 11 two");

TALE(complete_text_wins_over_deltas, "=asks 1 q", "=delta onetwo", "=text 2 one", "=text 3 two",
     "=is \nyou\n│ q\n\ntiro\n  one\n\n  two\n");

TALE(seen_numbers_are_passed_over, "=exchange 1 q|a", "=text 2 again", "=unshown", "!again");

TEST(reasoning_is_folded_and_opens)
{
    tale("=asks 1 q", "=thinks one two", "=is \nyou\n│ q\n\ntiro\n  ▸ reasoning…\n",
         "=delta answer", "=thought 2 one two three", "=text 3 answer",
         "=is \nyou\n│ q\n\ntiro\n  ▸ reasoning · 3 words\n  answer\n", "=toggle 1",
         "=is \nyou\n│ q\n\ntiro\n  ▾ reasoning · 3 words\n  │ one two three\n  answer\n");
    assert_false(transcript_toggle(t, 0));
    assert_false(transcript_toggle(t, 2));
    assert_false(transcript_toggle(t, 99));
    tale("=toggle 1", "=reasoning open", "│ one two three", "=reasoning hidden",
         "=is \nyou\n│ q\n\ntiro\n  answer\n");
}

TALE(open_reasoning_streams, "=reasoning open", "=asks 1 q", "=thinks one",
     "  ▾ reasoning…\n  │ one\n", "=thinks  two", "  ▾ reasoning…\n  │ one two\n",
     "=thought 2 one two", "  ▾ reasoning · 2 words\n  │ one two\n");

TALE(tool_calls_are_one_line, "=size 60 20", "=asks 1 q",
     "=call 2 c1 read_file {\"path\":\"a\\u001b[1m.c\",\"n\":2}", "tiro\n  ▤ a␛[1m.c …\n",
     "=result 3 c1 line\nline\n", "  ▤ a␛[1m.c · 2 lines\n", "=call 4 c2 other {}",
     "=error 5 c2 no such\nfile", "  ⚙ other ✗ no such\n", "=toggle 1", "    n: 2\n", "!\"path\"",
     "    line\n    line\n", "=toggle all", "    no such\n    file\n", "=toggle all",
     "!    no such");

TALE(an_edit_tells_its_difference_and_no_json, "=edit", "  ✎ a.txt …\n",
     "=change 3 c1 on\ntwo\n|one\ntwo\nthree\n", "  ✎ a.txt +2 −1\n", "!@@", "=toggle 1",
     "    @@ -1,2 +1,3 @@\n    -on\n    +one\n     two\n    +three\n", "!content", "!wrote");

TALE(a_new_file_has_added_lines_alone, "=edit", "=change 3 c1 |one\ntwo\n", "  ✎ a.txt +2 −0\n",
     "=toggle 1", "    @@ -0,0 +1,2 @@\n    +one\n    +two\n");

/* The texts were equal, or too long to be kept. */
TALE(an_edit_without_difference_tells_its_text, "=edit", "=result 3 c1 wrote 8 bytes, 2 lines",
     "  ✎ a.txt · wrote 8 bytes, 2 lines\n", "=toggle 1", "    content: one\n    two\n",
     "    path: a.txt\n", "!{");

TALE(an_edit_that_was_declined_has_no_difference, "=edit",
     "=error 3 c1 a.txt: the user declined this call", "  ✎ a.txt ✗ the user declined this call\n",
     "=toggle 1", "✗ the user declined this call\n", "content: one");

TALE(a_difference_goes_with_its_call_over_the_border_of_a_page, "=size 60 20", "=page", "=asks 1 q",
     "=call 2 c1 edit_file {\"path\":\"a.txt\"}", "=earlier", "=clear", "=page",
     "=change 3 c1 a\n|b\n", "=text 4 done", "=earlier more", "=page", "=asks 1 q",
     "=call 2 c1 edit_file {\"path\":\"a.txt\"}", "=earlier", "  ✎ a.txt +1 −1\n", "=toggle 1",
     "    -a\n    +b\n");

TALE(arguments_within_arguments_are_lines, "=size 60 20", "=asks 1 q",
     "=call 2 c1 other {\"list\":[{\"a\":\"x\",\"b\":true},\"y\"],\"n\":1.5}", "=toggle 1",
     "    list: \n      - \n        a: x\n        b: true\n      - y\n    n: 1.5\n");

TEST(a_command_that_fails_tells_its_end)
{
    static const struct {
        const char *result, *line, *below;
    } rows[] = {
        {"1\n2\n3\n4\n5\n6\n7\n[exit status 3]",
         "✗ exit 3 · 7 lines · 35 ms\n    5\n    6\n    7\n", "!    4\n"},
        {"1\n4\n5\n6\n[exit status 3]\n[the sandbox may have refused something]",
         "✗ exit 3 · 4 lines · 35 ms\n    4\n    5\n    6\n    [the sandbox may", "![exit"},
        {"1\n\n[… 90 bytes left out …]\n7\n[exit status 3]", "✗ exit 3 · 4 lines… · 35 ms\n",
         "    7\n"},
        {"[exit status 1]", "✗ exit 1 · 0 lines · 35 ms\n", NULL},
        {"a\n[ended by signal 9]", "✗ signal 9 · 1 line · 35 ms\n    a\n", NULL},
        {"a\n[timed out after 5 s and was ended]",
         "✗ timed out after 5 s · 1 line · 35 ms\n    a\n", NULL},
        {"a\n[interrupted]", "✗ interrupted · 1 line · 35 ms\n    a\n", NULL},
        {"the user declined this call\nb", "✗ the user declined this call\n", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tale("=clear", "=size 70 20", "=asks 1 q", "=call 2 c1 run_command {\"command\":\"make\"}",
             support_text("=error 3 c1 %s", rows[i].result), rows[i].line, "!    2\n",
             rows[i].below);
    }
}

/* The name goes before the outcome does. */
TALE(a_narrow_row_has_the_whole_outcome, "=size 40 20", "=asks 1 q",
     "=call 2 c1 run_command {\"command\":\"make all check\"}", "=error 3 c1 1\n2\n[exit status 3]",
     "⚙ “make a…” ✗ exit 3 · 2 lines · 35 ms\n", "!run_command");

TALE(a_command_in_the_background_tells_its_number, "=size 60 20", "=asks 1 q",
     "=call 2 c1 run_command {\"command\":\"serve\"}",
     "=result 3 c1 up\n[runs in the background as task 12 and goes on; task_output has what it]",
     "“serve” ✓ task 12 · 35 ms\n    up\n", "=call 4 c2 task_output {\"task\":12,\"wait_ms\":5}",
     "task_output “12”");

TALE(a_command_that_succeeds_tells_its_last_lines, "=size 60 20", "=asks 1 q",
     "=call 2 c1 run_command {\"command\":\"make\"}", "=result 3 c1 1\n2\n3\n4\n[exit status 0]",
     "“make” ✓ 4 lines · 35 ms\n    2\n    3\n    4\n", "!    1\n", "![", "=toggle 1",
     "    command: make\n    →\n    1\n    2\n    3\n    4\n    [exit status 0]\n");

TALE(a_command_shows_its_last_lines_while_it_runs, "=size 60 20", "=asks 1 q",
     "=call 2 c1 run_command {\"command\":\"make\"}", "=anew 0 ", "“make” …\n",
     "=output 100 1\n2\n", "“make” …\n    1\n    2\n", "=output 2900 3\n4\nhal",
     "“make” … 2 s\n    3\n    4\n    hal\n", "!    2\n", "=output 3100 f\n", "    half\n",
     "=toggle 1", "… 3 s\n    command: make\n    1\n    2\n    3\n    4\n    half\n", "=toggle 1",
     "=result 4 c1 1\n[exit status 0]", "“make” ✓ 1 line · 35 ms\n    1\n", "!half");

TALE(a_progress_bar_overwrites_its_line, "=size 60 20", "=asks 1 q",
     "=call 2 c1 run_command {\"command\":\"get\"}", "=anew 0 get\n10 %\r20", "    get\n    20\n",
     "=output 100  %\r", "    get\n", "!%", "=output 200 done\x1b[1m\n", "    get\n    done␛[1m\n",
     "=anew 300 x\n", "…\n    x\n", "!    get");

TALE(output_goes_with_its_turn, "=size 60 20", "=asks 1 q",
     "=call 2 c1 run_command {\"command\":\"make\"}", "=anew 1000 one\n", "    one\n", "=stops 3 ",
     "✗ no result", "!    one");

TEST(a_long_output_of_a_command_shows_its_end)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= 20000; i++)
        buf_addf(&text, "line %d\n", i);
    tale("=size 60 400", "=asks 1 q", "=call 2 c1 run_command {\"command\":\"x\"}",
         support_text("=error 3 c1 %s[exit status 1]", text.data), "✗ exit 1 · 20000 lines",
         "    line 20000\n", "!line 19997\n", "=toggle 1", "more lines\n    line 19802\n",
         "    line 20000\n    [exit status 1]\n", "!line 19801\n");
}

TEST(a_search_without_a_match_says_so)
{
    static const char *const rows[][3] = {
        {"search_files", "[no match in 3 text files]\n", "→ no match ·"},
        {"rag_search", "{\"results\":[],\"note\":\"x\"}", "→ no match ·"},
        {"learned_search", "[]", "→ no match ·"},
        {"memory_search_nodes", "{\"entities\":[],\"relations\":[]}", "→ no match ·"},
        {"memory_search_nodes", "{\"entities\":[{\"name\":\"Ada\"}]}", "→ 1 match ·"},
        {"search_files", "a.c:1: x\n", "→ 1 match in 1 file ·"},
        {"search_files",
         "a:b.c:1: x\na:b.c:12: y\nz:3: y:4: z\n[more matches; the limit is 3 lines]\n",
         "→ 3 matches in 2 files… ·"},
        {"search_files", "[timed out; the rest was not searched]\n", "→ 1 line ·"},
        {"read_file", "[no match ", "→ 1 line ·"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tale("=clear", "=size 60 20", "=asks 1 q", support_text("=call 2 c1 %s {}", rows[i][0]),
             support_text("=result 3 c1 %s", rows[i][1]), rows[i][2]);
    }
}

TEST(a_page_is_told_by_its_address_status_and_size)
{
    static const char *const rows[][3] = {
        {"https://example.org/path", "https://example.org/p · 200 · text/html · 12345 bytes\n\nx",
         "⇣ example.org/path · 200 · 12 KB\n"},
        {"http://example.org/", "http://example.org/ · 200 · text/plain · 900 bytes\n\nx",
         "⇣ http://example.org/ · 200 · 900 B\n"},
        {"https://example.org/", "https://example.org/ · 200 · a/b · 1048576 bytes, the rest",
         "⇣ example.org/ · 200 · 1024 KB…\n"},
        {"https://example.org/", "a text\nof two lines", "⇣ example.org/ · 2 lines\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tale("=clear", "=size 60 20", "=asks 1 q",
             support_text("=call 2 c1 fetch_url {\"url\":\"%s\"}", rows[i][0]),
             support_text("=result 3 c1 %s", rows[i][1]), rows[i][2]);
    tale("=clear", "=size 60 20", "=asks 1 q", "=call 2 c1 fetch_url {\"url\":\"https://a.b/c\"}",
         "⇣ a.b/c …\n", "=error 3 c1 https://a.b/c: 404 · text/html · 15 bytes\n\nnot here",
         "⇣ a.b/c ✗ 404 · text/html · 15 bytes\n");
}

TALE(a_search_of_the_provider_is_told, "=size 60 20", "=asks 1 q",
     "=call 2 c1 web_search {\"query\":\"tides\"}", "⌕ searched the web: tides …\n",
     "=result 3 c1 Tides · https://a.example/t\nMoon · https://b.example",
     "⌕ searched the web: tides · 2 results\n", "=call 4 c2 web_search {\"query\":\"x\"}",
     "=error 5 c2 max_uses_exceeded", "⌕ searched the web: x ✗ max_uses_exceeded\n");

TALE(what_is_opened_comes_into_view, "=size 60 8", "=asks 1 q", "=text 2 a\n\nb\n\nc\n\nd",
     "=call 3 c1 read_file {\"path\":\"a.txt\"}", "=result 4 c1 1\n2\n3", "▤ a.txt", "  b\n",
     "=toggle 2", "▤ a.txt", "    path: a.txt\n    →\n", "!  b\n");

TEST(tool_lines_fit_any_width)
{
    size_t count;
    tale("=asks 1 q", "=call 2 c1 memory_search {\"query\":\"日本 a long question for it\"}",
         "=error 3 c1 a very long error text that does not fit", "=toggle all");
    for (int width = 60; width > 0; width--) {
        transcript_resize(t, width, 50);
        const struct transcript_row *rows = transcript_rows(t, &count);
        for (size_t i = 0; i < count; i++)
            assert_true(rows_width(rows[i].rows, rows[i].index) <= (size_t)width);
    }
}

TALE(a_search_in_memory_tells_its_hits, "=size 80 40", "=search 2", "=recall 3",
     "=result 4 c1 [{},{}]", "⌕ memory_search “sleep kyoto” → 1 match", "!by the river",
     "=toggle all", "by the river", "0.90 you · turn 3", "![{},{}]");

TALE(a_message_was_sent_with_passages, "=size 80 40", "=asks 1 sleep kyoto?", "=recall 2 480",
     "⌕ recalled 1 passage · 480 tokens", "!by the river", "=toggle all", "by the river",
     "0.90 you · turn 3", "=text 3 There.", "There.");

TEST(a_passage_that_is_left_out_is_marked)
{
    transcript_set_hints(t, NULL, NULL, "F2 ] x", false);
    tale("=size 80 40", "=asks 1 sleep kyoto?", "=recall 2 480", "!leaves one out", "=toggle all",
         "    0.90 you · turn 3 · 2026-03-09\n    by the river\n    F2 ] x leaves one out\n",
         "=left 3 b", "!left out", "=left 4 a", "480 tokens · 1 left out",
         "0.90 left out · you · turn 3", "=back 5 a", "!left out");
}

TALE(a_passage_is_marked_across_pages, "=size 80 40", "=page", "=asks 5 q", "=left 6 a",
     "=earlier more", "=page", "=asks 1 sleep kyoto?", "=recall 2 480", "=back 3 a", "=earlier",
     "480 tokens · 1 left out");

TALE(rewound_items_are_dimmed, "=exchange 1 one|two", "=exchange 4 three|four", "=turns 3, 6",
     "=rewound 7 4", "rewound; from this message on", "“three”", "=dimmed you|│ three|tiro|  four",
     "=turns 3", "=answer two", "=exchange 8 five|six", "=turns 3, 10", "=rewound 11 1", "=turns ",
     "=unrewound 12 11", "=turns 3, 12", "=unrewound 13 7", "=dimmed ", "=turns 3, 7, 13");

TALE(rewound_items_are_dimmed_across_pages, "=size 60 40", "=page", "=exchange 4 three|four",
     "=rewound 7 1", "=earlier more", "=dimmed you|│ three|tiro|  four", "=page",
     "=exchange 1 one|two", "=earlier", "=dimmed you|│ one|tiro|  two|you|│ three|tiro|  four",
     "=unrewound 8 7", "=dimmed ");

TALE(a_rewind_on_an_older_page_was_undone_since, "=size 60 40", "=page", "=unrewound 8 7",
     "=earlier more", "=page", "=exchange 1 one|two", "=rewound 7 1", "=earlier", "=dimmed ");

TALE(a_search_in_memory_across_pages_tells_them_too, "=size 80 40", "=page", "=recall 3",
     "=result 4 c1 [{},{}]", "=earlier more", "1 match", "=page", "=asks 1 where?", "=search 2",
     "=earlier", "memory_search “sleep kyoto” → 1 match");

TEST(long_results_are_bounded)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 5000; i++)
        buf_addf(&text, "line %d\n", i);
    tale("=asks 1 q", "=call 2 c1 read_file {}", support_text("=result 3 c1 %s", text.data),
         "=toggle 1", "=end", "… 4800 more lines\n");
}

TALE(
    ends_of_runs_are_notes, "=asks 1 q", "=delta half", "=partial 2 half", "=stops 3 ",
    "=is \nyou\n│ q\n\ntiro\n  half\n  — interrupted\n", "=asks 4 r", "=stops 5 ", "=asks 6 s",
    "=partial 7 part", "=fails 8 the server\nis away", "=size 40 14",
    "=is \nyou\n│ r\n\n  — interrupted\n\nyou\n│ s\n\ntiro\n  part\n\n  ✗ the server\n  is away\n");

TALE(calls_that_a_run_leaves_get_no_result, "=asks 1 q", "=call 2 c1 read_file {\"path\": \"a\"}",
     "=call 3 c2 read_file {\"path\": \"b\"}", "=result 4 c1 x", "▤ b …", "=stops 5 ",
     "▤ a · 1 line", "▤ b ✗ no result");

TEST(graph_calls_read_as_sentences)
{
    static const struct {
        const char *tool, *args, *sentence;
    } calls[] = {
        {"memory_create_entities",
         "{\"entities\":[{\"name\":\"Ada\",\"entity_type\":\"person\",\"observations\":[]},"
         "{\"name\":\"Acme\",\"entity_type\":\"company\"}]}",
         "noted Ada (person), Acme (company) · 35 ms\n"},
        {"memory_add_observations",
         "{\"observations\":[{\"entity_name\":\"Ada\",\"contents\":[\"likes tea\",\"is 36\"]}]}",
         "noted Ada: likes tea; is 36 · 35 ms\n"},
        {"memory_create_relations",
         "{\"relations\":[{\"from\":\"Ada\",\"relation_type\":\"works at\",\"to\":\"Acme\"}]}",
         "noted Ada works at Acme · 35 ms\n"},
        {"memory_create_entities",
         "{\"entities\":[{\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":[]}]}",
         "noted Ada (person) · 35 ms\n"},
        {"memory_create_relations",
         "{\"relations\":[{\"from\":\"Ada\",\"relationType\":\"works at\",\"to\":\"Acme\"}]}",
         "noted Ada works at Acme · 35 ms\n"},
        {"memory_delete_entities", "{\"entityNames\":[\"Ada\"]}", "removed Ada · 35 ms\n"},
        {"memory_delete_entities", "{\"entity_names\":[\"Ada\",\"Acme\"]}",
         "removed Ada, Acme · 35 ms\n"},
        {"memory_delete_entities", "{\"unknown\":1}", "removed {\"unknown\":1} · 35 ms\n"},
    };
    tale("=size 80 20", "=asks 1 q");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int seq = 2 + 2 * (int)i;
        tale(support_text("=call %d c%d %s %s", seq, seq, calls[i].tool, calls[i].args),
             support_text("=result %d c%d {}", seq + 1, seq), calls[i].sentence);
    }
}

TALE(a_reached_limit_is_said, "=asks 1 q", "=text 2 a", STOP(3, MAX_TOKENS, "a"), "length limit");

static void budget_of(int64_t seq, const char *kind, double used, double limit)
{
    struct event *ev = EV(BUDGET_WARNING, seq, NULL);
    ev->name = mem_strdup(kind);
    ev->used = used;
    ev->bound = limit;
    ev->count = 80;
    told(t, ev);
}

TEST(the_budget_warns_and_ends)
{
    tale("=size 70 30", "=asks 1 q");
    budget_of(2, "max_tokens", 8000, 10000);
    budget_of(3, "max_cost", 0.4, 0.5);
    budget_of(4, "max_turn_duration", 48, 60);
    budget_of(5, "max_\033[2J", 1e300, -1);
    struct event *end = EV(TURN_FAILED, 6, "max_tokens is reached; raise it");
    end->name = mem_strdup("BUDGET_EXHAUSTED");
    told(t, end);
    assert_says(support_keep(seen_transcript(t)), " ! 80 % of max_tokens used: 8,000 of 10,000\n",
                " ! 80 % of max_cost used: $0.40 of $0.50\n",
                " ! 80 % of max_turn_duration used: 48 of 60 seconds\n",
                "max_␛[2J used: 1e+300 of -1\n",
                "✗ The budget is used up.\n  max_tokens is reached; raise it\n");
}

TALE(a_retried_attempt_leaves_nothing, "=asks 1 q", "=delta first try", "=repeats 2 busy",
     "=delta second", "=is \nyou\n│ q\n\ntiro\n  second\n", "=text 3 second",
     "=is \nyou\n│ q\n\ntiro\n  second\n");

TALE(retry_takes_the_place_of_its_run, "=exchange 1 first|kept", "=note own note", "=asks 4 again",
     "=fails 5 broken", "=note what to do about it", "=retry 6 4 again", "=text 7 now",
     "=is \nyou\n│ first\n\ntiro\n  kept\n\n  own note\n\nyou\n│ again\n\ntiro\n  now\n");

TALE(a_brief_note_leaves_with_the_next_message, "=exchange 1 first|kept", "=brief copied",
     "=note own note", "=brief copied again",
     "=is \nyou\n│ first\n\ntiro\n  kept\n\n  copied\n  own note\n  copied again\n", "=asks 4 on",
     "=is \nyou\n│ first\n\ntiro\n  kept\n\n  own note\n\nyou\n│ on\n", "=brief of this turn",
     "=text 5 and on", "=ends 6 and on",
     "=is \nyou\n│ first\n\ntiro\n  kept\n\n  own note\n\nyou\n│ on\n\n"
     "  of this turn\n\ntiro\n  and on\n");

TALE(an_empty_answer_is_told, "=asks 1 q", "=text 2  \n", STOP(3, END_TURN, " \n"),
     "=is \nyou\n│ q\n\n  (empty answer)\n", "=answer ", /* it is not the model's word */
     "=asks 4 r", STOP(5, OTHER, ""), "=asks 6 s", STOP(7, REFUSAL, ""), /* a fork ends there */
     "=is \nyou\n│ q\n\n  (empty answer)\n\nyou\n│ r\n\nyou\n│ s\n\n"
     "  — the model declined to answer\n");

/* --- pages --- */

TALE(an_open_run_of_a_resumed_session_was_cut_off, "=page", "=asks 1 q", "=delta half an",
     "=earlier",
     "=is \nyou\n│ q\n\ntiro\n  half an\n\n  — interrupted; /retry sends the\n  message again\n",
     "=retry 3 1 q", "=text 4 whole", "=is \nyou\n│ q\n\ntiro\n  whole\n");

TALE(pages_join_what_their_border_cut, "=page", "=text 6 looking", "=result 8 c1 x\n",
     "=text 9 found", "=ends 10 found", "=earlier more", "=wants 6", "=page", "=asks 1 q",
     "=text 2 so", "=call 3 c1 read_file {\"path\":\"p\"}", "=delta look", "=earlier", "=wants 0",
     "=is \nyou\n│ q\n\ntiro\n  so\n\n  ▤ p · 1 line\n  looking\n\n  found\n");

TALE(a_retry_reaches_back_over_pages, "=page", "=fails 6 broken", "=retry 7 4 again", "=text 8 now",
     "=ends 9 now", "=earlier more", "=page", "=asks 1 first", "=text 2 kept", "=ends 3 kept",
     "=asks 4 again", "=text 5 lost", "=earlier",
     "=is \nyou\n│ first\n\ntiro\n  kept\n\nyou\n│ again\n\ntiro\n  now\n");

/* A turn reaches to where the next one began, which is where it was tried first. */
TALE(turns_are_counted_and_end_where_the_next_begins, "=exchange 1 one|first",
     "=exchange 4 two|second", "=note a note", "=turns 3, 6", "=asks 7 three", "=fails 8 broken",
     "=retry 9 7 three", "=fails 10 broken again", "=retry 11 9 three", "=turns 3, 6, 11",
     "=oldest 0");

TALE(turns_are_counted_over_pages, "=page", "=retry 9 7 two", "=text 10 second", "=ends 11 second",
     "=earlier more", "=oldest 9", "=page", "=asks 1 one", "=text 2 first", "=ends 3 first",
     "=asks 4 two", "=fails 6 broken", "=retry 7 4 two", "=fails 8 broken again", "=earlier",
     "=oldest 0", "=turns 3, 11");

TEST(an_older_page_leaves_the_view_in_place)
{
    const char *answer = thirty_rows();
    exchange(11, "second", answer);
    tale("=top", "=scroll -7", "=first   row 2");
    tale("=page", support_text("=exchange 1 first|%s", answer), "=earlier", "=first   row 2",
         "=scroll 10", "=first   row 29");
}

/* The item at the view's top loses its label to the page before it. */
TEST(a_joined_item_leaves_the_view_in_place)
{
    const char *answer = thirty_rows();
    tale("=page", support_text("=text 4 %s", answer), support_text("=ends 5 %s", answer),
         "=earlier more", "=scroll 21", "=first   row 10", "=page", "=asks 1 q",
         "=call 2 c read_file {}", "=result 3 c x", "=earlier", "=first   row 10", "=scroll 18",
         "=first   row 1", "=scroll 1", "=first   ▤ read_file → 1 line · 35 ms");
}

/* --- the view --- */

TEST(new_text_does_not_move_a_scrolled_view)
{
    const char *answer = thirty_rows();
    tale("=asks 1 q", support_text("=delta %s", answer), "=first ", "=last", "=scroll 11",
         "=first   row 15", "=unread 0", "=delta news\n\nmore news\n\n", "=first   row 15",
         "=unread 4", "=text 2 other", "=draw");
}

TEST(unread_ends_at_the_end)
{
    const char *answer = thirty_rows();
    exchange(1, "q", answer);
    tale("=stays -1", "=scroll 5", "=above", "=note one\ntwo", "=draw", "=unread 3", "=scroll -6",
         "=draw", "=unread 2", "=end", "=unread 0", "  one\n  two\n");
    assert_false(transcript_scroll(t, -TRANSCRIPT_ALL));
}

TALE(scrolling_stops_at_both_ends, "=stays 5", "=exchange 1 q|a", "=stays 5", "=stays -5",
     "=size 40 2", "=first tiro", "=scroll 2", "=first │ q", "=scroll 100", "=first ", "=stays 1",
     "=scroll -100", "=first tiro", "=last", "=top", "=above");

/* Moving up and down by single rows shows every row once, for any items. */
TEST(every_row_is_met_once)
{
    for (int i = 0; i < 30; i++)
        exchange(3 * i + 1, "question", i % 3 ? "answer" : "```c\nint x;\n```\n\n- a\n- b\n");
    tale("=size 40 200000");
    auto_free char *whole = seen_transcript(t);
    tale("=size 40 1");
    AUTO(buf_release) struct buf up = BUF_INIT, down = BUF_INIT;
    tale("=top");
    do {
        auto_free char *row = seen_transcript(t);
        buf_addstr(&down, row);
    } while (transcript_scroll(t, -1));
    assert_string_equal(down.data, whole);
    do {
        auto_free char *row = seen_transcript(t);
        buf_splice(&up, 0, 0, row, strlen(row));
    } while (transcript_scroll(t, 1));
    assert_string_equal(up.data, whole);
}

TEST(a_new_width_keeps_the_text_in_view)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        buf_addf(&answer, "word%d ", i);
    exchange(1, "q", answer.data);
    exchange(4, "q", answer.data);
    tale("=scroll 100", "=size 30 20");
    int a = atoi(strstr(support_keep(seen_transcript(t)), "word") + 4);
    tale("=size 73 20");
    int b = atoi(strstr(support_keep(seen_transcript(t)), "word") + 4);
    assert_in_range(b, a > 30 ? a - 30 : 0, a + 30);
}

/* A text that came in pieces, with the transcript drawn after each. */
static void stream(const char *text)
{
    tale("=asks 1 q");
    for (const char *at = text; *at; at += strnlen(at, 500))
        tale(support_text("=delta %.500s", at), "=draw");
    tell(t, EV(TEXT_COMPLETE, 2, text), EV(TURN_COMPLETED, 3, text));
}

static size_t rows_laid_out(void)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    assert_int_equal(count, 20);
    return rows[0].rows->list.len;
}

/* Whether the view shows the rows of `whole` that end `up` rows before its end. */
static void assert_shows(const char *whole, size_t up)
{
    size_t rows = 0, end = strlen(whole);
    while (up > 0)
        up -= whole[--end - 1] == '\n';
    size_t begin = end;
    while (begin > 0 && (rows += whole[begin - 1] == '\n') <= 20)
        begin--;
    char *wanted = support_keep(mem_strndup(whole + begin, end - begin));
    assert_string_equal(support_keep(seen_transcript(t)), wanted);
}

/* Rows far above the view are let go, and are there again when they are wanted. */
TEST(a_giant_is_laid_out_where_it_is_read)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    for (int i = 0; i < 1500; i++)
        buf_addf(&answer, "- item %d of [a list](https://list.example/%d), *and more*\n%s", i,
                 i / 3, i % 9 ? "" : "\n```c\nint code;\n```\n\n");
    stream(answer.data);
    assert_in_range(rows_laid_out(), 200, 700);
    tale("=size 40 100000");
    char *whole = support_keep(seen_transcript(t));
    tale("=size 40 20");
    assert_shows(whole, 0);
    assert_in_range(rows_laid_out(), 200, 700);
    size_t up = 0;
    for (int step = 7; step < 900; step += step / 3, up += (size_t)step) {
        assert_shows(whole, up);
        transcript_scroll(t, step + step / 3);
    }
    tale("=end");
    assert_shows(whole, 0);
    assert_in_range(rows_laid_out(), 200, 700);
    tale("=find item 12 of", "item 12 of", "item 13 of");
    transcript_find(t, NULL, true);
    tale("=end");
    assert_shows(whole, 0);
    assert_in_range(rows_laid_out(), 200, 700);
}

TEST(toggling_leaves_the_top_in_place)
{
    AUTO(buf_release) struct buf result = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_addf(&result, "line %d\n", i);
    tale("=asks 1 q", "=call 2 c1 read_file {}", support_text("=result 3 c1 %s", result.data),
         "=text 4 end", "=first ", "=toggle 1", "you\n", "    line 0\n", "=above", "=toggle 1",
         "  end\n", "=last");
}

/* --- search and copying --- */

TEST(finds_older_and_newer)
{
    for (int i = 0; i < 40; i++)
        exchange(3 * i + 1, "question", support_text("answer **number** %d with ÄPFEL%d", i, i));
    tale("=find äpfel7", "=marked ÄPFEL7", "=lost äpfel7", "=marked ÄPFEL7", "=find number 5",
         "answer number 5 with", "=newer äpfel", "=newer äpfel", "ÄPFEL6", "=lost nowhere");
    assert_false(transcript_find(t, NULL, true));
    tale("=unmarked ÄPFEL");
}

TEST(sources_are_as_they_were_told)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    assert_int_equal(transcript_source(t, 1000, &out), 0);
    assert_int_equal(out.len, 0);
    tale("=exchange 1 a *question*|```c\nint main(void);\n```", "=asks 4 r",
         "=call 5 c1 read_file {\"path\":\"a.c\"}", "=result 6 c1 text of it",
         "=text 7 That is **it**.\n");
    size_t at = transcript_source(t, 1000, &out);
    assert_int_equal(at, out.len); /* it follows the end */
    assert_string_equal(out.data,
                        "you\na *question*\n\ntiro\n```c\nint main(void);\n```\n\n"
                        "you\nr\n\ntiro\nread_file {\"path\":\"a.c\"}\n\n"
                        "That is **it**.\n");
}

TEST(sources_reach_so_far_from_the_view)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (int i = 0; i < 100; i++)
        exchange(3 * i + 1, support_text("number %d", i), "an answer");
    assert_true(transcript_show_place(t, &(struct transcript_place){.seq = 3 * 50 + 1}));
    size_t at = transcript_source(t, 200, &out);
    assert_non_null(strstr(out.data, "number 50"));
    assert_ptr_equal(strstr(out.data + at, "number 50"), strstr(out.data, "number 50"));
    assert_true(strstr(out.data, "number 50") - (out.data + at) < 10);
    assert_says(out.data, "!number 30", "!number 70");
    assert_in_range(out.len, 300, 900);
}

TEST(a_place_is_found_again)
{
    for (int i = 0; i < 40; i++)
        exchange(3 * i + 1, "question", "one\n\ntwo\n\nthree");
    struct transcript_place end = transcript_place(t);
    assert_int_equal(end.seq, 0);
    for (int i = 0; i < 60; i++) {
        tale("=scroll 7");
        const char *before = support_keep(seen_transcript(t));
        struct transcript_place p = transcript_place(t);
        tale("=end");
        assert_true(transcript_show_place(t, &p));
        if (*before != '\n') /* the blank row before a message is not a place */
            seen_transcript_is(t, before);
    }
    assert_true(transcript_show_place(t, &end));
    tale("=last");
}

TEST(matches_are_counted_from_the_newest)
{
    tale("=exchange 1 needle one|hay", "=exchange 4 hay|a needle and\n\nanother needle",
         "=matches 0 0", /* nothing is looked for */
         "=find needle", "=matches 1 3", "=find needle", "=matches 2 3", "=exchange 7 NEEDLE|hay",
         "=matches 3 4", "=size 5 20",                 /* no row is wide enough */
         "=matches 0 0", "=size 8 20", "=matches 0 4", /* which it was is lost */
         "=find needle");
    for (int width = 8; width < 80; width++) {
        transcript_resize(t, width, 20);
        tale("=matches 1 4");
    }
    tale("=lost lost", "=matches 0 0");
}

TALE(what_streams_is_counted_as_it_grows, "=exchange 1 needle|hay", "=find needle", "=asks 4 on",
     "=delta nee", "=matches 1 1", "=delta dle", "=matches 2 2", "=text 5 noodle", "=matches 1 1");

TEST(counting_goes_on_where_it_stopped)
{
    for (int i = 0; i < 50; i++)
        exchange(3 * i + 1, "a question of twenty", "a needle of twenty!!");
    tale("=find needle");
    struct transcript_matches m = transcript_matches(t, 400);
    int calls = 1;
    assert_false(m.whole);
    assert_int_equal(m.at, 1);
    assert_in_range(m.count, 5, 20);
    for (size_t before = 0; !m.whole; m = transcript_matches(t, 400), calls++) {
        assert_true(m.count > before);
        before = m.count;
    }
    assert_int_equal(m.count, 50);
    assert_in_range(calls, 3, 10);
}

TEST(a_search_goes_round)
{
    for (int i = 0; i < 30; i++)
        exchange(3 * i + 1, i % 10 == 0 ? "needle" : "hay", "hay");
    tale("=find needle", "=find needle", "=find needle", "=matches 3 3", "=lost needle");
    assert_true(transcript_find_around(t, true));
    tale("=matches 1 3");
    assert_false(transcript_find(t, "needle", false));
    assert_true(transcript_find_around(t, false));
    tale("=matches 3 3", "=lost nowhere");
    assert_false(transcript_find_around(t, true));
    assert_false(transcript_find_around(t, false));
}

TALE(finds_over_a_line_break_and_in_calls, "=size 24 10",
     "=exchange 1 q|some words before the needle in hay here", "=asks 4 r",
     "=call 5 c1 read_file {\"path\":\"special.c\"}", "=find before the needle", "=size 60 10",
     "=newer SPECIAL", "=marked special");

TEST(last_code_is_the_newest_block)
{
    assert_null(transcript_last_answer(t));
    assert_null(transcript_last_code(t));
    tale("=exchange 1 q|```\nold\n```\n", "=exchange 4 q|```\na\n```\n\n```c\nint x;\n```\n",
         "=exchange 7 q|no code");
    assert_string_equal(support_keep(transcript_last_code(t)), "int x;\n");
    tale("=answer no code", "=clear");
    assert_null(transcript_last_answer(t));
    tale("=is ");
}

/* --- anything at any time --- */

static char *random_text(uint64_t *seed)
{
    static char texts[][64] = {"one ",
                               "two\n\n",
                               "```\ncode\n",
                               "- item\n",
                               "日本語の長い長い名前の要約モデル ",
                               "",
                               "long text that has to be broken somewhere ",
                               "handoff",
                               "micro",
                               "\x1b]0;evil\x07 \x1b[2J",
                               "bad \xff\xc3 utf-8",
                               "e\u0301\u0301\u0301 👩\u200d👩\u200d👧"};
    uint64_t n = support_random(seed) % (sizeof texts / sizeof *texts + 1);
    return n < sizeof texts / sizeof *texts ? texts[n] : NULL;
}

/* The strings of the event are not owned. Half of the events are those of a compaction. */
static struct event random_event(uint64_t *seed, int64_t seq)
{
    static char ids[][4] = {"c1", "c2", "c3"}, name[] = "read_file";
    static const enum event_type cards[] = {EVENT_COMPACTION_STARTED, EVENT_COMPACTION_DELTA,
                                            EVENT_COMPACTION_COMPLETED, EVENT_COMPACTION_FAILED,
                                            EVENT_COMPACTION_UNDONE};
    struct event ev = {.seq = seq,
                       .type = support_random(seed) % 2
                                   ? cards[support_random(seed) % (sizeof cards / sizeof *cards)]
                                   : (enum event_type)(support_random(seed) % EVENT_TYPE_COUNT),
                       .text = random_text(seed),
                       .id = ids[support_random(seed) % 3],
                       .name = support_random(seed) % 2 ? name : random_text(seed),
                       .model = random_text(seed),
                       .flag = support_random(seed) % 4 == 0};
    struct compaction *c = &ev.compaction;
    char **texts[] = {&c->mode, &c->effective_mode, &c->stage, &c->trigger, &c->reason};
    int64_t *figures[] = {&c->input_tokens,  &c->estimate,     &c->threshold,
                          &c->tokens_before, &c->tokens_after, &ev.number};
    int *counts[] = {&c->messages_before,
                     &c->messages_after,
                     &c->messages_changed,
                     &c->entries_indexed,
                     &c->failures,
                     &ev.count,
                     &ev.limit};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = random_text(seed);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        *figures[i] =
            (int64_t)(support_random(seed) % 7 ? support_random(seed) % 2000 : INT64_MAX) - 5;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = (int)(support_random(seed) % 50) - 5;
    c->suspended = support_random(seed) % 2;
    ev.used = (double)(support_random(seed) % 100) / 1000 - 0.01;
    ev.stop_reason = (enum stop_reason)(support_random(seed) % (STOP_OTHER + 1));
    if (ev.type == EVENT_TURN_STARTED || ev.type == EVENT_COMPACTION_UNDONE)
        ev.number =
            support_random(seed) % 3 ? 0 : 1 + (int64_t)(support_random(seed) % (uint64_t)seq);
    return ev;
}

static void random_view(struct transcript *any, uint64_t *seed)
{
    switch (support_random(seed) % 10) {
    case 0:
        transcript_resize(any, 1 + (int)(support_random(seed) % 60),
                          1 + (int)(support_random(seed) % 20));
        break;
    case 1:
        transcript_scroll(any, (int)(support_random(seed) % 40) - 20);
        break;
    case 2:
        transcript_toggle(any, support_random(seed) % 20);
        break;
    case 3:
        transcript_find(any, support_random(seed) % 2 ? "o" : "text", support_random(seed) % 2);
        break;
    case 4:
        transcript_toggle_all(any);
        break;
    case 5:
        transcript_set_reasoning(any, (enum reasoning_view)(support_random(seed) % 3));
        break;
    case 6:
        transcript_scroll(any, TRANSCRIPT_ALL);
        break;
    case 7:
        transcript_note(any, STYLE_WARNING, "note\nof two lines", false);
        break;
    case 8:
        transcript_tick(any, (int64_t)(support_random(seed) % 200000));
        break;
    default:
        transcript_scroll(any, -TRANSCRIPT_ALL);
    }
}

static void check_view(struct transcript *any, uint64_t *seed)
{
    size_t count;
    int width = 1 + (int)(support_random(seed) % 50), height = 1 + (int)(support_random(seed) % 20);
    transcript_resize(any, width, height);
    const struct transcript_row *rows = transcript_rows(any, &count);
    assert_true(count <= (size_t)height);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i].rows->list.items[rows[i].index];
        const char *text = rows[i].rows->text.data + row->text;
        assert_true(rows_width(rows[i].rows, rows[i].index) <= (size_t)width);
        assert_true(utf8_valid(text, row->len));
        for (uint32_t b = 0; b < row->len; b++)
            assert_true((unsigned char)text[b] >= 0x20 && text[b] != 0x7f);
    }
    assert_true(transcript_unread(any) >= 0);
}

static void random_page(struct transcript *any, uint64_t *seed, int64_t seq)
{
    struct event events[20], *page[20];
    for (int i = 0; i < 20; i++) {
        events[i] = random_event(seed, seq + i);
        page[i] = &events[i];
    }
    transcript_prepend(any, page, 20, true);
}

TEST(nothing_breaks_it)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 150; round++) {
        struct transcript *any = transcript_new();
        int64_t seq = 101;
        transcript_set_hints(any, "Esc", "Enter", "F2", round % 2);
        for (int step = 0; step < 60; step++) {
            struct event ev = random_event(&seed, seq);
            if (support_random(&seed) % 3) {
                transcript_apply(any, &ev);
                seq++;
            } else {
                random_view(any, &seed);
            }
            if (support_random(&seed) % 3 == 0)
                check_view(any, &seed);
            if (step % 25 == 24)
                random_page(any, &seed, 61 - step);
        }
        transcript_free(any);
    }
}

/* --- answers that are laid out in more than one frame --- */

enum { GIANT = 1024 * 1024, PACE = 64 * 1024 };

static const char *giant(void)
{
    struct buf text = BUF_INIT;
    while (text.len < GIANT)
        buf_addf(&text, "- item %zu\n  - nested *äöü* item\n", text.len);
    return support_keep(buf_take(&text));
}

/* Frames until all is laid out. */
static size_t frames(struct transcript *any)
{
    size_t count, n = 1;
    for (transcript_rows(any, &count); transcript_is_behind(any); transcript_rows(any, &count))
        n++;
    return n;
}

static void assert_same_view(struct transcript *a, struct transcript *b)
{
    assert_string_equal(support_keep(seen_transcript(a)), support_keep(seen_transcript(b)));
}

TEST(a_giant_answer_comes_in_frames)
{
    struct transcript *whole = transcript_new();
    struct transcript *const both[] = {t, whole};
    const char *text = giant();
    transcript_resize(whole, 40, 20);
    transcript_set_pace(t, PACE);
    for (int i = 0; i < 2; i++) {
        told(both[i], EV(TURN_STARTED, 1, "q"));
        told(both[i], EV(TEXT_DELTA, 2, text));
    }
    size_t n = frames(t);
    assert_in_range(n, GIANT / PACE, GIANT / PACE + 2);
    assert_int_equal(frames(whole), 1);
    assert_same_view(t, whole);
    tale("=size 60 20");
    transcript_resize(whole, 60, 20);
    assert_true(frames(t) >= n - 1);
    assert_same_view(t, whole);
    tale("=scroll 1000");
    transcript_scroll(whole, 1000);
    tale("=size 50 20" /* in the middle nothing may move under the reader */);
    transcript_resize(whole, 50, 20);
    assert_same_view(t, whole);
    transcript_free(whole);
}

/* The mark of the interruption stands after the end, and costs one row, not a new layout of all
 * rows. */
TEST(a_giant_answer_is_interrupted)
{
    const char *text = giant();
    transcript_set_pace(t, PACE);
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_DELTA, 2, text));
    frames(t);
    struct event *ev = EV(TEXT_COMPLETE, 3, text);
    ev->flag = true;
    told(t, ev);
    assert_int_equal(frames(t), 1);
    tale("interrupted", "=size 60 20");
    size_t count;
    transcript_rows(t, &count);
    assert_true(transcript_is_behind(t));
    tale("!interrupted");
    frames(t);
    tale("interrupted");
}

/* A folded text has no rows to wait for. */
TEST(giant_reasoning_is_folded)
{
    const char *text = giant();
    transcript_set_pace(t, PACE);
    tell(t, EV(TURN_STARTED, 1, "q"), EV(REASONING_DELTA, 2, text));
    assert_int_equal(frames(t), 1);
    tale("=toggle all");
    assert_true(frames(t) > 1);
    tale("=toggle all");
    assert_int_equal(frames(t), 1);
    told(t, EV(REASONING_COMPLETE, 3, text));
    assert_int_equal(frames(t), 1);
}

/* --- citations --- */

/* Number and event of each citation that a press chooses, until the first comes again. */
static const char *chosen_in_turn(void)
{
    struct transcript_citation c;
    struct buf all = BUF_INIT;
    for (int i = 0; i < 20 && transcript_choose_citation(t); i++) {
        assert_true(transcript_chosen_citation(t, &c));
        buf_addf(&all, "%d@%d ", c.number, (int)c.before);
    }
    return support_keep(buf_take(&all));
}

TALE(a_search_in_documents_says_what_it_looked_for_and_how_much_it_found, "=asks 1 where?",
     "=passages 2 a", "=size 60 20", "rag_search “ryokan” → 3 passages");

TEST(citations_are_chosen_one_after_the_other)
{
    tale("=asks 1 where?", "=passages 2 a",
         "=text 4 By the river [2], in May [1, 3]. `x[3]` [2](http://a.b) [x] [0] [4] [1, 7]");
    assert_int_equal(transcript_passages(t, SIZE_MAX), 3);
    tale("=size 90 20");
    assert_string_equal(support_text("%.15s", chosen_in_turn()), "2@5 1@5 3@5 2@5");
    assert_true(transcript_leave_citation(t));
    assert_false(transcript_leave_citation(t));
}

TEST(the_newest_answers_citation_is_the_first_and_older_ones_know_their_answer)
{
    struct transcript_citation c;
    tale("=asks 1 where?", "=passages 2 a", "=text 4 By the river [1].", "=asks 5 when?",
         "=passages 6 b", "=text 8 In May [2].");
    assert_string_equal(support_text("%.7s", chosen_in_turn()), "2@9 1@5");
    tale("=size 39 20");
    assert_false(transcript_chosen_citation(t, &c));
}

TEST(a_citation_is_found_by_its_place)
{
    struct transcript_citation c;
    size_t count, row = 0;
    tale("=asks 1 where?", "=passages 2 a", "=text 4 川 [2] there");
    (void)transcript_rows(t, &count);
    row = count - 1;
    assert_false(transcript_citation_at(t, row, 4, &c));
    assert_true(transcript_citation_at(t, row, 5, &c));
    assert_true(transcript_citation_at(t, row, 7, &c));
    assert_int_equal(c.number, 2);
    assert_false(transcript_citation_at(t, row, 8, &c));
    assert_false(transcript_citation_at(t, row - 1, 5, &c));
    assert_false(transcript_citation_at(t, count + 5, 5, &c));
}

TEST(without_a_search_in_documents_brackets_are_text)
{
    tale("=exchange 1 where?|By the river [1].");
    assert_false(transcript_choose_citation(t));
}

/* A command of the person is shown as a call, also where the page begins behind it. */
TEST(a_command_of_the_person_has_its_output_as_a_call_has)
{
    struct event *began = EV(TURN_STARTED, 1, "!make"), *ended = EV(COMMAND_COMPLETED, 2, "ok\n");
    began->origin = INPUT_COMMAND;
    tell(t, began);
    assert_true(transcript_output(t, COMMAND_CALL, "building\n", false, 5));
    assert_says(support_keep(seen_transcript(t)), "\u2502 !make", "\u201cmake\u201d", "building",
                "!tiro");
    tell(t, ended, EV(TURN_COMPLETED, 3, ""));
    assert_says(support_keep(seen_transcript(t)), "!building");
    transcript_toggle_all(t);
    assert_says(support_keep(seen_transcript(t)), "ok");
}
