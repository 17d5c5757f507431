/* The tools that run, those that ask, and those that never run: the three lists, the command line
 * and the session. */
#include "agent/approval.h"
#include "tests/suite.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct tool reads = {.spec = {.name = "read_file"}, .class = TOOL_READ};
static const struct tool writes = {.spec = {.name = "write_file"}, .class = TOOL_WRITE};
static const struct tool executes = {.spec = {.name = "run_command"}, .class = TOOL_EXECUTE};
static const struct tool asks_a_server = {.spec = {.name = "fetch"}, .class = TOOL_NETWORK};
/* A source that says itself that its tool asks. */
static const struct tool asks_itself = {
    .spec = {.name = "write_file"}, .class = TOOL_WRITE, .consent = CONSENT_ASKED};
static const struct tool may_itself = {
    .spec = {.name = "write_file"}, .class = TOOL_WRITE, .consent = CONSENT_GIVEN};

/* Sets the lists of a row; NULL keeps the configuration's default. */
static bool read_policy(struct approval_policy *p, const char *allow, const char *ask,
                        const char *deny, const char *also, struct error *e)
{
    const struct {
        enum config_key key;
        const char *value;
    } values[] = {{CONFIG_TOOLS_ALLOW, allow}, {CONFIG_TOOLS_ASK, ask}, {CONFIG_TOOLS_DENY, deny}};
    struct config *config = config_new();
    for (size_t i = 0; i < COUNT(values); i++)
        if (values[i].value)
            assert_true(config_set(config, values[i].key, values[i].value, NULL));
    struct toolset tools;
    toolset_init(&tools, tool_sources, &(struct tool_host){.root_fd = -1});
    bool ok = approval_policy_read(p, config, &tools, also, e);
    toolset_release(&tools);
    config_free(config);
    return ok;
}

#define ALLOW APPROVAL_ALLOW
#define ASK APPROVAL_ASK
#define DENY APPROVAL_DENY

/* An empty value would be the default again, so a list that is to say nothing has another word. */
static const struct {
    const char *allow, *ask, *deny, *also;
    const struct tool *tool;
    enum approval_verdict expected;
} decisions[] = {
    /* as installed */
    {NULL, NULL, NULL, NULL, &reads, ALLOW},
    {NULL, NULL, NULL, NULL, &writes, ASK},
    {NULL, NULL, NULL, NULL, &executes, ASK},
    {NULL, NULL, NULL, NULL, &asks_a_server, ASK},
    /* a consent of its own stands in the place of its class, unless that is denied */
    {NULL, NULL, NULL, NULL, &asks_itself, ASK},
    {"write", "execute", NULL, NULL, &asks_itself, ASK},
    {"write_file", "write", NULL, NULL, &asks_itself, ALLOW},
    {"read", "execute", "write", NULL, &asks_itself, DENY},
    {NULL, NULL, NULL, NULL, &may_itself, ALLOW},
    {"read", "write", NULL, NULL, &may_itself, ALLOW},
    {"read", "write_file", NULL, NULL, &may_itself, ASK},
    {"read", "execute", "write", NULL, &may_itself, DENY},
    /* no list names it */
    {"read", "execute", NULL, NULL, &writes, ASK},
    /* one list */
    {"write", "execute", NULL, NULL, &writes, ALLOW},
    {"write_file", "execute", NULL, NULL, &writes, ALLOW},
    {"read", "read", NULL, NULL, &reads, ASK},
    {"read", "execute", "write", NULL, &writes, DENY},
    {"read", "execute", "write_file", NULL, &writes, DENY},
    /* the stronger list wins among classes, and among names */
    {"write", "write", NULL, NULL, &writes, ASK},
    {"write", "execute", "write", NULL, &writes, DENY},
    {"read", "write", "write", NULL, &writes, DENY},
    {"write_file", "write_file", NULL, NULL, &writes, ASK},
    {"write_file", "execute", "write_file", NULL, &writes, DENY},
    {"write_file", "write_file", "write_file", NULL, &writes, DENY},
    /* the tool's own name wins over its class */
    {"run_command", "execute", NULL, NULL, &executes, ALLOW},
    {"run_command", "write", "execute", NULL, &executes, ALLOW},
    {"execute", "run_command", NULL, NULL, &executes, ASK},
    {"read", "run_command", "execute", NULL, &executes, ASK},
    {"execute", "write", "run_command", NULL, &executes, DENY},
    {"run_command", "execute", NULL, NULL, &writes, ASK},
    /* words are parted by blanks or commas */
    {"read,write,run_command", "execute", NULL, NULL, &executes, ALLOW},
    {" ,\tread ,, write\n", "execute", NULL, NULL, &writes, ALLOW},
    /* the command line's word is the last but for deny */
    {NULL, NULL, NULL, "run_command", &executes, ALLOW},
    {NULL, NULL, NULL, "execute", &executes, ALLOW},
    {NULL, NULL, NULL, "execute", &writes, ASK},
    {NULL, NULL, NULL, "write, execute", &writes, ALLOW},
    {NULL, NULL, NULL, "", &writes, ASK},
    {NULL, "run_command", NULL, "run_command", &executes, ALLOW},
    {NULL, "run_command", NULL, "execute", &executes, ASK},
    {NULL, NULL, "execute", "execute", &executes, DENY},
    {NULL, NULL, "run_command", "run_command", &executes, DENY},
    {NULL, NULL, "run_command", "execute", &executes, DENY},
};

