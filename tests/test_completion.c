/* Completions that the shells offer, obtained from the shells themselves. */
#include <unistd.h>

#include "base/paths.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/record.h"
#include "tests/suite.h"

/* --- sessions to be named -------------------------------------------------------------------- */

static const char *const titles[] = {"plain",
                                     "it's a \"quoted\" one",
                                     "a: colon = sign",
                                     "日本語 の 題",
                                     "$(touch evil) `touch evil`",
                                     "-dash",
                                     "dup",
                                     "Dup",
                                     "back\\slash"};

enum { TITLES = sizeof titles / sizeof *titles, DASH = 5, DUP = 6 };

static char *ids[TITLES]; /* their ends */

static void add_session(struct store *store, int i)
{
    AUTO(record_release) struct record r = {0};
    record_begin(&r, store);
    record_run(&r, "question", "answer");
    free(r.info.title);
    r.info.title = mem_strdup(titles[i]);
    record_save(&r);
    ids[i] = mem_strdup(r.info.id + strlen(r.info.id) - 8);
}

static void put_program_into_path(void)
{
    char *dir = support_keep(mem_strdup(support_program()));
    *strrchr(dir, '/') = '\0';
    setenv("PATH", support_text("%s:%s", dir, getenv("PATH")), 1);
}

static int setup(void **state)
{
    struct error e = {0};
    support_setup(state);
    put_program_into_path();
    if (chdir(support_dir()) != 0)
        return -1;
    memset(ids, 0, sizeof ids);
    if (!capability_store())
        return 0;
    struct store *store;
    bool ok = store_open(support_keep(store_default_path()), STORE_READ_WRITE, &store, &e);
    if (!ok)
        return -1;
    for (int i = 0; i < TITLES; i++)
        add_session(store, i);
    store_close(store);
    return 0;
}

