/* Streamed text that is not in a session's log yet. */
#include "serve/notification.h"
#include "tests/suite.h"

static const char session[] = "01890a5d-ac96-774b-bcce-b302099a8057";
static const char other[] = "01890a5d-ac96-774b-bcce-b302099a8058";

static void note(struct tails *t, const char *of, enum event_type type, int64_t seq,
                 const char *text)
{
    AUTO(notice_free_local) struct notice *n = notice_new(NOTICE_EVENT);
    n->event = event_new(type);
    n->event->seq = seq;
    n->event->text = mem_strdup(text);
    memcpy(n->event->session_id, of, sizeof session);
    notice_name_session(n, of);
    tails_note(t, n);
}

static void assert_after(const struct tails *t, const char *of, int64_t after, int64_t seq,
                         const char *text)
{
    AUTO(event_free_local) struct event *ev = tails_after(t, of, after);
    assert_int_equal(ev != NULL, text != NULL);
    if (text) {
        assert_int_equal(ev->seq, seq);
        assert_string_equal(ev->text, text);
        assert_string_equal(ev->session_id, of);
    }
}

TEST(the_tail_begins_behind_what_the_log_surely_has)
{
    struct tails tails = {0}, *t = &tails;
    assert_int_equal(tails_kept(t, session), 0);
    assert_after(t, session, 0, 0, NULL);
    note(t, session, EVENT_CALL_STARTED, 2, NULL);
    note(t, session, EVENT_TEXT_DELTA, 3, "one ");
    note(t, other, EVENT_TEXT_DELTA, 9, "not mine");
    note(t, session, EVENT_TEXT_DELTA, 4, "two ");
    note(t, session, EVENT_TEXT_DELTA, 5, "three");
    assert_int_equal(tails_kept(t, session), 2);
    assert_after(t, session, 0, 5, "one two three");
    assert_after(t, session, 3, 5, "two three"); /* as a checkpoint may have the first of them */
    assert_after(t, session, 4, 5, "three");
    assert_after(t, session, 5, 0, NULL);
    assert_after(t, other, 0, 9, "not mine");
    note(t, session, EVENT_TEXT_COMPLETE, 6, "one two three");
    assert_int_equal(tails_kept(t, session), 6);
    assert_after(t, session, 0, 0, NULL);
    tails_release(t);
}

TEST(another_kind_of_text_means_that_the_log_has_the_first)
{
    struct tails tails = {0}, *t = &tails;
    note(t, session, EVENT_REASONING_DELTA, 3, "let me ");
    note(t, session, EVENT_REASONING_DELTA, 4, "think");
    note(t, session, EVENT_TEXT_DELTA, 5, "It is");
    assert_int_equal(tails_kept(t, session), 4);
    assert_after(t, session, 0, 5, "It is");
    tails_release(t);
}

TEST(nothing_is_kept_of_a_turn_that_is_over)
{
    struct tails tails = {0}, *t = &tails;
    note(t, session, EVENT_TEXT_DELTA, 3, "so far");
    note(t, other, EVENT_TEXT_DELTA, 7, "more");
    AUTO(notice_free_local) struct notice *n = notice_new(NOTICE_BUSY);
    notice_name_session(n, session);
    tails_note(t, n);
    assert_int_equal(tails_kept(t, session), 0);
    assert_after(t, session, 0, 0, NULL);
    assert_after(t, other, 0, 7, "more");
    tails_release(t);
}
