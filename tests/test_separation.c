/* Kept sessions, compaction, durable memory, the graph and corpora are independent switches: in
 * every combination each part that is on works, and each part that is off leaves no data. A part
 * that is switched off in a session, or from one start to the next, leaves the others working, and
 * has all its data when it is on again. A new switch is a new row of the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/conversation_operations.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "tests/suite.h"
#include "tests/surface.h"

NEEDS(capability_store() && capability_memory() && capability_compaction() && capability_corpora());
FIXTURE(surface_setup, surface_teardown);

enum { TURNS = 4 };

static const char *combination; /* for failures */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s: %s", combination, #condition);                                           \
    } while (0)

/* --- shared parts --- */

static void talk(struct engine *s)
{
    static char filler[4000];
    memset(filler, 'w', sizeof filler - 1);
    for (size_t i = 5; i < sizeof filler - 1; i += 6)
        filler[i] = ' ';
    for (int i = 1; i <= TURNS; i++)
        surface_ask(s, support_text("The ryokan number %d of the graph is by the river. %s", i, filler));
}

static const char *last_body(void)
{
    return model_server_body(surface_server(), model_server_requests(surface_server()) - 1);
}

static bool offered(const char *tool)
{
    return strstr(last_body(), support_text("\"name\":\"%s\"", tool)) != NULL;
}

/* The operation was done, or refused with this code. */
static bool done(struct operation_answer *a, bool on, enum err_code off)
{
    bool ok = a->error.code == (on ? ERR_OK : off);
    if (!ok)
        print_message("%s: %s\n", a->request->operation->name, a->error.text);
    return ok;
}

/* --- the switches --- */

struct part {
    const char *name;
    void (*set)(struct engine_options *o, bool on);
    void (*check)(struct engine *s, bool on);                     /* after some turns */
    void (*check_kept)(const struct session_list *kept, bool on); /* once it has ended; or NULL */
};

static void set_sessions(struct engine_options *o, bool on)
{
    o->persist = on;
}

/* A session that is kept in memory alone is listed while it lasts. */
static void check_sessions(struct engine *s, bool on)
{
    (void)on;
    struct operation_answer *a = surface_call(s, &operation_session_list, NULL);
    CHECK(a->error.code != ERR_OK || ((struct session_list *)a->result)->items.len == 1);
    CHECK(done(a, true, ERR_OK));
}

static void check_kept_sessions(const struct session_list *kept, bool on)
{
    CHECK(kept->items.len == on);
    CHECK(!on || kept->items.items[0].turns == TURNS + 4);
}

static void set_compaction(struct engine_options *o, bool on)
{
    o->compaction = on;
}

static void check_compaction(struct engine *s, bool on)
{
    const struct compaction_run_params params = {.mode = "deterministic"};
    struct operation_answer *a = surface_call(s, &operation_compaction_run, &params);
    CHECK(!on || ((struct compaction_result *)a->result)->fault.code == ERR_OK);
    CHECK(done(a, on, ERR_SESSION_COMPACTION_DISABLED));
    surface_ask(s, "And now, @corpus:notes?");
    CHECK((strstr(last_body(), "[Context compacted]") != NULL) == on);
}

static void set_memory(struct engine_options *o, bool on)
{
    o->memory = on;
}

/* The text is in the next request. */
static void check_learned(struct engine *s, bool on)
{
    const struct learned_add_params port = {.text = "the port is 8443"};
    CHECK(done(surface_call(s, &operation_learned_add, &port), on, ERR_MEMORY_DISABLED));
    struct operation_answer *a = surface_call(s, &operation_context_read, NULL);
    const struct context *context = a->result;
    bool told = false;
    for (size_t i = 0; i < context->parts.len; i++)
        told = told || context->parts.items[i].kind == CONTEXT_LEARNED;
    CHECK(told == on);
    CHECK(done(a, true, ERR_OK));
}

static void check_memory(struct engine *s, bool on)
{
    CHECK(offered("memory_search") == on);
    CHECK(done(surface_call(s, &operation_memory_stats, NULL), on, ERR_MEMORY_DISABLED));
    check_learned(s, on);
}

static void set_graph(struct engine_options *o, bool on)
{
    (void)o;
    CHECK(config_set(surface_config(), CONFIG_GRAPH_ENABLED, on ? "true" : "false", NULL));
}

