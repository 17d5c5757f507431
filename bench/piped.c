#include "bench/piped.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(99);
}

struct piped piped_start(const char *program, const char *const *argv)
{
    struct piped p = {.text = BUF_INIT};
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0)
        give_up("no pipe");
    p.pid = fork();
    if (p.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        execvp(program, (char *const *)(uintptr_t)argv);
        _exit(99);
    }
    close(in[0]);
    close(out[1]);
    p.in = in[1];
    p.out = out[0];
    return p;
}

void piped_stop(struct piped *p)
{
    char bytes[65536];
    close(p->in);
    while (read(p->out, bytes, sizeof bytes) > 0)
        continue;
    close(p->out);
    waitpid(p->pid, NULL, 0);
    buf_release(&p->text);
}

struct json *piped_next(struct piped *p)
{
    char bytes[65536];
    const char *end;
    while (!(end = strchr(p->text.data + p->read, '\n'))) {
        buf_consume(&p->text, p->read);
        p->read = 0;
        ssize_t n = read(p->out, bytes, sizeof bytes);
        if (n <= 0)
            return NULL;
        buf_add(&p->text, bytes, (size_t)n);
    }
    const char *line = p->text.data + p->read;
    p->read += (size_t)(end - line) + 1;
    return json_parse(line, (size_t)(end - line), NULL);
}

void piped_write(struct piped *p, const char *line)
{
    auto_free char *text = mem_printf("%s\n", line);
    for (size_t at = 0, len = strlen(text); at < len;) {
        ssize_t n = write(p->in, text + at, len - at);
        if (n < 0)
            give_up(strerror(errno));
        at += (size_t)n;
    }
}

int piped_ask(struct piped *p, const char *method, const char *params)
{
    auto_free char *text =
        mem_printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}", ++p->asked,
                   method, params);
    piped_write(p, text);
    return p->asked;
}

struct json *piped_call(struct piped *p, const char *method, const char *params)
{
    int id = piped_ask(p, method, params);
    struct json *v;
    while ((v = piped_next(p)) && json_get_int(v, "id", 0) != id)
        json_free(v);
    if (!json_get(v, "result"))
        give_up(method);
    struct json *result = json_clone(json_get(v, "result"));
    json_free(v);
    return result;
}
