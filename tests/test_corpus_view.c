/* The tab of corpora without terminal and engine: its requests, its drawing of made-up answers, and
 * its keys. */
#include "session/corpus_operations.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "ui/view/memory_view.h"

static void open_file(struct app *app, const char *path, int64_t line, const char *text)
{
    (void)app;
    buf_addf(&the.asked, "editor %s %lld %s\n", path, (long long)line, line > 0 ? "there" : text);
}

static struct session_info session = {.id = "0198c0de-0000-7000-8000-000000000001"};

/* --- made-up answers --- */

#define CORPUS(name, documents, failed)                                                            \
    "{'name':'" name "','paths':[],'documents':" #documents ",'failed':" #failed                   \
    ",'passages':7,'bytes':9}"
#define LIST "{'corpora':[" CORPUS("books", 3, 0) "," CORPUS("notes", 2, 1) "]}"
#define PASSAGE(n, chunk, line, content)                                                           \
    "{'n':" #n ",'content':'" content "','score':0.81,'file':'/d/kyoto.md','chunk':" #chunk        \
    ",'line':" #line                                                                               \
    ",'heading':'Travel','corpus_id':'notes','document':4,'start':0,"                              \
    "'finish':5}"
#define PASSAGES                                                                                   \
    "{'passages':[" PASSAGE(0, 0, 1, "The ryokan") "," PASSAGE(0, 1, 5, "The train") "],'total':"  \
                                                                                     "2}"

#define CITED                                                                                      \
    "{'passages':[" PASSAGE(1, 0, 1, "The ryokan") "," PASSAGE(2, 1, 5, "The train") "],'total':"  \
                                                                                     "2}"

static void begin(void)
{
    give_json(&operation_corpus_list, LIST);
    give_json(&operation_corpus_cited, "{'passages':[],'total':0}");
    act("<down>");
    forget_sent();
}

static void documents(void)
{
    begin();
    act("j<enter>", "?corpus/documents corpus_id=\"notes\"");
    give_json(&operation_corpus_documents, "{'documents':[],'total':0}"); /* of failed ones */
    give_json(&operation_corpus_documents,
              "{'documents':[{'id':4,'corpus_id':'notes','file':'/d/kyoto.md','state':'ready',"
              "'passages':2,'bytes':9,'ingested_at':'2026-03-09T12:00:00Z'}],'total':1}");
    forget_sent();
}

static void show(const char *citation)
{
    corpus_view_show(the.view, citation);
}

static const struct step steps[] = {{"show", .run = show},
                                    {"begin", .alone = begin},
                                    {"documents", .alone = documents},
                                    {.name = NULL}};

static int set_up(void **state)
{
    (void)state;
    stage_set_up(steps, 60, 16);
    the.host.open_file = open_file;
    the.host.session = &session;
    the.view = corpus_view_new(&the.host);
    corpus_view_show(the.view, "");
    return 0;
}

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

PLAY(it_lists_corpora_with_what_they_have, "?corpus/list", "loading", "=begin", "books",
     "3 documents, 7 passages", "notes · 1 unreadable", "!What the model");
PLAY(what_is_typed_is_searched, "=begin", ">/ryo", "?corpus/search query=\"ryo\"",
     "=corpus/search {'results':[" PASSAGE(0, 1, 5,
                                           "The ryokan is booked") "],'documents':2,'searched':91}",
     "91 passages searched", "kyoto.md:5", "0.81", "><down><enter>", "/d/kyoto.md", "Travel", ">e",
     "?editor /d/kyoto.md 5 there", ">o", "?corpus/passages document=4");
PLAY(nothing_found_says_how_much_was_searched, "=begin", ">/zep", "?corpus/search",
     "=corpus/search {'results':[],'documents':2,'searched':91}", "91 passages searched",
     "Nothing found");
PLAY(one_walks_to_documents_and_passages_and_back, "=documents", "Corpora > notes", "kyoto.md",
     "><enter>", "?corpus/passages document=4", "=corpus/passages " PASSAGES, " > kyoto.md",
     "line 1  The ryokan", "line 5  The train", ">j<enter>", "Travel", ">e",
     "?editor /d/kyoto.md 5 there", "><escape>", "Corpora > notes", "!The train", "><escape>",
     "books");

