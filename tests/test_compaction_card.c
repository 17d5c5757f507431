/* Compactions in the transcript: the card while one runs, and afterwards. */
#include <locale.h>

#include "base/utf8.h"
#include "chat/event.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "tests/told.h"
#include "ui/term/rows.h"
#include "ui/transcript/compaction_card.h"
#include "ui/transcript/transcript.h"

static struct transcript *t; /* of the test */

/* --- events --- */

static struct event *started(int64_t seq, const char *mode, const char *trigger)
{
    struct event *ev = EV(COMPACTION_STARTED, seq, NULL);
    ev->model = mem_strdup("anthropic/small");
    ev->compaction.mode = mem_strdup(mode);
    ev->compaction.stage = mem_strdup("summary");
    ev->compaction.trigger = mem_strdup(trigger);
    ev->compaction.input_tokens = 101204;
    ev->compaction.estimate = 99000;
    ev->compaction.threshold = 100000;
    ev->compaction.request_before = 101204;
    ev->compaction.messages_before = 142;
    return ev;
}

static struct event *delta(int64_t seq, const char *text, int part, int of)
{
    struct event *ev = EV(COMPACTION_DELTA, seq, text);
    ev->count = part;
    ev->limit = of;
    return ev;
}

static struct event *completed(int64_t seq)
{
    struct event *ev = EV(COMPACTION_COMPLETED, seq, "[Context compacted] the summary");
    ev->model = mem_strdup("anthropic/small");
    ev->compaction.mode = mem_strdup("handoff");
    ev->compaction.effective_mode = mem_strdup("handoff");
    ev->compaction.stage = mem_strdup("summary");
    ev->compaction.tokens_before = 99000;
    ev->compaction.tokens_after = 4106;
    ev->compaction.request_before = 101204;
    ev->compaction.request_after = 6310;
    ev->compaction.messages_before = 142;
    ev->compaction.messages_after = 9;
    ev->used = 0.0123;
    ev->number = 4210;
    return ev;
}

static struct event *failed(int64_t seq, const char *reason, const char *message)
{
    struct event *ev = EV(COMPACTION_FAILED, seq, message);
    ev->compaction.mode = mem_strdup("handoff");
    ev->compaction.reason = mem_strdup(reason);
    ev->number = 2100;
    return ev;
}

/* Sets a member of an event. */
static void set(char **member, const char *text)
{
    free(*member);
    *member = mem_strdup(text);
}

/* --- drawing --- */

static enum style style_of_row(size_t index)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    assert_true(index < count);
    const struct row *row = &rows[index].rows->list.items[rows[index].index];
    return (enum style)rows[index].rows->spans.items[row->spans].style;
}

/* --- steps --- */

/* "SEQ MODE TRIGGER" */
static void tell_started(const char *rest)
{
    char mode[32], trigger[32];
    int seq;
    assert_int_equal(sscanf(rest, "%d %31s %31s", &seq, mode, trigger), 3);
    told_take(started(seq, mode, trigger));
}

/* "SEQ PART OF TEXT" */
static void tell_part(const char *rest)
{
    int seq, part, of, len = 0;
    assert_int_equal(sscanf(rest, "%d %d %d%n", &seq, &part, &of, &len), 3);
    told_take(delta(seq, rest + len + 1, part, of));
}

static void tell_completed(const char *seq)
{
    told_take(completed(atoi(seq)));
}

/* "SEQ REASON MESSAGE" */
static void tell_failed(const char *rest)
{
    char reason[32];
    int seq, len = 0;
    assert_int_equal(sscanf(rest, "%d %31s%n", &seq, reason, &len), 2);
    told_take(failed(seq, reason, rest + len + 1));
}

static void tell_undone(const char *seq_and_of)
{
    struct event *ev = EV(COMPACTION_UNDONE, atoi(seq_and_of), NULL);
    ev->number = atoi(strchr(seq_and_of, ' '));
    told_take(ev);
}

static const struct step steps[] = {
    {"started", .run = tell_started},     {"part", .run = tell_part},
    {"completed", .run = tell_completed}, {"failed", .run = tell_failed},
    {"undone", .run = tell_undone},       {.name = NULL}};

