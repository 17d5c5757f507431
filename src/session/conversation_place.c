#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "compact/mode.h"
#include "provider/outgoing.h"
#include "session/conversation_private.h"
#include "session/folders.h"
#include "session/projection.h"
#include "store/sessions.h"

/* The working directory of a session, which its tools do not leave. */

void conversation_leave_directory(struct conversation *c)
{
    if (!c->root)
        return;
    tool_mcp_free(c->mcp);
    c->mcp = NULL;
    conversation_end_tasks(c);
    toolset_release(&c->tools);
    if (c->root_fd >= 0)
        close(c->root_fd);
    free(c->root);
    free(c->project);
    c->root = c->project = NULL;
    c->root_fd = -1;
}

static void task_ended(void *conversation)
{
    engine_order(&((struct conversation *)conversation)->seat, &order_look);
}

void conversation_work_in(struct conversation *c, const char *directory)
{
    const char *root = directory && *directory ? directory : c->engine->root;
    if (c->root && strcmp(c->root, root) == 0 && c->root_fd >= 0)
        return;
    char *name = mem_strdup(root);
    conversation_leave_directory(c);
    c->root = name;
    c->root_fd = open(c->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    c->mcp = tool_mcp_new(c->root, &c->wakeup);
    const struct tool_host host = {
        .root_fd = c->root_fd,
        .root = c->root,
        .environment = config_string(c->config, CONFIG_TOOLS_ENVIRONMENT),
        .sandbox = strcmp(config_string(c->config, CONFIG_TOOLS_SANDBOX), "on") == 0,
        .sandbox_writes = config_string(c->config, CONFIG_TOOLS_SANDBOX_WRITES),
        .fetch_allow = config_string(c->config, CONFIG_TOOLS_FETCH_ALLOW),
        .web_search = strcmp(config_string(c->config, CONFIG_TOOLS_WEB_SEARCH), "on") == 0,
        .surface = c->engine->options.helps_tools ? &c->tool_surface : NULL,
        .memory = c->engine->memory ? &c->tool_memory : NULL,
        .learned = c->engine->learned ? &c->tool_learned : NULL,
        .graph = c->engine->graph ? &c->tool_graph : NULL,
        .corpora = c->engine->corpora ? &c->tool_corpora : NULL,
        .mcp = c->mcp,
        .tasks = {.ended = task_ended, .context = c},
        .skills = &c->tool_skills,
    };
    toolset_init(&c->tools, tool_sources, &host);
}

void conversation_start_servers(struct conversation *c)
{
    struct mcp_servers servers;
    bool begun = c->mcp && tool_mcp_has_begun(c->mcp);
    bool defers = strcmp(config_string(c->config, CONFIG_TOOLS_DEFER), "auto") == 0 &&
                  strcmp(conversation_offer(c), "full") == 0;
    enum { SHARE = 10 }; /* of the window, for the tools of servers */
    if (c->mcp)
        tool_mcp_set_room(c->mcp, defers ? c->backend.facts.window / SHARE : 0);
    if (!c->mcp || strcmp(conversation_offer(c), "none") == 0 ||
        (begun && c->servers_trusted == c->trust.trusted && !c->servers_changed))
        return;
    c->servers_changed = false;
    tool_mcp_end(c->mcp);
    mcp_servers_read(conversation_project_path(c), c->editor_servers, &servers);
    trust_mark_servers(&c->trust.parts, c->trust.trusted, &servers);
    c->servers_trusted = c->trust.trusted;
    const struct http_reach reach = http_reach_of(c->config);
    tool_mcp_begin(c->mcp, &servers, &reach, c->elicits);
}

bool conversation_find_directory(const char *given, char **resolved, struct error *e)
{
    struct stat status;
    *resolved = NULL;
    if (!given)
        return true;
    if (*given != '/')
        return err_set(e, ERR_USAGE, "\"directory\": \"%.100s\" is no absolute path; give one",
                       given);
    *resolved = realpath(given, NULL);
    if (!*resolved || stat(*resolved, &status) != 0)
        err_set_errno(e, ERR_USAGE, "\"directory\": \"%.100s\" cannot be used", given);
    else if (!S_ISDIR(status.st_mode))
        err_set(e, ERR_USAGE, "\"directory\": \"%.100s\" is no directory; name one", given);
    else
        return true;
    free(*resolved);
    *resolved = NULL;
    return false;
}

/* --- images ----------------------------------------------------------------------------------- */

/* An image that another program names is sent to the model, so it must be an image file of the
 * session or in one of the folders of folders.h. */
static bool may_be_read(const struct conversation *c, const char *path, struct error *e)
{
    AUTO(catalog_release) struct catalog catalog = {0};
    catalog_borrow(&catalog, c->store, c->journal.directory, c->journal.info.id);
    auto_free char *files = projection_directory(&catalog, c->journal.info.id);
    auto_free char *found = realpath(path, NULL), *kept = files ? realpath(files, NULL) : NULL;
    size_t len = kept ? strlen(kept) : 0;
    if (found && kept && strncmp(found, kept, len) == 0 && found[len] == '/' &&
        image_file_is(found + len + 1, false))
        return true;
    auto_free char *allowed = folders_resolve(c->config, c->root, path, SHAPE_READS, false, e);
    return allowed != NULL;
}

bool conversation_place_images(const struct conversation *c, const char *given, char **out,
                               struct error *e)
{
    *out = NULL;
    if (!given)
        return true;
    AUTO(json_free_local) struct json *list = json_parse_foreign(given, strlen(given), e);
    AUTO(json_free_local) struct json *placed = json_new_array();
    if (!list)
        return false;
    if (json_type(list) != JSON_ARRAY)
        return err_set(e, ERR_USAGE, "\"attachments\" is no array; give one of images");
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        const char *type = json_get_string(v, "type"), *where = json_get_string(v, "text");
        if (!type || strcmp(type, "image") != 0 || !where || !*where)
            return err_set(e, ERR_USAGE,
                           "\"attachments\": %zu is no image; give its type "
                           "\"image\", and as its text a path or URL",
                           json_len(placed));
        bool is_url =
            strncasecmp(where, "http://", 7) == 0 || strncasecmp(where, "https://", 8) == 0;
        auto_free char *path =
            *where == '/' || is_url ? mem_strdup(where) : paths_join(c->root, where);
        if (c->engine->options.serves && *path == '/' && !may_be_read(c, path, e))
            return false;
        struct json *image = json_new_object();
        json_set_string(image, "type", "image");
        json_set_string(image, "text", path);
        json_set_string(image, "media_type", json_get_string(v, "media_type"));
        json_push(placed, image);
    }
    *out = json_print(placed);
    return true;
}

