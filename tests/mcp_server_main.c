/* A scripted server of the Model Context Protocol on standard input and output:
 *
 *     mcp-server [WORD...]
 *
 * Words: "modern" (2026-07-28 alone), "legacy" (initialize alone; else both), "dies" and "silent"
 * (how a legacy server takes server/discover), "silent-start" (nothing is ever answered), "pages"
 * (a tool, a prompt, a resource in a page), "stays" (it does not end with its input), "crowd" (500
 * tools), "prompts" and "resources" (it has them), "mute" (it lists no prompts),
 * "file=PATH" (each start adds a line with the process ID), "waits=PATH" (until that file is
 * there). Each tool does what its name says. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json_pack.h"
#include "base/mem.h"

extern char **environ;

static int words;
static char **word;
static bool has_more_tools, listened; /* and the client listens */
static char *waiting;                 /* id of a call that waits for an answer of the client */
static bool tells_all;                /* its answer, in full */
static char *client_can;              /* the client's capabilities */

static const char *said(const char *name)
{
    size_t len = strlen(name);
    for (int i = 1; i < words; i++)
        if (strncmp(word[i], name, len) == 0 && (!word[i][len] || word[i][len] == '='))
            return word[i] + len + (word[i][len] == '=');
    return NULL;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

static void answer(const char *id, const char *result)
{
    say("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", id, result);
}

static void answer_text(const char *id, const char *text)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    json_out_pack(&(struct json_out){.buf = &out}, "{content:[{type:'text' text:s}]}", text);
    answer(id, out.data);
}

static void refuse(const char *id, int code, const char *why)
{
    say("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"%s\"}}", id, code,
        why);
}

/* --- tools ------------------------------------------------------------------------------------ */

static void add_tool(struct buf *out, const char *name, const char *more)
{
    buf_addf(out,
             "%s{\"name\":\"%s\",\"description\":\"Does %s.\",\"inputSchema\":{\"type\":\"object\""
             ",\"properties\":{\"text\":{\"type\":\"string\"}}}%s}",
             out->len > 0 ? "," : "", name, name, more);
}

static void list(const char *id, const struct json *params)
{
    static const char *const tools[] = {"echo",  "fail", "progress", "hang",   "die",
                                        "flood", "junk", "huge",     "twice",  "environment",
                                        "mixed", "ask",  "grow",     "orphan", "refuse"};
    enum { TOOLS = sizeof tools / sizeof *tools, CROWD = 500 };
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *cursor = json_get_string(params, "cursor");
    int from = cursor ? atoi(cursor) : 0, to = said("pages") ? from + 1 : TOOLS;
    for (int i = from; i < to && i < TOOLS; i++)
        add_tool(&out, tools[i],
                 i == 0 ? ",\"annotations\":{\"readOnlyHint\":true,\"title\":\"Echo\"}" : "");
    for (int i = 0; said("crowd") && i < CROWD; i++) {
        auto_free char *name = mem_printf("crowd_%d", i);
        add_tool(&out, name, "");
    }
    if (has_more_tools)
        add_tool(&out, "grown", "");
    auto_free char *next = to < TOOLS ? mem_printf(",\"nextCursor\":\"%d\"", to) : mem_strdup("");
    auto_free char *result = mem_printf("{\"tools\":[%s]%s}", out.data, next);
    answer(id, result);
}

/* --- prompts and resources -------------------------------------------------------------------- */

/* A page of a list whose items are separated by line breaks. */
static void list_items(const char *id, const struct json *params, const char *member,
                       const char *items)
{
    const char *cursor = json_get_string(params, "cursor"),
               *at = items + (cursor ? atoi(cursor) : 0);
    AUTO(buf_release) struct buf out = BUF_INIT;
    bool more = true;
    for (bool all = !said("pages"), first = true; more && (all || first); first = false) {
        size_t len = strcspn(at, "\n");
        buf_addf(&out, "%s%.*s", first ? "" : ",", (int)len, at);
        at += len;
        more = *at++ == '\n';
    }
    auto_free char *next =
        more ? mem_printf(",\"nextCursor\":\"%d\"", (int)(at - items)) : mem_strdup("");
    auto_free char *result = mem_printf("{\"%s\":[%s]%s}", member, out.data, next);
    answer(id, result);
}

