/* The manual pages and the help texts say all that the tables have, and nothing else. */
#include <ctype.h>

#include "agent/approval.h"
#include "base/err.h"
#include "base/vec.h"
#include "config/config.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "ui/app/slash.h"
#include "ui/term/keymap.h"

/* --- a page as text -------------------------------------------------------------------------- */

static void add_unescaped(struct buf *out, const char *s, size_t len)
{
    static const struct {
        const char *escape, *text;
    } escapes[] = {{"\\-", "-"}, {"\\&", ""},     {"\\e", "\\"},   {"\\fB", ""},   {"\\fI", ""},
                   {"\\fR", ""}, {"\\(lq", "\""}, {"\\(rq", "\""}, {"\\(dq", "\""}};
    for (size_t i = 0; i < len;) {
        size_t e = 0, count = sizeof escapes / sizeof *escapes;
        while (e < count && strncmp(s + i, escapes[e].escape, strlen(escapes[e].escape)) != 0)
            e++;
        if (e < count) {
            buf_addstr(out, escapes[e].text);
            i += strlen(escapes[e].escape);
        } else {
            buf_addch(out, s[i++]);
        }
    }
}

/* The arguments of a request such as .BR: without blanks between them, but for those in quotes. */
static void add_arguments(struct buf *out, const char *s, size_t len, bool joined)
{
    bool quoted = false;
    AUTO(buf_release) struct buf plain = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '"')
            quoted = !quoted;
        else if (s[i] != ' ' || quoted || !joined)
            buf_addch(&plain, s[i]);
    }
    add_unescaped(out, plain.data, plain.len);
}

/* Lines of text; before an entry's first an '@', before a heading's a '#'. */
static void add_line(struct buf *out, const char *line, size_t len, bool *entry)
{
    if (len == 0 || line[0] != '.') {
        buf_addstr(out, *entry ? "@" : "");
        add_unescaped(out, line, len);
    } else if (strncmp(line, ".TP", 3) == 0) {
        *entry = true;
        return;
    } else if (strncmp(line, ".S", 2) == 0) {
        buf_addch(out, '#');
        add_unescaped(out, line + 4, len - 4);
    } else if (len > 3 && strchr("BIR", line[1])) {
        size_t name = strcspn(line, " ");
        buf_addstr(out, *entry ? "@" : "");
        add_arguments(out, line + name + 1, len - name - 1, name == 3);
    } else {
        return;
    }
    *entry = false;
    buf_addch(out, '\n');
}

static char *read_page(const char *name)
{
    struct buf out = BUF_INIT;
    char *source = support_read(support_text("%s/data/man/%s", getenv("SOURCE_DIR"), name));
    bool entry = false;
    for (const char *line = source; *line;) {
        size_t len = strcspn(line, "\n");
        add_line(&out, line, len, &entry);
        line += len + (line[len] == '\n');
    }
    return support_keep(buf_take(&out));
}

/* The text from a heading to the next one. */
static char *part_of(const char *page, const char *heading)
{
    char *start = support_text("#%s\n", heading);
    const char *at = strstr(page, start);
    if (!at)
        fail_msg("there is no %s", start);
    const char *end = strstr(at + 1, "\n#");
    return support_keep(end ? mem_strndup(at, (size_t)(end - at) + 1) : mem_strdup(at));
}

static size_t count_entries(const char *text)
{
    size_t count = 0;
    for (; (text = strstr(text, "\n@")); text++)
        count++;
    return count;
}

/* --- keys ------------------------------------------------------------------------------------ */

static char *describe(const struct config_key_info *k)
{
    static const char *const types[] = {
        [CONFIG_STRING] = "text",     [CONFIG_SECRET] = "secret",
        [CONFIG_COMMAND] = "command", [CONFIG_INTEGER] = "whole number",
        [CONFIG_REAL] = "number",     [CONFIG_BOOLEAN] = "true or false",
        [CONFIG_CHOICE] = "one of: "};
    struct buf out = BUF_INIT;
    const char *star = strchr(k->name, '*');
    if (star) /* "NAME.paths", "loader.EXT" */
        buf_addf(&out, "\n@%.*s%s%s (%s", (int)(star - k->name), k->name,
                 star == k->name ? "NAME" : "EXT", star + 1, types[k->type]);
    else
        buf_addf(&out, "\n@%s (%s%s", k->name, types[k->type],
                 k->type == CONFIG_CHOICE ? k->choices : "");
    if (k->type == CONFIG_INTEGER || k->type == CONFIG_REAL)
        buf_addf(&out, " from %.15g to %.15g%s%s", k->min, k->max, *k->choices ? ", or " : "",
                 k->choices);
    if (*k->fallback)
        buf_addf(&out, "; default %s)\n", k->fallback);
    else
        buf_addstr(&out, "; unset by default)\n");
    return support_keep(buf_take(&out));
}