/* Whether the model takes images; asks a server that knows it. */
static enum model_eyes eyes_of(struct conversation *c)
{
    struct backend *b = &c->backend;
    bool sees = false;
    if (b->facts.eyes == EYES_UNKNOWN && b->choice.provider->sees && backend_ask_sees(b, &sees))
        b->facts.eyes = sees ? EYES_SEE : EYES_NONE;
    return b->facts.eyes;
}

/* The limits of a provider hold for its own host; what else speaks its dialect is not known. */
static struct image_limits limits_of(const struct backend *b)
{
    const char *host = b->choice.provider->vendor_host, *url = b->choice.endpoint.base_url;
    bool own = !host || (url && strstr(url, host));
    return own ? b->choice.provider->images : (struct image_limits){0};
}

/* `count`: the images of the message. */
static bool image_fits(const struct conversation *c, const char *name, const struct image_facts *f,
                       int count, struct error *e)
{
    struct image_limits most = limits_of(&c->backend);
    bool many = most.many > 0 && count > most.many;
    int most_side = many ? most.many_side : most.side;
    int64_t bytes = most.bytes > 0 ? most.bytes : (int64_t)IMAGE_MAX_BYTES;
    int32_t side = f->width > f->height ? f->width : f->height;
    auto_free char *size = image_size_text(f);
    if (f->bytes > bytes)
        return err_set(e, ERR_USAGE,
                       "%.160s (%s) is larger than the %.3g MB that %s takes of one image; make it "
                       "smaller",
                       name, size, (double)bytes / (1 << 20), c->backend.choice.provider->title);
    return most_side == 0 || side <= most_side ||
           err_set(e, ERR_USAGE,
                   "%.160s (%s) has a side of more than the %d pixels that %s takes%s; make it "
                   "smaller",
                   name, size, most_side, c->backend.choice.provider->title,
                   many ? " of so many images" : "");
}

bool conversation_check_images(struct conversation *c, char **attachments, struct error *e)
{
    const char *all = *attachments ? *attachments : "[]";
    AUTO(json_free_local) struct json *list = json_parse(all, strlen(all), NULL);
    AUTO(json_free_local) struct json *sized = json_new_array();
    struct image_limits most = limits_of(&c->backend);
    int64_t together = 0;
    int count = 0;
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        const char *type = json_get_string(v, "type");
        count += type && strcmp(type, "image") == 0;
    }
    if (count > most.count && most.count > 0)
        return err_set(e, ERR_USAGE, "%s takes at most %d images with a message",
                       c->backend.choice.provider->title, most.count);
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        const char *type = json_get_string(v, "type"), *path = json_get_string(v, "text");
        const char *label = json_get_string(v, "name");
        struct json *block = json_clone(v);
        struct image_facts facts;
        json_push(sized, block);
        if (!type || strcmp(type, "image") != 0 || !path)
            continue;
        const char *slash = strrchr(path, '/');
        const char *name = label ? label : slash && slash[1] ? slash + 1 : path;
        if (eyes_of(c) == EYES_NONE)
            return err_set(e, ERR_USAGE,
                           "the model %s takes no images, and %.160s is one; leave it out, or "
                           "choose a model that does with /model",
                           c->backend.choice.model, name);
        if (*path != '/' || !image_file_facts(path, &facts))
            continue;
        together += (facts.bytes + 2) / 3 * 4;
        if (!image_fits(c, name, &facts, count, e))
            return false;
        if (most.request > 0 && together > most.request)
            return err_set(e, ERR_USAGE,
                           "the images are together larger than %s takes with a message; leave "
                           "%.160s out",
                           c->backend.choice.provider->title, name);
        auto_free char *size = image_size_text(&facts);
        json_set_string(block, "id", size);
    }
    if (count > 0)
        mem_replace(attachments, json_print(sized));
    return true;
}