static void list_prompts(const char *id, const struct json *params)
{
    auto_free char *items = mem_printf(
        "{\"name\":\"greet\",\"description\":\"Greets a person.\",\"arguments\":["
        "{\"name\":\"style\"},{\"name\":\"who\",\"required\":true}]}\n"
        "{\"name\":\"plain one\"}%s",
        has_more_tools ? "\n{\"name\":\"grown\"}" : "");
    list_items(id, params, "prompts", items);
}

static void get_prompt(const char *id, const struct json *params)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *name = json_get_string(params, "name");
    auto_free char *args = json_print(json_get(params, "arguments"));
    if (strcmp(name, "greet") != 0) {
        refuse(id, -32602, "there is no such prompt");
        return;
    }
    json_out_pack(
        &(struct json_out){.buf = &out},
        "{messages:[{role:'user' content:{type:'text' text:s}}"
        "{role:'assistant' content:{type:'resource' resource:{uri:'file:///b' text:'inner'}}}"
        "{role:'user' content:{type:'image' mimeType:'image/png' data:'AAAA'}}]}",
        args);
    answer(id, out.data);
}

static void read_resource(const char *id, const struct json *params)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *uri = json_get_string(params, "uri");
    if (strncmp(uri, "file:///", 8) != 0) {
        refuse(id, -32002, "Resource not found");
        return;
    }
    json_out_pack(&(struct json_out){.buf = &out},
                  "{contents:[{uri:s text:'the text of it'}{uri:'file:///c' blob:'AAAA'}]}", uri);
    answer(id, out.data);
}

static void flood(void)
{
    for (;;)
        say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
            "\"info\",\"data\":\"on and on and on and on and on and on and on and on and on\"}}");
}

static void huge(void)
{
    static char piece[1024 * 1024];
    memset(piece, 'a', sizeof piece);
    printf("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"");
    for (int i = 0; i < 100; i++)
        fwrite(piece, 1, sizeof piece, stdout);
    say("\"}");
}

#define PICTURE                                                                                    \
    "{\"type\":\"image\",\"mimeType\":\"text/plain\",\"data\":"                                    \
    "\"iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAA=\"}"

/* With the text "picture" an image alone, twice as SDKs have it. */
static void mixed(const char *id, const char *text)
{
    if (strcmp(text, "picture") == 0) {
        answer(id, "{\"content\":[" PICTURE "],\"structuredContent\":{\"content\":[" PICTURE "]}}");
        return;
    }
    answer(id,
           "{\"content\":[{\"type\":\"text\",\"text\":\"first\"},"
           "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AAAAAAAA\"}," PICTURE
           ","
           "{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"A\"},"
           "{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///b\",\"text\":\"inner\"}}]}");
}

static const char form[] =
    "{\"mode\":\"form\",\"message\":\"Who are you?\",\"requestedSchema\":{\"type\":\"object\","
    "\"properties\":{\"name\":{\"type\":\"string\",\"title\":\"Your name\",\"minLength\":2},"
    "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":150,\"default\":30},"
    "\"color\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"#f00\",\"title\":\"Red\"},"
    "{\"const\":\"#0f0\",\"title\":\"Green\"}],\"default\":\"#0f0\"}},"
    "\"required\":[\"name\"]}}";
static const char page[] =
    "{\"mode\":\"url\",\"message\":\"Log in there.\",\"elicitationId\":\"e\","
    "\"url\":\"https://example.org/login?a=b\"}";

/* With the text "form" or "page" a person is asked, and the whole answer is told; "needs" is an
 * error that names the page, once; "can" is answered with the client's capabilities. */
static void ask(const char *id, const struct json *params)
{
    static bool opened;
    const char *text = json_get_string(json_get(params, "arguments"), "text");
    const char *asked = text && strcmp(text, "form") == 0 ? form : page;
    const char *state = json_get_string(params, "requestState");
    const struct json *given = json_get(json_get(params, "inputResponses"), "name");
    bool modern = json_get(json_get(params, "_meta"), "io.modelcontextprotocol/protocolVersion");
    if (!text || (strcmp(text, "form") != 0 && strcmp(text, "page") != 0))
        asked = "{}";
    tells_all = *asked && asked[1] != '}';
    if (text && strcmp(text, "can") == 0) {
        answer_text(id, client_can);
        return;
    }
    if (text && strcmp(text, "needs") == 0 && !opened) {
        opened = true;
        say("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32042,\"message\":\"a page\","
            "\"data\":{\"elicitations\":[%s]}}}",
            id, page);
    } else if (text && strcmp(text, "needs") == 0) {
        answer_text(id, "opened");
    } else if (state) {
        auto_free char *all = json_print(given);
        answer_text(id, tells_all ? all : json_get_string(given, "action"));
    } else if (modern) {
        auto_free char *result = mem_printf(
            "{\"resultType\":\"input_required\",\"requestState\":\"s\",\"inputRequests\":"
            "{\"name\":{\"method\":\"elicitation/create\",\"params\":%s}}}",
            asked);
        answer(id, result);
    } else {
        waiting = mem_strdup(id);
        say("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":%s}",
            asked);
    }
}

