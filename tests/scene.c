#include "tests/scene.h"

#include <unistd.h>

#include "base/paths.h"
#include "session/catalog.h"
#include "tests/program.h"
#include "tests/suite.h"

enum { MAX_OPEN = 8 };

static struct model_server *server;
static struct screen *open_screens[MAX_OPEN];
static size_t open_count;
static char *store_path;
static const struct step *own_steps;

int scene_setup(void **state)
{
    struct error e;
    if (support_setup(state) != 0 || !paths_make_dir(support_path(".local/state/tiro"), &e))
        return -1;
    support_write(support_path(".local/state/tiro/welcomed"), ""); /* the hint stays as it is */
    server = model_server_start();
    setenv("ANTHROPIC_BASE_URL", model_server_url(server), 1);
    setenv("ANTHROPIC_API_KEY", SCENE_KEY, 1);
    setenv("TIRO_TOOLS_SANDBOX", "off", 1); /* it works beside tiro's own files */
    store_path = support_path(".local/share/tiro/tiro.db");
    return 0;
}

int scene_teardown(void **state)
{
    while (open_count > 0)
        screen_free(open_screens[--open_count]);
    screen_answers(NULL);
    own_steps = NULL;
    model_server_stop(server);
    server = NULL;
    free(store_path);
    store_path = NULL;
    return support_teardown(state);
}

struct model_server *scene_server(void)
{
    return server;
}

const char *scene_store(void)
{
    return store_path;
}

struct screen *scene_run(int rows, int cols, const char *const *argv)
{
    assert_true(open_count < MAX_OPEN);
    struct screen *s = screen_start(argv, support_dir(), rows, cols);
    open_screens[open_count++] = s;
    return s;
}

struct screen *scene_start(int rows, int cols, const char *const *arguments)
{
    VEC(const char *) argv = {0};
    vec_push(&argv, support_program());
    for (; arguments != NULL && *arguments != NULL; arguments++)
        vec_push(&argv, *arguments);
    vec_push(&argv, NULL);
    struct screen *s = scene_run(rows, cols, argv.items);
    vec_release(&argv);
    return s;
}

static bool is_ready(struct screen *s, void *context)
{
    int row, col;
    bool visible;
    (void)context;
    screen_cursor(s, &row, &col, &visible);
    return visible && screen_alternate(s) && screen_cell_is(s, row, 0, '>');
}

static bool wait_prompt(struct screen *s)
{
    return screen_wait(s, is_ready, NULL, "the caret in the prompt's row", WAIT_MS);
}

bool scene_wait_idle(struct screen *s)
{
    return screen_wait_gone(s, "Esc stops", WAIT_MS) && wait_prompt(s);
}

struct screen *scene_open(int rows, int cols, const char *const *arguments)
{
    struct screen *s = scene_start(rows, cols, arguments);
    assert_true(wait_prompt(s));
    return s;
}

static void type_text(void *s, const char *text)
{
    screen_type(s, text);
}

static void type_key(void *s, const char *name)
{
    static const struct {
        const char *name;
        enum screen_key key;
    } keys[] = {{"enter", SCREEN_ENTER},    {"escape", SCREEN_ESCAPE},
                {"tab", SCREEN_TAB},        {"backspace", SCREEN_BACKSPACE},
                {"up", SCREEN_UP},          {"down", SCREEN_DOWN},
                {"left", SCREEN_LEFT},      {"right", SCREEN_RIGHT},
                {"home", SCREEN_HOME},      {"end", SCREEN_END},
                {"pageup", SCREEN_PAGE_UP}, {"pagedown", SCREEN_PAGE_DOWN},
                {"f1", SCREEN_F1},          {"f2", SCREEN_F2},
                {"f3", SCREEN_F3},          {"f4", SCREEN_F4}};
    static const char *const sequences[][2] = {
        {"f5", "\033[15~"}, {"f6", "\033[17~"}, {"shift-tab", "\033[Z"}, {"alt-up", "\033[1;3A"}};
    if (strncmp(name, "ctrl-", 5) == 0) {
        screen_ctrl(s, name[5]);
        return;
    }
    if (strncmp(name, "alt-", 4) == 0 && name[5] == '\0') {
        screen_type(s, (char[]){'\033', name[4], '\0'});
        return;
    }
    if (strncmp(name, "wheel-", 6) == 0) {
        screen_wheel(s, name[6] == 'u');
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(name, keys[i].name) == 0) {
            screen_key(s, keys[i].key);
            return;
        }
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        if (strcmp(name, sequences[i][0]) == 0) {
            screen_type(s, sequences[i][1]);
            return;
        }
    fail_msg("no such key: %s", name);
}

