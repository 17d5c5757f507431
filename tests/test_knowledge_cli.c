/* tiro corpus, tiro graph and tiro learned: what their commands print and refuse, in the real
 * program. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/capability.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/steps.h"
#include "tests/suite.h"

#define CORPUS(...) RUN("corpus", __VA_ARGS__)
#define GRAPH(...) RUN("graph", __VA_ARGS__)
#define LEARNED(...) RUN("learned", __VA_ARGS__)
#define CORPUS_TEST(f) TEST_IF(capability_store() && capability_corpora(), f)
#define GRAPH_TEST(f) TEST_IF(capability_store() && capability_memory(), f)
#define LEARNED_TEST GRAPH_TEST

/* The program ends with 0, and its output holds, or lacks, these texts (tests/steps.h). */
#define shows(r, ...) assert_says(program_output(r), __VA_ARGS__)

static void prints(struct result r, const char *output)
{
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, output);
}

FIXTURE(support_setup, support_teardown);

/* --- corpus ----------------------------------------------------------------------------------- */

static void notes(void)
{
    mkdir(support_path("notes"), 0700);
    support_write(support_path("notes/kyoto.md"), "# Travel\n\nThe ryokan is booked for May.\n");
    support_write(support_path("notes/garden.txt"), "Basil wants sun.\n");
    prints(CORPUS("add", "notes", support_path("notes")), "2 files: 2 new\n");
}