static int set_up(void **state)
{
    (void)state;
    setlocale(LC_ALL, "C.UTF-8");
    t = transcript_new();
    told_to(t, steps);
    transcript_resize(t, 100, 30);
    transcript_set_hints(t, "Esc", "Enter", NULL, false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    glyph_set_up(false);
    transcript_free(t);
    return 0;
}

/* --- while it goes on --- */

FIXTURE(set_up, tear_down);

TALE(a_running_card_says_what_goes_on, "=started 1 handoff input_tokens", "=shown",
     "=is \n▣ compacting · summary + last turns · ~101,204 tokens · 0 s   Esc cancels\n"
     "  anthropic/small · limit of 100,000 tokens reached\n");

TEST(seconds_are_counted)
{
    assert_false(transcript_tick(t, 5000));
    tale("=started 1 handoff manual");
    assert_false(transcript_tick(t, 900));
    tale("=tick 4100", "~101,204 tokens · 4 s   Esc");
    assert_false(transcript_tick(t, 4900));
    tale("=tick 61000", " · 1:01   Esc", "=completed 2");
    assert_false(transcript_tick(t, 90000));
    tale("!1:");
}

TEST(every_trigger_has_words)
{
    static const struct {
        const char *trigger, *words;
    } cases[] = {
        {"input_tokens", "limit of 100,000 tokens reached"},
        {"estimate", "limit of 100,000 tokens, by estimate"},
        {"request", "next request would not fit the model"},
        {"overflow", "the request was too long for the model"},
        {"manual", "manual"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tale("=clear", support_text("=started 1 handoff %s", cases[i].trigger), cases[i].words,
             "· ~101,204 tokens");
    }
}

TEST(a_model_is_named_only_where_one_is_asked)
{
    struct event *ev = started(1, "deterministic", "manual");
    set(&ev->model, NULL);
    told(t, ev);
    tale(
        "=is \n▣ compacting · deterministic · ~101,204 tokens · 0 s   Esc cancels\n"
        "  manual\n",
        "=clear");
    ev = started(1, "handoff", "estimate");
    set(&ev->compaction.stage, "micro");
    told(t, ev);
    tale("▣ compacting · shortening tool results · ", "!anthropic", "!handoff");
}

TEST(the_end_of_the_summary_streams)
{
    tale("=started 1 handoff manual", "=part 0 0 0 first line\nsecond caf\xc3",
         "=part 0 0 0 \xa9\n", "\n  first line\n  second café\n",
         "=part 0 0 0 third\n\nfifth \x1b[31m", "!second", "\n  third\n  \n  fifth ␛[31m\n");
    assert_int_equal(style_of_row(3), STYLE_TEXT);
}

TALE(a_part_of_a_folded_history_begins_anew, "=started 1 handoff manual",
     "=part 0 1 5 of the first", "=part 0 1 5  part", "· part 1 of 5\n  of the first part\n",
     "=part 0 2 5 next", "· part 2 of 5\n  next\n", "!of the first");

TALE(a_repeated_call_begins_anew, "=started 1 handoff manual", "=part 0 0 0 lost half",
     "=repeats 2 busy", "=shown", "!lost half", "=part 0 0 0 again", "\n  again\n");

TEST(only_the_end_of_a_summary_is_held)
{
    struct item *item = item_new(ITEM_COMPACTION, 1);
    AUTO(event_free_local) struct event *piece = delta(0, "äöü some more words\n", 0, 0);
    for (int i = 0; i < 20000; i++)
        compaction_card_apply(item, piece);
    assert_true(item->text.len < 32 * 1024);
    assert_true(utf8_valid(item->text.data, item->text.len));
    piece->type = EVENT_COMPACTION_FAILED;
    compaction_card_apply(item, piece);
    assert_int_equal(item->text.len, 0);
    item_free(item);
}

TEST(a_giant_summary_shows_its_end)
{
    auto_free char *piece = mem_alloc(2048);
    tale("=started 1 handoff manual");
    memset(piece, 'x', 2047);
    for (int i = 0; i < 5000; i++)
        told(t, delta(0, piece, 0, 0));
    tale("=part 0 0 0  the end", " the end\n");
    assert_true(strlen(support_keep(seen_transcript(t))) < 1000);
}

/* --- its outcome --- */

TALE(an_outcome_is_two_lines, "=started 1 handoff manual", "=part 0 0 0 streamed", "=completed 2",
     "=is \n▣ compacted · summary + last turns · 101,204 → 6,310 tokens\n"
     "  142 → 9 messages · anthropic/small · $0.01 · 4.2 s   ⏎ opens\n");

/* An older program knew the history alone, and a figure says so. */
TEST(older_events_tell_of_the_history)
{
    struct event *begun = started(1, "handoff", "manual"), *ended = completed(2);
    begun->compaction.request_before = 0;
    ended->compaction.request_before = ended->compaction.request_after = 0;
    told(t, begun);
    tale("· history ~99,000 tokens · ");
    told(t, ended);
    tale("summary + last turns · history 99,000 → 4,106 tokens\n");
}

TEST(the_figures_of_the_specification)
{
    struct event *ev = completed(2);
    ev->compaction.entries_indexed = 133;
    set(&ev->model, NULL);
    ev->used = 0;
    told(t, ev);
    tale(
        "=is \n▣ compacted · summary + last turns · 101,204 → 6,310 tokens\n"
        "  142 → 9 messages · 133 memory entries · 4.2 s   ⏎ opens\n");
}

TEST(shortened_tool_results_are_counted)
{
    struct event *ev = completed(2);
    set(&ev->compaction.stage, "micro");
    ev->compaction.messages_after = 142;
    ev->compaction.messages_changed = 12;
    set(&ev->model, NULL);
    ev->used = 0;
    told(t, ev);
    tale(
        "=is \n▣ compacted · 12 tool results shortened · 101,204 → 6,310 tokens\n"
        "  4.2 s   ⏎ opens\n");
}

TEST(another_mode_than_asked_for_says_why)
{
    struct event *ev = completed(2);
    set(&ev->compaction.mode, "structured");
    set(&ev->compaction.effective_mode, "recency_preserving");
    ev->name = mem_strdup("the model's summary was \x1b[31mempty\n");
    told(t, ev);
    tale("▣ compacted · recency_preserving · ",
         "\n  recency_preserving instead of structured: the model's summary was "
         "␛[31mempty");
}

TEST(how_to_choose_another_mode_is_the_last_line)
{
    transcript_set_hints(t, "Esc", "Ctrl-X", NULL, true);
    tale("=completed 2",
         "   Ctrl-X opens\n  another mode: /compact MODE, or [compaction] mode in "
         "tiro.ini\n",
         "=clear");
    struct event *micro = completed(2);
    set(&micro->compaction.stage, "micro");
    told(t, micro);
    tale("!another mode" /* no mode was asked */);
    transcript_set_hints(t, "", "", "", false);
    tale("=clear", "=started 1 handoff manual", "!cancels", "=completed 2", "!open",
         "!another mode");
}

TEST(a_changed_draft_is_said)
{
    struct event *ev = completed(2);
    ev->flag = true;
    told(t, ev);
    tale(" · edited by you · ");
}

/* --- compactions without a result --- */

TEST(every_failure_has_its_words)
{
    static const struct {
        const char *reason, *words, *then;
        bool quiet;
    } cases[] = {
        {"llm", "the model sent no summary: status 500", "/compact deterministic", false},
        {"empty_summary", "summary was empty: status 500", "/compact deterministic", false},
        {"memory_indexing", "dropped messages could not be stored", "/doctor", false},
        {"too_small", "the conversation would not get shorter", "/context", true},
        {"cancelled", "cancelled", "The conversation is unchanged", true},
        {"store", "could not be saved: status 500", "/doctor", false},
        {"of a newer tiro", "an error occurred: status 500", "/compact tries again", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tale("=clear", "=started 1 handoff manual");
        bool small = strcmp(cases[i].reason, "too_small") == 0;
        struct event *ev = failed(2, cases[i].reason, small ? "no shorter" : "status 500");
        ev->name = small ? mem_strdup("TOO_SMALL_TO_COMPACT") : NULL;
        told(t, ev);
        tale(cases[i].quiet ? "▣ not compacted · summary + last turns · 2.1 s\n"
                            : "✗ not compacted · summary + last turns · 2.1 s\n");
        assert_int_equal(style_of_row(1), cases[i].quiet ? STYLE_NOTE : STYLE_ERROR);
        tale(cases[i].words, cases[i].then);
        assert_int_equal(seen_transcript_has(t, "status 500"), !cases[i].quiet);
        tale("!no shorter", "!has stopped", "=card 0");
    }
}

TALE(what_cannot_shrink_is_told, "=failed 2 too_small what has to stay takes 9000 tokens",
     "the conversation would not get shorter: what has to stay takes 9000 tokens");

/* Also of one that another mode ended. */
TEST(suspension_is_said)
{
    struct event *both[] = {failed(2, "llm", "no"), completed(2)};
    set(&both[1]->compaction.mode, "structured");
    tale("=size 250 30");
    for (size_t i = 0; i < 2; i++) {
        tale("=clear");
        both[i]->compaction.failures = 3;
        both[i]->compaction.suspended = true;
        told(t, both[i]);
        tale(i == 0 ? "not compacted" : "instead of structured",
             "Automatic compaction has stopped in this session after 3 failures in "
             "a row. It starts again when /compact succeeds");
    }
}

TEST(a_compaction_that_was_cut_off_says_so)
{
    tale(
        "=page", "=started 1 handoff manual", "=part 2 0 0 half of it", "=earlier",
        "=is \n▣ compaction interrupted · summary + last turns\n"
        "  The program ended before the compaction was complete. The conversation is unchanged.\n");
    assert_false(transcript_tick(t, 5000));
    tale("=asks 3 next", "=completed 4", /* of another */
         "compaction interrupted", "▣ compacted");
}

TEST(a_run_that_ends_leaves_no_card_running)
{
    static const char *const ends[] = {"=asks 3 ", "=fails 3 ", "=stops 3 ", "=ends 3 "};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        tale("=clear", "=asks 1 q", "=started 2 handoff estimate", ends[i],
             "compaction interrupted");
}

TALE(another_that_begins_leaves_the_first_cut_off, "=started 1 structured manual",
     "=started 2 handoff manual", "▣ compaction interrupted · structured",
     "▣ compacting · summary + last turns");

/* A card that a page ended as cut off may continue. */
TALE(a_card_comes_back_to_life, "=page", "=started 1 handoff manual", "=earlier",
     "=part 0 0 0 more", "▣ compacting", "=completed 3", "▣ compacted", "!compaction interrupted",
     "!compacting");

/* --- notes --- */

TEST(an_undone_compaction_is_noted_and_marked)
{
    tale("=completed 2", "=completed 5", "=undone 7 5",
         "— compaction undone; the messages that it replaced are sent");
    char *text = support_keep(seen_transcript(t));
    char *first = strstr(text, "▣ compacted"), *second = strstr(first + 1, "▣ compacted");
    char *mark = strstr(text, "· undone");
    assert_true(second && mark > second && !strstr(mark + 1, "· undone"));
    tale("=card 5" /* still there to be read */);
}

TEST(pins_are_noted)
{
    tale("=asks 1 keep **this**\nand more");
    struct event *pin = EV(MESSAGE_PINNED, 2, NULL);
    pin->number = 1;
    pin->flag = true;
    told(t, pin);
    tale("— pinned: no compaction drops this message: “keep **this**”\n");
    pin = EV(MESSAGE_PINNED, 3, NULL);
    pin->number = 77;
    told(t, pin);
    tale("— no longer pinned\n");
}

/* --- among runs and pages --- */

TALE(a_card_stands_between_question_and_answer, "=asks 1 q", "=started 2 handoff estimate",
     "=completed 3", "=text 4 a",
     "=is \nyou\n│ q\n\n▣ compacted · summary + last turns · 101,204 → 6,310 tokens\n"
     "  142 → 9 messages · anthropic/small · $0.01 · 4.2 s   ⏎ opens\n\ntiro\n  a\n");

/* The history stays compacted, however the run ends. */
TALE(a_retry_does_not_take_the_card_away, "=asks 1 q", "=completed 3", "=fails 4 broken",
     "=retry 5 1 q", "!broken", "▣ compacted", "=clear", "=retry 5 1 q", "=page", "=asks 1 q",
     "=completed 3", "=fails 4 broken", "=earlier", "!broken", "▣ compacted");

TEST(pages_join_a_card_that_they_cut)
{
    tale("=completed 4", "=completed 6", "=page", "=started 2 handoff manual", "=part 3 0 0 half",
         "=earlier more", "!compaction interrupted", "!compacting", "=page",
         "=started 1 handoff manual", "=earlier",
         "compaction interrupted" /* another began after it */);
    char *text = support_keep(seen_transcript(t));
    assert_true(strstr(text, "compaction interrupted") < strstr(text, "compacted"));
}

TEST(an_undo_reaches_back_over_pages)
{
    tale("=undone 9 3", "=page", "=asks 6 q", "=earlier more", "=page", "=completed 2",
         "=completed 3", "=earlier", "· undone\n");
    char *text = support_keep(seen_transcript(t));
    assert_true(strstr(text, "· undone") > strstr(strstr(text, "compacted") + 1, "compacted"));
}

/* A log holds less than the live events only at its end. */
TEST(resumed_it_looks_the_same)
{
#define LIVE                                                                                       \
    "=asks 1 q", "=started 2 handoff manual", "=tick 1000", "=part 3 1 2 part", "=tick 2000",      \
        "=completed 4", "=text 5 a", "=ends 6 a", "=undone 7 4", "=started 8 handoff overflow",    \
        "=tick 7000", "=failed 9 llm no"
    tale(LIVE);
    auto_free char *seen = seen_transcript(t);
    tale("=clear", "=page", LIVE, "=earlier", support_text("=is %s", seen));
}

TEST(cards_are_found_for_opening)
{
    tale("=asks 1 q", "=card 0", "=completed 4", "=started 5 handoff manual");
    assert_int_equal(transcript_card(t, 0), 0);
    assert_int_equal(transcript_card(t, 1), 4);
    assert_int_equal(transcript_card(t, 2), 0);
    assert_int_equal(transcript_card(t, 99), 0);
    tale("=card 4");
    assert_false(transcript_toggle(t, 1)); /* it opens elsewhere */
    tale("=completed 6", "=card 6");
    for (int64_t seq = 7; seq < 60; seq++)
        told(t, EV(TEXT_COMPLETE, seq, "text"));
    tale("=card 0" /* it is not on the screen */);
}

/* --- any terminal --- */

TALE(a_narrow_card_breaks_between_its_pieces, "=size 40 30", "=started 1 handoff input_tokens",
     "=part 0 2 5 日本語の要約がここに流れていますので長い行は折り返されます",
     "=is \n▣ compacting · summary + last turns\n"
     "  ~101,204 tokens · 0 s   Esc cancels\n"
     "  anthropic/small\n"
     "  limit of 100,000 tokens reached\n"
     "  part 2 of 5\n"
     "  日本語の要約がここに流れていますので長\n"
     "  い行は折り返されます\n",
     "=completed 2",
     "=is \n▣ compacted · summary + last turns\n"
     "  101,204 → 6,310 tokens\n"
     "  142 → 9 messages · anthropic/small\n"
     "  $0.01 · 4.2 s   ⏎ opens\n");

TEST(without_utf8_it_is_ascii)
{
    glyph_set_up(true);
    tale("=started 1 handoff manual", "=completed 2", "=failed 3 llm no");
    char *text = support_keep(seen_transcript(t));
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p < 0x80);
    assert_says(text, "# compacted - summary + last turns - 101,204 -> 6,310 tokens\n",
                "4.2 s   Enter opens", "x not compacted - summary + last turns");
}