/* The settings of a session that differ from the configuration: level of tools, compaction mode,
 * effort of reasoning. */

static const char tools_name[] = "tools", mode_name[] = "compaction", effort_name[] = "effort";

/* NULL: as configured. */
static char *read_setting(const struct conversation *c, const char *name)
{
    char *value = NULL;
    struct error e;
    if (*c->journal.info.id && !session_setting_get(c->store, c->journal.info.id, name, &value, &e))
        log_line(LOG_ERROR, "settings of %s: %s", c->journal.info.id, e.text);
    return value;
}

static enum tools_offer level_named(const char *word)
{
    for (int i = TOOLS_NONE; word && i < tools_offer_names.count; i++)
        if (strcmp(tools_offer_names.words[i], word) == 0)
            return (enum tools_offer)i;
    return TOOLS_CONFIGURED;
}

void conversation_read_settings(struct conversation *c)
{
    char *tools = read_setting(c, tools_name), *mode = read_setting(c, mode_name);
    const struct compact_mode *kept = mode ? compact_mode_find(mode) : NULL;
    c->level = level_named(tools);
    c->compact.mode = kept ? kept : conversation_find_mode(c, NULL, &(struct error){0});
    const char *asked = c->engine->options.serves ? NULL : c->engine->options.effort;
    mem_replace(&c->effort, asked ? mem_strdup(asked) : read_setting(c, effort_name));
    free(tools);
    free(mode);
}

const char *conversation_offer(const struct conversation *c)
{
    bool as_started = c->level == TOOLS_CONFIGURED || c->engine->tools_asked;
    return as_started ? c->engine->options.tools : tools_offer_names.words[c->level];
}

bool conversation_set_tools(struct conversation *c, enum tools_offer level, struct error *e)
{
    const char *word = tools_offer_names.words[level];
    if (!session_setting_put(c->store, c->journal.info.id, tools_name, word, e))
        return false;
    c->level = level;
    return true;
}

bool converse_set_tools(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_tools_params *p = params;
    (void)result;
    if (!conversation_is_live(c, e) || !conversation_set_tools(c, p->tools, e))
        return false;
    tell_session(c, false); /* the request has another size */
    return true;
}

bool converse_set_compaction(struct conversation *c, const void *params, void *result,
                             struct error *e)
{
    const struct session_compaction_params *p = params;
    const struct compact_mode *mode = conversation_find_mode(c, p->mode, e);
    (void)result;
    if (!mode || !conversation_is_live(c, e) ||
        !session_setting_put(c->store, c->journal.info.id, mode_name, p->mode, e))
        return false;
    c->compact.mode = mode;
    tell_session(c, false);
    return true;
}

const char *conversation_effort(const struct conversation *c)
{
    const char *asked = c->engine->options.effort;
    const char *effort = c->effort ? c->effort
                         : asked   ? asked
                                   : config_string(c->config, CONFIG_PROVIDER_EFFORT);
    return backend_takes_effort(&c->backend, effort) ? effort : NULL;
}

bool converse_set_effort(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_effort_params *p = params;
    const char *effort = p->effort && *p->effort ? p->effort : NULL;
    bool named = effort && strcmp(effort, "default") != 0; /* which the model has not */
    (void)result;
    if (!conversation_is_live(c, e) || !conversation_need_backend(c, e) ||
        (named && !backend_need_effort(&c->backend, effort, e)) ||
        !session_setting_put(c->store, c->journal.info.id, effort_name, effort, e))
        return false;
    mem_replace(&c->effort, mem_strdup(effort));
    tell_provider(c);
    return true;
}

