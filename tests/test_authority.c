/* The rights of callers from other programs: each operation by each caller, and attacks. */
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/config.h"
#include "serve/http_service.h"
#include "session/capability.h"
#include "session/operation.h"
#include "tests/http_client.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/suite.h"

NEEDS(HTTP_IS_SERVED);
FIXTURE(support_setup, http_teardown);

#define OFFLINE "--provider", "offline"
static const char private_word[] = "sesquipedalian";

/* The body of the answer, for any status. */
static const char *ask(int port, bool gives_token, const char *method, const char *params)
{
    struct http_client c;
    const char *body =
        support_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}", method,
                     support_json(params));
    http_client_open(&c, port);
    http_client_send(&c, support_text("POST /rpc HTTP/1.1\r\n%sContent-Type: application/json\r\n"
                                      "Content-Length: %zu\r\n\r\n%s",
                                      gives_token ? HTTP_HOST : "Host: localhost\r\n", strlen(body),
                                      body));
    struct http_answer a = http_client_answer(&c);
    http_client_close(&c);
    return a.body ? a.body : "";
}

static bool is_forbidden(const char *answer)
{
    return strstr(answer, "\"code\":\"FORBIDDEN\"") && strstr(answer, "-32013");
}

/* --- each operation by each caller ------------------------------------------------------------ */

TEST(each_operation_is_called_as_each_caller)
{
    struct served client, owner;
    const struct operation *o;
    SERVE(&client, OFFLINE);
    SERVE(&owner, OFFLINE, "--allow", "owner");
    for (size_t i = 0; (o = operation_at(i)); i++) {
        bool terminal = o->authority == AUTHORITY_TERMINAL;
        assert_true(!terminal || o->words); /* else a row that forgot to say */
        const char *as_nobody = ask(client.port, false, o->name, "{}");
        const char *as_client = ask(client.port, true, o->name, "{}");
        const char *as_owner = ask(owner.port, true, o->name, "{}");
        if (!strstr(as_nobody, "UNAUTHORIZED"))
            fail_msg("%s without a token: %s", o->name, as_nobody);
        if (is_forbidden(as_client) != (o->authority != AUTHORITY_CLIENT))
            fail_msg("%s as a client: %s", o->name, as_client);
        if (is_forbidden(as_owner) != terminal || !strstr(as_owner, "\"jsonrpc\""))
            fail_msg("%s as an owner: %s", o->name, as_owner);
    }
    assert_int_equal(served_stop(&client), 0);
    assert_int_equal(served_stop(&owner), 0);
}

TEST(standard_input_is_an_owner)
{
    struct rpc_client c;
    RPC_START(&c, OFFLINE);
    (void)rpc_client_result(&c, "config/set", "{'key':'ui.mouse','value':'false'}");
    rpc_client_error(&c, "config/set", "{'key':'tools.allow','value':'execute'}", "FORBIDDEN");
    assert_int_equal(rpc_client_end(&c), 0);
}

/* --- targets in a caller's parameters --------------------------------------------------------- */

/* A path in a row of parameters that nobody marked would not be looked at. */
TEST(each_path_of_parameters_is_marked)
{
    static const char *const free_ones[] = {"session/list", "corpus/remove", "learned/list",
                                            "session/restore"}; /* which names a file of a list */
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++)
        for (const struct shape_field *f = o->params ? o->params->fields : NULL; f && f->name;
             f++) {
            bool is_path = strstr(f->name, "path") || strstr(f->name, "director") ||
                           strcmp(f->name, "file") == 0;
            for (size_t k = 0; k < sizeof free_ones / sizeof *free_ones; k++)
                is_path = is_path && strcmp(free_ones[k], o->name) != 0;
            if (is_path && f->place == SHAPE_ANY)
                fail_msg("%s: %s", o->name, f->name);
        }
}

TEST(no_other_program_sets_what_a_person_alone_sets)
{
    static const char *const words[] = {"url",  "host",   "address",    "allow",   "ask",
                                        "deny", "paths",  "file",       "token_c", "folders",
                                        "key",  "loader", "environment"};
    static const char *const odd[] = {"openai .base_url", "openai.base_url ",
                                      " openai.base_url", "OpenAI.base_url",
                                      "openai.BASE_URL",  "keys.send",
                                      "corpus.x.paths",   "corpus.loader.md",
                                      "model x.window",   "x]\\n[openai.base_url"};
    SERVE(&tiro, OFFLINE, "--allow", "owner");
    for (int key = 0; key < CONFIG_KEY_COUNT; key++) {
        const struct config_key_info *info = config_key_info((enum config_key)key);
        bool names = false;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            names = names || strstr(info->name, words[i]);
        if (names && !info->terminal)
            fail_msg("[%s] %s is not marked", info->section, info->name);
        const char *answer = ask(tiro.port, true, "config/set",
                                 support_text("{'key':'%s.%s'}", info->section, info->name));
        if (is_forbidden(answer) != (info->terminal || config_key_is_free(info)))
            fail_msg("[%s] %s: %s", info->section, info->name, answer);
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        const char *answer =
            ask(tiro.port, true, "config/set", support_text("{'key':'%s','value':'1'}", odd[i]));
        if (!is_forbidden(answer))
            fail_msg("%s: %s", odd[i], answer);
    }
}

