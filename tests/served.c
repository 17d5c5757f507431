#include "tests/served.h"
#include "tests/suite.h"

#include <sys/stat.h>

struct engine *served;
struct error served_refusal;

void served_open(bool persist)
{
    assert_null(served); /* the engine before has to end first: it reads the configuration */
    struct engine_options o = surface_options(NULL, persist);
    o.serves = o.can_ask = o.memory = true;
    o.tools = "full";
    served = engine_new(&o);
}

void served_close(void)
{
    engine_free(served);
    served = NULL;
}

int served_teardown(void **state)
{
    served_close();
    return surface_teardown(state);
}

struct operation_answer *served_done(const struct operation *o, const void *params)
{
    struct operation_answer *a = surface_call(served, o, params);
    if (a->error.code != ERR_OK)
        fail_msg("%s: %s", o->name, a->error.text);
    return a;
}

void served_refused(const struct operation *o, const void *params, enum err_code code)
{
    struct operation_answer *a = surface_call(served, o, params);
    assert_string_equal(err_info(a->error.code)->name, err_info(code)->name);
    served_refusal = a->error;
}

void served_create_in(const char *directory, char id[UUID_LEN + 1])
{
    struct operation_answer *a = served_done(
        &operation_session_create, &(struct session_create_params){.directory = directory});
    const struct session_info *info = a->result;
    if (directory)
        assert_string_equal(info->directory, directory);
    memcpy(id, info->id, UUID_LEN + 1);
}

void served_create(char id[UUID_LEN + 1])
{
    served_create_in(NULL, id);
}

void served_ask(const char *session, const char *text, const char *expected)
{
    struct operation_answer *a = served_done(
        &operation_turn_start, &(struct turn_start_params){.session = session, .text = text});
    const struct turn_result *turn = a->result;
    assert_string_equal(turn->text, expected);
}

void served_make_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

char *served_place(const char *name)
{
    auto_free char *dir = support_path(name), *file = mem_printf("%s/note.txt", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    served_make_file(file, name);
    return realpath(dir, NULL);
}
