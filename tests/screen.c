#include "tests/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include <vterm.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "tests/default_signals.h"

extern char **environ;

#define SYNC_MODE "\033[?2026" /* then h: a frame begins, or l: it ends */

enum { LAST_OUTPUT_MS = 5000, ANSWERS_MAX = 16 };

struct screen {
    pid_t pid;
    int status;
    int master;     /* -1 after screen_hang_up() */
    char last_byte; /* of the output */
    int slave;      /* held open: the settings can be read after the program's end */
    int life;
    struct termios settings;
    VTerm *vt;
    VTermScreen *cells;
    bool cursor_visible, alternate, mouse, keep_log, draw;
    bool drawing;       /* a synchronised frame has begun and not ended */
    size_t sync_so_far; /* bytes of SYNC_MODE that came last */
    const struct screen_answer *answers;
    int *links;                /* of each cell: its place in addresses */
    int link;                  /* link of the text being drawn */
    VEC(char *) addresses;     /* the first is none */
    size_t heard[ANSWERS_MAX]; /* bytes of each question that came last */
    char *title;
    size_t bytes;
    struct buf log, row, text;
    struct buf held;   /* of a sequence whose rest has not come */
    char last_printed; /* that a repetition repeats */
};

static const struct screen_answer *answers_of_next;

void screen_answers(const struct screen_answer *answers)
{
    answers_of_next = answers;
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "tests: screen: %s: %s\n", what, strerror(errno));
    exit(99);
}

static int on_property(VTermProp property, VTermValue *value, void *context)
{
    struct screen *s = context;
    switch (property) {
    case VTERM_PROP_CURSORVISIBLE:
        s->cursor_visible = value->boolean;
        break;
    case VTERM_PROP_ALTSCREEN:
        s->alternate = value->boolean;
        break;
    case VTERM_PROP_MOUSE:
        s->mouse = value->number != VTERM_PROP_MOUSE_NONE;
        break;
    case VTERM_PROP_TITLE:
        free(s->title);
        s->title = mem_strdup(value->string);
        break;
    default:
        break;
    }
    return 1;
}

/* Links: libvterm ignores OSC 8, but reports drawing and moving. */

static int on_damage(VTermRect rect, void *context)
{
    struct screen *s = context;
    int rows, cols;
    vterm_get_size(s->vt, &rows, &cols);
    for (int row = rect.start_row; row < rect.end_row && row < rows; row++)
        for (int col = rect.start_col; col < rect.end_col && col < cols; col++)
            s->links[row * cols + col] = s->link;
    return 1;
}

static int on_move(VTermRect to, VTermRect from, void *context)
{
    struct screen *s = context;
    int rows, cols, height = to.end_row - to.start_row, width = to.end_col - to.start_col;
    vterm_get_size(s->vt, &rows, &cols);
    auto_free int *moved = mem_alloc((size_t)(height * width) * sizeof *moved);
    for (int i = 0; i < height * width; i++)
        moved[i] = s->links[(from.start_row + i / width) * cols + from.start_col + i % width];
    for (int i = 0; i < height * width; i++)
        s->links[(to.start_row + i / width) * cols + to.start_col + i % width] = moved[i];
    return 1;
}

static int on_osc(const char *command, size_t len, void *context)
{
    struct screen *s = context;
    if (len < 3 || memcmp(command, "8;", 2) != 0)
        return 0;
    const char *address = memchr(command + 2, ';', len - 2);
    size_t left = address ? len - (size_t)(address + 1 - command) : 0;
    s->link = 0;
    if (left > 0) {
        s->link = (int)s->addresses.len;
        vec_push(&s->addresses, mem_strndup(address + 1, left));
    }
    return 1;
}

static void size_links(struct screen *s, int rows, int cols)
{
    s->links = mem_resize(s->links, (size_t)(rows * cols) * sizeof *s->links);
    memset(s->links, 0, (size_t)(rows * cols) * sizeof *s->links);
}