static int teardown(void **state)
{
    for (int i = 0; i < TITLES; i++)
        free(ids[i]);
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

/* --- bash ------------------------------------------------------------------------------------ */

static char *run_shell(const char *const *argv)
{
    struct support_child child;
    support_start(&child, argv);
    int status = support_finish(&child, NULL);
    if (status != 0 || child.err_text.len > 0)
        fail_msg("%s: status %d: %s", argv[0], status, child.err_text.data);
    char *out = mem_strdup(child.out_text.data);
    support_release(&child);
    return out;
}

static const char bash_script[] =
    ". \"$SOURCE_DIR/data/completion/bash/tiro\"; COMP_LINE=$1 COMP_POINT=${#1}\n"
    "_tiro tiro; for reply in \"${COMPREPLY[@]}\"; do printf '%s\\n' \"$reply\"; done\n"
    "[[ ! -e evil ]]";

/* The completions, one per line. The caller frees. */
static char *bash(const char *line)
{
    return support_keep(run_shell((const char *const[]){"/bin/bash", "--norc", "--noprofile", "-c",
                                                        bash_script, "bash", line, NULL}));
}

static void assert_bash(const char *line, const char *offered)
{
    char *out = bash(line);
    if (strcmp(out, offered) != 0)
        fail_msg("%s: [%s] in place of [%s]", line, out, offered);
}

FIXTURE(setup, teardown);

TEST(bash_knows_the_tables)
{
    assert_bash("tiro ses", "sessions\n");
    assert_bash("tiro sessions ex", "export\n");
    assert_bash("tiro sessions export --fo", "--format\n--force\n");
    assert_bash("tiro sessions --arch", "--archived\n");
    assert_bash("tiro --read", "--read-only\n");
    assert_bash("tiro --ver", "--version\n");
    assert_bash("tiro run --provider ", "anthropic\nopenai\nollama\noffline\n");
    assert_bash("tiro run --provider=o", "openai\nollama\noffline\n");
    assert_bash("tiro -p an", "anthropic\n");
    assert_bash("tiro run hello -o ", "text\njson\nstream-json\n");
    assert_bash("tiro chat --tools ", "none\nread\nfull\n");
    assert_bash("tiro sessions export --format ", "markdown\njson\njsonl\nmessages\n");
    assert_bash("tiro import run --from cl", "claude\nclaude.ai\n");
    assert_bash("tiro memory search --from t", "tiro\n");
    assert_bash("tiro completion ", "bash\nzsh\nfish\n");
    assert_bash("tiro completion bash ", "");
    assert_bash("tiro config set ui.th", "ui.theme\n");
    assert_bash("tiro config set keys.session",
                "keys.sessions\nkeys.session_read\n"
                "keys.session_fork\nkeys.session_rename\n"
                "keys.session_label\nkeys.session_archive\nkeys.session_archived\n"
                "keys.session_project\nkeys.session_export\nkeys.session_delete\n");
    assert_bash("tiro help sess", "sessions\n");
    assert_bash("tiro help sessions ren", "rename\n");
    assert_bash("tiro help run ", "");
    assert_bash("tiro run -- --prov", "");
    assert_bash("tiro run --model ", "");
}

TEST(bash_knows_files)
{
    support_write("a file.txt", "x");
    assert_bash("tiro run -f a", "a file.txt\n");
    assert_bash("tiro run --file=a", "a file.txt\n");
    assert_bash("tiro sessions import 'a f", "a file.txt\n");
    assert_bash("tiro sessions export x -o a", "a file.txt\n");
    assert_bash("tiro sessions list -d a", "");
}

TEST_IF(capability_store(), bash_names_sessions)
{
    assert_bash("tiro sessions show pl", "plain\n");
    assert_bash("tiro --resume pl", "plain\n");
    assert_bash("tiro run -r pl", "plain\n");
    assert_bash("tiro sessions search --in pl", "plain\n");
    assert_bash("tiro sessions rename plain pl", "");
    assert_bash("tiro sessions show it", "it\\'s\\ a\\ \\\"quoted\\\"\\ one\n");
    assert_bash("tiro sessions show \"it", "it's a \\\"quoted\\\" one\n");
    assert_bash("tiro sessions show 'it", "it'\\''s a \"quoted\" one\n");
    assert_bash("tiro sessions show a:", "\\ colon\\ =\\ sign\n");
    assert_bash("tiro sessions show a:\\ c", "\\ colon\\ =\\ sign\n");
    assert_bash("tiro sessions show \"a: c", "a: colon = sign\n");
    assert_bash("tiro --resume=日", "日本語\\ の\\ 題\n");
    assert_bash("tiro sessions show \"\\$", "\\$(touch evil) \\`touch evil\\`\n");
    assert_bash("tiro sessions show back", "back\\\\slash\n");
    assert_bash("tiro sessions show du", "");
    assert_bash(support_text("tiro sessions show %.6s", ids[DUP]), support_text("%s\n", ids[DUP]));
    char *all = bash("tiro sessions delete ");
    assert_text(all, ids[DASH]);
    assert_no_text(all, "-dash");
}

/* After the completion bash would run a command with exactly this title. */
TEST_IF(capability_store(), bash_quotes_what_it_offers)
{
    static const char *const quotes[] = {"", "'", "\""};
    for (int i = 0; i < DASH; i++) {
        for (size_t q = 0; q < sizeof quotes / sizeof *quotes; q++) {
            char *all = bash(support_text("tiro sessions show %s", quotes[q]));
            char *script = support_text(
                "while IFS= read -r word; do eval \"printf '%%s\\\\n' $2$word$2\"; done <<<\"$1\"");
            char *words = support_keep(run_shell(
                (const char *const[]){"/bin/bash", "-c", script, "bash", all, quotes[q], NULL}));
            assert_text(words, titles[i]);
        }
    }
    assert_int_not_equal(access("evil", F_OK), 0);
}

/* --- zsh ------------------------------------------------------------------------------------- */

static bool installed(const char *shell)
{
    char *command = support_text("command -v %s >/dev/null 2>&1", shell);
    struct support_child child;
    support_start(&child, (const char *const[]){"/bin/sh", "-c", command, NULL});
    bool there = support_finish(&child, NULL) == 0;
    support_release(&child);
    if (!there)
        print_message("%s is not installed; its completion was not tried\n", shell);
    return there;
}

/* A zsh on a terminal of its own, made ready by $1: each of the others and a Tab are typed, the
 * line that came of it is shown. */
static const char zsh_script[] =
    "zmodload zsh/zpty; way=$1; shift; zpty z zsh -f -i\n"
    "{ zpty -w z 'PS1= RPS1= PROMPT_SP= ZLE_RPROMPT_INDENT=0 KEYTIMEOUT=1; unsetopt prompt_cr "
    "prompt_sp; "
    "autoload -U compinit'\n"
    "zpty -w z \"$way; \"'show() { zle -I; print -r -- \"BEGIN $BUFFER END\"; BUFFER= }'\n"
    "zpty -w z 'zle -N show; bindkey \"^X\" show; bindkey \"^I\" complete-word; setopt "
    "no_list_beep; print REA\"\"DY'\n"
    "zpty -r -m z seen '*READY*'\n"
    "for line; do zpty -w -n z \"$line\"$'\\t\\x18'; zpty -r -m z seen '*BEGIN * END*'\n"
    "seen=${seen##*BEGIN }; print -r -- \"${seen%% END*}\"; done } always { zpty -d z }";

/* The installed file, and the file sourced by hand. */
static const char zsh_installed[] = "fpath=($SOURCE_DIR/data/completion/zsh $fpath); compinit -u";
static const char zsh_read_in[] = "compinit -u; source <(tiro completion zsh)";

struct completion {
    const char *line, *completed;
};

static void assert_zsh(const char *way, const struct completion *cases, size_t count)
{
    enum { FIRST = 7, MOST = 16 };
    const char *argv[FIRST + MOST + 1] = {"/usr/bin/env", "zsh", "-f", "-c",
                                          zsh_script,     "zsh", way};
    AUTO(buf_release) struct buf wanted = BUF_INIT;
    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        argv[FIRST + i] = cases[i].line;
        buf_addf(&wanted, "%s\n", cases[i].completed);
    }
    assert_string_equal(support_keep(run_shell(argv)), wanted.data);
}