TEST_IF(capability_store(), a_client_works_where_it_may_and_with_the_tools_there_are)
{
    char *inside = support_path("inside"), *outside = support_path("outside");
    char *named = support_path("named"), *link = support_path("inside/link");
    mkdir(inside, 0700);
    mkdir(outside, 0700);
    mkdir(named, 0700);
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(chdir(inside), 0);
    write_config(support_text("[serve]\nfolders = /nix:%s\n", named));
    SERVE(&tiro, OFFLINE);
    const struct {
        const char *directory;
        bool may;
    } rows[] = {{inside, true},
                {named, true},
                {outside, false},
                {link, false},
                {support_text("%s/../outside", inside), false},
                {"/", false},
                {support_path("."), false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *answer = ask(tiro.port, true, "session/create",
                                 support_text("{'directory':'%s'}", rows[i].directory));
        if (is_forbidden(answer) == rows[i].may)
            fail_msg("%s: %s", rows[i].directory, answer);
    }
    assert_true(is_forbidden(ask(tiro.port, true, "session/create", "{'tools':'full'}")));
    assert_false(is_forbidden(ask(tiro.port, true, "session/create", "{'tools':'read'}")));
    assert_int_equal(served_stop(&tiro), 0);
    SERVE(&tiro, OFFLINE, "--allow", "owner");
    assert_false(is_forbidden(
        ask(tiro.port, true, "session/create", support_text("{'directory':'%s'}", outside))));
}

TEST_IF(capability_store(), an_image_is_of_the_session_or_of_its_folder)
{
    char *inside = support_path("inside"), *secret = support_path("secret.png");
    mkdir(inside, 0700);
    support_write(secret, private_word);
    support_write(support_path("inside/mine.png"), "x");
    assert_int_equal(symlink(secret, support_path("inside/link.png")), 0);
    assert_int_equal(chdir(inside), 0);
    SERVE(&tiro, OFFLINE, "--allow", "owner");
    const char *id = http_begin_session(tiro.port);
    const struct {
        const char *path;
        bool may;
    } rows[] = {{"mine.png", true},
                {"https://example.org/a.png", true},
                {secret, false},
                {"../secret.png", false},
                {"link.png", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *answer =
            ask(tiro.port, true, "turn/start",
                support_text(
                    "{'session_id':'%s','prompt':'look','attachments':[{'type':'image','text':'%s',"
                    "'media_type':'image/png'}]}",
                    id, rows[i].path));
        if (is_forbidden(answer) == rows[i].may)
            fail_msg("%s: %s", rows[i].path, answer);
    }
}

/* A client may not approve a call of its own turn, and the turn does not wait for other users. */
TEST(a_command_of_a_clients_turn_is_refused_at_once)
{
    struct model_server *model = begin_server();
    char *made = support_path("made");
    model_server_queue(
        model, &(struct reply){.tool_name = "run_command",
                               .tool_args = support_text("{\"command\":\"touch %s\"}", made)});
    SERVE(&tiro, "--provider", "openai", "--model", "m", "--tools", "full");
    char *id = http_begin_session(tiro.port);
    assert_text(
        ask(tiro.port, true, "turn/start", support_text("{'session_id':'%s','prompt':'go'}", id)),
        "end_turn");
    assert_int_equal(model_server_requests(model), 2);
    assert_int_equal(access(made, F_OK), -1);
    assert_int_equal(served_stop(&tiro), 0);
    end_server(model);
}

/* Otherwise a client could write text that later sessions get, which learned/add prevents. */
TEST_IF(capability_store(), a_clients_text_is_not_typed)
{
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            SERVE(&tiro, OFFLINE);
        else
            SERVE(&tiro, OFFLINE, "--allow", "owner");
        const char *typed =
            support_text("{'session_id':'%s','prompt':'Remember: tabs','origin':'typed'}",
                         http_begin_session(tiro.port));
        assert_int_equal(is_forbidden(ask(tiro.port, true, "turn/start", typed)), i == 0);
        assert_int_equal(is_forbidden(ask(tiro.port, true, "turn/retry", typed)), i == 0);
        const char *command =
            support_text("{'session_id':'%s','prompt':'!true','origin':'command'}",
                         http_begin_session(tiro.port));
        assert_true(is_forbidden(ask(tiro.port, true, "turn/start", command)));
        assert_int_equal(served_stop(&tiro), 0);
    }
}

/* --- attacks ---------------------------------------------------------------------------------- */

/* An attack by another user of the machine that worked before a token was required. Nothing is done
 * without the token, neither as a client nor as an owner. */
static void attack(const char *allow, bool gives_token)
{
    static const char *const reads[] = {".ssh/id_ed25519", ".netrc", ".ssh", "link"};
    static const char *const writes[] = {".ssh/authorized_keys", ".bashrc",
                                         ".config/autostart/x.desktop", "notes.txt"};
    static const char *const keys[] = {
        "corpus.loader.txt",  "openai.api_key_command", "openai.base_url",
        "tools.allow",        "tools.environment",      "serve.token_command",
        "embedding.base_url", "corpus.all.paths",       "provider.ca_file"};
    const char *const arguments[] = {OFFLINE, allow ? "--allow" : NULL, allow, NULL};
    served_start(&tiro, arguments);
    char *id = http_begin_session(tiro.port);
    for (size_t i = 0; capability_corpora() && i < sizeof reads / sizeof *reads; i++) {
        const char *answer = ask(tiro.port, gives_token, "corpus/add",
                                 support_text("{'corpus_id':'c','paths':['%s'],'consent':true}",
                                              support_path(reads[i])));
        if (!strstr(answer, "FORBIDDEN") && !strstr(answer, "UNAUTHORIZED"))
            fail_msg("%s was read: %s", reads[i], answer);
    }
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        char *path = support_path(writes[i]);
        const char *answer =
            ask(tiro.port, gives_token, "session/export",
                support_text("{'session_id':'%s','path':'%s','replace':true}", id, path));
        if (!strstr(answer, "\"message\""))
            fail_msg("%s was written: %s", writes[i], answer);
        if (i + 1 < sizeof writes / sizeof *writes)
            assert_int_equal(access(path, F_OK), -1);
        else
            assert_string_equal(support_read(path), private_word);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *answer = ask(tiro.port, gives_token, "config/set",
                                 support_text("{'key':'%s','value':'x'}", keys[i]));
        if (!strstr(answer, "FORBIDDEN") && !strstr(answer, "UNAUTHORIZED"))
            fail_msg("%s was set: %s", keys[i], answer);
    }
    assert_non_null(strstr(ask(tiro.port, gives_token, "session/create",
                               support_text("{'directory':'%s'}", support_path(".ssh"))),
                           "\"message\""));
    assert_int_equal(served_stop(&tiro), 0);
    assert_int_equal(access(support_path(".config/tiro/tiro.ini"), F_OK), -1);
}