double screen_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Ours, without what belongs to the terminal that we run in. Borrowed strings; free() the array. */
static char **environment_of(void)
{
    static const char *const names[] = {"TERM=",    "LC_ALL=",    "COLUMNS=",     "LINES=",
                                        "TERMCAP=", "COLORTERM=", "TERM_PROGRAM", "TERMINFO",
                                        "TMUX",     "STY=",       "NCURSES_",     "ESCDELAY="};
    static char term[] = "TERM=xterm-256color", locale[] = "LC_ALL=C.UTF-8";
    VEC(char *) list = {0};
    vec_push(&list, term);
    vec_push(&list, locale);
    for (char **variable = environ; *variable != NULL; variable++) {
        size_t i = 0;
        while (i < sizeof names / sizeof *names &&
               strncmp(*variable, names[i], strlen(names[i])) != 0)
            i++;
        if (i == sizeof names / sizeof *names)
            vec_push(&list, *variable);
    }
    vec_push(&list, NULL);
    return list.items;
}

/* Runs between fork and exec, so it uses only functions that are safe there in a program with
 * threads. */
static _Noreturn void become(const char *path, const char *const *argv, char *const *environment,
                             const char *directory, int terminal)
{
    default_signals();
    if (login_tty(terminal) == 0 && (directory == NULL || chdir(directory) == 0))
        execve(path, (char *const *)(uintptr_t)argv, environment);
    _exit(127);
}