TEST(the_lists_decide)
{
    for (size_t i = 0; i < COUNT(decisions); i++) {
        AUTO(approval_policy_release) struct approval_policy p = {0};
        struct error e = {0};
        if (!read_policy(&p, decisions[i].allow, decisions[i].ask, decisions[i].deny,
                         decisions[i].also, &e))
            fail_msg("row %zu: %s", i, e.text);
        enum approval_verdict decision = approval_decide(&p, decisions[i].tool, NULL);
        if (decision != decisions[i].expected)
            fail_msg("row %zu: %d, not %d", i, (int)decision, (int)decisions[i].expected);
    }
}

TEST(a_session_allows_one_tool_until_it_is_forgotten)
{
    AUTO(approval_policy_release) struct approval_policy p = {0};
    assert_true(read_policy(&p, NULL, "write run_command", NULL, NULL, NULL));
    approval_allow_session(&p, "`git status …`");
    approval_allow_session(&p, "`git status …`");
    assert_int_equal(p.session.len, 1);
    assert_int_equal(approval_decide(&p, &executes, "`git status …`"), APPROVAL_ALLOW);
    assert_int_equal(approval_decide(&p, &executes, "`git push …`"), APPROVAL_ASK);
    assert_int_equal(approval_decide(&p, &executes, NULL), APPROVAL_ASK);
    assert_int_equal(approval_decide(&p, &writes, NULL), APPROVAL_ASK);
    approval_forget_session(&p);
    assert_int_equal(approval_decide(&p, &executes, NULL), APPROVAL_ASK);
    assert_int_equal(approval_decide(&p, &reads, NULL), APPROVAL_ALLOW);
}

TEST(a_session_allows_nothing_that_is_denied)
{
    static const char *const denials[] = {"execute", "run_command"};
    for (size_t i = 0; i < COUNT(denials); i++) {
        AUTO(approval_policy_release) struct approval_policy p = {0};
        assert_true(read_policy(&p, NULL, NULL, denials[i], NULL, NULL));
        approval_allow_session(&p, "`git status …`");
        assert_int_equal(approval_decide(&p, &executes, "`git status …`"), APPROVAL_DENY);
    }
}

/* [tools] allow and --allow take commands between commas. */
TEST(a_command_is_allowed_by_its_beginning)
{
    static const struct {
        const char *allow, *also, *grant;
        enum approval_verdict expected;
    } rows[] = {{NULL, "git status", "`git status …`", ALLOW},
                {NULL, "git status", "`git push …`", ASK},
                {NULL, "git status", NULL, ASK},
                {NULL, " write , git status,ls ", "`git status …`", ALLOW},
                {NULL, "write, git status, ls", "`ls …`", ALLOW},
                {"read, git log --oneline", NULL, "`git log …`", ALLOW},
                {NULL, "`touch made`, ls", "`touch made`", ALLOW},
                {NULL, "`touch made`, ls", "`touch made too`", ASK},
                {NULL, "`make`", "`make`", ALLOW}, /* the default target alone */
                {NULL, "`git status …`", "`git status …`", ALLOW},
                {NULL, "find . -delete", "`find . -delete`", ALLOW},
                {NULL, "find . -delete", "`find …`", ASK},
                {"read fetch_url Example.org, ls", NULL, "fetch_url example.org", ALLOW},
                {"read fetch_url Example.org, ls", NULL, "fetch_url www.example.org", ASK},
                {"read fetch_url Example.org, ls", NULL, "`ls …`", ALLOW},
                {NULL, "fetch_url example.org", "fetch_url http://example.org", ASK},
                {NULL, "fetch_url http://a.b:81 write", "fetch_url http://a.b:81", ALLOW},
                {NULL, "fetch_url, read", "fetch_url example.org", ASK},
                {NULL, "fetch_url read", "fetch_url read", ASK}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(approval_policy_release) struct approval_policy p = {0};
        struct error e = {0};
        if (!read_policy(&p, rows[i].allow, NULL, NULL, rows[i].also, &e))
            fail_msg("row %zu: %s", i, e.text);
        assert_int_equal(approval_decide(&p, &executes, rows[i].grant), rows[i].expected);
    }
}

