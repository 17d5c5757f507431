/* A server's offers besides tools: the lists of its prompts, resources and templates of resources,
 * and the results of prompts/get and resources/read. The lists are read one after the other, behind
 * that of the tools, so that no server starts later for them. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "mcp/client_private.h"

enum {
    PAGES_MAX = 16, /* of a list */
    TEXT_MAX = 400  /* bytes of a description, which is cut */
};

static const struct {
    const char *method, *member; /* of the result */
} lists[] = {[MCP_OFFER_PROMPTS] = {"prompts/list", "prompts"},
             [MCP_OFFER_RESOURCES] = {"resources/list", "resources"},
             [MCP_OFFER_TEMPLATES] = {"resources/templates/list", "resourceTemplates"}};

static const char *const calls[] = {[MCP_CALL_TOOL] = "tools/call",
                                    [MCP_GET_PROMPT] = "prompts/get",
                                    [MCP_READ_RESOURCE] = "resources/read"};
enum { CALLS = sizeof calls / sizeof *calls };

const char *mcp_call_method(enum mcp_ask what)
{
    return calls[what];
}

bool mcp_is_call(const char *method)
{
    for (size_t i = 0; i < CALLS; i++)
        if (strcmp(calls[i], method) == 0)
            return true;
    return false;
}

static void release_prompt(struct mcp_prompt_info *p)
{
    for (size_t i = 0; i < p->arguments.len; i++) {
        free(p->arguments.items[i].name);
        free(p->arguments.items[i].description);
    }
    vec_release(&p->arguments);
    free(p->name);
    free(p->description);
}

void mcp_offers_release(struct mcp_offers *o)
{
    for (size_t i = 0; i < o->prompts.len; i++)
        release_prompt(&o->prompts.items[i]);
    for (size_t i = 0; i < o->resources.len; i++) {
        free(o->resources.items[i].uri);
        free(o->resources.items[i].name);
        free(o->resources.items[i].description);
    }
    vec_release(&o->prompts);
    vec_release(&o->resources);
    *o = (struct mcp_offers){.known = false};
}

void mcp_client_offers(struct mcp_client *c, struct mcp_offers *out)
{
    pthread_mutex_lock(&c->lock);
    *out = (struct mcp_offers){.known = c->offers.known, .left_out = c->offers.left_out};
    for (size_t i = 0; i < c->offers.prompts.len; i++) {
        const struct mcp_prompt_info *from = &c->offers.prompts.items[i];
        struct mcp_prompt_info p = {.name = mem_strdup(from->name),
                                    .description = mem_strdup(from->description)};
        for (size_t k = 0; k < from->arguments.len; k++) {
            struct mcp_argument_info a = from->arguments.items[k];
            a.name = mem_strdup(a.name);
            a.description = mem_strdup(a.description);
            vec_push(&p.arguments, a);
        }
        vec_push(&out->prompts, p);
    }
    for (size_t i = 0; i < c->offers.resources.len; i++) {
        struct mcp_resource_info r = c->offers.resources.items[i];
        r.uri = mem_strdup(r.uri);
        r.name = mem_strdup(r.name);
        r.description = mem_strdup(r.description);
        vec_push(&out->resources, r);
    }
    pthread_mutex_unlock(&c->lock);
}

/* --- the lists -------------------------------------------------------------------------------- */

static char *text_of(const struct json *v, const char *member, size_t max)
{
    char *text = mcp_clean(json_get_string(v, member), max, UTF8_ONE_LINE);
    if (text && !*text)
        mem_replace(&text, NULL);
    return text;
}

/* Whether it is a text that is shown as it is: no hidden character, no line break. */
static bool is_plain(const char *text, size_t max)
{
    if (!text || !*text || strlen(text) > max)
        return false;
    auto_free char *clean = mcp_clean(text, max, UTF8_ONE_LINE);
    return strcmp(clean, text) == 0;
}

/* False: it has a fault, and is left out. */
static bool take_prompt(struct mcp_offers *out, const struct json *v)
{
    const char *name = json_get_string(v, "name");
    if (!is_plain(name, MCP_NAME_MAX) || out->prompts.len == MCP_PROMPTS_MAX)
        return false;
    struct mcp_prompt_info p = {.name = mem_strdup(name),
                                .description = text_of(v, "description", TEXT_MAX)};
    bool fits = true;
    for (const struct json *a = json_first(json_get(v, "arguments")); a && fits; a = json_next(a)) {
        const char *argument = json_get_string(a, "name");
        fits = is_plain(argument, MCP_NAME_MAX) && p.arguments.len < MCP_ARGUMENTS_MAX;
        if (fits)
            vec_push(&p.arguments, (struct mcp_argument_info){mem_strdup(argument),
                                                              text_of(a, "description", TEXT_MAX),
                                                              json_get_bool(a, "required", false)});
    }
    if (fits)
        vec_push(&out->prompts, p);
    else
        release_prompt(&p);
    return fits;
}

