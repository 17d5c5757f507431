/* Command lines that can be allowed by their beginning, those that can be allowed as they are, and
 * those that cannot be allowed beyond the moment. */
#include "agent/simple_command.h"
#include "tests/suite.h"

static void give(const char *command, const char *wanted)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    bool any = simple_command_grant(command, &out);
    if (any != (out.len > 0) || strcmp(out.data, wanted) != 0)
        fail_msg("%s: %s, not %s", command, out.data, wanted);
}

struct row {
    const char *command, *grant;
};

static void give_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        give(rows[i].command, rows[i].grant);
}
#define GIVE(...)                                                                                  \
    do {                                                                                           \
        static const struct row rows[] = {__VA_ARGS__};                                            \
        give_all(rows, sizeof rows / sizeof *rows);                                                \
    } while (0)

TEST(a_program_and_its_sub_command_name_a_set)
{
    GIVE({"ls", "`ls …`"}, {"  ls -la\tsrc ", "`ls …`"}, {"git status", "`git status …`"},
         {"git status --short", "`git status …`"}, {"git log -5 HEAD~2 -- 'a b'", "`git log …`"},
         {"git log --oneline --no-ext-diff", "`git log …`"},
         {"git show \"HEAD:a b.c\"", "`git show …`"}, {"grep -rn 'a|b' src", "`grep …`"},
         {"cat 'größe.txt'", "`cat …`"}, {"ls src/*.c", "`ls …`"}, {"make check", "`make check …`"},
         {"make check -j4 -k", "`make check …`"}, {"make -j4 -sk check", "`make check …`"},
         {"git --no-pager diff x", "`git diff …`"}, {"npm test", "`npm test …`"},
         {"npm run test:unit", "`npm run test:unit …`"},
         {"cargo test -p base --release parser", "`cargo test …`"},
         {"go test ./... -run 'X|Y' -count=1", "`go test …`"},
         {"pytest -xvs tests/test_a.py::test_b", "`pytest …`"},
         {"find . -name '*.c' -newer x", "`find …`"}, {"sort -k2 -u x", "`sort …`"});
}

/* This line and no other. */
TEST(other_programs_are_named_with_all_their_words)
{
    GIVE({"touch made", "`touch made`"}, {" rm -rf build  ", "`rm -rf build`"},
         {"git push origin main", "`git push origin main`"}, {"git", "`git`"}, {"make", "`make`"},
         {"git lg", "`git lg`"}, /* an alias, of the project's configuration perhaps */
         {"npm run", "`npm run`"}, {"npm install x", "`npm install x`"});
}

/* An option that starts a program, writes a file or changes what the program is. */
TEST(known_holes_of_programs)
{
    GIVE({"git -c core.pager=evil log", "`git -c core.pager=evil log`"},
         {"git --no-pager -c x=y log", "`git --no-pager -c x=y log`"},
         {"git --no-pager", "`git --no-pager`"}, {"git --no-page log", "`git --no-page log`"},
         {"make -j4 -f x check", "`make -j4 -f x check`"}, {"make -", "`make -`"},
         {"git --exec-path=/tmp status", "`git --exec-path=/tmp status`"},
         {"git -C /tmp/evil status", "`git -C /tmp/evil status`"},
         {"git --git-dir=x status", "`git --git-dir=x status`"},
         {"git --config-env=a=b status", "`git --config-env=a=b status`"},
         {"git diff --output=x", "`git diff --output=x`"},
         {"git diff --outp x", "`git diff --outp x`"}, /* shortened */
         {"git log '--output' x", "`git log '--output' x`"},
         {"git diff --ext-diff", "`git diff --ext-diff`"},
         {"git grep -Oevil x", "`git grep -Oevil x`"},
         {"git grep -nO x", "`git grep -nO x`"}, /* among other letters */
         {"git grep --open-files-in-pager=evil x", "`git grep --open-files-in-pager=evil x`"},
         {"git config alias.status x", "`git config alias.status x`"},
         {"git rebase -x evil", "`git rebase -x evil`"},
         {"git fetch --upload-pack=evil .", "`git fetch --upload-pack=evil .`"},
         {"find . -exec rm x +", "`find . -exec rm x +`"},
         {"find . -execdir rm x +", "`find . -execdir rm x +`"},
         {"find . '-ex'ec rm x +", "`find . '-ex'ec rm x +`"},
         {"find . -ok rm x +", "`find . -ok rm x +`"}, {"find . -delete", "`find . -delete`"},
         {"find . -fprint x", "`find . -fprint x`"}, {"find . -fls x", "`find . -fls x`"},
         {"sort -o x y", "`sort -o x y`"}, {"sort -uox y", "`sort -uox y`"},
         {"sort --compress-program=evil x", "`sort --compress-program=evil x`"},
         {"sort --comp=evil x", "`sort --comp=evil x`"}, {"rg --pre evil x", "`rg --pre evil x`"},
         {"fd -x evil", "`fd -x evil`"}, {"tree -o x", "`tree -o x`"},
         {"make check SHELL=evil", "`make check SHELL=evil`"},
         {"make check install", "`make check install`"}, {"make -f x check", "`make -f x check`"},
         {"make check --eval=x", "`make check --eval=x`"},
         {"make check -C ..", "`make check -C ..`"},
         {"npm test --script-shell=evil", "`npm test --script-shell=evil`"},
         {"cargo test --config x", "`cargo test --config x`"},
         {"go test -exec evil ./...", "`go test -exec evil ./...`"},
         {"go build -toolexec=evil", "`go build -toolexec=evil`"},
         {"go test ../other", "`go test ../other`"}, {"pytest -p evil", "`pytest -p evil`"},
         {"pytest /tmp/evil", "`pytest /tmp/evil`"}, {"pytest a/../..", "`pytest a/../..`"},
         {"pytest .*/evil", "`pytest .*/evil`"}, {"go test a/.[.]/b", "`go test a/.[.]/b`"},
         {"kubectl get --kubeconfig=x pods", "`kubectl get --kubeconfig=x pods`"},
         {"apt list -o Dir::Bin=x", "`apt list -o Dir::Bin=x`"},
         {"docker -H evil ps", "`docker -H evil ps`"},
         {"systemctl status -H evil", "`systemctl status -H evil`"});
}

