/* The list of files that can be taken back, without terminal and engine. */
#include "session/conversation_operations.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "ui/view/restore_view.h"

#define READY                                                                                      \
    "{'path':'src/a.c','state':'ready','added':1,'removed':2,"                                     \
    "'difference':'@@ -1,2 +1 @@\\n-old\\n-line\\n+new\\n'}"
#define LIST                                                                                       \
    "{'files':[" READY                                                                             \
    ",{'path':'new.txt','state':'ready','removes':true,'added':0,'removed':7},"                    \
    "{'path':'mine','state':'changed','added':3,'removed':3},"                                     \
    "{'path':'big','state':'lost','added':0,'removed':0,'why':'the log lost it'}],"                \
    "'commands':['make install']}"

static int set_up(void **state)
{
    struct operation_answer *a =
        operation_answer_new(operation_request_new(&operation_session_changes, NULL));
    (void)state;
    stage_set_up(NULL, 60, 12);
    auto_free char *text = mem_strdup(LIST);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    AUTO(json_free_local) struct json *v = json_parse(text, strlen(text), NULL);
    assert_true(shape_read(operation_session_changes.result, v, a->result, NULL));
    the.view = restore_view_new(&the.host, a);
    operation_answer_free(a);
    return 0;
}

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

PLAY(each_file_stands_with_what_it_would_get, "4 files", "src/a.c", "+1 -2", "new.txt · is removed",
     "mine · changed meanwhile", "big · not covered", "not covered: make install",
     "a take back all", "=sizes");
PLAY(a_file_unfolds_its_difference, "!-old", "><enter>", "-old", "+new", "><enter>", "!-old",
     ">jjj<enter>", "the log lost it");
PLAY(all_are_taken_back, ">a", "?session/restore file=\"\"",
     "=session/restore {'files':[{'path':'new.txt','state':'failed','added':0,'removed':7,"
     "'why':'read-only'}],'commands':[]}",
     "read-only", "?session/changes", "=session/changes {'files':[" READY "],'commands':[]}",
     "1 file", "!mine", "=open");
PLAY(one_is_taken_back_and_the_list_ends_when_it_is_empty, ">jju", "?session/restore file=\"mine\"",
     "=session/restore {'files':[],'commands':[]}", "Taken back.",
     "=session/changes {'files':[],'commands':['make']}", "=closed");
PLAY(what_is_not_covered_is_not_asked_for, ">jjju", "the log lost it", "!?session/restore", ">ju",
     "What a command did is not covered.", ">/", "4 files", ">d", "4 files", "=open");
PLAY(escape_leaves_them, "><escape>", "=closed");

KEYS_HOLD(keys_of_files_to_take_back, set_up, "><enter>jj");
