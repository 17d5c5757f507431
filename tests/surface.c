#include "tests/surface.h"
#include "tests/suite.h"

static struct model_server *server;
static struct config *config;
static char *store_path;
static VEC(struct notice *) taken;

int surface_setup(void **state)
{
    (void)state;
    if (support_setup(NULL) != 0)
        return -1;
    server = model_server_start();
    auto_free char *url = mem_printf("%s/v1", model_server_url(server));
    setenv("OPENAI_BASE_URL", url, 1);
    setenv("OPENAI_API_KEY", "test-key", 1);
    config = config_new();
    store_path = support_path("data/tiro.db");
    return 0;
}

int surface_teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < taken.len; i++)
        notice_free(taken.items[i]);
    vec_release(&taken);
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

/* A request about the front conversation names neither the conversation nor its directory. */
static bool is_left_out(const struct operation *o, const struct shape_field *f)
{
    if (o == &operation_session_open)
        return strcmp(f->name, "directory") == 0;
    return strcmp(f->name, SESSION_MEMBER) == 0 && o->executor == OPERATION_CONVERSATION && !o->run;
}

/* The texts of parameters, in their order; a message comes alone. */
static const struct shape_field *text_field(const struct operation *o, size_t index)
{
    const struct shape_field *f = o->params ? o->params->fields : NULL;
    for (; f && f->name; f++)
        if (f->type == SHAPE_STRING && !is_left_out(o, f) && index-- == 0)
            return f;
    return NULL;
}

static const struct shape_field *said_field(const struct operation *o)
{
    const struct shape_field *second = text_field(o, 1);
    return second ? second : text_field(o, 0);
}

static void put_text(void *params, const struct shape_field *f, const char *text)
{
    if (f && text)
        *(const char **)(void *)((char *)params + f->offset) = text;
}

/* A message of a test is one that a person typed. */
static void put_typed(const struct shape *shape, void *params)
{
    for (const struct shape_field *f = shape->fields; f->name; f++)
        if (f->names == &input_origin_names)
            *(enum input_origin *)(void *)((char *)params + f->offset) = INPUT_TYPED;
}

uint64_t surface_send_for(struct engine *s, const struct operation *o, const char *name,
                          const char *text, int64_t number)
{
    union {
        char bytes[256];
        int64_t aligned;
    } params = {{0}};
    if (o->params) {
        const struct shape_field *f = o->params->fields;
        while (f->name && (f->type == SHAPE_STRING || f->type == SHAPE_JSON))
            f++;
        void *at = (char *)&params + f->offset;
        if (f->name && f->type == SHAPE_INTEGER)
            *(int64_t *)at = number;
        else if (f->name && f->type == SHAPE_BOOLEAN)
            *(bool *)at = number;
        else if (f->name)
            *(int *)at = (int)number;
        put_text(&params, text_field(o, 0), name);
        put_text(&params, said_field(o), text);
        put_typed(o->params, &params);
    }
    return engine_start(s, o, o->params ? &params : NULL);
}

uint64_t surface_send(struct engine *s, const struct operation *o, const char *text)
{
    return surface_send_for(s, o, NULL, text, 0);
}

struct notice *surface_next(struct engine *s)
{
    struct notice *n = mailbox_wait(engine_notices(s), SURFACE_MS);
    assert_non_null(n);
    vec_push(&taken, n);
    return n;
}

struct notice *surface_expect(struct engine *s, enum notice_type type)
{
    struct notice *n;
    do
        n = surface_next(s);
    while (n->type != type);
    return n;
}

struct notice *surface_expect_event(struct engine *s, enum event_type type)
{
    struct notice *n;
    do
        n = surface_expect(s, NOTICE_EVENT);
    while (n->event->type != type);
    return n;
}

void surface_expect_idle(struct engine *s)
{
    while (surface_expect(s, NOTICE_BUSY)->flag)
        ;
}

struct operation_answer *surface_call(struct engine *s, const struct operation *o,
                                      const void *params)
{
    uint64_t id = engine_start(s, o, params);
    struct notice *n;
    do
        n = surface_expect(s, NOTICE_ANSWER);
    while (n->answer->request->id != id);
    return n->answer;
}

struct notice *surface_expect_answer(struct engine *s, const struct operation *o)
{
    struct notice *n;
    do
        n = surface_expect(s, NOTICE_ANSWER);
    while (!operation_answers(n->answer, o) || n->answer->error.code != ERR_OK);
    return n;
}

struct notice *surface_expect_changed(struct engine *s)
{
    for (;;) {
        struct notice *n = surface_expect(s, NOTICE_ANSWER);
        const struct operation *o = n->answer->request->operation;
        if (n->answer->error.code == ERR_OK && o->result && (o->needs & NEED_STORE))
            return n; /* an operation that needs the store gives the session that it changed */
    }
}

const char *surface_changed(const struct notice *n)
{
    return ((const struct session_changed *)n->answer->result)->id;
}

const struct context *surface_context(const struct notice *n)
{
    return n->answer->result;
}

const struct error *surface_error(const struct notice *n)
{
    return n->type == NOTICE_ANSWER ? &n->answer->error : &n->error;
}

bool surface_failed(const struct notice *n)
{
    return surface_error(n)->code != ERR_OK;
}

struct notice *surface_expect_failure(struct engine *s)
{
    struct notice *n;
    do
        n = surface_next(s);
    while (!surface_failed(n));
    return n;
}

const char *surface_text(const struct notice *n)
{
    const struct operation_request *r = n->answer->request;
    const struct shape_field *f = said_field(r->operation);
    return f ? *(const char **)(void *)((char *)r->params + f->offset) : NULL;
}

void surface_expect_error(struct engine *s, enum err_code code, const char *text)
{
    struct notice *n = surface_expect_failure(s);
    assert_string_equal(err_info(surface_error(n)->code)->name, err_info(code)->name);
    if (text)
        assert_string_equal(surface_text(n), text);
}

const char *surface_ask(struct engine *s, const char *text)
{
    surface_send(s, &operation_turn_start, text);
    const char *answer = surface_expect_event(s, EVENT_TURN_COMPLETED)->event->text;
    surface_expect_idle(s);
    return answer;
}

void surface_list(struct session_list *out)
{
    AUTO(catalog_release) struct catalog catalog = {0};
    struct error e = {0};
    const struct session_filter every = {0};
    assert_true(catalog_open(&catalog, store_path, CATALOG_READ, &e));
    assert_true(catalog_list(&catalog, &every, out, NULL, &e));
}

bool surface_read(const char *reference, struct session_info *info,
                  bool (*visit)(void *context, const struct event *ev), void *context,
                  struct error *e)
{
    AUTO(catalog_release) struct catalog catalog = {0};
    assert_true(catalog_open(&catalog, store_path, CATALOG_READ, e));
    return catalog_read(&catalog, reference, 0, info, visit, context, e);
}