bool converse_settings(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_settings *out = result;
    (void)params, (void)e;
    const struct session_info *info = &c->journal.info;
    const struct choice *choice = c->backend.chosen ? &c->backend.choice : NULL;
    *out = (struct session_settings){
        .directory = mem_strdup(c->root),
        .provider = mem_strdup(choice ? choice->provider->name : info->provider),
        .model = mem_strdup(choice ? choice->model : info->model),
        .system = mem_strdup(info->system),
        .tools = level_named(conversation_offer(c)),
        .compaction = c->engine->compaction ? mem_strdup(c->compact.mode->name) : NULL,
        .effort = mem_strdup(conversation_effort(c)),
        .memory = c->access,
    };
    AUTO(buf_release) struct buf efforts = BUF_INIT;
    if (choice)
        models_efforts(choice->provider, &c->backend.facts, &efforts);
    out->efforts = efforts.len > 0 ? buf_take(&efforts) : NULL;
    return true;
}

/* In an engine that serves: finds and opens the session that a request names. */

static const char *named_by(const struct conversation *c, const struct operation_request *r)
{
    char **named = operation_request_session((struct operation_request *)r);
    bool serves = c->engine->options.serves && conversation_wants(r) != WANTS_NOTHING;
    return serves && named && *named && **named ? *named : NULL;
}

bool conversation_takes_up(struct conversation *c, struct operation_request *r)
{
    const char *reference = named_by(c, r);
    char id[UUID_LEN + 1];
    struct error e;
    bool own = reference && strcmp(reference, c->seat.session) == 0;
    if (!reference || (own && *c->journal.info.id))
        return true;
    bool found = sessions_resolve(c->store, reference, id, &e);
    if (found && own &&
        strcmp(id, reference) != 0) /* it was deleted, and is the title of another */
        found = err_set(&e, ERR_SESSION_NOT_FOUND, "session %.40s was deleted; choose another",
                        reference);
    if (!found) {
        conversation_refuse(c, r, &e);
        return false;
    }
    operation_request_name(r, id);
    memcpy(r->session, id, sizeof r->session);
    return engine_claim(&c->seat, id, r);
}

/* A session that is open for reading is opened again, because another process may have written to
 * it. */
bool conversation_must_open(const struct conversation *c, const struct operation_request *r)
{
    enum operation_want want = conversation_wants(r);
    return named_by(c, r) && want >= WANTS_READING &&
           (!*c->journal.info.id || c->journal.read_only);
}

/* A session that is archived, or open for reading, can be written to after session/open only. */
bool conversation_opens_for(struct conversation *c, const struct operation_request *r,
                            struct error *e)
{
    if (!conversation_must_open(c, r))
        return true;
    const char *name = named_by(c, r);
    bool opens = r->operation == &operation_session_open;
    bool reads = conversation_wants(r) == WANTS_READING;
    AUTO(session_info_release) struct session_info info = {0};
    struct error fault;
    if (!reads && !opens && c->looked_at) {
        if (!conversation_is_live(c, e))
            return false;
    } else if (!reads && !opens && sessions_get(c->store, name, &info, &fault) &&
               info.archived_ms > 0) {
        return err_set(e, ERR_SESSION_NOT_FOUND, "session %.40s is archived; open it to continue",
                       name);
    }
    if (!conversation_open_session(c, name, reads ? JOURNAL_READ : JOURNAL_RESUME, e))
        return false;
    if (opens) /* other operations leave it open for reading */
        c->looked_at = c->journal.read_only;
    if (conversation_choose(c, &fault))
        tell_provider(c);
    else /* an operation that needs a model reports the error */
        backend_forget(&c->backend);
    return true;
}

char *conversation_keep_images(void *conversation, const char *tool, const struct json *images)
{
    struct conversation *c = conversation;
    AUTO(catalog_release) struct catalog catalog = {0};
    AUTO(json_free_local) struct json *kept = json_new_array();
    struct image_limits most = limits_of(&c->backend);
    catalog_borrow(&catalog, c->store, c->journal.directory, c->journal.info.id);
    auto_free char *directory = projection_directory(&catalog, c->journal.info.id);
    (void)eyes_of(c); /* the next request looks whether they are known */
    for (const struct json *v = json_first(images); v && directory; v = json_next(v)) {
        struct session_image image;
        struct image_facts facts;
        struct error e;
        if (most.count > 0 && json_len(kept) >= (size_t)most.count)
            break;
        if (!image_file_add(directory, json_get_string(v, "data"), &image, &e)) {
            log_line(LOG_ERROR, "an image of %s is not kept: %s", tool, e.text);
            continue;
        }
        auto_free char *path = image.path, *type = image.media_type;
        if (!image_file_facts(path, &facts) ||
            !image_fits(c, tool, &facts, (int)json_len(images), &e)) {
            unlink(path);
            continue;
        }
        auto_free char *size = image_size_text(&facts);
        json_push(kept, json_pack("{type:'image' name:s text:s media_type:s id:s}", tool, path,
                                  type, size));
    }
    return json_first(kept) ? json_print(kept) : NULL;
}