/* The child alone holds the writing end of the life line: it ends with the child. */
static void start_child(struct screen *s, const char *const *argv, const char *directory)
{
    int line[2];
    auto_free char *path = realpath(argv[0], NULL);
    if (path == NULL)
        give_up(argv[0]);
    if (pipe(line) != 0 || fcntl(line[0], F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(line[1], F_SETFD, FD_CLOEXEC) != 0)
        give_up("pipe");
    char **environment = environment_of();
    s->pid = fork();
    if (s->pid < 0)
        give_up("fork");
    if (s->pid == 0) {
        fcntl(line[1], F_SETFD, 0);
        become(path, argv, environment, directory, s->slave);
    }
    close(line[1]);
    s->life = line[0];
    free(environment);
}

/* forkpty() in its parts, so that the settings are read before the program can change them. */
struct screen *screen_start(const char *const *argv, const char *directory, int rows, int cols)
{
    struct screen *s = mem_alloc(sizeof *s);
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    if (openpty(&s->master, &s->slave, NULL, NULL, &size) != 0)
        give_up("openpty");
    if (fcntl(s->master, F_SETFD, FD_CLOEXEC) != 0 || fcntl(s->slave, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(s->master, F_SETFL, O_NONBLOCK) != 0 || tcgetattr(s->slave, &s->settings) != 0)
        give_up("pseudo-terminal");
    /* Or a Ctrl-C that comes just after the program left would drop its last output. */
    s->settings.c_lflag |= NOFLSH;
    if (tcsetattr(s->slave, TCSANOW, &s->settings) != 0)
        give_up("tcsetattr");
    s->status = -1;
    s->keep_log = s->draw = true;
    s->answers = answers_of_next;
    s->title = mem_strdup("");
    buf_init(&s->log, 0);
    buf_init(&s->row, 0);
    buf_init(&s->text, 0);
    buf_init(&s->held, 0);
    static const VTermScreenCallbacks callbacks = {
        .settermprop = on_property, .damage = on_damage, .moverect = on_move};
    static const VTermParserCallbacks others = {.osc = on_osc};
    size_links(s, rows, cols);
    vec_push(&s->addresses, mem_strdup(""));
    s->vt = vterm_new(rows, cols);
    vterm_set_utf8(s->vt, 1);
    s->cells = vterm_obtain_screen(s->vt);
    s->cursor_visible = true;
    vterm_screen_enable_altscreen(s->cells, 1);
    vterm_screen_set_callbacks(s->cells, &callbacks, s);
    vterm_screen_set_unrecognised_fallbacks(s->cells, &others, s);
    vterm_screen_reset(s->cells, 1);
    start_child(s, argv, directory);
    return s;
}

void screen_free(struct screen *s)
{
    if (s == NULL)
        return;
    if (s->status < 0)
        kill(s->pid, SIGKILL);
    if (s->master >= 0)
        screen_hang_up(s); /* its children may hold the life line, too */
    if (s->status < 0)
        (void)screen_wait_exit(s, 10000);
    if (s->life >= 0)
        close(s->life);
    close(s->slave);
    vterm_free(s->vt);
    free(s->title);
    free(s->links);
    while (s->addresses.len > 0)
        free(s->addresses.items[--s->addresses.len]);
    vec_release(&s->addresses);
    buf_release(&s->log);
    buf_release(&s->row);
    buf_release(&s->text);
    buf_release(&s->held);
    free(s);
}

pid_t screen_pid(const struct screen *s)
{
    return s->pid;
}

/* Output */

static void send_bytes(struct screen *s, const char *bytes, size_t len);

/* Sends what libvterm has to say: keys, and answers, which a silent terminal keeps to itself. */
static void send_output(struct screen *s, bool silent)
{
    char bytes[256];
    size_t len;
    while ((len = vterm_output_read(s->vt, bytes, sizeof bytes)) > 0)
        if (!silent)
            send_bytes(s, bytes, len);
}

/* Sequences that arrive in pieces are recognised, too. */
static void answer_more(struct screen *s, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        for (size_t a = 0; a < ANSWERS_MAX && s->answers && s->answers[a].question; a++) {
            const char *question = s->answers[a].question;
            size_t *heard = &s->heard[a];
            if (bytes[i] != question[*heard])
                *heard = 0;
            *heard += bytes[i] == question[*heard];
            if (question[*heard] != '\0')
                continue;
            *heard = 0;
            if (s->answers[a].answer)
                send_bytes(s, s->answers[a].answer, strlen(s->answers[a].answer));
        }
}

/* The start of an unfinished OSC at the end, which libvterm 0.1.4 needs whole. */
static size_t whole_sequences(const char *bytes, size_t len)
{
    size_t begun = len;
    for (size_t i = 0; i < len; i++) {
        bool escape = bytes[i] == '\033';
        if (begun < len) {
            if (bytes[i] == '\a' || (bytes[i] == '\\' && bytes[i - 1] == '\033'))
                begun = len;
        } else if (escape && (i + 1 == len || bytes[i + 1] == ']')) {
            begun = i;
        }
    }
    return begun;
}

/* The first `len` bytes of `bytes` without a sequence "ESC [ digits" at the end that may become a
 * repetition. */
static size_t before_open_repetition(const char *bytes, size_t len)
{
    size_t at = len;
    while (at > 0 && bytes[at - 1] >= '0' && bytes[at - 1] <= '9')
        at--;
    return at >= 2 && bytes[at - 1] == '[' && bytes[at - 2] == '\033' ? at - 2 : len;
}

/* Draws repetitions (REP, "ESC [ N b") as N characters: libvterm wraps the character behind a
 * repetition that ends in the last column but one. ncurses repeats printable ASCII only. */
static void draw(struct screen *s, const char *bytes, size_t len)
{
    buf_add(&s->held, bytes, len);
    size_t whole = before_open_repetition(s->held.data, whole_sequences(s->held.data, s->held.len)),
           done = 0;
    for (size_t i = 0; i + 2 < whole; i++) {
        char *end;
        if (s->held.data[i] != '\033' || s->held.data[i + 1] != '[')
            continue;
        unsigned long count = strtoul(s->held.data + i + 2, &end, 10);
        if (end == s->held.data + i + 2 || *end != 'b')
            continue;
        vterm_input_write(s->vt, s->held.data + done, i - done);
        s->last_printed = i > done ? s->held.data[i - 1] : s->last_printed;
        for (; count > 0; count--)
            vterm_input_write(s->vt, &s->last_printed, 1);
        done = (size_t)(end + 1 - s->held.data);
    }
    vterm_input_write(s->vt, s->held.data + done, whole - done);
    if (whole > 0)
        s->last_printed = s->held.data[whole - 1];
    buf_consume(&s->held, whole);
}

static bool read_output(struct screen *s)
{
    char bytes[65536];
    ssize_t got = read(s->master, bytes, sizeof bytes);
    if (got <= 0)
        return false;
    s->last_byte = bytes[got - 1];
    s->bytes += (size_t)got;
    if (s->keep_log)
        buf_add(&s->log, bytes, (size_t)got);
    if (!s->draw)
        return true;
    answer_more(s, bytes, (size_t)got);
    draw(s, bytes, (size_t)got);
    /* A terminal shows a synchronised frame when it is whole. */
    size_t len = (size_t)got;
    for (size_t i = 0; i < len; i++) {
        if (s->sync_so_far == strlen(SYNC_MODE)) {
            s->drawing = bytes[i] == 'h';
            s->sync_so_far = 0;
        } else if (bytes[i] == SYNC_MODE[s->sync_so_far]) {
            s->sync_so_far++;
        } else {
            s->sync_so_far = bytes[i] == SYNC_MODE[0];
        }
    }
    bool silent = false;
    for (const struct screen_answer *a = s->answers; a && a->question; a++)
        silent = silent || !a->answer;
    send_output(s, silent);
    return true;
}

/* The kernel hands output on by itself, on a busy machine after the program has gone. A byte of our
 * own, which no terminal shows, comes last. */
static void read_last_output(struct screen *s)
{
    struct pollfd polls = {.fd = s->master, .events = POLLIN};
    s->last_byte = ' ';
    if (s->master < 0 || write(s->slave, "", 1) != 1)
        return;
    while (s->last_byte != '\0' && poll(&polls, 1, LAST_OUTPUT_MS) > 0 && read_output(s))
        ;
}

static bool pump_once(struct screen *s, double until)
{
    struct pollfd polls[] = {{.fd = s->master, .events = POLLIN},
                             {.fd = s->life, .events = POLLIN}};
    double left = until - screen_clock();
    int waited = poll(polls, 2, left <= 0 ? 0 : (int)left + 1);
    if (waited < 0 && errno != EINTR)
        give_up("poll");
    if (waited <= 0)
        return false;
    bool news = polls[0].revents != 0 && read_output(s);
    /* The last output may still lie in the line when the program has gone. */
    if (!news && polls[1].revents != 0) {
        int status;
        read_last_output(s);
        close(s->life);
        s->life = -1;
        if (waitpid(s->pid, &status, 0) == s->pid)
            s->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return news;
}

static bool is_torn(const struct screen *s)
{
    return s->drawing && s->status < 0;
}

static bool pump_until(struct screen *s, double until)
{
    bool news = pump_once(s, until);
    while (is_torn(s) && screen_clock() < until)
        news = pump_once(s, until) || news;
    return news;
}

bool screen_pump(struct screen *s, int timeout_ms)
{
    return pump_until(s, screen_clock() + timeout_ms);
}

/* Input */

static void send_bytes(struct screen *s, const char *bytes, size_t len)
{
    while (len > 0 && s->master >= 0 && s->status < 0) {
        ssize_t put = write(s->master, bytes, len);
        if (put > 0) {
            bytes += put;
            len -= (size_t)put;
        } else if (errno == EAGAIN) {
            struct pollfd polls = {.fd = s->master, .events = POLLIN | POLLOUT};
            if (poll(&polls, 1, 10000) <= 0)
                give_up("the program reads no input");
            if (polls.revents & POLLIN)
                read_output(s);
        } else if (errno != EINTR) {
            return;
        }
    }
}

void screen_type(struct screen *s, const char *text)
{
    send_bytes(s, text, strlen(text));
}

void screen_ctrl(struct screen *s, char letter)
{
    char byte = (char)(letter & 0x1f);
    send_bytes(s, &byte, 1);
}

void screen_key(struct screen *s, enum screen_key key)
{
    static const VTermKey keys[] = {
        [SCREEN_ENTER] = VTERM_KEY_ENTER,
        [SCREEN_ESCAPE] = VTERM_KEY_ESCAPE,
        [SCREEN_TAB] = VTERM_KEY_TAB,
        [SCREEN_BACKSPACE] = VTERM_KEY_BACKSPACE,
        [SCREEN_UP] = VTERM_KEY_UP,
        [SCREEN_DOWN] = VTERM_KEY_DOWN,
        [SCREEN_LEFT] = VTERM_KEY_LEFT,
        [SCREEN_RIGHT] = VTERM_KEY_RIGHT,
        [SCREEN_HOME] = VTERM_KEY_HOME,
        [SCREEN_END] = VTERM_KEY_END,
        [SCREEN_PAGE_UP] = VTERM_KEY_PAGEUP,
        [SCREEN_PAGE_DOWN] = VTERM_KEY_PAGEDOWN,
        [SCREEN_F1] = VTERM_KEY_FUNCTION_0 + 1,
        [SCREEN_F2] = VTERM_KEY_FUNCTION_0 + 2,
        [SCREEN_F3] = VTERM_KEY_FUNCTION_0 + 3,
        [SCREEN_F4] = VTERM_KEY_FUNCTION_0 + 4,
    };
    vterm_keyboard_key(s->vt, keys[key], VTERM_MOD_NONE);
    send_output(s, false);
}

void screen_wheel(struct screen *s, bool up)
{
    vterm_mouse_move(s->vt, 2, 2, VTERM_MOD_NONE);
    vterm_mouse_button(s->vt, up ? 4 : 5, true, VTERM_MOD_NONE);
    send_output(s, false);
}

void screen_click(struct screen *s, int row, int col)
{
    vterm_mouse_move(s->vt, row, col, VTERM_MOD_NONE);
    vterm_mouse_button(s->vt, 1, true, VTERM_MOD_NONE);
    vterm_mouse_button(s->vt, 1, false, VTERM_MOD_NONE);
    send_output(s, false);
}

void screen_paste(struct screen *s, const char *text)
{
    vterm_keyboard_start_paste(s->vt);
    send_output(s, false);
    auto_free char *sent = mem_strdup(text);
    for (char *p = sent; *p != '\0'; p++)
        if (*p == '\n')
            *p = '\r';
    screen_type(s, sent);
    vterm_keyboard_end_paste(s->vt);
    send_output(s, false);
}

void screen_resize(struct screen *s, int rows, int cols)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    size_links(s, rows, cols);
    vterm_set_size(s->vt, rows, cols);
    if (ioctl(s->master, TIOCSWINSZ, &size) != 0)
        give_up("TIOCSWINSZ");
}

void screen_signal(struct screen *s, int signal_number)
{
    if (s->status < 0)
        kill(s->pid, signal_number);
}

void screen_hang_up(struct screen *s)
{
    close(s->master);
    s->master = -1;
}

/* The content */

static void add_row(struct screen *s, struct buf *out, int row)
{
    int rows, cols;
    size_t start = out->len;
    vterm_get_size(s->vt, &rows, &cols);
    for (VTermPos at = {.row = row, .col = 0}; at.col < cols;) {
        VTermScreenCell cell;
        if (row >= rows || !vterm_screen_get_cell(s->cells, at, &cell))
            break;
        if (cell.chars[0] == 0 || cell.chars[0] == UINT32_MAX)
            buf_addch(out, ' ');
        else
            for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i] != 0; i++) {
                char bytes[4];
                buf_add(out, bytes, utf8_encode(cell.chars[i], bytes));
            }
        at.col += cell.width > 0 ? cell.width : 1;
    }
    size_t end = out->len;
    while (end > start && out->data[end - 1] == ' ')
        end--;
    buf_splice(out, end, out->len - end, "", 0);
}

