#include "tests/stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/suite.h"

struct stage the;

static int64_t now_ms(void)
{
    return the.now_ms;
}

static void send(struct app *app, struct command *c)
{
    (void)app;
    sent_take(&the.sent, c);
}

static void close_view(struct app *app, struct view *v)
{
    (void)app;
    (void)v;
    the.closed = true;
}

static void jump(struct app *app, struct view *v, int64_t seq)
{
    close_view(app, v);
    the.jumped = seq;
}

static void show_memory(struct app *app, struct view *v)
{
    close_view(app, v);
    the.memory_shown = true;
}

static void find_text(struct app *app, const char *session_id, const char *text)
{
    (void)app;
    (void)session_id;
    free(the.found);
    the.found = text ? mem_strdup(text) : NULL;
}

void stage_set_up(void)
{
    the = (struct stage){.width = 80, .height = 22, .now_ms = 5000};
    keymap_init(&the.keymap);
    session_info_init(&the.session);
    clock_replace(NULL, now_ms);
    the.host = (struct view_host){.keymap = &the.keymap,
                                  .session = &the.session,
                                  .meters = &the.meters,
                                  .read_only = &the.read_only,
                                  .persist = true,
                                  .send = send,
                                  .close = close_view,
                                  .jump = jump,
                                  .find = find_text,
                                  .show_memory = show_memory};
}

void stage_tear_down(void)
{
    if (the.view)
        the.view->ops->free(the.view);
    free(the.found);
    session_info_release(&the.session);
    sent_release(&the.sent);
    keymap_release(&the.keymap);
    clock_replace(NULL, NULL);
}

const struct command *sent(enum command_type type)
{
    return sent_only(&the.sent, type);
}

void forget_sent(void)
{
    sent_forget(&the.sent);
}

bool give(struct notice *n)
{
    bool taken = the.view->ops->notice(the.view, n, NULL);
    notice_free(n);
    return taken;
}

void give_event(enum event_type type)
{
    struct notice *n = notice_new(NOTICE_EVENT);
    n->event = event_new(type);
    (void)give(n);
}

bool give_error(enum command_type command, const char *words)
{
    struct notice *n = notice_new(NOTICE_ERROR);
    n->command = command;
    bool taken = the.view->ops->notice(the.view, n, words);
    notice_free(n);
    return taken;
}

static void take(enum action action, const struct key *key)
{
    the.closed = the.memory_shown = false;
    the.jumped = 0;
    assert_true(the.view->ops->key(the.view, action, key));
}

void press(const char *name)
{
    struct key key = {0};
    assert_true(key_parse(name, &key));
    take(keymap_find(&the.keymap, &key), &key);
}

void letter(char c)
{
    struct key key = {.code = K_CHAR, .cp = (uint32_t)c};
    take(ACTION_NONE, &key);
}

void type(const char *text)
{
    for (size_t at = 0, len = strlen(text); at < len;) {
        struct key key = {.code = K_CHAR};
        at += utf8_decode(text + at, len - at, &key.cp);
        take(ACTION_NONE, &key);
    }
}

void click(size_t row)
{
    the.view->ops->click(the.view, (int)row, 0);
}

const struct rows *rows_now(void)
{
    the.view->ops->resize(the.view, the.width, the.height);
    const struct rows *rows = the.view->ops->rows(the.view);
    seen_check(rows, the.width, the.height);
    int row = 0, col = 0;
    if (the.view->ops->caret && the.view->ops->caret(the.view, &row, &col)) {
        assert_in_range(row, 0, the.height - 1);
        assert_in_range(col, 0, the.width - 1);
    }
    return rows;
}

const char *row_text(size_t index)
{
    return seen_row(rows_now(), index);
}

size_t find(const char *text)
{
    return seen_find(rows_now(), text);
}

void assert_shown(const char *text)
{
    seen_assert(rows_now(), text);
}

void assert_not_shown(const char *text)
{
    assert_int_equal(find(text), SIZE_MAX);
}

void assert_chosen(const char *text)
{
    assert_non_null(strstr(row_text(seen_chosen(rows_now())), text));
}
