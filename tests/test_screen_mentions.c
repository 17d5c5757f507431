/* @ in the editor: the list of what can be mentioned, the row below the text, and what is sent. */
#include "base/paths.h"
#include "tests/scene.h"
#include "tests/suite.h"

static int set_up(void **state)
{
    struct error e;
    scene_setup(state);
    assert_true(paths_make_dir(support_path("work/deep"), &e));
    assert_true(paths_make_dir(support_path("work/.hidden"), &e));
    support_write(support_path("notes.md"), "one\ntwo\nthree\n");
    support_write(support_path("work/alpha.c"), "int a;\n");
    support_write(support_path("work/deep/my plan.md"), "plan\n");
    support_write(support_path("work/.hidden/x"), "x\n");
    support_write(support_path("dot.png"), "\x89PNG\r\n\x1a\nrest");
    assert_true(paths_write_file(support_path("bin.dat"), "a\0b", 3, &e));
    return 0;
}

FIXTURE(set_up, scene_teardown);

PLAY(the_list_follows_what_is_typed, "=open", ":see @", "›bin.dat", "notes.md", ":alp",
     "›work/alpha.c", "!notes.md", ":<enter>", "see @work/alpha.c",
     "@work/alpha.c · 1 line · 2 tokens", "!›", ":@PLAN<tab>", "@\"work/deep/my plan.md\"", "+1",
     ":<ctrl-u>@wo", "work/deep/my plan.md", ":<ctrl-u>@work", "›work/", ":<ctrl-u>");

PLAY(a_folder_is_gone_into_or_taken, "=open", ":@dee", "›work/deep/", ":<enter>", "> @work/deep/",
     "›work/deep/", "work/deep/my plan.md", ":<enter>", "@work/deep/ · 1 file", "!›", "=says Seen.",
     ":look<enter>", "Seen.", IDLE, "=sent last work/deep/:\\n```\\nmy plan.md|@work/deep/ look");

PLAY(esc_keeps_the_list_away, "=open", ":@no", "›notes.md", ":<escape>", "!›", ":t", "!›",
     ":<ctrl-u>a@no", "> a@no", "!›", ":<ctrl-u>@no", "›notes.md");

PLAY(a_hidden_directory_is_listed_by_its_path, "=open", ":@work/.", "!.hidden",
     ":<ctrl-u>@./work/.", "›./work/.hidden/", ":<tab>", "> @./work/.hidden/", "./work/.hidden/x");

PLAY(a_message_brings_its_files, "=open", "=says Summed.",
     ":mail a@b.c of @nobody: @notes.md:2-3<enter>", "@notes.md:2-3 · 2 lines", "Summed.", IDLE,
     "!three",
     "=sent last notes.md (lines 2-3):\\n```\\ntwo\\nthree|mail a@b.c of @nobody: @notes.md:2-3",
     "=says Again.", ":/edit<enter>", "> mail a@b.c", ":<ctrl-u>now @work/alpha.c <enter>",
     "Again.", IDLE, "=sent last int a;|!three");

PLAY(what_there_is_not_is_told, "=open", ":@nobody and @bin.dat or ", "@nobody · nothing there",
     "@bin.dat · no text", ":<enter>", "it cannot be attached", "> @nobody and @bin.dat or",
     ":<ctrl-u>@dot.png ", "@dot.png · image · 12 bytes");

PLAY(attach_writes_a_mention, "=open", ":/attach my\\ plan.md<enter>", "> @\"my plan.md\"",
     "nothing there", ":<ctrl-u>/attach notes.md<enter>", "> @notes.md",
     "@notes.md · 3 lines · 4 tokens", ":<ctrl-u>/attach<enter>", "> @", "›bin.dat", ":<escape>",
     "!›", ":<ctrl-u>/attach alp<tab>", "/attach work/alpha.c", ":<ctrl-u>");

PLAY(mentions_are_seen_on_a_small_screen, "=open 10 40", ":@notes.md ",
     "@notes.md · 3 lines · 4 tokens", ":@work/alpha.c @work/ ", "+2", ":<ctrl-u>", "!tokens");
