#include "ui/app/mentions.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "session/attach.h"
#include "session/corpus_operations.h"
#include "ui/app/slash.h"
#include "ui/text/format.h"

enum {
    FILES_MOST = 20000,  /* of a project */
    ENTRIES_MOST = 2000, /* of a directory that is named by its path */
    FILES_SHOWN = 200,
    OTHERS_SHOWN = 50,
    NAME_BYTES = 4096,
    REST_COLUMNS = 4, /* of "  +2" */
    FRESH_MS = 5000   /* so long the list is not read again */
};

/* The same name before the session is known, so that the list stays when it becomes known. */
static char *directory_of(const struct app *app)
{
    const char *directory = app->session.directory;
    char *path = directory && *directory ? mem_strdup(directory) : getcwd(NULL, 0);
    return path ? path : mem_strdup(".");
}

/* --- the names that can be mentioned ---------------------------------------------------------- */

/* A listing of the project, or of the directory that a name such as "/etc/", "../" or ".github/"
 * begins with. */
struct listing {
    struct errand errand;
    char *place, *prefix; /* prefix: NULL: the project */
    struct mentions files, folders;
};

static void release_listing(struct errand *e)
{
    struct listing *l = (struct listing *)e;
    mentions_release(&l->files);
    mentions_release(&l->folders);
    free(l->place);
    free(l->prefix);
    free(l);
}

static void read_project(struct listing *l)
{
    bool more;
    attach_list(l->place, FILES_MOST, &l->files, &more);
    for (size_t i = 0; i < l->files.items.len; i++) {
        const char *path = l->files.items.items[i], *before = i > 0 ? path : "";
        before = i > 0 ? l->files.items.items[i - 1] : before;
        for (const char *at = path; (at = strchr(at, '/')); at++)
            if (strncmp(before, path, (size_t)(at - path) + 1) != 0)
                vec_push(&l->folders.items, mem_strndup(path, (size_t)(at - path) + 1));
    }
}

static void read_directory(struct listing *l)
{
    DIR *dir = opendir(l->place);
    if (!dir)
        return;
    for (struct dirent *d; l->files.items.len < ENTRIES_MOST && (d = readdir(dir));) {
        struct stat status;
        auto_free char *path = paths_join(l->place, d->d_name);
        bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
        struct mentions *to = folder ? &l->folders : &l->files;
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            vec_push(&to->items, mem_printf("%s%s%s", l->prefix, d->d_name, folder ? "/" : ""));
    }
    closedir(dir);
    vec_sort(&l->files.items, vec_text_order);
    vec_sort(&l->folders.items, vec_text_order);
}

static void read_names(struct errand *e)
{
    struct listing *l = (struct listing *)e;
    (l->prefix ? read_directory : read_project)(l);
}

static char *key_of(const char *place, const char *prefix)
{
    return mem_printf("%s%s%s", place, prefix ? "//" : "", prefix ? prefix : "");
}

static void tell_listed(struct app *app)
{
    if (app->listed)
        app->listed(app);
}

static void take_names(struct app *app, struct errand *e)
{
    struct listing *l = (struct listing *)e;
    struct mention_state *m = &app->mentions;
    m->reading = false;
    if (e->refused)
        return;
    mentions_release(&m->files);
    mentions_release(&m->folders);
    m->files = l->files;
    m->folders = l->folders;
    l->files = l->folders = (struct mentions){0};
    free(m->place);
    m->place = key_of(l->place, l->prefix);
    m->read_ms = clock_mono_ms();
    tell_listed(app);
}

static bool take_corpora(struct app *app, struct operation_answer *a, const char *words)
{
    const struct corpus_list *listed = a->result;
    struct mention_state *m = &app->mentions;
    mentions_release(&m->corpora);
    for (size_t i = 0; !words && i < listed->items.len; i++)
        vec_push(&m->corpora.items, mem_printf(MENTION_CORPUS "%s", listed->items.items[i].name));
    m->corpora_known = true;
    tell_listed(app);
    mentions_follow(app);
    app_touch_now(app, DIRTY_EDITOR);
    return true;
}

/* `anew`: others may have been added. */
static void ask_corpora(struct app *app, struct mention_state *m, bool anew)
{
    int64_t now = clock_mono_ms();
    if (!app->engine || (m->corpora_ms > 0 && !(anew && now - m->corpora_ms > FRESH_MS)))
        return;
    m->corpora_ms = now;
    (void)app_ask(app, &operation_corpus_list, NULL, take_corpora);
}