TEST(zsh_knows_the_tables)
{
    static const struct completion cases[] = {
        {"tiro ses", "tiro sessions "},
        {"tiro sessions ren", "tiro sessions rename "},
        {"tiro run --provider anth", "tiro run --provider anthropic "},
        {"tiro run --prov", "tiro run --provider="},
        {"tiro -p off", "tiro -p offline "},
        {"tiro run -o stre", "tiro run -o stream-json "},
        {"tiro config set ui.th", "tiro config set ui.theme "},
        {"tiro help sessions ex", "tiro help sessions export "},
        {"tiro run -f a", "tiro run -f a\\ file.txt "},
    };
    if (!installed("zsh"))
        skip();
    support_write("a file.txt", "x");
    assert_zsh(zsh_installed, cases, sizeof cases / sizeof *cases);
}

TEST_IF(capability_store(), zsh_names_sessions)
{
    static const struct completion cases[] = {
        {"tiro sessions show pl", "tiro sessions show plain "},
        {"tiro --resume pl", "tiro --resume plain "},
        {"tiro sessions show it", "tiro sessions show it\\'s\\ a\\ \\\"quoted\\\"\\ one "},
        {"tiro sessions show 'it", "tiro sessions show 'it'\\''s a \"quoted\" one' "},
        {"tiro sessions show a:", "tiro sessions show a:\\ colon\\ =\\ sign "},
        {"tiro sessions show 日", "tiro sessions show 日本語\\ の\\ 題 "},
    };
    if (!installed("zsh"))
        skip();
    assert_zsh(zsh_installed, cases, sizeof cases / sizeof *cases);
    assert_zsh(zsh_read_in, cases, 1);
    assert_int_not_equal(access("evil", F_OK), 0);
}

/* --- fish ------------------------------------------------------------------------------------ */

static void assert_fish(const char *line, const char *offered)
{
    auto_free char *out =
        run_shell((const char *const[]){"/usr/bin/env", "fish", "--no-config", "-c",
                                        "source $SOURCE_DIR/data/completion/fish/tiro.fish; "
                                        "complete -C $argv[1] | string replace -r '\\t.*' ''; true",
                                        line, NULL});
    if (strcmp(out, offered) != 0)
        fail_msg("%s: [%s] in place of [%s]", line, out, offered);
}

TEST(fish_knows_the_tables)
{
    if (!installed("fish"))
        skip();
    assert_fish("tiro ses", "sessions\n");
    assert_fish("tiro sessions ren", "rename\n");
    assert_fish("tiro sessions export --fo", "--force\n--format\n");
    assert_fish("tiro run --provider ", "anthropic\noffline\nollama\nopenai\n");
    assert_fish("tiro run -o stre", "stream-json\n");
    assert_fish("tiro config set ui.th", "ui.theme\n");
    assert_fish("tiro help sessions ex", "export\n");
    assert_fish("tiro --read", "--read-only\n");
    support_write("a file.txt", "x");
    assert_fish("tiro run -f a", "a file.txt\n");
}

TEST_IF(capability_store(), fish_names_sessions)
{
    if (!installed("fish"))
        skip();
    assert_fish("tiro sessions show pl", "plain\n");
    assert_fish("tiro --resume pl", "plain\n");
    assert_fish("tiro sessions show it", "it's a \"quoted\" one\n");
    assert_fish("tiro sessions show \"a: ", "a: colon = sign\n");
    assert_fish("tiro sessions show 日", "日本語 の 題\n");
    assert_fish("tiro sessions rename plain pl", "");
    assert_int_not_equal(access("evil", F_OK), 0);
}

TEST(profiles_are_offered)
{
    struct error e;
    assert_true(paths_make_dir(support_path(".config/tiro/profiles"), &e));
    support_write(support_path(".config/tiro/profiles/work.ini"), "");
    support_write(support_path(".config/tiro/profiles/my own.ini"), "");
    assert_bash("tiro --prof", "--profile\n");
    assert_bash("tiro sessions list --profile ", "my\\ own\nwork\n");
    assert_bash("tiro --profile=w", "work\n");
    if (installed("zsh"))
        assert_zsh(
            zsh_installed,
            (const struct completion[]){{"tiro run --profile w", "tiro run --profile work "}}, 1);
    if (installed("fish"))
        assert_fish("tiro run --profile ", "my own\nwork\n");
}

TEST(the_program_wants_a_shell)
{
    expect(RUN("completion"), 64, "bash|zsh|fish");
    expect(RUN("completion", "fishh"), 64, "did you mean \"fish\"?");
    expect(RUN("completion", "bash", "zsh"), 64, "unexpected argument");
}
