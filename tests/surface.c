#include "tests/surface.h"
#include "tests/suite.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/support.h"

static struct model_server *server;
static struct config *config;
static char *store_path;

int surface_setup(void **state)
{
    (void)state;
    if (support_setup(NULL) != 0)
        return -1;
    server = model_server_start();
    char *url = mem_printf("%s/v1", model_server_url(server));
    setenv("OPENAI_BASE_URL", url, 1);
    setenv("OPENAI_API_KEY", "test-key", 1);
    free(url);
    config = config_new();
    store_path = support_path("data/tiro.db");
    return 0;
}

int surface_teardown(void **state)
{
    (void)state;
    model_server_stop(server);
    config_free(config);
    free(store_path);
    return support_teardown(NULL);
}

struct model_server *surface_server(void)
{
    return server;
}

struct config *surface_config(void)
{
    return config;
}

const char *surface_store(void)
{
    return store_path;
}

struct engine_options surface_options(const char *resume, bool persist)
{
    return (struct engine_options){.config = config,
                                   .directory = support_dir(),
                                   .store_path = store_path,
                                   .provider = "openai",
                                   .model = "scripted-model",
                                   .compaction = true,
                                   .persist = persist,
                                   .resume = resume};
}

struct engine *surface_open(const char *resume, bool persist)
{
    const struct engine_options options = surface_options(resume, persist);
    return engine_new(&options);
}

void surface_send_for(struct engine *s, enum command_type type, const char *name, const char *text,
                      int64_t number)
{
    struct command *c = command_new(type, text);
    c->name = mem_strdup(name);
    c->number = number;
    engine_send(s, c);
}

void surface_send(struct engine *s, enum command_type type, const char *text)
{
    engine_send(s, command_new(type, text));
}

struct notice *surface_next(struct engine *s)
{
    struct notice *n = mailbox_wait(engine_notices(s), SURFACE_MS);
    assert_non_null(n);
    return n;
}

struct notice *surface_expect(struct engine *s, enum notice_type type)
{
    for (;;) {
        struct notice *n = surface_next(s);
        if (n->type == type)
            return n;
        notice_free(n);
    }
}

struct notice *surface_expect_event(struct engine *s, enum event_type type)
{
    for (;;) {
        struct notice *n = surface_expect(s, NOTICE_EVENT);
        if (n->event->type == type)
            return n;
        notice_free(n);
    }
}

void surface_expect_idle(struct engine *s)
{
    for (;;) {
        struct notice *n = surface_expect(s, NOTICE_BUSY);
        bool busy = n->flag;
        notice_free(n);
        if (!busy)
            return;
    }
}

struct operation_answer *surface_call(struct engine *s, const struct operation *o,
                                      const void *params)
{
    uint64_t id = engine_start(s, o, params);
    for (struct operation_answer *a = NULL;;) {
        struct notice *n = surface_expect(s, NOTICE_ANSWER);
        if (n->answer->request->id == id) {
            a = n->answer;
            n->answer = NULL;
        }
        notice_free(n);
        if (a)
            return a;
    }
}

void surface_expect_error(struct engine *s, enum err_code code, const char *text)
{
    struct notice *n = surface_expect(s, NOTICE_ERROR);
    assert_string_equal(err_info(n->error.code)->name, err_info(code)->name);
    if (text)
        assert_string_equal(n->text, text);
    notice_free(n);
}

char *surface_ask(struct engine *s, const char *text)
{
    surface_send(s, COMMAND_START_TURN, text);
    struct notice *n = surface_expect_event(s, EVENT_TURN_COMPLETED);
    char *result = mem_strdup(n->event->text);
    notice_free(n);
    surface_expect_idle(s);
    return result;
}

void surface_list(struct session_list *out)
{
    struct catalog catalog;
    struct error e = {0};
    const struct session_filter every = {0};
    assert_true(catalog_open(&catalog, store_path, CATALOG_READ, &e));
    assert_true(catalog_list(&catalog, &every, out, NULL, &e));
    catalog_release(&catalog);
}

bool surface_read(const char *reference, struct session_info *info,
                  bool (*visit)(void *context, const struct event *ev), void *context,
                  struct error *e)
{
    struct catalog catalog;
    assert_true(catalog_open(&catalog, store_path, CATALOG_READ, e));
    bool ok = catalog_read(&catalog, reference, 0, info, visit, context, e);
    catalog_release(&catalog);
    return ok;
}
