#include "tests/program.h"

#include <sys/stat.h>

#include "base/vec.h"
#include "tests/suite.h"

enum { PATIENCE_MS = 20000, QUESTION_ROWS = 10 };

struct result program_run(const char *input, const char *const *args)
{
    struct result r;
    r.status = support_run(args, input, &r.out, &r.err);
    support_keep(r.out);
    support_keep(r.err);
    return r;
}

void assert_text(const char *where, const char *what)
{
    if (!strstr(where, what))
        fail_msg("\"%s\" is not in: %s", what, where);
}

void assert_no_text(const char *where, const char *what)
{
    if (strstr(where, what))
        fail_msg("\"%s\" is in: %s", what, where);
}

struct result ended(int status, struct result r)
{
    if (r.status != status)
        fail_msg("status %d, not %d; %s%s", r.status, status, r.out, r.err);
    return r;
}

void expect(struct result r, int status, const char *err)
{
    if (r.status != status)
        fail_msg("status %d in place of %d; %s%s", r.status, status, r.out, r.err);
    assert_text(r.err, err);
}

bool tells_use_alone(const char *err)
{
    static const char line[] = "tiro: used: ";
    const char *end = strchr(err, '\n');
    return *err == '\0' || (strncmp(err, line, strlen(line)) == 0 && end && end[1] == '\0');
}

char *program_output(struct result r)
{
    if (r.status != 0 || !tells_use_alone(r.err))
        fail_msg("status %d; %s%s", r.status, r.out, r.err);
    return r.out;
}

void run_ok(struct result r)
{
    (void)program_output(r);
}

static struct screen *start_at_terminal(int rows, int columns, const char *const *args)
{
    VEC(const char *) argv = {0};
    vec_push(&argv, support_program());
    for (size_t i = 0; args[i]; i++)
        vec_push(&argv, args[i]);
    vec_push(&argv, NULL);
    struct screen *s = screen_start(argv.items, support_dir(), rows, columns);
    vec_release(&argv);
    return s;
}

static void expect_exit(struct screen *s, int status)
{
    assert_true(screen_wait_exit(s, PATIENCE_MS));
    if (screen_status(s) != status)
        fail_msg("status %d in place of %d: %s", screen_status(s), status, screen_text(s));
}

struct screen *program_at_terminal(int rows, int columns, const char *const *args)
{
    struct screen *s = start_at_terminal(rows, columns, args);
    expect_exit(s, 0);
    return s;
}

void program_asks(const char *const *args, int width, const char *const *shown, const char *answer,
                  int status)
{
    struct screen *s = start_at_terminal(QUESTION_ROWS, width, args);
    assert_true(screen_wait_text(s, "[y/N]", PATIENCE_MS));
    for (size_t i = 0; shown[i]; i++)
        assert_text(screen_text(s), shown[i]);
    screen_type(s, answer);
    screen_key(s, SCREEN_ENTER);
    expect_exit(s, status);
    screen_free(s);
}

struct json *parse_json(const char *text)
{
    static VEC(struct json *) kept;
    struct error e = {0};
    struct json *v = json_parse(text, strlen(text), &e);
    if (!v)
        fail_msg("no JSON (%s): %s", e.text, text);
    vec_push(&kept, v);
    return v;
}

struct json *program_json(struct result r)
{
    return parse_json(program_output(r));
}

static bool has(const struct json *v, const struct json *wanted)
{
    if (json_type(wanted) != JSON_OBJECT && json_type(wanted) != JSON_ARRAY)
        return strcmp(support_keep(json_print(v)), support_keep(json_print(wanted))) == 0;
    bool ok = json_type(v) == json_type(wanted);
    ok = ok && (json_type(v) == JSON_OBJECT || json_len(v) == json_len(wanted));
    size_t i = 0;
    for (const struct json *w = json_first(wanted); ok && w; w = json_next(w), i++)
        ok = has(json_name(w) ? json_get(v, json_name(w)) : json_at(v, i), w);
    return ok;
}

void assert_json(const struct json *v, const char *text)
{
    if (!has(v, parse_json(support_json(text))))
        fail_msg("%s is not in: %s", text, support_keep(json_print(v)));
}

void write_config(const char *text)
{
    static const char *const dirs[] = {".config", ".config/tiro"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        mkdir(support_path(dirs[i]), 0700);
    support_write(support_path(".config/tiro/tiro.ini"), text);
}

struct model_server *begin_server(void)
{
    struct model_server *s = model_server_start();
    setenv("OPENAI_BASE_URL", support_text("%s/v1", model_server_url(s)), 1);
    setenv("OPENAI_API_KEY", "key-of-the-test", 1);
    setenv("TIRO_OPENAI_MODEL", "scripted-model", 1);
    return s;
}

void end_server(struct model_server *s)
{
    model_server_stop(s);
    unsetenv("OPENAI_BASE_URL");
    unsetenv("OPENAI_API_KEY");
    unsetenv("TIRO_OPENAI_MODEL");
}