static void check_graph(struct engine *s, bool on)
{
    struct graph_new_entity ada = {.name = "Ada", .type = "person"};
    const struct graph_create create = {.entities = {&ada, 1, 1}};
    CHECK(offered("memory_create_entities") == on);
    CHECK(done(surface_call(s, &operation_graph_create, &create), on, ERR_MEMORY_DISABLED));
    struct operation_answer *a =
        surface_call(s, &operation_graph_list, &(struct graph_list_params){.limit = 9});
    CHECK(!on || ((struct graph_part *)a->result)->entities.len == 1);
    CHECK(done(a, on, ERR_MEMORY_DISABLED));
}

static void set_corpora(struct engine_options *o, bool on)
{
    (void)o;
    CHECK(config_set(surface_config(), CONFIG_CORPUS_ENABLED, on ? "true" : "false", NULL));
}

static bool finds_passage(struct engine *s, bool on)
{
    const struct corpus_search search = {.query = "lantern", .hybrid_weight = -1};
    struct operation_answer *a = surface_call(s, &operation_corpus_search, &search);
    bool found = a->error.code == ERR_OK && ((struct corpus_found *)a->result)->items.len == 1;
    return done(a, on, ERR_MEMORY_DISABLED) && found == on;
}

/* "@corpus:notes" was said in the last turn. */
static void check_corpora(struct engine *s, bool on)
{
    const struct corpus_ingest text = {"notes", "a.txt", "a red lantern"};
    CHECK(done(surface_call(s, &operation_corpus_ingest, &text), on, ERR_MEMORY_DISABLED));
    CHECK(finds_passage(s, on));
    surface_ask(s, "What says @corpus:notes?");
    CHECK(offered("rag_search") == on);
}

static const struct part parts[] = {
    {"sessions", set_sessions, check_sessions, check_kept_sessions},
    {"compaction", set_compaction, check_compaction, NULL},
    {"memory", set_memory, check_memory, NULL},
    {"graph", set_graph, check_graph, NULL},
    {"corpora", set_corpora, check_corpora, NULL},
};
enum { PARTS = sizeof parts / sizeof *parts, ALL = (1U << PARTS) - 1 };

static bool recalls(struct engine *s)
{
    const struct memory_search search = {.query = "ryokan", .limit = 5};
    struct operation_answer *a = surface_call(s, &operation_memory_search, &search);
    return a->error.code == ERR_OK && ((struct memory_found *)a->result)->hits.items.len > 0;
}

/* --- every combination --- */

static void switch_memory(struct engine *s, enum memory_access access, bool on)
{
    const struct session_memory_params params = {.access = access};
    CHECK(done(surface_call(s, &operation_session_set_memory, &params), on, ERR_MEMORY_DISABLED));
}

/* Durable memory and the graph, which are in one switch of the session, off and on again. */
static void check_switched(struct engine *s, bool memory, bool graph, bool corpora)
{
    switch_memory(s, MEMORY_ACCESS_OFF, memory || graph);
    surface_ask(s, "Without memory?");
    CHECK(!offered("memory_search") && !offered("memory_create_entities"));
    CHECK(offered("rag_search") == corpora);
    CHECK(finds_passage(s, corpora));
    switch_memory(s, MEMORY_ACCESS_WRITE, memory || graph);
    surface_ask(s, "With it?");
    CHECK(offered("memory_search") == memory);
    CHECK(offered("memory_create_entities") == graph);
    CHECK(offered("rag_search") == corpora);
}

static bool is_on(unsigned which, const char *name)
{
    for (unsigned i = 0; i < PARTS; i++)
        if (strcmp(parts[i].name, name) == 0)
            return which & 1U << i;
    return false;
}

static const char *name_of(unsigned which)
{
    struct buf out = BUF_INIT;
    for (unsigned i = 0; i < PARTS; i++)
        buf_addf(&out, "%s%s %s", i > 0 ? ", " : "", parts[i].name, which & 1U << i ? "on" : "off");
    return support_keep(buf_take(&out));
}

static struct engine *start(unsigned which)
{
    struct engine_options options = surface_options(NULL, true);
    combination = name_of(which);
    options.tools = "full";
    for (unsigned i = 0; i < PARTS; i++)
        parts[i].set(&options, which & 1U << i);
    return engine_new(&options);
}

