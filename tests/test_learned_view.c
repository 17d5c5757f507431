/* The tab of learned memory without terminal and engine: its requests, its drawing of made-up
 * answers, and its keys. */
#include "session/learned_operations.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "ui/view/memory_view.h"

#define HERE "0198c0de-0000-7000-8000-000000000001"

/* --- made-up answers --- */

#define AT "'created_at':'2026-03-09T12:00:00Z','changed_at':'2026-03-09T12:00:00Z'"
#define ITEM(id, scope, kind, state, text, more)                                                   \
    "{'id':'" id "','scope':'" scope "','kind':'" kind "','state':'" state                         \
    "','origin':'typed','text':'" text "'," more AT "}"
#define FRIDAYS                                                                                    \
    ITEM("i1", "project", "fact", "active", "we deploy on Fridays",                                \
         "'session_id':'" HERE "','seq':7,'uses':3,'used_at':'2026-04-01T12:00:00Z',")
#define FRENCH                                                                                     \
    ITEM("i2", "user", "language", "candidate", "Reply in French",                                 \
         "'session_id':'" HERE "','seq':9,")
#define EMOJI ITEM("i3", "user", "emoji", "rejected", "No emojis", "")
#define OLD ITEM("i4", "user", "language", "superseded", "Reply in German", "'replaced_by':'i2',")
#define LIST "{'items':[" FRIDAYS "," EMOJI "," OLD "," FRENCH "]}"

static void begin(void)
{
    give_json(&operation_learned_list, LIST);
    give_json(&operation_learned_stats, "{'active':1,'candidates':1,'superseded':1,'rejected':1}");
    forget_sent();
}

/* Lists again after a decision. */
static void look_again(void)
{
    give_json(&operation_learned_list, LIST);
    give_json(&operation_learned_stats, "{'active':2,'candidates':0,'superseded':0,'rejected':0}");
    forget_sent();
}

static void expect_look(void)
{
    assert_true(the.view->ops->due(the.view) > 0);
    forget_sent();
    the.view->ops->tick(the.view);
    see("?learned/list");
    assert_int_equal(the.view->ops->due(the.view), 0);
}

static const struct step steps[] = {{"begin", .alone = begin},
                                    {"again", .alone = look_again},
                                    {"look", .alone = expect_look},
                                    {.name = NULL}};

static int set_up(void **state)
{
    (void)state;
    stage_set_up(steps, 70, 16);
    the.view = learned_view_new(&the.host);
    learned_view_show(the.view, NULL);
    return 0;
}

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

/* --- the list --- */

TEST(what_waits_comes_first_and_what_was_replaced_is_history)
{
    play("=draw", "?learned/list", "?learned/stats", "loading", "=begin",
         "Learned · 1 waiting · 1 remembered", " waits ", "- we deploy on Fridays", "3 uses",
         "x No emojis", "!Reply in German", "›Reply in French");
    assert_true(find("Reply in French") < find("Fridays"));
    assert_true(find("Fridays") < find("No emojis"));
}

PLAY(an_item_unfolds_with_its_source_and_uses, "=begin", "><enter>", "language, everywhere",
     "2026-03-09, from a conversation: Kyoto in November", "><enter>", "!language, everywhere",
     ">j<enter>", "fact, this project", "told to 3", "last 2026-04-01", ">o",
     "?message " HERE " 7");

/* The user sees the speaker of a candidate before accepting it. */
TEST(a_candidate_shows_its_message_before_it_is_accepted)
{
#define SAID(id, origin)                                                                           \
    ITEM(id, "user", "language", "candidate", "Reply in French",                                   \
         "'session_id':'" HERE                                                                     \
         "','seq':9,'turn':4,'said_at':'2026-03-08T12:00:00Z',"                                    \
         "'said':'Hello. Reply in French please. Bye','said_origin':'" origin "',")
    play("=learned/list {'items':[" SAID("i2", "typed") "]}", "waits",
         "2026-03-08, from a conversation: Kyoto in November, turn 4",
         "typed: \"Hello. Reply in French please. Bye\"", "><enter>", "!typed:", ">s",
         "=learned/list {'items':[" SAID("i2", "typed") "," SAID("i5", "imported") "]}",
         "!typed:", "imported: \"Hello. Reply");
}

PLAY(it_is_searched_by_words_and_tag, "=begin", ">/port #deploy", "?learned/list query=\"port \"",
     "?learned/list tag=\"#deploy\"", "=forget", "><ctrl-u>#", "?learned/list query=\"#\"",
     "!?learned/list tag=\"#\"");