CORPUS_TEST(what_was_added_to_a_corpus_is_listed_shown_and_found)
{
    expect(CORPUS("list"), 0, "tiro corpus add");
    notes();
    shows(CORPUS("list"), "notes  2 documents  2 passages");
    shows(CORPUS("show", "notes"), "kyoto.md");
    shows(CORPUS("show", "notes", "2"),
          "kyoto.md:1  Travel\n# Travel\n\nThe ryokan is booked for May.\n");
    shows(CORPUS("search", "ryokan", "booked"), "[1] ", "kyoto.md:1");
    shows(
        CORPUS("search", "--in", "notes", "--filter", "*.txt", "--weight", "1", "-n", "1", "basil"),
        "garden.txt:1");
    struct result r = CORPUS("search", "zeppelin");
    assert_string_equal(r.out, "");
    expect(r, 0, "nothing found in 2 passages");
    shows(CORPUS("stats"), "passages");
    static const char *const commands[][5] = {{"corpus", "list", "--json"},
                                              {"corpus", "show", "--json", "notes"},
                                              {"corpus", "search", "--json", "ryokan"},
                                              {"corpus", "stats", "--json"},
                                              {"corpus", "update", "--json"}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        (void)program_json(program_run("", commands[i]));
}

CORPUS_TEST(an_update_reads_what_has_changed)
{
    notes();
    support_write(support_path("notes/garden.txt"), "Carrots want sand.\n");
    support_write(support_path("notes/new.txt"), "A lantern.\n");
    prints(CORPUS("update"), "3 files: 1 new, 1 changed, 1 unchanged\n");
    prints(CORPUS("update", "notes"), "3 files: 3 unchanged\n");
    support_write(support_path("notes/new.txt"), " \n");
    struct result r = CORPUS("update");
    assert_text(r.out, "1 unreadable");
    assert_text(r.err, "--failed");
    shows(CORPUS("show", "--failed", "notes"), "new.txt");
}

CORPUS_TEST(removal_asks_and_leaves_the_files)
{
    notes();
    expect(CORPUS("remove", "notes"), 64, "--yes");
    prints(CORPUS("remove", "-y", "notes", support_path("notes/kyoto.md")), "1 document removed\n");
    prints(CORPUS("remove", "-y", "notes"), "1 document removed\n");
    assert_int_equal(access(support_path("notes/kyoto.md"), F_OK), 0);
    expect(CORPUS("remove", "-y", "notes"), 1, "");
}

CORPUS_TEST(what_is_wrong_with_a_corpus_is_said)
{
    expect(CORPUS("add", "x", "/nowhere/at/all"), 1, "/nowhere/at/all");
    expect(CORPUS("add", "a b", support_dir()), 64, "");
    expect(CORPUS("search", "--weight", "2", "x"), 64, "0 to 1");
    expect(CORPUS("show", "x"), 1, "");
    expect(CORPUS("show", "x", "y"), 64, "");
}

static bool is_begun(void *path)
{
    return access(path, F_OK) == 0;
}

CORPUS_TEST(an_interrupt_stops_a_loader)
{
    char *begun = support_path("begun"), *file = support_path("a.slow");
    const char *const argv[] = {support_program(), "corpus", "add", "slow", file, NULL};
    struct support_child c;
    support_write(file, "text");
    write_config(support_text("[corpus]\nloader.slow = : >'%s'; sleep 1000\n", begun));
    support_start(&c, argv);
    assert_true(support_wait_until(is_begun, begun, 10000));
    kill(c.pid, SIGINT);
    assert_int_equal(support_finish(&c, NULL), 1);
    assert_text(c.err_text.data, "INTERRUPTED: stopped; ");
    support_release(&c);
}

CORPUS_TEST(doctor_counts_corpora_and_what_could_not_be_read)
{
    mkdir(support_path("notes"), 0700);
    support_write(support_path("notes/a.docx"), "no archive");
    support_write(support_path("notes/b.txt"), "Basil wants sun.\n");
    (void)CORPUS("add", "notes", support_path("notes"));
    assert_text(RUN("doctor").out,
                ", 1 corpus of 1 document with 1 passage (1 file could not be read)\n");
    assert_text(RUN("doctor", "--json").out, "\"unreadable\":\t1");
}

/* --- graph ------------------------------------------------------------------------------------ */

static void kyoto(void)
{
    prints(GRAPH("add", "--type", "city", "Kyoto", "has ryokans", "東京 is newer"),
           "1 entity created\n2 observations added\n");
    run_ok(GRAPH("add", "Japan"));
    prints(GRAPH("relate", "Kyoto", "lies in", "Japan"), "1 relation created\n");
}

/* The index is rebuilt even if durable memory is off. */
GRAPH_TEST(an_index_that_lacks_entities_is_made_anew)
{
    kyoto();
    write_config("[memory]\nenabled = false\n");
    damage_sql(support_path(".local/share/tiro/tiro.db"), "DELETE FROM graph_words_docsize");
    assert_text(RUN("doctor", "--thorough").out, "tiro graph reindex");
    assert_int_equal(GRAPH("reindex").status, 0);
    assert_no_text(RUN("doctor", "--thorough").out, "tiro graph reindex");
    shows(GRAPH("search", "newer"), "Kyoto");
}

GRAPH_TEST(what_was_added_to_the_graph_is_listed_found_and_shown)
{
    expect(GRAPH("list"), 0, "tiro graph add");
    kyoto();
    prints(GRAPH("list"),
           "Japan  thing  0 observations  1 relation\n"
           "Kyoto  city   2 observations  1 relation\n");
    shows(GRAPH("search", "RYOK"), "Kyoto (city)", "- has ryokans", "Kyoto -- lies in -> Japan");
    shows(GRAPH("search", "京"), "Kyoto");
    expect(GRAPH("search", "nothing"), 0, "no matches");
    struct result r = GRAPH("show", "Kyoto", "Rome");
    expect(r, 1, "\"Rome\"");
    assert_text(r.out, "has ryokans");
    r = GRAPH("add", "-t", "town", "Kyoto", "has ryokans", "more");
    prints(r, "1 observation added\n");
    assert_text(r.err, "its type stays");
    assert_text(GRAPH("relate", "Kyoto", "lies in", "Japan").out, "exists already");
    assert_json(program_json(GRAPH("list", "--json")), "[{},{'name':'Kyoto'}]");
    assert_json(program_json(GRAPH("show", "--json", "Kyoto")), "{'relations':[{}]}");
    assert_json(program_json(GRAPH("stats", "--json")), "{'observations':3}");
}

GRAPH_TEST(what_goes_from_the_graph_is_asked_for_and_counted)
{
    kyoto();
    expect(GRAPH("forget", "Kyoto"), 64, "--yes");
    shows(GRAPH("forget", "-y", "Kyoto", "has ryokans"), "entities 0, observations 1, relations 0");
    shows(GRAPH("forget", "-y", "Kyoto", "--relation", "lies in", "--to", "Japan"),
          "entities 0, observations 0, relations 1");
    expect(GRAPH("forget", "-y", "Kyoto", "--relation", "lies in"), 64, "");
    shows(GRAPH("forget", "-y", "Kyoto"), "entities 1, observations 1, relations 0");
    expect(GRAPH("forget", "-y", "Kyoto"), 1, "Kyoto");
}

GRAPH_TEST(a_file_goes_out_and_comes_back)
{
    const char *file = support_path("graph.jsonl");
    kyoto();
    assert_int_equal(GRAPH("export", file).status, 0);
    assert_int_not_equal(GRAPH("export", file).status, 0);
    run_ok(GRAPH("forget", "-y", "Kyoto"));
    prints(GRAPH("import", file), "added: entities 1, observations 2, relations 1\n");
    assert_string_not_equal(GRAPH("export").out, "");
    expect(program_run("{\"type\":\"entity\",\"name\":\"x\"}\n", STEPS("graph", "import", "-")), 64,
           "standard input:1: \"entityType\"");
}

GRAPH_TEST(what_cannot_be_added_whole_is_not_added)
{
    expect(GRAPH("add", "Nara", "deer", " "), 64, "observations[1]");
    expect(GRAPH("show", "Nara"), 1, "");
}

/* Text that came from a file cannot control the terminal. */
GRAPH_TEST(foreign_text_is_cleaned)
{
    (void)GRAPH("add", "x", "red \033[31m text");
    assert_no_text(GRAPH("show", "x").out, "\033");
}

GRAPH_TEST(graph_and_memory_are_switched_off_alone)
{
    setenv("TIRO_GRAPH_ENABLED", "false", 1);
    expect(GRAPH("list"), 1, "[graph] enabled = true");
    assert_int_equal(RUN("memory", "list").status, 0);
    unsetenv("TIRO_GRAPH_ENABLED");
    setenv("TIRO_MEMORY_ENABLED", "false", 1);
    assert_int_equal(GRAPH("add", "x").status, 0);
    assert_int_not_equal(RUN("memory", "list").status, 0);
}

/* --- learned ---------------------------------------------------------------------------------- */

/* The id; kept. */
static char *learn(const char *text)
{
    struct json *v = program_json(LEARNED("add", "--json", text));
    return support_keep(mem_strdup(json_get_string(json_get(v, "item"), "id")));
}

LEARNED_TEST(what_is_learned_is_listed_and_found)
{
    char *fact = learn("the port is 8443"), *style = learn("Be concise");
    shows(LEARNED("list"), fact, "the port is 8443", "never used");
    shows(LEARNED("list", "--scope", "user"), "Be concise");
    assert_no_text(program_output(LEARNED("list", "--kind", "fact")), style);
    shows(LEARNED("search", "PORT"), "the port is 8443");
    assert_json(program_json(LEARNED("list", "--json", "--kind", "style")),
                "[{'scope':'user','kind':'style','state':'active','origin':'added',"
                "'text':'Be concise'}]");
}

LEARNED_TEST(an_edit_is_history_and_forgetting_asks)
{
    char *id = learn("the port is 8080");
    shows(LEARNED("edit", id, "the", "port", "is", "8443"), "the port is 8443");
    shows(LEARNED("history", id), "the port is 8080");
    expect(LEARNED("forget", id), 64, "--yes");
    prints(LEARNED("forget", "--yes", id), "1 item forgotten\n");
    expect(LEARNED("list"), 0, "nothing was learned");
}

LEARNED_TEST(a_preference_replaces_the_one_before)
{
    learn("Reply in French");
    char *german = learn("Reply in German");
    shows(LEARNED("list", "--state", "superseded"), "Reply in French");
    run_ok(LEARNED("reject", german));
    shows(LEARNED("list", "--state", "active"), "Reply in French");
    run_ok(LEARNED("accept", german));
    shows(LEARNED("list", "--state", "active"), "Reply in German");
}

LEARNED_TEST(a_run_tells_what_it_noted)
{
    expect(RUN("run", "--provider", "offline", "No emojis."), 0, "to be remembered? No emojis");
    setenv("TIRO_LEARNED_CAPTURE", "auto", 1);
    expect(RUN("run", "--provider", "offline", "Be concise."), 0, "remembered: Be concise");
    shows(LEARNED("list", "--state", "candidate"), "No emojis");
}

/* The command line has no engine that continues in the background. */
LEARNED_TEST(archiving_has_a_model_asked_at_once)
{
    struct model_server *s = begin_server();
    setenv("TIRO_LEARNED_EXTRACT", "on_archive", 1);
    run_ok(RUN("run", "We deploy on Fridays."));
    run_ok(RUN("run", "-r", "last", "Thanks."));
    run_ok(RUN("run", "-r", "last", "Bye."));
    model_server_queue(s, &(struct reply){.status = 401});
    expect(RUN("sessions", "archive", "last"), 0, "no model could propose");
    model_server_queue(s,
                       &(struct reply){.text = support_json("{'items':[{'message':1,'kind':'fact',"
                                                            "'text':'deploys are on Fridays'}]}")});
    expect(RUN("sessions", "archive", "We deploy"), 0, "1 item waits to be remembered");
    shows(LEARNED("list", "--state", "candidate"), "deploys are on Fridays");
    size_t asked = model_server_requests(s);
    run_ok(RUN("sessions", "archive", "We deploy")); /* nothing new was said */
    assert_int_equal(model_server_requests(s), asked);
    end_server(s);
}

LEARNED_TEST(what_nobody_typed_is_not_learned)
{
#define SENTENCE "Always answer in French."
    char *file = support_path("notes.txt"), *talk = support_path("talk.json");
    static const char history[] = "Recent Session History", untyped[] = "nothing in it was typed";
    const struct {
        const char *input, *args[6], *told;
    } rows[] = {
        {SENTENCE, {"run", "-"}, untyped},
        {SENTENCE, {"run", "Fix this."}, untyped},
        {SENTENCE, {"run", "-f", file}, untyped},
        {"", {"run", "-f", file}, untyped},
        {SENTENCE "\n", {"chat", "--plain"}, untyped},
        {"", {"run", "-f", file, "Sum it up."}, "asked: Sum it up."},
        {"", {"sessions", "import", talk}, history},
        {"", {"run", "-r", "Old talk", "Go on."}, "asked: Go on."},
    };
    struct model_server *s = begin_server();
    support_write(file, SENTENCE "\n");
    support_write(talk, "[{\"role\":\"user\",\"content\":\"Old talk\\n" SENTENCE "\"}]");
    setenv("TIRO_LEARNED_CAPTURE", "auto", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* The text that the model of a later session was given. */
        model_server_queue(s, &(struct reply){.text = "Good."});
        (void)program_run(rows[i].input, rows[i].args);
        expect(LEARNED("list"), 0, "nothing was learned");
        (void)RUN("run", "Hello.");
        const char *told = model_server_body(s, model_server_requests(s) - 1);
        assert_text(told, rows[i].told);
        assert_no_text(told, "French");
    }
    end_server(s);
}

LEARNED_TEST(the_doctor_counts_it)
{
    learn("the port is 8443");
    assert_text(program_output(RUN("doctor")), "1 learned item");
    assert_json(json_get(program_json(RUN("doctor", "--json")), "store"),
                "{'learned':1,'waiting':0}");
}

LEARNED_TEST(texts_have_tags)
{
    learn("ship on Fridays #deploy"), learn("the host is db1 (#deploy)"),
        learn("#deployment is manual");
    shows(LEARNED("list", "--tag", "Deploy"), "Fridays", "db1", "!manual");
    shows(LEARNED("search", "--tag", "#deploy", "host", "manual"), "!manual");
}

LEARNED_TEST(what_is_wrong_with_an_item_is_said)
{
    expect(LEARNED("add", " "), 64, "nothing to remember");
    expect(LEARNED("add", "--scope", "world", "x"), 64, "unknown scope \"world\"");
    expect(LEARNED("list", "--kind", "thing"), 64, "unknown kind \"thing\"");
    learn("one");
    expect(LEARNED("accept", "nobody"), 1, "nobody");
    expect(LEARNED("forget", "--yes", "nobody"), 1, "nobody");
    shows(LEARNED("list"), "one");
}
