#include "bench/chat.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static char *home;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
    (void)st;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_home(void)
{
    if (home != NULL)
        nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(home);
    home = NULL;
}

void chat_new_home(void)
{
    static bool registered;
    const char *tmp = getenv("TMPDIR");
    if (!registered)
        atexit(remove_home);
    registered = true;
    remove_home();
    home = mem_printf("%s/tiro-bench-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    if (mkdtemp(home) == NULL) {
        perror(home);
        exit(99);
    }
    setenv("HOME", home, 1);
}

const char *chat_home(void)
{
    return home;
}

void chat_must(struct chat *c, bool ok, const char *what)
{
    if (ok)
        return;
    screen_dump(c->screen, what);
    screen_free(c->screen);
    exit(99);
}

static bool caret_is_at_prompt(struct screen *s, void *context)
{
    struct chat *c = context;
    bool visible;
    screen_cursor(s, &c->row, &c->col, &visible);
    return visible && screen_alternate(s) && c->col >= 2 &&
           screen_cell_is(s, c->row, c->col - 2, '>');
}

void chat_tell_model(const char *url)
{
    char *base = mem_printf("%s%s", url, strstr(url, "/v1") != NULL ? "" : "/v1");
    setenv("OPENAI_BASE_URL", base, 1);
    setenv("OPENAI_API_KEY", "bench", 1);
    free(base);
}

void chat_open_with(struct chat *c, const char *model_url, const char *const *arguments)
{
    enum { MOST = 16 };
    const char *argv[MOST] = {getenv("TIRO"), "--provider", "offline"};
    size_t count = 3;
    if (model_url != NULL) {
        argv[2] = "openai";
        argv[count++] = "--model";
        argv[count++] = "bench";
    }
    if (model_url != NULL)
        chat_tell_model(model_url);
    for (size_t i = 0; arguments[i] != NULL && count + 1 < MOST; i++)
        argv[count++] = arguments[i];
    *c = (struct chat){.started = screen_clock()};
    c->screen = screen_start(argv, home, CHAT_ROWS, CHAT_COLS);
    screen_keep_log(c->screen, false);
    chat_must(c, screen_wait(c->screen, caret_is_at_prompt, c, "the prompt", CHAT_DEADLINE_MS),
              "no prompt");
}

void chat_open(struct chat *c, const char *model_url, const char *argument)
{
    const char *const arguments[] = {argument, NULL};
    chat_open_with(c, model_url, arguments);
}

void chat_close(struct chat *c)
{
    chat_clear(c);
    screen_ctrl(c->screen, 'd');
    chat_must(c, screen_wait_exit(c->screen, CHAT_DEADLINE_MS), "it does not leave");
    screen_free(c->screen);
    c->screen = NULL;
}

double chat_key_echo(struct chat *c)
{
    char key[2] = {(char)('a' + c->typed % 26), '\0'};
    double start = screen_clock();
    screen_type(c->screen, key);
    while (!screen_cell_is(c->screen, c->row, c->col + c->typed, (unsigned char)*key))
        chat_must(c, screen_pump(c->screen, CHAT_DEADLINE_MS), "a key is not echoed");
    c->typed++;
    return screen_clock() - start;
}

static bool is_empty(struct screen *s, void *context)
{
    struct chat *c = context;
    return !screen_cell_is(s, c->row, c->col, 'a'); /* the first key that was typed */
}

void chat_clear(struct chat *c)
{
    if (c->typed == 0)
        return;
    screen_ctrl(c->screen, 'u');
    chat_must(c, screen_wait(c->screen, is_empty, c, "an empty editor", CHAT_DEADLINE_MS),
              "Ctrl-U does not clear");
    c->typed = 0;
}

void chat_watch(struct chat *c, double ms)
{
    double until = screen_clock() + ms, left;
    while ((left = until - screen_clock()) > 0)
        (void)screen_pump(c->screen, (int)left);
}

double chat_settle(struct chat *c, int silence_ms)
{
    double last = screen_clock();
    while (screen_pump(c->screen, silence_ms))
        last = screen_clock();
    return last;
}

void chat_wait_idle(struct chat *c)
{
    chat_must(c, screen_wait_gone(c->screen, "Esc stops", CHAT_DEADLINE_MS), "no end of the turn");
}

double chat_ask(struct chat *c)
{
    chat_clear(c);
    screen_type(c->screen, "go");
    c->typed = 2;
    while (!screen_cell_is(c->screen, c->row, c->col + 1, 'o'))
        chat_must(c, screen_pump(c->screen, CHAT_DEADLINE_MS), "a key is not echoed");
    double start = screen_clock();
    screen_key(c->screen, SCREEN_ENTER);
    c->typed = 0;
    return start;
}