bool mentions_at_caret(const struct app *app, size_t *from, char **name)
{
    const char *text = editor_text(app->editor);
    size_t caret = editor_caret(app->editor);
    for (size_t at = caret; at > 0 && text[at - 1] != '\n' && caret - at < NAME_BYTES; at--) {
        if (text[at - 1] != '@' || (at > 1 && !strchr(" \t\n([{", text[at - 2])))
            continue;
        bool quoted = text[at] == '"' && at < caret;
        size_t begin = at + quoted, end = begin;
        while (end < caret && (quoted ? text[end] != '"' : !strchr(" \t", text[end])))
            end++;
        if (end < caret)
            return false;
        *from = at - 1;
        *name = mem_strndup(text + begin, caret - begin);
        return true;
    }
    return false;
}

/* "b.c" of "a/b.c", "c/" of "b/c/" */
static const char *last_part(const char *name)
{
    size_t at = strlen(name);
    at -= at > 0;
    while (at > 0 && name[at - 1] != '/')
        at--;
    return name + at;
}

/* How well a name fits what was typed, 0 the best; RANKS: not at all. */
enum { RANKS = 4 };
static int rank_of(const char *name, const char *typed)
{
    size_t len = strlen(typed);
    return strcmp(name, typed) == 0                        ? 0
           : strncasecmp(last_part(name), typed, len) == 0 ? 1
           : strncasecmp(name, typed, len) == 0            ? 2
           : utf8_contains_folded(name, typed)             ? 3
                                                           : RANKS;
}

struct candidate {
    const char *name, *detail;
    int rank;
};
struct candidates {
    VEC(struct candidate) items;
};

static void add_candidate(struct candidates *c, const char *name, const char *detail,
                          const char *typed, size_t *room)
{
    int rank = *room > 0 ? rank_of(name, typed) : RANKS;
    if (rank == RANKS)
        return;
    vec_push(&c->items, (struct candidate){name, detail, rank});
    *room -= !*typed; /* with something typed the best may come last */
}

bool mentions_list(struct app *app, struct list *list, const char *typed)
{
    struct mention_state *m = &app->mentions;
    bool by_path = *typed && strchr("/.~", *typed);
    const char *slash = strrchr(typed, '/'), *home = environment_get("HOME");
    auto_free char *prefix =
        by_path ? mem_strndup(typed, slash ? (size_t)(slash - typed) + 1 : 0) : NULL;
    auto_free char *directory = directory_of(app);
    auto_free char *place = !by_path || *prefix == '\0' ? mem_strdup(directory)
                            : *prefix == '/'            ? mem_strdup(prefix)
                            : *prefix == '~' && home    ? paths_join(home, prefix + 1)
                                                        : paths_join(directory, prefix);
    auto_free char *key = key_of(place, prefix);
    bool here = m->place && strcmp(m->place, key) == 0;
    if (!m->reading && (!here || clock_mono_ms() - m->read_ms > FRESH_MS)) {
        struct listing *l = mem_alloc(sizeof *l);
        l->errand =
            (struct errand){.run = read_names, .done = take_names, .release = release_listing};
        l->place = mem_strdup(place);
        l->prefix = mem_strdup(prefix);
        m->reading = true;
        errand_start(app->errands, &l->errand);
    }
    ask_corpora(app, m, !*typed);
    struct candidates found = {0};
    size_t files = FILES_SHOWN, folders = OTHERS_SHOWN, others = OTHERS_SHOWN, shown = 0;
    for (size_t i = 0; here && i < m->files.items.len; i++)
        add_candidate(&found, m->files.items.items[i], NULL, typed, &files);
    for (size_t i = 0; here && i < m->folders.items.len; i++)
        add_candidate(&found, m->folders.items.items[i], NULL, typed, &folders);
    for (size_t i = 0; i < m->corpora.items.len; i++)
        add_candidate(&found, m->corpora.items.items[i], _("a corpus"), typed, &others);
    AUTO(mentions_release) struct mentions skills = {0};
    for (const struct slash_command *c = slash_commands(); c->name; c++)
        if (c->skill) {
            vec_push(&skills.items, mem_printf(MENTION_SKILL "%s", c->name));
            add_candidate(&found, vec_last(&skills.items),
                          slash_help(c, app->options->engine->persist), typed, &others);
        }
    for (int rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < found.items.len && shown < FILES_SHOWN + 2 * OTHERS_SHOWN; i++) {
            const struct candidate *c = &found.items.items[i];
            /* a hidden file of a directory is shown where its dot was typed */
            if (c->rank != rank || (slash && slash[1] != '.' && *last_part(c->name) == '.'))
                continue;
            list_add(list, c->name, c->detail, c->name);
            shown++;
        }
    vec_release(&found.items);
    return here;
}

