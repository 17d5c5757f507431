#include "tests/torture/steps.h"
#include "tests/suite.h"

#include "tests/program.h"

#define EVENTS "--output-format", "stream-json"
#define QUESTION "What is a quincunx?"
#define SUMMARY "## Goal\nTo learn what a quincunx is.\n## State\nIt has five points."
#define FORGOTTEN "wallaby"
#define NEW_ENTRY                                                                                  \
    "{\"id\":\"entry-new\",\"session_id\":\"talk-2\",\"role\":\"user\","                           \
    "\"created_at\":\"2026-01-03T10:00:00Z\",\"content\":\"The wombat came to tea.\"}\n"

/* Less than the conversation takes. */
#define THRESHOLD "TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "500"

const struct step steps[] = {
    {.name = "create",
     .form = STEP_EVENTS,
     .arguments = {"run", EVENTS, "--label", "new", QUESTION},
     .fresh = true,
     .look = {"sessions", "show", "last"},
     .there = STEPS_ANSWER},
    {.name = "turn",
     .arguments = {"run", "--resume", "Beta", QUESTION},
     .look = {"sessions", "show", "last"},
     .there = QUESTION},
    {.name = "tools",
     .form = STEP_EVENTS,
     .arguments = {"run", EVENTS, "--resume", "Beta", "--tools", "full", "--allow",
                   "read,write,execute", QUESTION},
     .replies = {{.text = "I read.",
                  .tool_name = "read_file",
                  .tool_args = "{\"path\":\"note.txt\"}",
                  .tool_id = "call-1"},
                 {.tool_name = "write_file",
                  .tool_args = "{\"path\":\"note.txt\",\"content\":\"written by a tool\\n\"}",
                  .tool_id = "call-2"},
                 {.tool_name = "run_command",
                  .tool_args = "{\"command\":\"cat note.txt\"}",
                  .tool_id = "call-3"},
                 {.tool_name = "memory_search",
                  .tool_args = "{\"query\":\"dictation\"}",
                  .tool_id = "call-4"},
                 {.tool_name = "search_files",
                  .tool_args = "{\"pattern\":\"tool\"}",
                  .tool_id = "call-5"},
                 {.tool_name = "list_directory", .tool_args = "{}", .tool_id = "call-6"},
                 {.text = STEPS_ANSWER}},
     .look = {"sessions", "show", "last"},
     .there = QUESTION},
    {.name = "compaction",
     .form = STEP_EVENTS,
     .arguments = {"run", EVENTS, "--resume", "Beta", QUESTION},
     .setting = THRESHOLD,
     .replies = {{.text = SUMMARY}, {.text = STEPS_ANSWER}},
     .look = {"sessions", "show", "last"},
     .there = QUESTION},
    {.name = "sessions list", .arguments = {"sessions", "list"}},
    {.name = "sessions search", .arguments = {"sessions", "search", "quincunx"}},
    {.name = "sessions show", .arguments = {"sessions", "show", "Beta"}},
    {.name = "sessions rename",
     .arguments = {"sessions", "rename", "Alpha", "Renamed"},
     .look = {"sessions", "list"},
     .there = "Renamed"},
    {.name = "sessions archive",
     .arguments = {"sessions", "archive", "Alpha"},
     .look = {"sessions", "list", "--live"},
     .gone = "Alpha"},
    {.name = "sessions fork", .arguments = {"sessions", "fork", "Beta"}, .prints_id = true},
    {.name = "sessions export",
     .arguments = {"sessions", "export", "--format", "jsonl", "-o", "taken.jsonl", "Beta"},
     .file = "taken.jsonl"},
    {.name = "sessions import",
     .arguments = {"sessions", "import", "kept.jsonl"},
     .prints_id = true,
     .look = {"sessions", "search", "imported"},
     .there = "imported"},
    {.name = "sessions rebuild", .arguments = {"sessions", "rebuild", "Beta"}},
    {.name = "sessions delete",
     .arguments = {"sessions", "delete", "--yes", "Gamma"},
     .takes = FORGOTTEN,
     .look = {"sessions", "list"},
     .gone = "Gamma"},
    {.name = "memory search", .arguments = {"memory", "search", "dictation"}},
    {.name = "memory export",
     .arguments = {"memory", "export", "taken.jsonl"},
     .file = "taken.jsonl"},
    {.name = "memory import",
     .arguments = {"memory", "import", "new.jsonl"},
     .look = {"memory", "search", "wombat"},
     .there = "wombat"},
    {.name = "memory edit",
     .arguments = {"memory", "edit", "--content", "The burrow was flooded.", "entry-1"},
     .takes = "entry-1",
     .look = {"memory", "search", "burrow"},
     .there = "flooded"},
    {.name = "memory delete",
     .arguments = {"memory", "delete", "--yes", "entry-1"},
     .takes = "entry-1",
     .look = {"memory", "list"},
     .gone = "shorthand of his own"},
    {.name = "memory reindex",
     .arguments = {"memory", "reindex"},
     .look = {"memory", "search", "dictation"},
     .there = "dictation"},
    {.name = "config set",
     .arguments = {"config", "set", "ui.theme", "light"},
     .look = {"config", "show"},
     .there = "light"},
    {.name = "doctor", .form = STEP_REPORT, .arguments = {"doctor", "--thorough"}},
    {.name = "recover",
     .form = STEP_REPORT,
     .arguments = {"doctor", "--recover", "--yes"},
     .breaks_before = true},
    {.name = "chat", .form = STEP_SCREEN, .arguments = {"--resume", "Beta"}},
};

