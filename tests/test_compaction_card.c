/* Compactions in the transcript: the card while one runs, and afterwards. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/event.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "tests/told.h"
#include "ui/term/rows.h"
#include "ui/transcript/compaction_card.h"
#include "ui/transcript/transcript.h"

static struct transcript *t; /* of the test */

static int set_up(void **state)
{
    (void)state;
    setlocale(LC_ALL, "C.UTF-8");
    t = transcript_new();
    transcript_resize(t, 100, 30);
    transcript_set_hints(t, "Esc", "Enter", false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    glyph_set_up(false);
    transcript_free(t);
    return 0;
}

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

static struct event *undone(int64_t seq, int64_t of)
{
    struct event *ev = EV(COMPACTION_UNDONE, seq, NULL);
    ev->number = of;
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

/* --- while it goes on --- */

FIXTURE(set_up, tear_down);

TEST(a_running_card_says_what_goes_on)
{
    assert_true(told(t, started(1, "handoff", "input_tokens")));
    seen_transcript_is(
        t,
        "\n▣ compacting · summary + last turns · ~101,204 tokens · 0 s   Esc cancels\n"
        "  anthropic/small · limit of 100,000 tokens reached\n");
}

TEST(seconds_are_counted)
{
    assert_false(transcript_tick(t, 5000));
    told(t, started(1, "handoff", "manual"));
    assert_false(transcript_tick(t, 900));
    assert_true(transcript_tick(t, 4100));
    seen_transcript_says(t, "~101,204 tokens · 4 s   Esc");
    assert_false(transcript_tick(t, 4900));
    assert_true(transcript_tick(t, 61000));
    seen_transcript_says(t, " · 1:01   Esc");
    told(t, completed(2));
    assert_false(transcript_tick(t, 90000));
    seen_transcript_says(t, "!1:");
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
        transcript_clear(t);
        told(t, started(1, "handoff", cases[i].trigger));
        seen_transcript_says(t, cases[i].words, "· ~101,204 tokens");
    }
}

TEST(a_model_is_named_only_where_one_is_asked)
{
    struct event *ev = started(1, "deterministic", "manual");
    set(&ev->model, NULL);
    told(t, ev);
    seen_transcript_is(t,
                       "\n▣ compacting · deterministic · ~101,204 tokens · 0 s   Esc cancels\n"
                       "  manual\n");
    transcript_clear(t);
    ev = started(1, "handoff", "estimate");
    set(&ev->compaction.stage, "micro");
    told(t, ev);
    seen_transcript_says(t, "▣ compacting · shortening tool results · ", "!anthropic", "!handoff");
}

TEST(the_end_of_the_summary_streams)
{
    tell(t, started(1, "handoff", "manual"), delta(0, "first line\nsecond caf\xc3", 0, 0),
         delta(0, "\xa9\n", 0, 0));
    seen_transcript_says(t, "\n  first line\n  second café\n");
    told(t, delta(0, "third\n\nfifth \x1b[31m", 0, 0));
    seen_transcript_says(t, "!second", "\n  third\n  \n  fifth ␛[31m\n");
    assert_int_equal(style_of_row(3), STYLE_TEXT);
}

TEST(a_part_of_a_folded_history_begins_anew)
{
    tell(t, started(1, "handoff", "manual"), delta(0, "of the first", 1, 5),
         delta(0, " part", 1, 5));
    seen_transcript_says(t, "· part 1 of 5\n  of the first part\n");
    told(t, delta(0, "next", 2, 5));
    seen_transcript_says(t, "· part 2 of 5\n  next\n", "!of the first");
}

TEST(a_repeated_call_begins_anew)
{
    tell(t, started(1, "handoff", "manual"), delta(0, "lost half", 0, 0));
    assert_true(told(t, EV(RETRYING, 2, "busy")));
    seen_transcript_says(t, "!lost half");
    told(t, delta(0, "again", 0, 0));
    seen_transcript_says(t, "\n  again\n");
}

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
    told(t, started(1, "handoff", "manual"));
    memset(piece, 'x', 2047);
    for (int i = 0; i < 5000; i++)
        told(t, delta(0, piece, 0, 0));
    told(t, delta(0, " the end", 0, 0));
    seen_transcript_says(t, " the end\n");
    assert_true(strlen(support_keep(seen_transcript(t))) < 1000);
}

/* --- its outcome --- */