void mentions_attach(struct app *app, const char *path)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    size_t caret = editor_caret(app->editor);
    auto_free char *name = mention_of_path(path);
    if (caret > 0 && !strchr(" \t\n", editor_text(app->editor)[caret - 1]))
        buf_addch(&text, ' ');
    if (name) {
        mention_add(&text, name);
        buf_addch(&text, ' ');
    } else {
        buf_addch(&text, '@');
    }
    app->completion_closed = false;
    editor_insert(app->editor, text.data, text.len);
    app_edited(app);
}

/* A look at a file whose path was pasted. */
struct dropped {
    struct errand errand;
    char *text, *path, *directory;
    bool image;
};

static void release_dropped(struct errand *e)
{
    struct dropped *d = (struct dropped *)e;
    free(d->text);
    free(d->path);
    free(d->directory);
    free(d);
}

static void look_at_dropped(struct errand *e)
{
    struct dropped *d = (struct dropped *)e;
    d->image = attach_look(d->directory, d->path).kind == ATTACH_IMAGE;
}

static void take_dropped(struct app *app, struct errand *e)
{
    const struct dropped *d = (const struct dropped *)e;
    const char *text = editor_text(app->editor), *at = d->image ? strstr(text, d->text) : NULL;
    AUTO(buf_release) struct buf mention = BUF_INIT;
    if (!at) /* it was changed meanwhile */
        return;
    size_t from = (size_t)(at - text), end = from + strlen(d->text),
           caret = editor_caret(app->editor);
    if (from > 0 && !strchr(" \t\n", text[from - 1]))
        buf_addch(&mention, ' ');
    mention_add(&mention, d->path);
    if (!text[end] || !strchr(" \t\n", text[end]))
        buf_addch(&mention, ' ');
    editor_replace(app->editor, from, end, mention.data);
    if (caret < from || caret > end)
        editor_set_caret(app->editor, caret < from ? caret : caret - (end - from) + mention.len);
    app_edited(app);
}

void mentions_pasted(struct app *app, const char *text)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    size_t len = strnlen(text, NAME_BYTES);
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    char *path = len < NAME_BYTES ? mention_of_path(clean.data) : NULL;
    if (!path)
        return;
    struct dropped *d = mem_alloc(sizeof *d);
    d->errand =
        (struct errand){.run = look_at_dropped, .done = take_dropped, .release = release_dropped};
    d->text = buf_take(&clean);
    d->path = path;
    d->directory = directory_of(app);
    errand_start(app->errands, &d->errand);
}

/* --- the row of mentions ---------------------------------------------------------------------- */

struct looking {
    struct errand errand;
    char *directory;
    struct mention_looks looks;
};

static void release_looking(struct errand *e)
{
    struct looking *l = (struct looking *)e;
    mention_looks_release(&l->looks);
    free(l->directory);
    free(l);
}

static void look(struct errand *e)
{
    struct looking *l = (struct looking *)e;
    for (size_t i = 0; i < l->looks.items.len; i++)
        l->looks.items.items[i].look = attach_look(l->directory, l->looks.items.items[i].name);
}

static void take_looks(struct app *app, struct errand *e)
{
    const struct looking *l = (const struct looking *)e;
    struct mention_state *m = &app->mentions;
    m->looking = false;
    if (e->refused)
        return;
    for (size_t i = 0; i < l->looks.items.len; i++)
        for (size_t k = 0; k < m->looks.items.len; k++)
            if (strcmp(m->looks.items.items[k].name, l->looks.items.items[i].name) == 0) {
                m->looks.items.items[k].look = l->looks.items.items[i].look;
                m->looks.items.items[k].known = true;
            }
    mentions_follow(app); /* the text may mention others by now */
    app_touch_now(app, DIRTY_EDITOR);
}

/* Whether the name is one of a corpus or skill, which is known without a look. */
static bool is_known(struct app *app, struct mention_state *m, struct mention_look *of)
{
    bool corpus = strncmp(of->name, MENTION_CORPUS, sizeof MENTION_CORPUS - 1) == 0;
    const char *skill = strncmp(of->name, MENTION_SKILL, sizeof MENTION_SKILL - 1) == 0
                            ? of->name + sizeof MENTION_SKILL - 1
                            : NULL;
    const struct slash_command *c = skill ? slash_find(skill, strlen(skill)) : NULL;
    bool found = c && c->skill;
    for (size_t i = 0; corpus && !found && i < m->corpora.items.len; i++)
        found = strcmp(m->corpora.items.items[i], of->name) == 0;
    if (corpus)
        ask_corpora(app, m, false);
    if (corpus || skill) {
        of->look.kind = found ? ATTACH_TEXT : ATTACH_NOTHING;
        of->look.lines = -1;
        of->known = found || skill || m->corpora_known;
    }
    return corpus || skill;
}