static void show_environment(const char *id)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (char **variable = environ; *variable; variable++)
        buf_addf(&out, "%.*s ", (int)strcspn(*variable, "="), *variable);
    answer_text(id, out.data);
}

static void call(const char *id, const struct json *params)
{
    const char *name = json_get_string(params, "name");
    const char *text = json_get_string(json_get(params, "arguments"), "text");
    int64_t token = json_get_int(json_get(params, "_meta"), "progressToken", 0);
    text = text ? text : "nothing";
    if (strcmp(name, "echo") == 0) {
        answer_text(id, text);
    } else if (strcmp(name, "fail") == 0) {
        answer(id, "{\"content\":[{\"type\":\"text\",\"text\":\"it failed\"}],\"isError\":true}");
    } else if (strcmp(name, "refuse") == 0) {
        refuse(id, -32602, "no such text");
    } else if (strcmp(name, "progress") == 0) {
        for (int i = 1; i <= 2; i++)
            say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                "{\"progressToken\":%" PRId64 ",\"progress\":%d,\"total\":2,\"message\":\"step\"}}",
                token, i);
        answer_text(id, "done");
    } else if (strcmp(name, "die") == 0) {
        fprintf(stderr, "a fatal fault\n");
        exit(3);
    } else if (strcmp(name, "flood") == 0) {
        flood();
    } else if (strcmp(name, "junk") == 0) {
        printf("Welcome to the server!\n\n");
        say("{\"jsonrpc\":\"2.0\",\"id\":");
        say("{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}");
        answer_text(id, "after the junk");
    } else if (strcmp(name, "huge") == 0) {
        huge();
    } else if (strcmp(name, "twice") == 0) {
        answer_text(id, "one");
        answer_text(id, "two");
    } else if (strcmp(name, "environment") == 0) {
        show_environment(id);
    } else if (strcmp(name, "mixed") == 0) {
        mixed(id, text);
    } else if (strcmp(name, "ask") == 0) {
        ask(id, params);
    } else if (strcmp(name, "grow") == 0) {
        has_more_tools = true;
        if (listened || said("legacy"))
            say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
        if (listened || said("legacy"))
            say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}");
        answer_text(id, "grown");
    } else if (strcmp(name, "orphan") == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            setsid();
            for (;;)
                pause();
        }
        auto_free char *number = mem_printf("%ld", (long)pid);
        answer_text(id, number);
    } else if (strcmp(name, "hang") != 0) {
        refuse(id, -32602, "there is no such tool");
    }
}