TEST(it_is_narrowed_by_scope_kind_session_and_use)
{
    play("=begin", ">s", "?learned/list scope=\"project\"", "Learned · this project", "=forget",
         ">ss", "?learned/list scope=\"tool\"", "Learned · tools",
         "=learned/list "
         "{'items':[{'id':'read_file(path)','scope':'tool','kind':'usage','state':'active',"
         "'origin':'logged','text':'read_file(path): used 3 times, 66 % success'," AT "}]}",
         "used 3 times", ">a", "cannot be changed here", "!?learned/accept", ">d",
         "cannot be changed here", "!?learned/forget", ">ss", "!Learned · tools", "=forget", ">f",
         "?learned/list kind=\"fact\"", "Learned · fact", "=forget");
    memcpy(the.session.id, HERE, UUID_LEN);
    play(">c", "?learned/list session_id=\"" HERE "\"", "this session", "=forget", ">n",
         "?learned/list unused=true", "never used");
}

PLAY(nothing_is_told_as_such, "=learned/list {'items':[]}", "Nothing was learned yet", ">n",
     "=learned/list {'items':[]}", "Nothing that was learned matches", ">aedrho",
     "No entry is selected");

/* --- deciding --- */

PLAY(a_candidate_is_accepted_or_rejected, "=begin", ">a", "?learned/accept id=\"i2\"",
     "=learned/accept " ITEM("i2", "user", "language", "active", "Reply in French", "'uses':0,"),
     "Remembered.", "?learned/list", "=again", ">r", "?learned/reject id=\"i2\"",
     "=learned/reject " ITEM("i2", "user", "language", "rejected", "Reply in French", "'uses':0,"),
     "not asked for again", "?learned/list");
PLAY(a_text_is_changed, "=begin", ">e", "text: Reply in French", "><escape>",
     "!text:", "!?learned/edit", ">e<ctrl-u>Reply in Italian<enter>", "?learned/edit id=\"i2\"",
     "?learned/edit text=\"Reply in Italian\"",
     "=learned/edit " ITEM("i2", "user", "language", "candidate", "Reply in Italian", "'uses':0,"),
     "Changed.", "?learned/list");
PLAY(forgetting_is_asked_for_and_can_be_undone, "=begin", ">d",
     "Forget Reply in French and its history?", ">x", "Forget Reply in French", ">n",
     "!Forget Reply", "!?learned/forget", ">dy", "?learned/forget ids=[\"i2\"]",
     "=learned/forget {'deleted':1}", "u undoes", "?learned/list", "=again", ">u",
     "?learned/restore", "=learned/restore " FRENCH, "Restored");
PLAY(what_it_took_the_place_of_is_shown, "=begin", ">h", "?learned/history id=\"i2\"",
     "=learned/history {'items':[" FRENCH "," OLD "]}", "before: Reply in German (2026-03-09)",
     ">h", "!before:", "><enter>jh", "?learned/history id=\"i1\"",
     "=learned/history {'items':[" FRIDAYS "]}", "no earlier version");
PLAY(a_failure_is_told, "=begin", ">a", "=fails learned/accept The database is locked.",
     "The database is locked.");

/* --- concurrent changes --- */

TEST(what_is_noted_or_changed_elsewhere_is_followed)
{
    begin();
    struct notice *n = notice_new(NOTICE_EVENT);
    n->event = event_new(EVENT_LEARNED_NOTED);
    give(n);
    expect_look();
    give(notice_new(NOTICE_LEARNED));
    expect_look();
}

/* --- any size, any text --- */

PLAY(it_fits_every_size, "=begin", "><enter>", "=sizes", ">e", "=sizes");
PLAY(what_nobody_sees_is_shown_where_one_decides,
     "=learned/list {'items':[" ITEM("i1", "user", "fact", "candidate", "a\\u001b[31mb\\u200bc",
                                     "'uses':0,") "]}",
     "U+200B");

/* --- help --- */

#define MIXED                                                                                      \
    "=learned/list {'items':[" EMOJI "," FRIDAYS "," FRENCH "," EMOJI "]}",                        \
        "=learned/stats {'active':1,'candidates':1,'superseded':0,'rejected':2}"
KEYS_HOLD(keys_of_an_active_item, set_up, MIXED, ">j");
KEYS_HOLD(keys_of_a_proposal, set_up, MIXED, ">jj");
KEYS_HOLD(keys_of_a_rejected_item, set_up, "=begin", ">j");