#define DOCUMENT(id, file)                                                                         \
    "{'id':" #id ",'corpus_id':'notes','file':'" file                                              \
    "','state':'ready','passages':2,'bytes':9,"                                                    \
    "'ingested_at':'2026-03-09T12:00:00Z'}"

PLAY(
    equal_names_are_told_apart_by_their_paths, "=begin", ">j<enter>",
    "=corpus/documents "
    "{'documents':[{'id':9,'corpus_id':'notes','file':'/d/c/notes.md','state':'failed',"
    "'error':'it has no text','passages':0,'bytes':0,"
    "'ingested_at':'2026-03-09T12:00:00Z'}],'total':1}",
    "=corpus/documents {'documents':[" DOCUMENT(4, "/d/a/x/notes.md") "," DOCUMENT(
        5,
        "/d/b/x/notes.md") "," DOCUMENT(6,
                                        "/d/b/my notes.md") "," DOCUMENT(7,
                                                                         "/notes.md") "],'total':"
                                                                                      "4}",
    "\u203ac/notes.md: it has no text", " a/x/notes.md", " b/x/notes.md", " my notes.md",
    " /notes.md", "!b/my", "!d/");
PLAY(a_page_is_opened_as_text, "=documents", "><enter>",
     "=corpus/passages {'passages':[{'content':'on page "
     "two','score':0,'file':'/d/x.pdf','chunk':0,'page':2,"
     "'corpus_id':'notes','document':4}],'total':1}",
     ">e", "?editor /d/x.pdf 0 on page two");
PLAY(what_the_model_was_given_stands_by_its_numbers, "=corpus/list " LIST, "=corpus/cited " CITED,
     "><down>k", "›What the model was given last", "><enter>", "[1] kyoto.md:1", "[2] kyoto.md:5",
     "=show [2]", "=corpus/list " LIST, "=corpus/cited " CITED, "›[2] kyoto.md:5", "/d/kyoto.md",
     ">e", "?editor /d/kyoto.md 5 there");
PLAY(an_older_answers_citation_opens_what_that_one_was_given, "=show [2]@417",
     "?corpus/cited before=417", "=corpus/cited " CITED, "›[2] kyoto.md:5", "Travel", "><escape>",
     "!?corpus/cited before=417", "?corpus/cited");
PLAY(removal_asks_first, "=begin", ">d", "Remove books from the corpus? The files stay", ">n",
     "!Remove books", ">dy", "?corpus/remove corpus_id=\"books\"", "=corpus/remove {'documents':3}",
     "Removed", "?corpus/list");
PLAY(
    an_update_is_asked_for, "=begin", ">u", "?corpus/update corpus_id=\"books\"",
    "=corpus/update {'files':0,'done':0,'added':0,'changed':0,'unchanged':0,'removed':0,'failed':0,"
    "'passages':0,'bytes':0}",
    "Looking for changed files");

static void tell_progress(int64_t done, int64_t files, bool finished)
{
    struct notice *n = notice_new(NOTICE_CORPORA_STATE);
    n->progress = (struct corpus_progress){
        .corpus = mem_strdup("notes"), .files = files, .done = done, .finished = finished};
    give(n);
}

TEST(how_far_an_ingest_is_stands_in_the_title)
{
    begin();
    tell_progress(3, 12, false);
    see("notes: file 3 of 12");
    tell_progress(12, 12, true);
    see("!notes: file");
}

/* At 40 columns a question has as many rows as it needs. */
PLAY(a_long_question_is_broken_at_words, "=width 34",
     "=corpus/list {'corpora':[" CORPUS("a-name-of-thirty-columns-in-all", 3, 0) "]}", "><down>d",
     "Remove", "a-name-of-thirty-columns-in-all", "y/n");

/* --- help --- */

KEYS_HOLD(keys_of_corpora, set_up,
          "=corpus/list {'corpora':[" CORPUS("a", 3, 0) "," CORPUS("b", 2, 1) "," CORPUS("c", 2,
                                                                                         1) "]}",
          "=corpus/cited {'passages':[],'total':0}", "><down>j");