TEST(an_outcome_is_two_lines)
{
    tell(t, started(1, "handoff", "manual"), delta(0, "streamed", 0, 0), completed(2));
    seen_transcript_is(t,
                       "\n▣ compacted · summary + last turns · 101,204 → 6,310 tokens\n"
                       "  142 → 9 messages · anthropic/small · $0.01 · 4.2 s   ⏎ opens\n");
}

/* An older program knew the history alone, and a figure says so. */
TEST(older_events_tell_of_the_history)
{
    struct event *begun = started(1, "handoff", "manual"), *ended = completed(2);
    begun->compaction.request_before = 0;
    ended->compaction.request_before = ended->compaction.request_after = 0;
    told(t, begun);
    seen_transcript_says(t, "· history ~99,000 tokens · ");
    told(t, ended);
    seen_transcript_says(t, "summary + last turns · history 99,000 → 4,106 tokens\n");
}

TEST(the_figures_of_the_specification)
{
    struct event *ev = completed(2);
    ev->compaction.entries_indexed = 133;
    set(&ev->model, NULL);
    ev->used = 0;
    told(t, ev);
    seen_transcript_is(t,
                       "\n▣ compacted · summary + last turns · 101,204 → 6,310 tokens\n"
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
    seen_transcript_is(t,
                       "\n▣ compacted · 12 tool results shortened · 101,204 → 6,310 tokens\n"
                       "  4.2 s   ⏎ opens\n");
}

TEST(another_mode_than_asked_for_says_why)
{
    struct event *ev = completed(2);
    set(&ev->compaction.mode, "structured");
    set(&ev->compaction.effective_mode, "recency_preserving");
    ev->name = mem_strdup("the model's summary was \x1b[31mempty\n");
    told(t, ev);
    seen_transcript_says(t, "▣ compacted · recency_preserving · ",
                         "\n  recency_preserving instead of structured: the model's summary was "
                         "␛[31mempty");
}

TEST(how_to_choose_another_mode_is_the_last_line)
{
    transcript_set_hints(t, "Esc", "Ctrl-X", true);
    told(t, completed(2));
    seen_transcript_says(t,
                         "   Ctrl-X opens\n  another mode: /compact MODE, or [compaction] mode in "
                         "tiro.ini\n");
    transcript_clear(t);
    struct event *micro = completed(2);
    set(&micro->compaction.stage, "micro");
    told(t, micro);
    seen_transcript_says(t, "!another mode"); /* no mode was asked */
    transcript_set_hints(t, "", "", false);
    transcript_clear(t);
    told(t, started(1, "handoff", "manual"));
    seen_transcript_says(t, "!cancels");
    told(t, completed(2));
    seen_transcript_says(t, "!open", "!another mode");
}

TEST(a_changed_draft_is_said)
{
    struct event *ev = completed(2);
    ev->flag = true;
    told(t, ev);
    seen_transcript_says(t, " · edited by you · ");
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
        transcript_clear(t);
        told(t, started(1, "handoff", "manual"));
        bool small = strcmp(cases[i].reason, "too_small") == 0;
        struct event *ev = failed(2, cases[i].reason, small ? "no shorter" : "status 500");
        ev->name = small ? mem_strdup("TOO_SMALL_TO_COMPACT") : NULL;
        told(t, ev);
        seen_transcript_says(t, cases[i].quiet
                                    ? "▣ not compacted · summary + last turns · 2.1 s\n"
                                    : "✗ not compacted · summary + last turns · 2.1 s\n");
        assert_int_equal(style_of_row(1), cases[i].quiet ? STYLE_NOTE : STYLE_ERROR);
        seen_transcript_says(t, cases[i].words, cases[i].then);
        assert_int_equal(seen_transcript_has(t, "status 500"), !cases[i].quiet);
        seen_transcript_says(t, "!no shorter", "!has stopped");
        assert_int_equal(transcript_newest_card(t), 0);
    }
}

TEST(what_cannot_shrink_is_told)
{
    told(t, failed(2, "too_small", "what has to stay takes 9000 tokens"));
    seen_transcript_says(
        t, "the conversation would not get shorter: what has to stay takes 9000 tokens");
}

/* Also of one that another mode ended. */
TEST(suspension_is_said)
{
    struct event *both[] = {failed(2, "llm", "no"), completed(2)};
    set(&both[1]->compaction.mode, "structured");
    transcript_resize(t, 250, 30);
    for (size_t i = 0; i < 2; i++) {
        transcript_clear(t);
        both[i]->compaction.failures = 3;
        both[i]->compaction.suspended = true;
        told(t, both[i]);
        seen_transcript_says(t, i == 0 ? "not compacted" : "instead of structured",
                             "Automatic compaction has stopped in this session after 3 failures in "
                             "a row. It starts again when /compact succeeds");
    }
}

