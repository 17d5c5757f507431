#include "tests/hostile/visit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "tests/hostile/inspect.h"
#include "tests/support.h"

/* Memory of the program itself, with libraries, and of one request beyond its text. */
enum { OWN_MIB = 16, REQUEST_MIB = 64, EVENT_MIB = 16 };
/* Limits of the files' size: a base, and a factor of the text that is kept. Beside the database
 * there are the transcript, the events as lines and two exports. */
enum { FILES_MIB = 8, DATABASE_FACTOR = 5, HOME_FACTOR = 16 };

int visit_ms(int ms)
{
    return SUPPORT_TELLS_MEMORY ? ms : 15 * ms;
}

static void add_fault(struct visit *v, const char *format, va_list args)
{
    buf_vaddf(&v->faults, format, args);
    buf_addch(&v->faults, '\n');
}

void visit_fault(struct visit *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(v, format, args);
    va_end(args);
    v->only_late = false;
}

void visit_late(struct visit *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(v, format, args);
    va_end(args);
}

void visit_begin(struct visit *v)
{
    buf_init(&v->faults, 0);
    v->only_late = true;
    /* Processes that a program leaves behind are reparented to us, and found at the end. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    support_setup(NULL);
    static const char letters[] = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    uint64_t seed = (uint64_t)getpid() * 2654435761u;
    strcpy(v->key, "sk-");
    for (size_t i = 3; i < 51; i++)
        v->key[i] = letters[support_random(&seed) % (sizeof letters - 1)];
    v->key[51] = '\0';
    v->server = hostile_server_start(v->form, v->mode, v->target, v->key);
    auto_free char *url = mem_printf("%s%s", hostile_server_url(v->server), v->form->host_suffix);
    setenv(v->form->host_variable, url, 1);
    if (v->form->key_variable != NULL)
        setenv(v->form->key_variable, v->key, 1);
    setenv("TIRO_PROVIDER_NAME", v->form->name, 1);
    setenv("TIRO_PROVIDER_CONNECT_TIMEOUT", "1", 1);
    setenv("TIRO_PROVIDER_STALL_TIMEOUT", "1", 1);
    setenv("TIRO_PROVIDER_MAX_RETRIES", "1", 1);
    setenv("TIRO_LOG_LEVEL", "debug", 1);
    /* Without a model's name, tiro asks the server for its models. */
    if (v->target != TARGET_LISTING)
        setenv("TIRO_PROVIDER_MODEL", "good-model", 1);
    if (v->target == TARGET_EMBEDDING)
        setenv("TIRO_EMBEDDING_PROVIDER", v->form->name, 1);
    if (chdir(support_dir()) != 0)
        visit_fault(v, "%s: %s", support_dir(), strerror(errno));
}

/* Each step leaves a session, so the limit grows. */
static void check_size(struct visit *v, const char *what, size_t size, int factor)
{
    bool many = v->every_step && v->mode->steps != NULL;
    if (!many && size >> 20 > (size_t)(FILES_MIB + factor * v->mode->kept_mib))
        visit_fault(v, "%s: %zu MB", what, size >> 20);
}

void visit_end(struct visit *v)
{
    if (hostile_server_strayed(v->server))
        visit_fault(v, "the client went to another port");
    hostile_server_stop(v->server);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        visit_fault(v, "something still runs that the program started");
    size_t size = 0;
    struct stat database = {0};
    AUTO(buf_release) struct buf faults = BUF_INIT;
    inspect_files(&faults, support_dir(), v->form->key_variable == NULL ? NULL : v->key, &size);
    if (faults.len > 0)
        visit_fault(v, "%s", faults.data);
    check_size(v, "all files", size, HOME_FACTOR);
    if (stat(".local/share/tiro/tiro.db", &database) == 0)
        check_size(v, "the database", (size_t)database.st_size, DATABASE_FACTOR);
    (void)!chdir("/");
    support_teardown(NULL);
}

static void inspect_output(struct visit *v, const char *bytes, size_t len, bool plain)
{
    AUTO(buf_release) struct buf faults = BUF_INIT;
    inspect_terminal(&faults, bytes, len, plain);
    if (faults.len > 0)
        visit_fault(v, "on the terminal: %s", faults.data);
    if (v->form->key_variable != NULL && inspect_has_key(bytes, len, v->key))
        visit_fault(v, "a piece of the key is on the terminal");
}