/* --- the protocol ----------------------------------------------------------------------------- */

static void take(const struct json *message)
{
    static bool begun;
    const char *method = json_get_string(message, "method");
    const struct json *params = json_get(message, "params");
    auto_free char *id = json_print(json_get(message, "id"));
    bool modern = json_get(json_get(params, "_meta"), "io.modelcontextprotocol/protocolVersion");
    const struct json *can =
        json_get(params, "capabilities")
            ? json_get(params, "capabilities")
            : json_get(json_get(params, "_meta"), "io.modelcontextprotocol/clientCapabilities");
    if (can)
        mem_replace(&client_can, json_print(can));
    const char *prompts = said("prompts") ? ",\"prompts\":{}" : "";
    const char *resources = said("resources") ? ",\"resources\":{}" : "";
    if (!method && waiting) {
        const struct json *result = json_get(message, "result");
        auto_free char *all = json_print(result);
        answer_text(waiting, tells_all ? all : json_get_string(result, "action"));
        free(waiting);
        waiting = NULL;
    } else if (!method || !json_get(message, "id") || said("silent-start")) {
        return;
    } else if (strcmp(method, "server/discover") == 0 && said("legacy")) {
        if (said("dies"))
            exit(4);
        if (!said("silent"))
            refuse(id, -32601, "Method not found");
    } else if (strcmp(method, "server/discover") == 0) {
        auto_free char *result = mem_printf(
            "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
            "\"capabilities\":{\"tools\":{\"listChanged\":true}%s%s},\"_meta\":{"
            "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"scripted\",\"version\":\"1\"}}}",
            prompts, resources);
        answer(id, result);
    } else if (strcmp(method, "initialize") == 0 && !said("modern")) {
        begun = true;
        auto_free char *result = mem_printf(
            "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}%s%s},"
            "\"serverInfo\":{\"name\":\"scripted\",\"version\":\"1\"}}",
            prompts, resources);
        answer(id, result);
    } else if (!modern && !begun) {
        refuse(id, -32600, "not initialized");
    } else if (strcmp(method, "subscriptions/listen") == 0) {
        listened = json_get_bool(json_get(params, "notifications"), "toolsListChanged", false);
    } else if (strcmp(method, "tools/list") == 0) {
        list(id, params);
    } else if (strcmp(method, "tools/call") == 0) {
        call(id, params);
    } else if (strcmp(method, "prompts/list") == 0 && said("mute")) {
        return;
    } else if (strcmp(method, "prompts/list") == 0 && said("prompts")) {
        list_prompts(id, params);
    } else if (strcmp(method, "prompts/get") == 0) {
        get_prompt(id, params);
    } else if (strcmp(method, "resources/list") == 0) {
        list_items(id, params, "resources",
                   "{\"uri\":\"file:///a\",\"name\":\"A\",\"description\":\"First.\"}\n"
                   "{\"uri\":\"file:///b\",\"name\":\"B\"}");
    } else if (strcmp(method, "resources/templates/list") == 0) {
        list_items(id, params, "resourceTemplates",
                   "{\"uriTemplate\":\"file:///{name}\",\"name\":\"Any\"}");
    } else if (strcmp(method, "resources/read") == 0) {
        read_resource(id, params);
    } else {
        refuse(id, -32601, "Method not found");
    }
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t cap = 0;
    words = argc;
    word = argv;
    const char *path = said("file");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "%ld\n", (long)getpid());
        fclose(file);
    }
    while (said("waits") && access(said("waits"), F_OK) != 0)
        usleep(5000);
    for (ssize_t len; (len = getline(&line, &cap, stdin)) >= 0;) {
        AUTO(json_free_local) struct json *message = json_parse(line, (size_t)len, NULL);
        take(message);
    }
    free(line);
    while (said("stays"))
        pause();
    return 0;
}