static bool holds(struct screen *s, void *look)
{
    return steps_holds(&(struct scenery){.rows = screen_text(s)}, steps_look(look));
}

void scene_see(const char *file, int line, struct screen *s, const char *const *looks)
{
    for (; *looks; looks++) {
        auto_free char *look = mem_strdup(*looks);
        bool held = strcmp(look, IDLE) == 0 ? scene_wait_idle(s)
                                            : screen_wait(s, holds, look, look, WAIT_MS);
        if (!held)
            _fail(file, line);
    }
}

static const struct typist typist = {type_text, type_key};

void scene_act(const char *file, int line, struct screen *s, const char *const *keys_and_looks)
{
    steps_type(*keys_and_looks, &typist, s);
    scene_see(file, line, s, keys_and_looks + 1);
}

void scene_say(struct screen *s, const char *text)
{
    screen_type(s, text);
    screen_key(s, SCREEN_ENTER);
}

void scene_ask(struct screen *s, const char *question, const char *answer)
{
    assert_null(strstr(screen_text(s), answer));
    scene_say(s, question);
    assert_true(screen_wait_text(s, answer, WAIT_MS));
    assert_true(scene_wait_idle(s));
}

void scene_exchange(struct screen *s, const char *question, const char *answer)
{
    model_server_queue(server, &(struct reply){.text = answer});
    scene_ask(s, question, answer);
}

void scene_exchange_long(struct screen *s, const char *question, const char *end)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_addf(&text, "word%d and so on; ", i);
    buf_addstr(&text, end);
    model_server_queue(server, &(struct reply){.text = text.data});
    scene_ask(s, question, end);
}

void scene_leave(struct screen *s)
{
    screen_ctrl(s, 'd');
    assert_true(screen_wait_exit(s, WAIT_MS));
    assert_int_equal(screen_status(s), 0);
}

/* Whether `off` was written last, after `on`. */
static bool is_off(struct screen *s, const char *on, const char *off)
{
    size_t len;
    const char *log = screen_log(s, &len);
    const char *last_on = NULL, *last_off = NULL;
    for (const char *p = log; p < log + len; p++) {
        if (strncmp(p, on, strlen(on)) == 0)
            last_on = p;
        if (strncmp(p, off, strlen(off)) == 0)
            last_off = p;
    }
    return last_on == NULL || (last_off != NULL && last_off > last_on);
}

void scene_assert_restored(struct screen *s)
{
    static const char *const modes[][2] = {
        {"\033[?1049h", "\033[?1049l"}, {"\033[?25l", "\033[?25h"},
        {"\033[?2004h", "\033[?2004l"}, {"\033[?1000h", "\033[?1000l"},
        {"\033[?1002h", "\033[?1002l"}, {"\033[?1006h", "\033[?1006l"},
        {"\033[?1h", "\033[?1l"},       {"\033[?2026h", "\033[?2026l"},
        {"\033[?1004h", "\033[?1004l"}, {"\033[?2031h", "\033[?2031l"},
        {"\033[>1u", "\033[<u"},        {"\033[>4;1m", "\033[>4m"},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!is_off(s, modes[i][0], modes[i][1]))
            fail_msg("the terminal was left with ESC%s", modes[i][0] + 1);
    assert_false(screen_alternate(s));
    assert_false(screen_mouse(s));
    assert_true(screen_settings_restored(s));
}

static bool caret_is_after(struct screen *s, void *context)
{
    int row, col;
    bool visible;
    screen_cursor(s, &row, &col, &visible);
    return visible && strcmp(screen_row_text(s, row), context) == 0;
}