TEST(each_works_without_the_others)
{
    const unsigned step = (unsigned)suite_sample(3, 1);
    for (unsigned which = (unsigned)support_seed() % step; which < 1U << PARTS; which += step) {
        AUTO(session_list_release) struct session_list kept = {0};
        struct engine *s = start(which);
        talk(s);
        for (unsigned i = 0; i < PARTS; i++)
            parts[i].check(s, which & 1U << i);
        CHECK(recalls(s) == (is_on(which, "memory") && is_on(which, "compaction")));
        check_switched(s, is_on(which, "memory"), is_on(which, "graph"), is_on(which, "corpora"));
        engine_free(s);
        if (access(surface_store(), F_OK) == 0)
            surface_list(&kept);
        for (unsigned i = 0; i < PARTS; i++)
            if (parts[i].check_kept)
                parts[i].check_kept(&kept, which & 1U << i);
        (void)unlink(surface_store());
        (void)unlink(support_text("%s-wal", surface_store()));
        (void)unlink(support_text("%s-shm", surface_store()));
    }
}

TEST(learned_memory_has_a_switch_of_its_own)
{
    struct engine_options options = surface_options(NULL, true);
    combination = "learned off";
    options.tools = "full";
    options.memory = true;
    CHECK(config_set(surface_config(), CONFIG_LEARNED_ENABLED, "false", NULL));
    AUTO(engine_free_local) struct engine *s = engine_new(&options);
    check_learned(s, false);
    surface_ask(s, "Hello");
    CHECK(offered("memory_search"));
    CHECK(!offered("memory_create_entities")); /* the graph is empty */
    surface_ask(s, "Draw a graph.");
    CHECK(offered("memory_create_entities"));
    CHECK(done(surface_call(s, &operation_memory_stats, NULL), true, ERR_OK));
}

/* --- from one start to the next --- */

static bool has_entity(struct engine *s)
{
    struct operation_answer *a =
        surface_call(s, &operation_graph_list, &(struct graph_list_params){.limit = 9});
    return a->error.code == ERR_OK && ((struct graph_part *)a->result)->entities.len == 1;
}

/* No caller can change it: the file stays unchanged. The model reads it. */
static void check_reads_alone(struct engine *s)
{
    struct graph_new_entity ben = {.name = "Ben", .type = "person"};
    const struct graph_create create = {.entities = {&ben, 1, 1}};
    const struct corpus_ingest text = {"notes", "b.txt", "a green lantern"};
    const struct learned_add_params tea = {.text = "the tea is green"};
    const enum err_code refused = ERR_SESSION_PERSISTENCE_DISABLED;
    CHECK(done(surface_call(s, &operation_graph_create, &create), false, refused));
    CHECK(done(surface_call(s, &operation_corpus_ingest, &text), false, refused));
    CHECK(done(surface_call(s, &operation_learned_add, &tea), false, refused));
    model_server_queue(surface_server(), &(struct reply){.tool_name = "memory_search",
                                                         .tool_args = "{\"query\":\"ryokan\"}"});
    surface_ask(s, "Where did we stay?");
    CHECK(strstr(last_body(), "ryokan number"));
    CHECK(strstr(last_body(), "the port is 8443"));
    model_server_queue(
        surface_server(),
        &(struct reply){.tool_name = "memory_create_entities",
                        .tool_args = "{\"entities\":[{\"name\":\"Ben\",\"entityType\":\"person\","
                                     "\"observations\":[]}]}"});
    surface_ask(s, "Note Ben.");
    CHECK(strstr(last_body(), "nothing is kept"));
    CHECK(has_entity(s));
}

/* Checks the state after the first start; where sessions are not kept, the other files are read but
 * not written. */
static void look_again(unsigned which)
{
    AUTO(engine_free_local) struct engine *s = start(which);
    bool kept = is_on(which, "sessions");
    struct operation_answer *a = surface_call(s, &operation_session_list, NULL);
    CHECK((a->error.code == ERR_OK ? ((struct session_list *)a->result)->items.len : 0) == kept);
    CHECK(recalls(s) == is_on(which, "memory"));
    CHECK(has_entity(s) == is_on(which, "graph"));
    CHECK(finds_passage(s, is_on(which, "corpora")));
    if (!kept)
        check_reads_alone(s);
}

TEST(what_is_off_for_a_start_is_there_at_the_next)
{
    struct engine *s = start(ALL);
    talk(s);
    for (unsigned i = 0; i < PARTS; i++)
        parts[i].check(s, true);
    engine_free(s);
    for (unsigned i = 0; i < PARTS; i++) {
        look_again(ALL & ~(1U << i));
        look_again(ALL);
    }
}
