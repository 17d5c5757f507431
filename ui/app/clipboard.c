#include "ui/app/clipboard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/image.h"
#include "ui/app/app.h"
#include "ui/app/mentions.h"
#include "ui/term/term.h"
#include "ui/text/format.h"
#include "ui/view/hints.h"

enum { PROGRAM_MS = 3000, NOT_FOUND = 127 /* as the shell says it */ };

/* Copying: the terminal */

/* A variable whose value begins with `value`. */
struct sign {
    const char *variable, *value;
};

/* Multiplexers, and terminals that ignore OSC 52: the VTE library (GNOME's and other terminals),
 * Apple's, and xterm with its default settings. */
static const struct sign against[] = {{"TMUX", ""},
                                      {"STY", ""},
                                      {"VTE_VERSION", ""},
                                      {"XTERM_VERSION", ""},
                                      {"TERM_PROGRAM", "Apple_Terminal"}};

/* Terminals that take OSC 52 although their terminfo entries do not say so. */
static const struct sign in_favour[] = {
    {"TERM", "xterm-kitty"},       {"TERM", "alacritty"},       {"TERM", "foot"},
    {"TERM", "wezterm"},           {"TERM", "xterm-ghostty"},   {"TERM", "contour"},
    {"TERM_PROGRAM", "WezTerm"},   {"TERM_PROGRAM", "ghostty"}, {"TERM_PROGRAM", "vscode"},
    {"TERM_PROGRAM", "iTerm.app"}, {"WT_SESSION", ""}};

static bool any(const struct sign *signs, size_t count, char *(*variable)(const char *name))
{
    for (size_t i = 0; i < count; i++) {
        const char *value = variable(signs[i].variable);
        if (value && *value && strncmp(value, signs[i].value, strlen(signs[i].value)) == 0)
            return true;
    }
    return false;
}

bool clipboard_terminal_takes(char *(*variable)(const char *name), bool claimed)
{
    return !any(against, sizeof against / sizeof *against, variable) &&
           (claimed || any(in_favour, sizeof in_favour / sizeof *in_favour, variable));
}

/* Copying: programs */