/* Sends keys and waits for their echo, after which all earlier drawing has arrived. */
static void settle(struct screen *s)
{
    static char typed[] = "> @@", empty[] = "> Message, or / for commands";
    screen_type(s, "@@");
    assert_true(screen_wait(s, caret_is_after, typed, typed, WAIT_MS));
    screen_key(s, SCREEN_BACKSPACE);
    screen_key(s, SCREEN_BACKSPACE);
    assert_true(screen_wait(s, caret_is_after, empty, empty, WAIT_MS));
}

/* Waits until all drawing has arrived, then repaints, which proves that the program knows the
 * screen's content. */
static void assert_truthful(struct screen *s)
{
    settle(s);
    auto_free char *before = mem_strdup(screen_text(s));
    screen_ctrl(s, 'l');
    settle(s);
    assert_string_equal(screen_text(s), before);
}

void scene_end(struct screen *s, int signal_number)
{
    screen_signal(s, signal_number);
    assert_true(screen_wait_exit(s, WAIT_MS));
}

static bool draft_is(const char *text)
{
    struct catalog catalog;
    struct session_info info;
    struct error e;
    if (!catalog_open(&catalog, store_path, CATALOG_READ, &e))
        return false;
    bool is = catalog_find(&catalog, "last", &info, &e) && info.draft != NULL &&
              strcmp(info.draft, text) == 0;
    session_info_release(&info);
    catalog_release(&catalog);
    return is;
}

/* The store tells nobody when it is written, so this looks again and again. */
bool scene_wait_draft(struct screen *s, const char *text)
{
    double until = screen_clock() + WAIT_MS;
    while (!draft_is(text)) {
        if (screen_clock() >= until)
            return false;
        (void)screen_pump(s, 10);
    }
    return true;
}

/* --- scripts --- */

struct screen *scene(void)
{
    assert_true(open_count > 0);
    return open_screens[open_count - 1];
}

void scene_steps(const struct step *steps)
{
    own_steps = steps;
}

static void open_by(const char *size_and_arguments)
{
    const char *arguments[8] = {NULL};
    char *words = support_text("%s", size_and_arguments), *save = NULL;
    const char *rows = strtok_r(words, " ", &save), *cols = strtok_r(NULL, " ", &save);
    for (size_t i = 0; cols && i < 7 && (arguments[i] = strtok_r(NULL, " ", &save)); i++)
        ;
    (void)scene_open(rows ? atoi(rows) : 24, cols ? atoi(cols) : 80, arguments);
}

/* "FIRST|REST" or "FIRST REST", cut at the sign, which may lack; the first part is kept. */
static char *cut(const char *text, char sign, const char **rest)
{
    const char *at = strchr(text, sign);
    *rest = at ? at + 1 : "";
    return support_keep(at ? mem_strndup(text, (size_t)(at - text)) : mem_strdup(text));
}

static void look_at_request(const char *file, int line, const char *number_and_looks)
{
    const char *looks, *number = cut(number_and_looks, ' ', &looks);
    bool last = strcmp(number, "last") == 0;
    const char *body =
        model_server_body(server, last ? model_server_requests(server) - 1 : (size_t)atoi(number));
    while (*looks) {
        const char *look = cut(looks, '|', &looks);
        steps_check(file, line, &(struct scenery){.rows = body}, STEPS(look));
    }
}

/* "TYPE|MESSAGE|SECONDS", the last being when to retry, if at all. */
static void refuse(int status, const char *rest)
{
    char *type = cut(rest, '|', &rest), *message = cut(rest, '|', &rest);
    scene_queue(.fault = REPLY_STATUS, .status = status, .error_type = type,
                .error_message = message, .retry_after = *rest ? rest : NULL);
}

static bool writes(struct screen *s, void *bytes)
{
    return screen_log_has(s, bytes);
}