/* Programs that run others, and names that are not what they look like. */
TEST(a_program_that_runs_others_is_never_a_beginning)
{
    GIVE({"env X= git status", "`env X= git status`"}, {"sudo ls", "`sudo ls`"},
         {"xargs ls", "`xargs ls`"}, {"sh -c ls", "`sh -c ls`"}, {"nice ls", "`nice ls`"},
         {"sh -c 'ls; rm x'", "`sh -c 'ls; rm x'`"}, {"command git status", "`command git status`"},
         {"exec ls", "`exec ls`"}, {"eval ls", "`eval ls`"}, {"awk 1 x", "`awk 1 x`"},
         {"sed -n 1p x", "`sed -n 1p x`"}, {"timeout 5 ls", "`timeout 5 ls`"},
         {"./git status", "`./git status`"}, {"/usr/bin/git status", "`/usr/bin/git status`"},
         {"'git' status", "`'git' status`"}, {"g\"i\"t status", "`g\"i\"t status`"},
         {"git 'status'", "`git 'status'`"}, {"git st''atus", "`git st''atus`"},
         {"GIT status", "`GIT status`"});
}

TEST(what_is_not_one_simple_command_is_in_no_set)
{
    static const char *const lines[] = {"",
                                        "  ",
                                        "git status; rm x",
                                        "git status;rm x",
                                        "git status && rm x",
                                        "git status || rm x",
                                        "git status | sh",
                                        "git status & rm x",
                                        "git status &",
                                        "git status\nrm x",
                                        "git status\rrm x",
                                        "git status\n",
                                        "git status 'a\nb'",
                                        "git status $(rm x)",
                                        "git status `rm x`",
                                        "git status \"$(rm x)\"",
                                        "git status \"`rm x`\"",
                                        "git status $X",
                                        "git status \"${X}\"",
                                        "git status $'\\x41'",
                                        "git status > x",
                                        "git status >x",
                                        "git status 2>x",
                                        "git status < x",
                                        "git status <<E\nx\nE",
                                        "git status <(rm x)",
                                        "X=y git status",
                                        "GIT_PAGER=x git log",
                                        "X+=y ls",
                                        "a[0]=x ls",
                                        "(ls)",
                                        "{ ls; }",
                                        "! ls",
                                        "if ls",
                                        "while ls",
                                        "time ls",
                                        "ls() rm",
                                        "\\git status",
                                        "git \\status",
                                        "git status \\",
                                        "ls *",
                                        "sort *.txt", /* a file may be named "-ox.txt" */
                                        "ls ?x",
                                        "ls [a]",
                                        "ls -*",
                                        "ls '-'*",
                                        "ls ''*",
                                        "ls {-o,x}",
                                        "ls a{b,c}",
                                        "l? x",
                                        "ls ~/x",
                                        "ls a:~",
                                        "ls # x",
                                        "ls 'x",
                                        "ls \"x",
                                        "ls x'",
                                        "ls \"a\\\"b\"",
                                        "ls \x01",
                                        "ls \xc2\xa0x",
                                        "ls '\x1b[2J'",
                                        "git status\vx"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        give(lines[i], "");
}

TEST(a_line_too_long_to_be_read_is_in_no_set)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    buf_addstr(&line, "rm ");
    while (line.len < 200)
        buf_addch(&line, 'x');
    auto_free char *wanted = mem_printf("`%s`", line.data);
    give(line.data, wanted);
    buf_addch(&line, 'x');
    give(line.data, "");
}

/* A line of a set stays in it, or leaves all sets, whatever one adds to it: nothing of the shell's
 * own leads from `ls …` to another program. */
TEST(what_is_added_to_a_line_is_not_covered_unless_it_is_words)
{
    static const char special[] = ";&|<>()$`\\\"'\n\r#~{}!*?[]=%";
    uint64_t random = support_seed();
    for (int round = 0; round < 20000; round++) {
        AUTO(buf_release) struct buf line = BUF_INIT, out = BUF_INIT;
        buf_addstr(&line, "ls");
        for (uint64_t left = random % 12; left > 0; left--) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            unsigned pick = (unsigned)(random >> 33);
            buf_addch(&line, pick % 3 == 0   ? special[pick / 3 % (sizeof special - 1)]
                             : pick % 3 == 1 ? ' '
                                             : (char)('a' + pick / 3 % 26));
        }
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (!simple_command_grant(line.data, &out) || strcmp(out.data, "`ls …`") != 0)
            continue;
        bool single = false, twice = false;
        for (const char *p = line.data; *p; p++) {
            if (*p == '\'' && !twice)
                single = !single;
            else if (*p == '"' && !single)
                twice = !twice;
            else if (strchr(";&|<>()#{}!\\\n\r", *p))
                assert_true(single || (twice && !strchr("\n\r\\", *p)));
            else if (strchr("$`", *p))
                assert_true(single);
        }
        assert_false(single || twice);
    }
}