static const struct program {
    const char *const *argv;
    const char
        *variable;     /* of the environment: the program is run only if it is set; NULL: always */
    const char *where; /* the place of the copy, for the note */
} programs[] = {
    {(const char *const[]){"tmux", "load-buffer", "-w", "-", NULL}, "TMUX",
     N_("to tmux's buffer, and to the terminal's clipboard if tmux may set it")},
    {(const char *const[]){"tmux", "load-buffer", "-", NULL}, "TMUX", /* before version 3.2 */
     N_("to tmux's buffer")},
    {(const char *const[]){"wl-copy", "--type", "text/plain", NULL}, "WAYLAND_DISPLAY",
     N_("to the clipboard, with wl-copy")},
    {(const char *const[]){"xclip", "-selection", "clipboard", NULL}, "DISPLAY",
     N_("to the clipboard, with xclip")},
    {(const char *const[]){"xsel", "--clipboard", "--input", NULL}, "DISPLAY",
     N_("to the clipboard, with xsel")},
    {(const char *const[]){"pbcopy", NULL}, NULL, N_("to the clipboard, with pbcopy")},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

struct copying {
    struct errand errand;
    char *text;
    const struct program *took; /* the program that took the text; NULL: none did */
    struct buf failed;          /* names of the programs that were found and failed */
    char *path;                 /* the file that was written instead; NULL: none could be written */
    struct error fault;
};

static bool take_output(void *output, const char *bytes, size_t len)
{
    return buf_try_add(output, bytes, len);
}

/* The shell searches PATH for the program, which gets the input, or whose output is kept. It may
 * leave a process that holds the text. Returns its exit status; -1: it was ended. */
static int run_program(const char *const *program, const char *input, struct buf *output)
{
    enum { SHELL = 4, MOST = 8 };
    const char *argv[SHELL + MOST + 1] = {"/bin/sh", "-c", "exec \"$@\"", "sh"};
    struct child_result result;
    struct error fault;
    for (size_t i = 0; program[i] && i < MOST; i++)
        argv[SHELL + i] = program[i];
    const struct child_command command = {.argv = argv,
                                          .input = input,
                                          .input_len = input ? strlen(input) : 0,
                                          .spares_daemons = true,
                                          .spares_group = true,
                                          .take = output ? take_output : NULL,
                                          .context = output,
                                          .deadline_ms = clock_mono_ms() + PROGRAM_MS};
    bool ran = child_run(&command, &result, &fault) && result.end == CHILD_EXITED;
    return ran ? result.status : -1;
}

static void run(struct errand *e)
{
    struct copying *c = (struct copying *)e;
    for (size_t i = 0; i < PROGRAMS && !c->took; i++) {
        const struct program *p = &programs[i];
        const char *needed = p->variable ? getenv(p->variable) : "any";
        int status = needed && *needed ? run_program(p->argv, c->text, NULL) : NOT_FOUND;
        if (status == 0)
            c->took = p;
        else if (status != NOT_FOUND)
            buf_addf(&c->failed, "%s%s", c->failed.len > 0 ? ", " : "", p->argv[0]);
    }
    if (c->took)
        return;
    auto_free char *dir = paths_dir(PATHS_STATE);
    auto_free char *path = paths_join(dir, "copied.txt");
    if (paths_make_dir(dir, &c->fault) &&
        paths_write_file(path, c->text, strlen(c->text), &c->fault)) {
        c->path = path;
        path = NULL;
    }
}

static void release(struct errand *e)
{
    struct copying *c = (struct copying *)e;
    free(c->text);
    free(c->path);
    buf_release(&c->failed);
    free(c);
}

static void add_size(struct buf *out, const char *text)
{
    size_t len = strlen(text);
    auto_free char *number = format_exact((int64_t)len);
    buf_addf(out, ngettext("%s byte", "%s bytes", len), number);
}

static void say(struct app *app, struct errand *e)
{
    const struct copying *c = (const struct copying *)e;
    AUTO(buf_release) struct buf size = BUF_INIT;
    add_size(&size, c->text);
    if (c->took)
        app_note_briefly(app, STYLE_NOTE, _("Copied %s: %s."), size.data, _(c->took->where));
    else if (c->path && c->failed.len > 0)
        app_note(app, STYLE_WARNING, _("Copying failed (%s). Wrote %s to %s."), c->failed.data,
                 size.data, c->path);
    else if (c->path)
        app_note(app, STYLE_NOTE, _("No clipboard is available. Wrote %s to %s."), size.data,
                 c->path);
    else
        app_note(app, STYLE_ERROR,
                 _("Not copied: no clipboard is available, and no file could be "
                   "written.\n"
                   "%s"),
                 c->fault.text);
}

void clipboard_copy(struct app *app, const char *text)
{
    if (!text || !*text) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("There is nothing to copy yet."));
        return;
    }
    if (!clipboard_terminal_takes(getenv, term_facts().copies) || !term_copy(text, strlen(text))) {
        struct copying *c = mem_alloc(sizeof *c);
        c->errand = (struct errand){.run = run, .done = say, .release = release};
        c->text = mem_strdup(text);
        buf_init(&c->failed, 0);
        err_set(&c->fault, ERR_AGENT_ERROR, "no thread could be started");
        errand_start(app->errands, &c->errand);
        return;
    }
    AUTO(buf_release) struct buf size = BUF_INIT;
    add_size(&size, text);
    app_note_briefly(app, STYLE_NOTE, _("Sent %s to the terminal's clipboard."), size.data);
}

/* Pasting an image */

enum { IMAGE_BYTES = 20 * 1024 * 1024, NUMBERS = 10000, KEPT_S = 30 * 24 * 3600 };

struct pasting {
    struct errand errand;
    char *name; /* of the mention; NULL: there is no image, or `fault` */
    bool asked; /* a program was found */
    struct error fault;
};