TEST(a_compaction_that_was_cut_off_says_so)
{
    tell_earlier(t, false, started(1, "handoff", "manual"), delta(2, "half of it", 0, 0));
    seen_transcript_is(
        t,
        "\n▣ compaction interrupted · summary + last turns\n"
        "  The program ended before the compaction was complete. The conversation is unchanged.\n");
    assert_false(transcript_tick(t, 5000));
    tell(t, EV(TURN_STARTED, 3, "next"), completed(4)); /* of another */
    seen_transcript_says(t, "compaction interrupted", "▣ compacted");
}

TEST(a_run_that_ends_leaves_no_card_running)
{
    static const enum event_type ends[] = {EVENT_TURN_STARTED, EVENT_TURN_FAILED, EVENT_INTERRUPTED,
                                           EVENT_TURN_COMPLETED};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        transcript_clear(t);
        told(t, EV(TURN_STARTED, 1, "q"));
        told(t, started(2, "handoff", "estimate"));
        told(t, told_event(ends[i], 3, NULL));
        seen_transcript_says(t, "compaction interrupted");
    }
}

TEST(another_that_begins_leaves_the_first_cut_off)
{
    tell(t, started(1, "structured", "manual"), started(2, "handoff", "manual"));
    seen_transcript_says(t, "▣ compaction interrupted · structured",
                         "▣ compacting · summary + last turns");
}

/* A card that a page ended as cut off may continue. */
TEST(a_card_comes_back_to_life)
{
    tell_earlier(t, false, started(1, "handoff", "manual"));
    told(t, delta(0, "more", 0, 0));
    seen_transcript_says(t, "▣ compacting");
    told(t, completed(3));
    seen_transcript_says(t, "▣ compacted", "!compaction interrupted", "!compacting");
}

/* --- notes --- */

TEST(an_undone_compaction_is_noted_and_marked)
{
    tell(t, completed(2), completed(5), undone(7, 5));
    seen_transcript_says(t, "— compaction undone; the messages that it replaced are sent");
    char *text = support_keep(seen_transcript(t));
    char *first = strstr(text, "▣ compacted"), *second = strstr(first + 1, "▣ compacted");
    char *mark = strstr(text, "· undone");
    assert_true(second && mark > second && !strstr(mark + 1, "· undone"));
    assert_int_equal(transcript_newest_card(t), 5); /* still there to be read */
}

TEST(pins_are_noted)
{
    told(t, EV(TURN_STARTED, 1, "keep **this**\nand more"));
    struct event *pin = EV(MESSAGE_PINNED, 2, NULL);
    pin->number = 1;
    pin->flag = true;
    told(t, pin);
    seen_transcript_says(t, "— pinned: no compaction drops this message: “keep **this**”\n");
    pin = EV(MESSAGE_PINNED, 3, NULL);
    pin->number = 77;
    told(t, pin);
    seen_transcript_says(t, "— no longer pinned\n");
}

/* --- among runs and pages --- */

TEST(a_card_stands_between_question_and_answer)
{
    tell(t, EV(TURN_STARTED, 1, "q"), started(2, "handoff", "estimate"), completed(3),
         EV(TEXT_COMPLETE, 4, "a"));
    seen_transcript_is(
        t,
        "\nyou\n│ q\n\n▣ compacted · summary + last turns · 101,204 → 6,310 tokens\n"
        "  142 → 9 messages · anthropic/small · $0.01 · 4.2 s   ⏎ opens\n\ntiro\n  a\n");
}

/* The history stays compacted, however the run ends. */
TEST(a_retry_does_not_take_the_card_away)
{
    tell(t, EV(TURN_STARTED, 1, "q"), completed(3), EV(TURN_FAILED, 4, "broken"));
    struct event *retry = EV(TURN_STARTED, 5, "q");
    retry->number = 1;
    told(t, retry);
    seen_transcript_says(t, "!broken", "▣ compacted");
    transcript_clear(t);
    retry = EV(TURN_STARTED, 5, "q");
    retry->number = 1;
    told(t, retry);
    tell_earlier(t, false, EV(TURN_STARTED, 1, "q"), completed(3), EV(TURN_FAILED, 4, "broken"));
    seen_transcript_says(t, "!broken", "▣ compacted");
}

