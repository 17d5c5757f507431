/* Figures that no server can mean, through the real program: for any reported or stored figures,
 * the session can be read, exported, forked, resumed, found and recovered. */
#include "chat/usage.h"
#include "session/capability.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"

#define EVENT(json) "data: " json "\n\n"

static const char *const figures[] = {"9000000000000000000",
                                      "9223372036854775807",
                                      "1e308",
                                      "-9000000000000000000",
                                      "-1",
                                      "12.5",
                                      "\"12\"",
                                      "null"};

enum { FIGURES = sizeof figures / sizeof *figures };

struct dialect {
    const char *provider, *raw; /* every %s a figure */
};

static const struct dialect dialects[] = {
    {"anthropic",
     EVENT("{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":%s,"
           "\"cache_creation_input_tokens\":%s,\"cache_read_input_tokens\":%s}}}")
         EVENT("{\"type\":\"content_block_start\",\"index\":0,"
               "\"content_block\":{\"type\":\"text\",\"text\":\"tea\"}}")
             EVENT("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                   "\"usage\":{\"output_tokens\":%s}}") EVENT("{\"type\":\"message_stop\"}")},
    {"openai",
     EVENT("{\"choices\":[{\"delta\":{\"content\":\"tea\"},\"finish_reason\":\"stop\"}]}")
         EVENT("{\"choices\":[],\"usage\":{\"prompt_tokens\":%s,\"completion_tokens\":%s,"
               "\"prompt_tokens_details\":{\"cached_tokens\":%s},\"more\":%s}}") EVENT("[DONE]")},
    {"ollama",
     "{\"message\":{\"content\":\"tea\"},\"done\":true,\"prompt_eval_count\":%s,"
     "\"eval_count\":%s,\"total_duration\":%s,\"eval_duration\":%s}\n"},
};

static void queue(const struct dialect *d, const char *figure)
{
    AUTO(buf_release) struct buf raw = BUF_INIT;
    for (const char *at = d->raw; *at;) {
        size_t len = strstr(at, "%s") ? (size_t)(strstr(at, "%s") - at) : strlen(at);
        buf_add(&raw, at, len);
        at += len;
        if (*at) {
            buf_addstr(&raw, figure);
            at += strlen("%s");
        }
    }
    const struct reply reply = {.raw = raw.data};
    model_server_queue(scene_server(), &reply);
}

/* Everything that reads a log. */
static void assert_readable(void)
{
    run_ok(RUN("sessions", "list", "--json"));
    run_ok(RUN("sessions", "show", "last"));
    run_ok(RUN("sessions", "rebuild", "last"));
    run_ok(RUN("sessions", "export", "last", "--format", "json"));
    struct result found = ended(0, RUN("sessions", "search", "tea"));
    assert_text(found.out, "tea");
    run_ok(RUN("sessions", "fork", "last"));
    run_ok(RUN_WITH(program_output(RUN("sessions", "export", "last", "--format", "json")),
                    "sessions", "import", "-"));
}

static void begin(const char *provider)
{
    setenv("TIRO_PROVIDER_NAME", provider, 1);
    char *url = support_text("%s%s", model_server_url(scene_server()),
                             strcmp(provider, "openai") == 0 ? "/v1" : "");
    setenv("OPENAI_BASE_URL", url, 1);
    setenv("OPENAI_API_KEY", SCENE_KEY, 1);
    setenv("OLLAMA_HOST", model_server_url(scene_server()), 1);
    setenv("TIRO_OPENAI_MODEL", "scripted-model", 1);
}

static int tear_down(void **state)
{
    unsetenv("TIRO_PROVIDER_NAME");
    return scene_teardown(state);
}

NEEDS(capability_store());
FIXTURE(scene_setup, tear_down);

TEST(test_whatever_a_server_tells)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        begin(dialects[i].provider);
        for (size_t n = 0; n < FIGURES; n++) {
            queue(&dialects[i], figures[n]);
            run_ok(n == 0 ? RUN("run", "tea?") : RUN("run", "--resume", "last", "more tea?"));
        }
        int64_t told = damage_number(scene_store(),
                                     "SELECT count(*) FROM event WHERE "
                                     "json_extract(payload, '$.usage.input_tokens')");
        assert_int_equal(told, 0); /* absent is not zero, and nonsense is absent */
        assert_readable();
    }
}

/* ---- data of an older program ---- */

static void add_old_session(void)
{
    begin("openai");
    queue(&dialects[1], "12");
    run_ok(RUN("run", "tea?"));
    damage_sql(scene_store(),
               "UPDATE event SET payload = json_set(payload, '$.usage.input_tokens', "
               "9000000000000000000) WHERE type = 'turn_completed';"
               "UPDATE snapshot SET counters = json_set(counters, '$.last_input', "
               "9223372036854775807);"
               "UPDATE session SET input_tokens = 9223372036854775807, last_seq = last_seq + 2;"
               "INSERT INTO event SELECT session, max(seq) + 1, max(at), 'compaction_started', 1, "
               "'{\"mode\":\"handoff\",\"stage\":\"summary\",\"trigger\":\"input_tokens\","
               "\"input_tokens\":9000000000000000000,\"estimated_history_tokens\":40,"
               "\"threshold\":9223372036854775807,\"message_count\":2}' FROM event;"
               "INSERT INTO event SELECT session, max(seq) + 1, max(at), 'compaction_failed', 1, "
               "'{\"mode\":\"handoff\",\"reason\":\"too_small\",\"message\":\"small\","
               "\"consecutive_failures\":1,\"suspended\":false}' FROM event;");
}

TEST(test_old_rows_are_read)
{
    add_old_session();
    queue(&dialects[1], "12");
    run_ok(RUN("run", "--resume", "last", "more tea?"));
    assert_readable();
}

TEST(test_old_rows_are_recovered)
{
    char zeros[DAMAGE_PAGE] = {0};
    add_old_session();
    int64_t rows = damage_number(scene_store(), "SELECT count(*) FROM event");
    damage_sql(scene_store(), "PRAGMA wal_checkpoint(TRUNCATE)");
    int64_t page =
        damage_sql(scene_store(), "SELECT rootpage FROM sqlite_schema WHERE name = 'event_whole'");
    damage_write(scene_store(), (size_t)(page - 1) * DAMAGE_PAGE, zeros, sizeof zeros);
    struct result r = RUN("doctor", "--recover", "--yes");
    assert_text(r.out, "lost rows 0");
    assert_int_equal(damage_number(scene_store(), "SELECT count(*) FROM event"), rows);
    assert_readable();
}