const size_t step_count = sizeof steps / sizeof *steps;

static void say(struct model_server *s, const char *resume, const char *title, const char *answer)
{
    model_server_queue(s, &(struct reply){.text = answer});
    if (resume)
        run_ok(RUN("run", "--resume", resume, QUESTION));
    else
        run_ok(RUN("run", QUESTION));
    if (title)
        run_ok(RUN("sessions", "rename", "last", title));
}

static void put(const char *name, const char *text)
{
    char *path = support_path(name);
    support_write(path, text);
    free(path);
}

void steps_make_home(void)
{
    struct model_server *s = begin_server();
    write_config("[provider]\nmax_retries = 1\n[compaction]\nmin_turns_between_compactions = 0\n");
    put("note.txt", "Verba volant, scripta manent.\n");
    put("new.jsonl", NEW_ENTRY);
    say(s, NULL, "Imported", "This was imported.");
    run_ok(RUN("sessions", "export", "--format", "jsonl", "-o", "kept.jsonl", "Imported"));
    run_ok(RUN("sessions", "delete", "--yes", "Imported"));
    say(s, NULL, "Alpha", STEPS_ANSWER);
    say(s, NULL, "Gamma", "The " FORGOTTEN " is to be forgotten.");
    say(s, NULL, "Beta", "A secretary who took dictation wrote it so.");
    for (int turn = 0; turn < 6; turn++)
        say(s, "Beta", NULL,
            "Dictation again: a quincunx is an arrangement of five things in a square or "
            "rectangle, one at each corner and one in the middle. Orchards were planted so, and "
            "legions stood so, with the second line behind the gaps of the first. ");
    model_server_queue(s, &(struct reply){.text = SUMMARY});
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "500", 1);
    model_server_queue(s, &(struct reply){.text = "The compacted one has five points, too."});
    expect(RUN("run", "--resume", "Beta", QUESTION), 0, "compacted");
    unsetenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD");
    static const char entries[] =
        "{\"id\":\"entry-1\",\"session_id\":\"talk-1\",\"role\":\"user\","
        "\"created_at\":\"2026-01-02T10:00:00Z\","
        "\"content\":\"He took dictation in a shorthand of his own.\"}\n"
        "{\"id\":\"entry-2\",\"session_id\":\"talk-1\",\"role\":\"assistant\","
        "\"created_at\":\"2026-01-02T10:01:00Z\",\"content\":\"He kept the letters.\"}\n";
    run_ok(RUN_WITH(entries, "memory", "import", "-"));
    end_server(s);
}