TEST(pages_join_a_card_that_they_cut)
{
    tell(t, completed(4), completed(6));
    tell_earlier(t, true, started(2, "handoff", "manual"), delta(3, "half", 0, 0));
    seen_transcript_says(t, "!compaction interrupted", "!compacting");
    tell_earlier(t, false, started(1, "handoff", "manual"));
    seen_transcript_says(t, "compaction interrupted"); /* another began after it */
    char *text = support_keep(seen_transcript(t));
    assert_true(strstr(text, "compaction interrupted") < strstr(text, "compacted"));
}

TEST(an_undo_reaches_back_over_pages)
{
    told(t, undone(9, 3));
    tell_earlier(t, true, EV(TURN_STARTED, 6, "q"));
    tell_earlier(t, false, completed(2), completed(3));
    seen_transcript_says(t, "· undone\n");
    char *text = support_keep(seen_transcript(t));
    assert_true(strstr(text, "· undone") > strstr(strstr(text, "compacted") + 1, "compacted"));
}

/* A log holds less than the live events only at its end. */
TEST(resumed_it_looks_the_same)
{
    struct event *live[] = {EV(TURN_STARTED, 1, "q"),
                            started(2, "handoff", "manual"),
                            delta(3, "part", 1, 2),
                            completed(4),
                            EV(TEXT_COMPLETE, 5, "a"),
                            EV(TURN_COMPLETED, 6, "a"),
                            undone(7, 4),
                            started(8, "handoff", "overflow"),
                            failed(9, "llm", "no")};
    enum { COUNT = sizeof live / sizeof *live };
    for (size_t i = 0; i < COUNT; i++) {
        transcript_apply(t, live[i]);
        transcript_tick(t, 1000 * (int64_t)i);
    }
    auto_free char *seen = seen_transcript(t);
    transcript_clear(t);
    told_earlier(t, live, COUNT, false);
    seen_transcript_is(t, seen);
}

TEST(cards_are_found_for_opening)
{
    told(t, EV(TURN_STARTED, 1, "q"));
    assert_int_equal(transcript_newest_card(t), 0);
    tell(t, completed(4), started(5, "handoff", "manual"));
    assert_int_equal(transcript_card(t, 0), 0);
    assert_int_equal(transcript_card(t, 1), 4);
    assert_int_equal(transcript_card(t, 2), 0);
    assert_int_equal(transcript_card(t, 99), 0);
    assert_int_equal(transcript_newest_card(t), 4);
    assert_false(transcript_toggle(t, 1)); /* it opens elsewhere */
    told(t, completed(6));
    assert_int_equal(transcript_newest_card(t), 6);
    for (int64_t seq = 7; seq < 60; seq++)
        told(t, EV(TEXT_COMPLETE, seq, "text"));
    assert_int_equal(transcript_newest_card(t), 0); /* it is not on the screen */
}

/* --- any terminal --- */

TEST(a_narrow_card_breaks_between_its_pieces)
{
    transcript_resize(t, 40, 30);
    tell(t, started(1, "handoff", "input_tokens"),
         delta(0, "日本語の要約がここに流れていますので長い行は折り返されます", 2, 5));
    seen_transcript_is(t,
                       "\n▣ compacting · summary + last turns\n"
                       "  ~101,204 tokens · 0 s   Esc cancels\n"
                       "  anthropic/small\n"
                       "  limit of 100,000 tokens reached\n"
                       "  part 2 of 5\n"
                       "  日本語の要約がここに流れていますので長\n"
                       "  い行は折り返されます\n");
    told(t, completed(2));
    seen_transcript_is(t,
                       "\n▣ compacted · summary + last turns\n"
                       "  101,204 → 6,310 tokens\n"
                       "  142 → 9 messages · anthropic/small\n"
                       "  $0.01 · 4.2 s   ⏎ opens\n");
}

TEST(without_utf8_it_is_ascii)
{
    glyph_set_up(true);
    told(t, started(1, "handoff", "manual"));
    told(t, completed(2));
    told(t, failed(3, "llm", "no"));
    char *text = support_keep(seen_transcript(t));
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p < 0x80);
    assert_says(text, "# compacted - summary + last turns - 101,204 -> 6,310 tokens\n",
                "4.2 s   Enter opens", "x not compacted - summary + last turns");
}