const char *screen_row_text(struct screen *s, int row)
{
    buf_clear(&s->row);
    add_row(s, &s->row, row);
    return s->row.data;
}

const char *screen_text(struct screen *s)
{
    int rows, cols;
    vterm_get_size(s->vt, &rows, &cols);
    buf_clear(&s->text);
    for (int row = 0; row < rows; row++) {
        add_row(s, &s->text, row);
        buf_addch(&s->text, '\n');
    }
    return s->text.data;
}

bool screen_find(struct screen *s, const char *text, int *row, int *col)
{
    int rows, cols;
    vterm_get_size(s->vt, &rows, &cols);
    for (int r = rows - 1; r >= 0; r--) {
        const char *shown = screen_row_text(s, r);
        const char *found = strstr(shown, text);
        if (found != NULL) {
            *row = r;
            *col = (int)utf8_width(shown, (size_t)(found - shown));
            return true;
        }
    }
    return false;
}

bool screen_cell_is(struct screen *s, int row, int col, unsigned long character)
{
    VTermScreenCell cell;
    return vterm_screen_get_cell(s->cells, (VTermPos){.row = row, .col = col}, &cell) &&
           cell.chars[0] == character;
}

const char *screen_link(const struct screen *s, int row, int col)
{
    int rows, cols;
    vterm_get_size(s->vt, &rows, &cols);
    return s->addresses.items[s->links[row * cols + col]];
}

