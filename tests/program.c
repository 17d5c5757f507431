#include "tests/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/support.h"

struct result program_run(const char *input, const char *const *args)
{
    struct result r;
    r.status = support_run(args, input, &r.out, &r.err);
    return r;
}

void result_release(struct result *r)
{
    free(r->out);
    free(r->err);
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

void expect(struct result r, int status, const char *err)
{
    if (r.status != status)
        fail_msg("status %d in place of %d; %s%s", r.status, status, r.out, r.err);
    assert_text(r.err, err);
    result_release(&r);
}

char *program_output(struct result r)
{
    if (r.status != 0 || *r.err)
        fail_msg("status %d; %s%s", r.status, r.out, r.err);
    free(r.err);
    return r.out;
}

struct json *parse_json(const char *text)
{
    struct error e = {0};
    struct json *v = json_parse(text, strlen(text), &e);
    if (!v)
        fail_msg("no JSON (%s): %s", e.text, text);
    return v;
}

struct json *program_json(struct result r)
{
    char *text = program_output(r);
    struct json *v = parse_json(text);
    free(text);
    return v;
}

void write_config(const char *text)
{
    static const char *const dirs[] = {".config", ".config/tiro"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        char *dir = support_path(dirs[i]);
        mkdir(dir, 0700);
        free(dir);
    }
    char *path = support_path(".config/tiro/tiro.ini");
    support_write(path, text);
    free(path);
}

struct model_server *begin_server(void)
{
    struct model_server *s = model_server_start();
    char *url = mem_printf("%s/v1", model_server_url(s));
    setenv("OPENAI_BASE_URL", url, 1);
    setenv("OPENAI_API_KEY", "key-of-the-test", 1);
    setenv("TIRO_OPENAI_MODEL", "scripted-model", 1);
    free(url);
    return s;
}

void end_server(struct model_server *s)
{
    model_server_stop(s);
    unsetenv("OPENAI_BASE_URL");
    unsetenv("OPENAI_API_KEY");
    unsetenv("TIRO_OPENAI_MODEL");
}