TEST(what_is_no_command_to_allow_is_told)
{
    static const struct {
        const char *also, *text;
    } rows[] = {
        {"git", "\"git\" alone allows nothing; name a sub-command"},
        {"`git …`", "\"git\" alone allows nothing; name a sub-command"},
        {"git status; rm x", "\"git status; rm x\" is not one simple command"},
        {"ls $(x)", "\"ls $(x)\" is not one simple command"},
        {"`", "is not one simple command"},
        {"``", "is not one simple command"},
        {"touch made", "unknown tool or class \"touch\""},
        {"write git status", "unknown tool or class \"git\""}, /* no comma */
        {"fetch_url example.org/a", "\"example.org/a\" is no host"},
        {"fetch_url user@example.org", "\"user@example.org\" is no host"},
        {"fetch_url ftp://example.org", "\"ftp://example.org\" is no host"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(approval_policy_release) struct approval_policy p = {0};
        struct error e = {0};
        assert_false(read_policy(&p, NULL, NULL, NULL, rows[i].also, &e));
        assert_int_equal(e.code, ERR_CONFIG_ERROR);
        assert_non_null(strstr(e.text, rows[i].text));
        assert_int_equal(p.commands.len, 0);
    }
    struct approval_policy p;
    assert_false(read_policy(&p, NULL, "git status", NULL, NULL, NULL)); /* asks are no grants */
    approval_policy_release(&p);
}

TEST(a_project_allows_until_it_is_taken_back)
{
    AUTO(approval_policy_release) struct approval_policy p = {0};
    assert_true(read_policy(&p, NULL, NULL, NULL, NULL, NULL));
    vec_push(&p.project, mem_strdup("`git status …`"));
    assert_int_equal(approval_decide(&p, &executes, "`git status …`"), APPROVAL_ALLOW);
    approval_forget_session(&p);
    assert_int_equal(approval_decide(&p, &executes, "`git status …`"), APPROVAL_ALLOW);
    permissions_release(&p.project);
    assert_int_equal(approval_decide(&p, &executes, "`git status …`"), APPROVAL_ASK);
}

TEST(a_word_that_names_nothing_is_told)
{
    static const struct {
        const char *allow, *ask, *deny, *also;
        const char *text;
    } rows[] = {
        {"read raed", NULL, NULL, NULL,
         "[tools] allow: unknown tool or class \"raed\"; did you mean \"read\"?"},
        {NULL, "read_fiel", NULL, NULL,
         "[tools] ask: unknown tool or class \"read_fiel\"; did you mean \"read_file\"?"},
        {NULL, NULL, "everything-there-is", NULL,
         "[tools] deny: unknown tool or class \"everything-there-is\"; the classes are read "
         "write execute network"},
        {NULL, NULL, NULL, "Execute",
         "--allow: unknown tool or class \"Execute\"; did you mean \"execute\"?"},
        {"one uno", "two", "three", "four",
         "[tools] allow: unknown tool or class \"one\"; the classes are read write execute "
         "network"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(approval_policy_release) struct approval_policy p = {0};
        struct error e = {0};
        assert_false(read_policy(&p, rows[i].allow, rows[i].ask, rows[i].deny, rows[i].also, &e));
        assert_int_equal(e.code, ERR_CONFIG_ERROR);
        assert_string_equal(e.text, rows[i].text);
    }
}

/* A slip of the pen opens nothing that another word had shut. */
TEST(the_other_words_stand)
{
    struct approval_policy p;
    assert_false(
        read_policy(&p, "raed", NULL, "wriet run_command", "execute nothing-at-all", NULL));
    assert_int_equal(approval_decide(&p, &executes, NULL), APPROVAL_DENY);
    assert_int_equal(approval_decide(&p, &reads, NULL), APPROVAL_ASK);
    assert_int_equal(approval_decide(&p, &writes, NULL), APPROVAL_ASK);
    approval_policy_release(&p);
    approval_policy_release(&p);
}