TEST_IF(capability_store(), attacks_of_another_user_and_of_a_client_and_an_owner_fail)
{
    mkdir(support_path(".ssh"), 0700);
    mkdir(support_path(".config"), 0700);
    mkdir(support_path(".config/autostart"), 0700);
    support_write(support_path(".ssh/id_ed25519"), private_word);
    support_write(support_path(".netrc"), private_word);
    support_write(support_path("notes.txt"), private_word);
    assert_int_equal(symlink(support_path(".netrc"), support_path("link")), 0);
    assert_int_equal(chdir(support_dir()), 0);
    attack(NULL, false);
    attack(NULL, true);
    attack("owner", false);
    attack("owner", true);
}

/* Only the superuser can become another user to try it. */
TEST_IF(geteuid() == 0, a_process_of_another_user_is_refused_at_the_socket)
{
    struct rpc_client mine;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int status;
    snprintf(at.sun_path, sizeof at.sun_path, "%s", support_path("sock"));
    RPC_START(&mine, "--socket", at.sun_path, OFFLINE);
    (void)rpc_client_result(&mine, "engine/info", "{}");
    assert_int_equal(chmod(support_dir(), 0711), 0);
    assert_int_equal(chmod(at.sun_path, 0666), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        bool other = setgid(65534) == 0 && setuid(65534) == 0;
        bool connected = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
        bool sent = connected && send(fd, "{}\n", 3, MSG_NOSIGNAL) == 3;
        (void)sent; /* it may be closed already */
        _exit(!other || !connected ? 3 : read(fd, &byte, 1) > 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 0);
    kill(mine.child.pid, SIGTERM);
    assert_int_equal(rpc_client_end(&mine), 0);
}