/* Keeps the image in a file that only the user reads, under the first number that is free or old:
 * a session that was sent the old one has its copy. */
static void keep_image(struct pasting *p, const struct buf *bytes, const char *format)
{
    auto_free char *dir = paths_dir(PATHS_STATE);
    if (!paths_make_dir(dir, &p->fault))
        return;
    for (int number = 1, fd = -1; number < NUMBERS && fd < 0; number++) {
        auto_free char *name = mem_printf("%d.%s", number, format);
        auto_free char *path = attach_clipboard_file(name);
        struct stat st;
        if (lstat(path, &st) == 0 && time(NULL) - st.st_mtime > KEPT_S)
            (void)unlink(path);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST)
            continue;
        bool ok = fd >= 0 && paths_write_all(fd, bytes->data, bytes->len);
        if (ok)
            p->name = mem_printf(MENTION_CLIPBOARD "%s", name);
        else
            err_set_errno(&p->fault, ERR_FILE_ERROR, _("cannot write %.100s"), path);
        if (fd >= 0)
            close(fd);
        return;
    }
}

static void take_image(struct errand *e)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/webp", "image/gif"};
    struct pasting *p = (struct pasting *)e;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *const wayland[] = {"wl-paste", "--type", types[i], NULL};
        const char *const x[] = {"xclip", "-selection", "clipboard", "-t", types[i], "-o", NULL};
        const char *const *const commands[] = {wayland, x};
        static const char *const variables[] = {"WAYLAND_DISPLAY", "DISPLAY"};
        for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
            AUTO(buf_release) struct buf bytes = {.data = buf_empty, .max = IMAGE_BYTES};
            const char *needed = getenv(variables[k]);
            int status = needed && *needed ? run_program(commands[k], NULL, &bytes) : NOT_FOUND;
            const char *type = status == 0 ? image_media_type(bytes.data, bytes.len) : NULL;
            p->asked = p->asked || status != NOT_FOUND;
            if (!type)
                continue;
            keep_image(p, &bytes, strchr(type, '/') + 1);
            return;
        }
    }
}

static void release_image(struct errand *e)
{
    free(((struct pasting *)e)->name);
    free(e);
}

static void mention_image(struct app *app, struct errand *e)
{
    const struct pasting *p = (const struct pasting *)e;
    if (p->name)
        mentions_attach(app, p->name);
    else if (p->fault.code != ERR_OK)
        app_note(app, STYLE_ERROR, "%s", p->fault.text);
    else if (p->asked)
        app_note_briefly(app, STYLE_NOTE, "%s",
                         _("There is no image on the clipboard that can be sent (PNG, JPEG, WebP "
                           "or GIF, at most 20 MB)."));
    else
        app_note_briefly(app, STYLE_WARNING, "%s",
                         _("The clipboard cannot be read: that takes wl-paste under Wayland, xclip "
                           "under X. /attach sends the file of an image."));
}

void clipboard_paste_image(struct app *app)
{
    struct pasting *p = mem_alloc(sizeof *p);
    p->errand = (struct errand){.run = take_image, .done = mention_image, .release = release_image};
    errand_start(app->errands, &p->errand);
}

/* Bare text */

enum { TERMINAL_TAB = 8, SOURCE_BYTES = 256 * 1024 /* above the view, and below */ };

void bare_init(struct bare *b, const struct buf *text, size_t at)
{
    static const char blanks[] = "        ";
    size_t column = 0, top = 0;
    *b = (struct bare){.width = 1, .height = 1};
    buf_init(&b->text, 0);
    for (size_t i = 0, len; i < text->len; i += len) {
        uint32_t cp;
        char stand_in[CHARSET_STAND_IN_MAX];
        len = utf8_decode(text->data + i, text->len - i, &cp);
        if (cp == '\t') { /* terminals take it for a move, not for text that fills a row */
            size_t missing = TERMINAL_TAB - column % TERMINAL_TAB;
            buf_add(&b->text, blanks, missing);
            column += missing;
        } else if (cp != '\n' && charset_lacks(cp, stand_in)) {
            buf_addstr(&b->text, stand_in);
            column += strlen(stand_in);
        } else {
            buf_add(&b->text, text->data + i, len);
            column = cp == '\n' ? 0 : column + (size_t)utf8_cp_width(cp);
        }
        if (i + len <= at)
            top = b->text.len;
    }
    vec_push(&b->rows, top);
}