static bool take_resource(struct mcp_offers *out, const struct json *v, bool is_template)
{
    const char *uri = json_get_string(v, is_template ? "uriTemplate" : "uri");
    if (!is_plain(uri, MCP_URI_MAX) || out->resources.len == MCP_RESOURCES_MAX)
        return false;
    vec_push(&out->resources,
             (struct mcp_resource_info){.uri = mem_strdup(uri),
                                        .name = text_of(v, "name", MCP_NAME_MAX),
                                        .description = text_of(v, "description", TEXT_MAX),
                                        .is_template = is_template});
    return true;
}

static void read_next(struct mcp_client *c);

static void on_page(void *client, const struct json *result, const struct rpc_fault *fault)
{
    struct mcp_client *c = client;
    const char *cursor = json_get_string(result, "nextCursor");
    c->offer_ask = 0;
    c->answers++;
    if (c->closes)
        return;
    for (const struct json *v = json_first(json_get(result, lists[c->offer].member)); v;
         v = json_next(v))
        if (!(c->offer == MCP_OFFER_PROMPTS
                  ? take_prompt(&c->offered, v)
                  : take_resource(&c->offered, v, c->offer == MCP_OFFER_TEMPLATES)))
            c->offered.left_out++;
    if (fault || !cursor || ++c->offer_pages >= PAGES_MAX) {
        c->offer++;
        read_next(c);
    } else {
        c->offer_ask = mcp_dialogue_list(c, lists[c->offer].method, cursor, on_page);
    }
}

static void read_next(struct mcp_client *c)
{
    c->offer_pages = 0;
    while (c->offer < MCP_OFFERS && !c->has_offer[c->offer])
        c->offer++;
    if (c->offer < MCP_OFFERS)
        c->offer_ask = mcp_dialogue_list(c, lists[c->offer].method, NULL, on_page);
    else
        mcp_tell_offers(c);
}

void mcp_offers_note(struct mcp_client *c, const struct json *capabilities)
{
    const struct json *prompts = json_get(capabilities, "prompts");
    const struct json *resources = json_get(capabilities, "resources");
    c->has_offer[MCP_OFFER_PROMPTS] = prompts;
    c->has_offer[MCP_OFFER_RESOURCES] = c->has_offer[MCP_OFFER_TEMPLATES] = resources;
    c->listens = c->listens || json_get_bool(prompts, "listChanged", false) ||
                 json_get_bool(resources, "listChanged", false);
    pthread_mutex_lock(&c->lock);
    c->view.has_resources = resources;
    c->offers.known = false;
    pthread_mutex_unlock(&c->lock);
}

void mcp_offers_read(struct mcp_client *c)
{
    mcp_offers_release(&c->offered);
    c->offers_due_ms = 0;
    c->offer = 0;
    read_next(c);
}

void mcp_offers_heard(struct mcp_client *c, const char *method)
{
    bool prompts = strcmp(method, "notifications/prompts/list_changed") == 0;
    bool resources = strcmp(method, "notifications/resources/list_changed") == 0;
    if (((prompts && c->has_offer[MCP_OFFER_PROMPTS]) ||
         (resources && c->has_offer[MCP_OFFER_RESOURCES])) &&
        !c->offers_due_ms)
        c->offers_due_ms = clock_mono_ms() + MCP_RELIST_MS;
}

/* --- results ---------------------------------------------------------------------------------- */

/* A message of a prompt has one content; some servers give a list. */
static void add_message(struct json *all, const struct json *message)
{
    const struct json *content = json_get(message, "content");
    const char *role = json_get_string(message, "role");
    if (role && strcmp(role, "assistant") == 0)
        json_push(all, json_pack("{type:'text' text:'[assistant]'}"));
    if (json_type(content) == JSON_OBJECT)
        json_push(all, json_clone(content));
    for (const struct json *v = json_type(content) == JSON_ARRAY ? json_first(content) : NULL; v;
         v = json_next(v))
        json_push(all, json_clone(v));
}

struct mcp_outcome mcp_call_outcome(enum mcp_ask what, const struct json *result)
{
    if (what == MCP_CALL_TOOL)
        return mcp_result(result, true);
    const bool prompt = what == MCP_GET_PROMPT;
    AUTO(json_free_local) struct json *same = json_new_object();
    struct json *all = json_new_array();
    for (const struct json *v = json_first(json_get(result, prompt ? "messages" : "contents")); v;
         v = json_next(v)) {
        if (prompt) {
            add_message(all, v);
            continue;
        }
        struct json *resource = json_pack("{type:'resource'}");
        json_set(resource, "resource", json_clone(v));
        json_push(all, resource);
    }
    json_set(same, "content", all);
    return mcp_result(same, !prompt);
}