void mentions_follow(struct app *app)
{
    const char *text = editor_text(app->editor);
    struct mention_state *m = &app->mentions;
    AUTO(mentions_release) struct mentions names;
    AUTO(mention_looks_release) struct mention_looks old = m->looks;
    struct looking *l = NULL;
    mentions_find(text, &names);
    m->looks = (struct mention_looks){0};
    for (size_t i = 0; i < names.items.len; i++) {
        struct mention_look found = {.name = mem_strdup(names.items.items[i])};
        for (size_t k = 0; k < old.items.len; k++)
            if (old.items.items[k].known && strcmp(old.items.items[k].name, found.name) == 0) {
                found.look = old.items.items[k].look;
                found.known = true;
            }
        if (!is_known(app, m, &found) && !found.known && !m->looking) {
            l = l ? l : mem_alloc(sizeof *l);
            vec_push(&l->looks.items, (struct mention_look){.name = mem_strdup(found.name)});
        }
        vec_push(&m->looks.items, found);
    }
    if (!l)
        return;
    l->errand = (struct errand){.run = look, .done = take_looks, .release = release_looking};
    l->directory = directory_of(app);
    m->looking = true;
    errand_start(app->errands, &l->errand);
}

/* " · 84 lines · 1.1k tokens" */
static void add_details(struct buf *out, const struct attach_look *look)
{
    const char *dot = glyph(GLYPH_DOT);
    bool folder = look->kind == ATTACH_FOLDER;
    size_t lines = (size_t)look->lines;
    if (look->kind == ATTACH_NOTHING) {
        buf_addf(out, " %s %s", dot, _("nothing there"));
    } else if (look->kind == ATTACH_REFUSED) {
        buf_addf(out, " %s %s", dot, _("no text"));
    } else if (look->kind == ATTACH_IMAGE) {
        buf_addf(out, " %s %s %s ", dot, _("image"), dot);
        format_short(out, look->bytes);
        buf_addf(out, " %s", _("bytes"));
    } else if (look->lines >= 0) {
        buf_addf(out, " %s ", dot);
        if (folder)
            buf_addf(out, ngettext("%lld file", "%lld files", lines), (long long)lines);
        else
            buf_addf(out, ngettext("%zu line", "%zu lines", lines), lines);
        buf_addf(out, "%s %s ", look->cut ? "+" : "", dot);
        AUTO(buf_release) struct buf count = BUF_INIT;
        unsigned long tokens = (unsigned long)(look->bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN;
        format_short(&count, (int64_t)tokens);
        buf_addf(out, ngettext("%s token", "%s tokens", tokens), count.data);
    }
}

bool mentions_row(const struct app *app, size_t width, struct rows *out)
{
    const struct mention_state *m = &app->mentions;
    size_t used = 0, shown = 0, all = 0, from;
    auto_free char *typing = NULL;
    if (m->looks.items.len == 0)
        return false;
    (void)mentions_at_caret(app, &from, &typing);
    rows_begin(out);
    for (size_t i = 0; i < m->looks.items.len; i++) {
        const struct mention_look *c = &m->looks.items.items[i];
        bool wrong = c->look.kind == ATTACH_NOTHING || c->look.kind == ATTACH_REFUSED;
        /* a name that is being typed is not wrong yet */
        if (!c->known || (wrong && typing && strncmp(typing, c->name, strlen(c->name)) == 0))
            continue;
        AUTO(buf_release) struct buf name = BUF_INIT, clean = BUF_INIT, details = BUF_INIT;
        mention_add(&name, c->name);
        utf8_clean(&clean, name.data, name.len, UTF8_ONE_LINE);
        add_details(&details, &c->look);
        enum style style = wrong ? STYLE_ERROR : STYLE_DIM;
        size_t columns = utf8_width(details.data, details.len);
        size_t label = utf8_width(clean.data, clean.len), gap = used > 0 ? 2 : 0;
        size_t rest = i + 1 < m->looks.items.len ? REST_COLUMNS : 0;
        all++;
        if (shown + 1 < all || (used > 0 && used + gap + label + columns + rest > width))
            continue;
        rows_addstr(out, gap ? "  " : "", style, 0);
        used += gap;
        size_t room = width > used + columns + 1 ? width - used - columns : width - used;
        used += rows_add_cut(out, clean.data, room, style);
        used += used < width ? rows_add_cut(out, details.data, width - used, style) : 0;
        shown++;
    }
    if (all > shown) {
        auto_free char *others = mem_printf("  +%zu", all - shown);
        rows_add_cut(out, others, width > used ? width - used : 0, STYLE_DIM);
    }
    return all > 0;
}