static char *section_of(const char *page, const struct config_key_info *k)
{
    bool pattern = strchr(k->section, '*') != NULL;
    return part_of(page, support_text("[%.*s%s]", (int)strcspn(k->section, "*"), k->section,
                                      pattern ? "NAME" : ""));
}

FIXTURE(support_setup, support_teardown);

TEST(every_key_is_told)
{
    char *page = read_page("tiro.ini.5");
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *k = config_key_info((enum config_key)i);
        assert_text(section_of(page, k), describe(k));
    }
    for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
        const struct action_info *action = action_info((enum action)i);
        assert_text(part_of(page, "[keys]"),
                    support_text("\n@%s (default %s)\n", action->name, action->keys));
    }
    size_t entries = count_entries(page) - count_entries(part_of(page, "FILES"));
    assert_int_equal(entries, CONFIG_KEY_COUNT + ACTION_COUNT - 1);
}

TEST(every_place_of_keys_is_told)
{
    char *section = part_of(read_page("tiro.ini.5"), "[tools]");
    for (size_t i = 0; guard_keys[i]; i++)
        assert_text(section, support_text("\n%s", guard_keys[i]));
}

/* --- commands -------------------------------------------------------------------------------- */

struct words {
    VEC(char *) list;
};

static void release_words(struct words *w)
{
    vec_free_each(&w->list);
}

static bool has_word(const struct words *w, const char *word)
{
    for (size_t i = 0; i < w->list.len; i++)
        if (strcmp(w->list.items[i], word) == 0)
            return true;
    return false;
}

/* The first words of the rows below a heading of a help text. */
static void help_rows(const char *help, const char *heading, struct words *out)
{
    const char *row = strstr(help, heading);
    for (row = row ? strchr(row, '\n') : NULL; row && strncmp(row, "\n  ", 3) == 0;
         row = strchr(row + 1, '\n'))
        if (row[3] != ' ')
            vec_push(&out->list, mem_strndup(row + 3, strcspn(row + 3, " \n")));
}

/* The entry whose first line begins with `name`, to the next one; NULL if there is none. */
static char *entry_of(const char *page, const char *name)
{
    char *start = support_text("\n@%s", name);
    const char *at = page;
    size_t len = strlen(start);
    while ((at = strstr(at, start)) && !strchr(" \n,", at[len]))
        at++;
    if (!at)
        return NULL;
    size_t end = 1;
    while (at[end] && !(at[end] == '\n' && (at[end + 1] == '@' || at[end + 1] == '#')))
        end++;
    return support_keep(mem_strndup(at, end));
}

static bool mentions(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '-')) &&
            !isalnum((unsigned char)at[len]) && at[len] != '-')
            return true;
    return false;
}

struct manual {
    char *page, *common, *general; /* common: OPTIONS; general: DESCRIPTION */
    struct words options, entries;
};

/* Options of chat and run stand in OPTIONS, those of all commands in DESCRIPTION, and those of
 * others in their entry. */
static void check_options(struct manual *m, const char *path, const char *help, const char *entry)
{
    AUTO(release_words) struct words options = {0};
    bool common = strcmp(path, "chat") == 0 || strcmp(path, "run") == 0;
    /* The long options of a help text. */
    const char *row = strstr(help, "\nOptions:\n");
    for (row = row ? strchr(row + 1, '\n') : NULL; row && strncmp(row, "\n  ", 3) == 0;
         row = strchr(row + 1, '\n')) {
        const char *name = row[3] == '-' && row[4] != '-' ? row + 7 : row + 3;
        if (strncmp(name, "--", 2) == 0)
            vec_push(&options.list, mem_strndup(name, strcspn(name, " \n")));
    }
    assert_true(has_word(&options, "--help"));
    for (size_t i = 0; i < options.list.len; i++) {
        const char *option = options.list.items[i];
        bool told = mentions(common ? m->common : entry, option) || mentions(m->general, option) ||
                    strcmp(option, "--help") == 0;
        /* A letter stands for its option in an entry. */
        const char *in_help = strstr(help, support_text(", %s", option));
        if (!told && in_help) {
            char letter[] = {'-', in_help[-1], '\0'};
            told = mentions(entry, letter);
        }
        if (!told)
            fail_msg("tiro(1) does not tell of %s of tiro %s", option, path);
        vec_push(&m->options.list, mem_strdup(option));
    }
}