void bare_release(struct bare *b)
{
    buf_release(&b->text);
    vec_release(&b->rows);
}

void bare_resize(struct bare *b, int width, int height)
{
    size_t top = b->rows.items[b->top], low = 0, high;
    int column = 0;
    if (b->width == width && b->height == height)
        return;
    b->width = width > 1 ? width : 2; /* room for any character */
    b->height = height > 1 ? height : 1;

    vec_clear(&b->rows);
    vec_push(&b->rows, 0);
    for (size_t at = 0; at < b->text.len;) {
        uint32_t cp;
        size_t len = utf8_decode(b->text.data + at, b->text.len - at, &cp);
        int columns = cp == '\n' ? 0 : utf8_cp_width(cp);
        if (column + columns > b->width) {
            vec_push(&b->rows, at);
            column = 0;
        }
        column += columns;
        at += len;
        if (cp == '\n' && at < b->text.len) {
            vec_push(&b->rows, at);
            column = 0;
        }
    }

    for (high = b->rows.len; high - low > 1;) { /* the row with the former top */
        size_t middle = low + (high - low) / 2;
        if (b->rows.items[middle] <= top)
            low = middle;
        else
            high = middle;
    }
    b->top = low;
    bare_scroll(b, 0);
}

void bare_scroll(struct bare *b, long rows)
{
    size_t height = (size_t)b->height, most = b->rows.len > height ? b->rows.len - height : 0;
    size_t back = rows < 0 ? (size_t)-rows : 0, on = rows > 0 ? (size_t)rows : 0;
    size_t top = b->top > back ? b->top - back + on : on;
    b->top = top < most ? top : most;
}

const char *bare_view(const struct bare *b, size_t *len)
{
    size_t from = b->rows.items[b->top], end = b->top + (size_t)b->height;
    size_t to = end < b->rows.len ? b->rows.items[end] : b->text.len;
    while (to > from && b->text.data[to - 1] == '\n')
        to--;
    *len = to - from;
    return b->text.data + from;
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct bare *b = (struct bare *)view;
    long by = moves_by_action(action, b->height > 2 ? b->height - 1 : 1, MOVES_WHEEL);
    if (by != 0)
        bare_scroll(b, by);
    else if (key->code != K_CLICK)
        view_close(view);
    return true;
}

static void free_view(struct view *view)
{
    bare_release((struct bare *)view);
    free(view);
    term_bare(NULL, 0, NULL);
}

static const struct view_ops ops = {.layer = VIEW_BARE, .free = free_view, .key = take_key};

void bare_open(struct app *app)
{
    AUTO(buf_release) struct buf source = BUF_INIT;
    size_t at = transcript_source(app->transcript, SOURCE_BYTES, &source);
    if (source.len == 0) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("There is nothing to select yet."));
        return;
    }
    struct bare *b = mem_alloc(sizeof *b);
    bare_init(b, &source, at);
    b->view = (struct view){.ops = &ops, .host = &app->host};
    views_open(&app->views, &b->view);
    app_touch_now(app, DIRTY_ALL);
}

void bare_draw(struct view *view)
{
    struct bare *b = (struct bare *)view;
    size_t len;
    struct term_facts terminal = term_facts();
    bare_resize(b, terminal.cols, terminal.rows - 1);
    const char *text = bare_view(b, &len);
    term_bare(text, len, _("Esc goes back. Select with the mouse. PgUp and PgDn scroll."));
}