void visit_inspect_screen(struct visit *v, struct screen *s)
{
    size_t len;
    const char *bytes = screen_log(s, &len);
    inspect_output(v, bytes, len, false);
}

void visit_check_memory(struct visit *v, long peak_kib)
{
    long most = (OWN_MIB + REQUEST_MIB + EVENT_MIB + v->mode->kept_mib) * 1024L;
    if (SUPPORT_TELLS_MEMORY && peak_kib > most)
        visit_fault(v, "it took %ld MB", peak_kib / 1024);
}

static struct screen *start(const char *const *arguments)
{
    VEC(const char *) argv = {0};
    vec_push(&argv, support_program());
    for (; *arguments != NULL; arguments++)
        vec_push(&argv, *arguments);
    vec_push(&argv, NULL);
    struct screen *s = screen_start(argv.items, support_dir(), 24, 80);
    screen_emulate(s, false);
    vec_release(&argv);
    return s;
}

static bool pump_to_end(struct screen *s, int ms)
{
    double until = screen_clock() + ms;
    while (screen_status(s) < 0 && screen_clock() < until)
        (void)screen_pump(s, (int)(until - screen_clock()) + 1);
    return screen_status(s) >= 0;
}

/* A program that does not end is killed, so that the next can be looked at. */
static bool end_it(struct visit *v, struct screen *s, const char *name, int patience_ms)
{
    if (pump_to_end(s, patience_ms > 0 ? patience_ms : visit_ms(VISIT_END_MS)))
        return false;
    if (patience_ms == 0)
        visit_late(v, "%s does not end by itself within %d s", name, VISIT_END_MS / 1000);
    double asked = screen_clock();
    screen_signal(s, SIGINT);
    if (!pump_to_end(s, visit_ms(10 * VISIT_STOP_MS))) {
        visit_late(v, "%s does not answer an interrupt within %d s", name,
                   10 * VISIT_STOP_MS / 1000);
        screen_signal(s, SIGKILL);
        (void)pump_to_end(s, visit_ms(VISIT_END_MS));
    } else if (screen_clock() - asked > visit_ms(VISIT_STOP_MS)) {
        visit_late(v, "%s took %.0f ms for an interrupt", name, screen_clock() - asked);
    }
    return true;
}

struct ending visit_run(struct visit *v, const char *const *arguments, int patience_ms)
{
    struct ending e = {0};
    struct screen *s = start(arguments);
    e.stopped = end_it(v, s, arguments[0], patience_ms);
    e.status = screen_status(s);
    const char *bytes = screen_log(s, &e.len);
    while (e.len > 0 && bytes[e.len - 1] == '\0') /* that of screen.c */
        e.len--;
    e.text = mem_strndup(bytes, e.len);
    screen_free(s);
    /* Search shows the hits in bold. */
    inspect_output(v, e.text, e.len, strcmp(arguments[0], "memory") != 0);
    if (e.status > 128 && !e.stopped)
        visit_fault(v, "%s ended by signal %d", arguments[0], e.status - 128);
    else if (e.status >= 64 && e.status <= 128)
        visit_fault(v, "%s ended with %d: %.200s", arguments[0], e.status, e.text);
    return e;
}

void visit_expect(struct visit *v, const char *const *arguments, const char *text)
{
    struct ending e = visit_run(v, arguments, 0);
    if (e.status != 0 || (text != NULL && strstr(e.text, text) == NULL))
        visit_fault(v, "%s %s ended with %d: %.300s", arguments[0], arguments[1], e.status,
                    e.len > 300 ? e.text + e.len - 300 : e.text);
    free(e.text);
}

void visit_check_session(struct visit *v)
{
    hostile_server_behave(v->server, true);
    visit_expect(v, VALUES("run", "-r", "last", "and now?"), HOSTILE_WELL);
    visit_expect(v, VALUES("sessions", "show", "last"), HOSTILE_WELL);
    visit_expect(v, VALUES("sessions", "export", "last", "-o", "last.json"), NULL);
    visit_expect(v, VALUES("sessions", "export", "last", "-o", "last.md"), NULL);
    visit_expect(v, VALUES("doctor", "--thorough"), NULL);
}