/* A step that acts; returns false if it is another one. */
static bool step_acts(const char *name, const char *rest)
{
    const char *second;
    char sign = strcmp(name, "env") == 0                       ? '='
                : *name == 'a' || *name == 'e' || *name == 'l' ? '|'
                                                               : ' ';
    char *first = cut(rest, sign, &second);
    if (strcmp(name, "open") == 0)
        open_by(rest);
    else if (strcmp(name, "says") == 0)
        scene_queue(.text = rest);
    else if (strcmp(name, "stalls") == 0)
        scene_queue(.fault = REPLY_STALL, .text = rest);
    else if (strcmp(name, "calls") == 0 || strcmp(name, "holds") == 0)
        scene_queue(.tool_name = first, .tool_args = second, .hold = *name == 'h');
    else if (strcmp(name, "refuses") == 0)
        refuse(atoi(first), second);
    else if (strcmp(name, "release") == 0)
        model_server_release(server);
    else if (strcmp(name, "ask") == 0)
        scene_ask(scene(), first, second);
    else if (strcmp(name, "exchange") == 0)
        scene_exchange(scene(), first, second);
    else if (strcmp(name, "long") == 0)
        scene_exchange_long(scene(), first, second);
    else if (strcmp(name, "paste") == 0)
        screen_paste(scene(), rest);
    else if (strcmp(name, "size") == 0)
        screen_resize(scene(), atoi(first), atoi(second));
    else if (strcmp(name, "env") == 0)
        setenv(first, second, 1);
    else if (strcmp(name, "config") == 0)
        write_config(rest);
    else if (strcmp(name, "file") == 0)
        support_write(support_path(first), second);
    else if (strcmp(name, "leave") == 0)
        scene_leave(scene());
    else if (strcmp(name, "kill") == 0)
        scene_end(scene(), atoi(rest));
    else if (strcmp(name, "truthful") == 0)
        assert_truthful(scene());
    else if (strcmp(name, "restored") == 0)
        scene_assert_restored(scene());
    else if (strcmp(name, "forget") == 0)
        screen_forget_log(scene());
    else
        return false;
    return true;
}

static bool step_holds(const char *name, const char *rest)
{
    const char *text;
    int number = atoi(cut(rest, ' ', &text));
    if (strcmp(name, "wait") == 0)
        return model_server_wait(server, (size_t)number, WAIT_MS);
    if (strcmp(name, "requests") == 0)
        return model_server_requests(server) == (size_t)number;
    if (strcmp(name, "exit") == 0)
        return screen_wait_exit(scene(), WAIT_MS);
    if (strcmp(name, "status") == 0)
        return screen_status(scene()) == number;
    if (strcmp(name, "mouse") == 0)
        return screen_mouse(scene()) == (number == 1);
    if (strcmp(name, "prompt") == 0)
        return wait_prompt(scene());
    if (strcmp(name, "draft") == 0)
        return scene_wait_draft(scene(), rest);
    if (strcmp(name, "row") == 0)
        return screen_wait_row(scene(), number, text, WAIT_MS);
    if (strcmp(name, "count") == 0)
        return screen_wait_count(scene(), text, number, WAIT_MS);
    if (strcmp(name, "wrote") == 0 || strcmp(name, "unwritten") == 0)
        return screen_log_has(scene(), rest) == (*name == 'w');
    if (strcmp(name, "writes") == 0)
        return screen_wait(scene(), writes, support_text("%s", rest), "bytes", WAIT_MS);
    if (strcmp(name, "made") == 0 || strcmp(name, "unmade") == 0)
        return (access(support_path(rest), F_OK) == 0) == (*name == 'm');
    fail_msg("no such step: %s", name);
    return false;
}

void scene_play(const char *file, int line, const char *const *steps)
{
    for (; *steps; steps++) {
        const char *rest, *step = *steps + 1;
        if (**steps == ':') {
            steps_type(step, &typist, scene());
        } else if (**steps != '=') {
            scene_see(file, line, scene(), STEPS(*steps));
        } else if (strncmp(step, "sent ", 5) == 0) {
            look_at_request(file, line, step + 5);
        } else if (!steps_own(own_steps, step)) {
            char *name = cut(step, ' ', &rest);
            if (!step_acts(name, rest) && !step_holds(name, rest)) {
                print_error("does not hold: %s\n", step);
                _fail(file, line);
            }
        }
    }
}