void screen_cursor(const struct screen *s, int *row, int *col, bool *visible)
{
    VTermPos at;
    vterm_state_get_cursorpos(vterm_obtain_state(s->vt), &at);
    *row = at.row;
    *col = at.col;
    *visible = s->cursor_visible;
}

bool screen_alternate(const struct screen *s)
{
    return s->alternate;
}

bool screen_mouse(const struct screen *s)
{
    return s->mouse;
}

const char *screen_title(const struct screen *s)
{
    return s->title;
}

void screen_size(const struct screen *s, int *rows, int *cols)
{
    vterm_get_size(s->vt, rows, cols);
}

const char *screen_log(const struct screen *s, size_t *len)
{
    *len = s->log.len;
    return s->log.data;
}

bool screen_log_has(const struct screen *s, const char *bytes)
{
    size_t len = strlen(bytes);
    for (size_t i = 0; i + len <= s->log.len; i++)
        if (memcmp(s->log.data + i, bytes, len) == 0)
            return true;
    return false;
}

void screen_forget_log(struct screen *s)
{
    buf_clear(&s->log);
}

void screen_keep_log(struct screen *s, bool keep)
{
    s->keep_log = keep;
}

void screen_emulate(struct screen *s, bool draw)
{
    s->draw = draw;
}