static void check_command(struct manual *m, const char *path, const char *help)
{
    char *entry = entry_of(m->page, path);
    if (!entry && strncmp(path, "sessions unarchive", 18) == 0)
        entry = entry_of(m->page, "sessions archive, unarchive");
    if (!entry && strncmp(path, "memory unpin", 12) == 0)
        entry = entry_of(m->page, "memory pin, unpin");
    if (!entry && strstr(help, "\nCommands:\n"))
        entry = support_keep(mem_strdup(""));
    if (!entry)
        fail_msg("tiro(1) has no entry for %s", path);
    check_options(m, path, help, entry);
    vec_push(&m->entries.list, mem_strdup(path));
}

/* Options that belong to no command: --version, and those of /compact and of other programs
 * (systemctl, configure, unrtf). */
static bool is_other(const char *option)
{
    static const char *const others[] = {"--version",
                                         "--user",
                                         "--now",
                                         "--disable-session-store",
                                         "--disable-session-compaction",
                                         "--disable-memory-store",
                                         "--text",
                                         "--list",
                                         "--preview"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(option, others[i]) == 0)
            return true;
    return false;
}

/* Fails at a word of the page that looks like an option and is none. */
static void check_options_exist(const struct manual *m, const char *name, const char *page)
{
    for (const char *at = page; (at = strstr(at, "--")); at += 2) {
        size_t len = 2;
        while (isalnum((unsigned char)at[len]) || (at[len] == '-' && len > 2))
            len++;
        char *option = support_keep(mem_strndup(at, len));
        if (len > 2 && !has_word(&m->options, option) && !is_other(option))
            fail_msg("%s tells of %s, which is none", name, option);
    }
}

static void check_nothing_else(const struct manual *m)
{
    check_options_exist(m, "tiro(1)", m->page);
    check_options_exist(m, "tiro(7)", read_page("tiro.7"));
    const char *const parts[] = {part_of(m->page, "COMMANDS"), part_of(m->page, "SESSIONS")};
    for (int i = 0; i < 2; i++)
        for (const char *at = parts[i]; (at = strstr(at, "\n@")); at++) {
            size_t len = 2 + strcspn(at + 2, " \n");
            size_t more = at[len] == ' ' ? strspn(at + len + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
            char *name = support_keep(mem_strndup(at + 2, len - 2));
            char *both = support_keep(mem_strndup(at + 2, len - 2 + (more > 0 ? more + 1 : 0)));
            if (!has_word(&m->entries, name) || (i == 1 && !has_word(&m->entries, both)))
                fail_msg("tiro(1) tells of %s, which is no command", both);
        }
}

TEST(every_command_is_told)
{
    struct manual m = {.page = read_page("tiro.1")};
    m.common = part_of(m.page, "OPTIONS");
    m.general = part_of(m.page, "DESCRIPTION");
    AUTO(release_words) struct words commands = {0};
    help_rows(program_output(RUN("--help")), "Commands:\n", &commands);
    assert_in_range(commands.list.len, 6, 20);
    for (size_t i = 0; i < commands.list.len; i++) {
        const char *name = commands.list.items[i];
        AUTO(release_words) struct words verbs = {0};
        char *help = program_output(RUN("help", name));
        help_rows(help, "Commands:\n", &verbs);
        check_command(&m, name, help);
        for (size_t j = 0; j < verbs.list.len; j++) {
            char *path = support_text("%s %s", name, verbs.list.items[j]);
            help = program_output(RUN("help", name, verbs.list.items[j]));
            assert_string_equal(help, program_output(RUN(name, verbs.list.items[j], "--help")));
            check_command(&m, path, help);
        }
    }
    check_nothing_else(&m);
    release_words(&m.options);
    release_words(&m.entries);
}

/* The guide lists each command of a chat, and no other. */
TEST(every_slash_command_is_told)
{
    char *part = part_of(read_page("tiro.7"), "Slash commands of a chat");
    size_t told = 0, commands = 0;
    for (const char *at = part; (at = strstr(at, "/")); at++)
        told += isalpha((unsigned char)at[1]) != 0;
    for (const struct slash_command *c = slash_commands(); c->name; c++, commands++)
        if (!mentions(part, support_text("/%s", c->name)))
            fail_msg("tiro(7) does not tell of /%s", c->name);
    assert_int_equal(told, commands + 1); /* and "/commands" */
}

/* --- exit statuses --------------------------------------------------------------------------- */

TEST(every_status_is_told)
{
    static const int statuses[] = {
#define X(name, rpc, rest, status) status,
        ERR_TABLE(X)
#undef X
            3, /* of a run that was refused a tool */
    };
    char *part = part_of(read_page("tiro.1"), "EXIT STATUS");
    bool seen[256] = {false};
    size_t distinct = 0;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        assert_text(part, support_text("\n@%d\n", statuses[i]));
        distinct += !seen[statuses[i]];
        seen[statuses[i]] = true;
    }
    assert_int_equal(count_entries(part), distinct + 1); /* and 128 + N */
}