size_t screen_bytes(const struct screen *s)
{
    return s->bytes;
}

size_t screen_unread(const struct screen *s)
{
    struct termios now, raw;
    int count = 0;
    if (tcgetattr(s->slave, &now) != 0)
        give_up("tcgetattr");
    raw = now;
    cfmakeraw(&raw); /* else only whole lines would count */
    if (tcsetattr(s->slave, TCSANOW, &raw) != 0 || ioctl(s->slave, FIONREAD, &count) != 0 ||
        tcsetattr(s->slave, TCSANOW, &now) != 0)
        give_up("FIONREAD");
    return (size_t)count;
}

int screen_status(const struct screen *s)
{
    return s->status;
}

bool screen_settings_restored(const struct screen *s)
{
    struct termios now;
    if (tcgetattr(s->slave, &now) != 0)
        return false;
    return now.c_iflag == s->settings.c_iflag && now.c_oflag == s->settings.c_oflag &&
           now.c_cflag == s->settings.c_cflag && now.c_lflag == s->settings.c_lflag &&
           memcmp(now.c_cc, s->settings.c_cc, sizeof now.c_cc) == 0;
}

void screen_dump(struct screen *s, const char *why)
{
    int rows, cols, row, col;
    bool visible;
    screen_size(s, &rows, &cols);
    screen_cursor(s, &row, &col, &visible);
    fprintf(stderr, "%s\n--- %d rows, %d columns, cursor %d %d%s, status %d\n%s---\n", why, rows,
            cols, row, col, visible ? "" : " (hidden)", s->status, screen_text(s));
}

/* Waits */

bool screen_wait(struct screen *s, bool (*holds)(struct screen *s, void *context), void *context,
                 const char *what, int timeout_ms)
{
    double until = screen_clock() + timeout_ms;
    for (;;) {
        bool last = s->status >= 0;
        if (!is_torn(s) && holds(s, context))
            return true;
        if (screen_clock() >= until || last)
            break;
        (void)pump_until(s, until);
    }
    AUTO(buf_release) struct buf why = BUF_INIT;
    buf_addf(&why, "waited in vain for %s", what);
    screen_dump(s, why.data);
    return false;
}

struct wanted {
    const char *text;
    int row;   /* -1: all of them */
    int count; /* -1: at least one */
};

static bool is_there(struct screen *s, void *context)
{
    const struct wanted *w = context;
    int count = 0;
    const char *p = w->row < 0 ? screen_text(s) : screen_row_text(s, w->row);
    for (; (p = strstr(p, w->text)) != NULL && *p != '\0'; p++)
        count++;
    return w->count < 0 ? count > 0 : count == w->count;
}

static bool has_exited(struct screen *s, void *context)
{
    (void)context;
    return s->status >= 0;
}

bool screen_wait_text(struct screen *s, const char *text, int timeout_ms)
{
    return screen_wait_row(s, -1, text, timeout_ms);
}

bool screen_wait_gone(struct screen *s, const char *text, int timeout_ms)
{
    return screen_wait(s, is_there, &(struct wanted){text, -1, 0}, "a text to go", timeout_ms);
}

bool screen_wait_count(struct screen *s, const char *text, int count, int timeout_ms)
{
    return screen_wait(s, is_there, &(struct wanted){text, -1, count}, text, timeout_ms);
}

bool screen_wait_row(struct screen *s, int row, const char *text, int timeout_ms)
{
    return screen_wait(s, is_there, &(struct wanted){text, row, -1}, text, timeout_ms);
}

bool screen_wait_exit(struct screen *s, int timeout_ms)
{
    return screen_wait(s, has_exited, NULL, "the program's end", timeout_ms);
}
