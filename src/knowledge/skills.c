#include "knowledge/skills.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "knowledge/project.h"
#include "knowledge/walk.h"
#include "mcp/plugins.h"

enum { PLACE_ENTRIES = 2000 }; /* of a directory that are looked at */

#define SKILL_FILE "SKILL.md"

/* --- the front matter ------------------------------------------------------------------------- */

static const char fence[] = "---\n";

/* The text between the fences; NULL: there is none, or it does not end. `*body` is what follows. */
static char *front_of(const char *markdown, const char **body)
{
    size_t begin = sizeof fence - 1;
    const char *front = markdown + begin, *end;
    *body = markdown;
    if (strncmp(markdown, fence, begin) != 0)
        return NULL;
    end = strncmp(front, "---", 3) == 0 ? front - 1 : strstr(front, "\n---");
    while (end && end[4] && end[4] != '\n')
        end = strstr(end + 4, "\n---");
    if (!end)
        return NULL;
    *body = end + 4 + strspn(end + 4, "\n");
    return mem_strndup(front, end < front ? 0 : (size_t)(end - front));
}

char *skill_body(const char *markdown)
{
    const char *body; /* a front matter that does not end is text */
    free(front_of(markdown, &body));
    return mem_strdup(body + strspn(body, "\n"));
}

/* Takes the quotes of a YAML scalar away. A text whose quote does not end stays as it is. */
static char *unquoted(const char *text)
{
    char quote = *text;
    struct buf out = BUF_INIT;
    for (const char *at = text + 1; *at; at++) {
        bool escapes = quote == '"' ? *at == '\\' && at[1] : *at == quote && at[1] == quote;
        if (*at == quote && !escapes)
            return out.len > 0 ? buf_take(&out) : NULL;
        at += escapes;
        buf_addch(&out, escapes && quote == '"' && (*at == 'n' || *at == 't') ? ' ' : *at);
    }
    buf_release(&out);
    return mem_strdup(text);
}

/* The value of a key as one line; the caller frees. NULL: there is none. Lines that are indented,
 * blank, or items of a list belong to the key above them. */
static char *front_value(const char *front, const char *key)
{
    AUTO(buf_release) struct buf raw = BUF_INIT;
    size_t len = strlen(key);
    const char *at = front;
    while (strncmp(at, key, len) != 0 || at[len] != ':' || !strchr(" \t\n", at[len + 1])) {
        at += strcspn(at, "\n");
        if (!*at++)
            return NULL;
    }
    at += len + 1;
    do {
        size_t line = strcspn(at, "\n");
        const char *text = at + strspn(at, " \t");
        if (text < at + line)
            buf_addf(&raw, "%s%.*s", raw.len > 0 ? " " : "", (int)(at + line - text), text);
        at += line + (at[line] == '\n');
    } while (*at && strchr(" \t\n-", *at));
    buf_trim_end(&raw, " \t");
    for (size_t i = 0; i < raw.len; i++)
        raw.data[i] = raw.data[i] == '\t' ? ' ' : raw.data[i];
    const char *value = raw.data;
    char *comment = *value == '#' ? raw.data : strstr(raw.data, " #");
    if (*value == '|' || *value == '>') { /* with the signs for blanks and line ends behind it */
        value += strcspn(value, " ");
        value += strspn(value, " ");
    } else if (*value == '"' || *value == '\'') {
        return unquoted(value);
    } else if (comment) {
        *comment = '\0';
    }
    return *value ? mem_strdup(value) : NULL;
}

bool skill_read_front(const char *markdown, char **name, struct skill *out)
{
    const char *body;
    auto_free char *front = front_of(markdown, &body);
    *name = NULL;
    if (!front)
        return false;
    *name = front_value(front, "name");
    out->description = front_value(front, "description");
    out->license = front_value(front, "license");
    out->compatibility = front_value(front, "compatibility");
    out->allowed_tools = front_value(front, "allowed-tools");
    return true;
}

/* --- one skill -------------------------------------------------------------------------------- */

/* Reads the file, cleaned. A link is not followed. */
static bool read_file(const char *path, struct buf *out, struct error *e)
{
    AUTO(buf_release) struct buf raw = BUF_INIT;
    char chunk[16384];
    struct stat st;
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    bool fits = regular && st.st_size <= SKILL_BYTES;
    while (fits && (n = read(fd, chunk, sizeof chunk)) > 0) {
        buf_add(&raw, chunk, (size_t)n);
        fits = raw.len <= SKILL_BYTES; /* it may grow */
    }
    int fault = errno;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !regular)
        return err_set(e, ERR_FILE_ERROR, "%s is no regular file", path);
    if (fd >= 0 && !fits)
        return err_set(e, ERR_FILE_ERROR, "%s has more than %d bytes", path, SKILL_BYTES);
    if (n < 0)
        return err_set(e, ERR_FILE_ERROR, "cannot read %s: %s", path,
                       fault == ELOOP ? "it is a symbolic link" : strerror(fault));
    size_t mark = raw.len >= 3 && memcmp(raw.data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    utf8_clean(out, raw.data + mark, raw.len - mark, UTF8_MULTILINE);
    return true;
}

static bool is_name(const char *name, bool command)
{
    const char *letters = command
                              ? "abcdefghijklmnopqrstuvwxyz0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              : "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t len = strlen(name);
    return len > 0 && len <= SKILL_NAME_BYTES && strspn(name, letters) == len;
}

static size_t characters(const char *text)
{
    size_t count = 0;
    for (; text && *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* The fault of a skill whose file was read; NULL: none. `named`: the name in the front matter. */
static const char *fault_of(const struct skill *s, bool front, const char *named)
{
    if (!is_name(s->name, s->command))
        return s->command ? "its name is not of letters, digits, - and _, or has more than 64"
                          : "its folder's name is not of a-z, 0-9 and -, or has more than 64";
    if (!front && !s->command)
        return "it has no front matter between two lines \"---\"";
    if (!s->command && (!named || strcmp(named, s->name) != 0))
        return "the name in its front matter is not that of its folder";
    if (!s->description)
        return s->command ? "it is empty" : "its front matter has no description";
    if (characters(s->description) > SKILL_DESCRIPTION)
        return "its description has more than 1024 characters";
    return characters(s->compatibility) > SKILL_COMPATIBILITY
               ? "its compatibility has more than 500 characters"
               : NULL;
}

/* The first line with words, without the signs of a heading, stands for a command's description. */
static char *first_line(const char *text)
{
    text += strspn(text, "# \t\n");
    size_t len = strcspn(text, "\n");
    struct buf line = BUF_INIT;
    utf8_add_cut(&line, text, len, 200);
    return line.len > 0 ? buf_take(&line) : NULL;
}

/* Adds the entry of a place, if it is a skill. */
static void add_entry(struct skills *out, const char *place, const char *entry, const char *top,
                      bool commands)
{
    auto_free char *given = paths_join(place, entry), *real = realpath(given, NULL), *named = NULL;
    size_t len = strlen(entry), above = top && strcmp(top, "/") != 0 ? strlen(top) : 0;
    struct stat st;
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e;
    if (*entry == '.' || !real || stat(real, &st) != 0 || out->items.len == SKILLS_MAX ||
        (commands ? len < 4 || strcmp(entry + len - 3, ".md") != 0 : !S_ISDIR(st.st_mode)))
        return;
    auto_free char *path = commands ? mem_strdup(real) : paths_join(real, SKILL_FILE);
    bool leaves = top && (strncmp(real, top, above) != 0 || real[above] != '/');
    if (lstat(path, &st) != 0)
        return;
    for (size_t i = 0; i < out->items.len; i++)
        if (strcmp(out->items.items[i].path, path) == 0)
            return;
    struct skill s = {.name = mem_strndup(entry, commands ? len - 3 : len),
                      .place = mem_strdup(place),
                      .path = mem_strdup(path),
                      .command = commands};
    const struct skill *nearer = NULL;
    if (leaves) {
        s.detail = mem_printf("it leads to %s, outside of the project", real);
    } else if (!read_file(path, &text, &e)) {
        s.detail = mem_strdup(e.text);
    } else {
        bool front = skill_read_front(text.data, &named, &s);
        auto_free char *body = skill_body(text.data);
        s.tokens = (int64_t)(strlen(body) + 3) / 4;
        if (commands && !s.description)
            s.description = first_line(body);
        s.detail = mem_strdup(fault_of(&s, front, named));
        nearer = s.detail ? NULL : skills_find(out, s.name);
    }
    s.state = s.detail ? SKILL_BROKEN : nearer ? SKILL_SHADOWED : SKILL_READY;
    if (nearer)
        s.detail = mem_strdup(nearer->path);
    mem_replace(&s.name, utf8_clean_line(s.name));
    vec_push(&out->items, s);
}

/* --- places ----------------------------------------------------------------------------------- */

void skills_add_place(struct skills *out, const char *place, const char *top, bool commands)
{
    VEC(char *) names = {0};
    const struct dirent *d;
    DIR *dir = opendir(place);
    while (dir && names.len < PLACE_ENTRIES && (d = readdir(dir)))
        vec_push(&names, mem_strdup(d->d_name));
    if (dir)
        closedir(dir);
    vec_sort(&names, vec_text_order);
    for (size_t i = 0; i < names.len; i++)
        add_entry(out, place, names.items[i], top, commands);
    vec_free_each(&names);
}

/* Adds the skills and commands of the .agents and .claude of a directory. */
static void add_directory(struct skills *out, const char *directory, const char *top)
{
    static const char *const places[] = {".agents/skills", ".claude/skills", ".claude/commands"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        auto_free char *place = paths_join(directory, places[i]);
        skills_add_place(out, place, top, i == 2);
    }
}

void skills_add_plugin(struct skills *out, const struct plugin *p)
{
    auto_free char *place = paths_join(p->directory, "skills");
    auto_free char *commands = paths_join(p->directory, "commands");
    skills_add_place(out, place, p->directory, false);
    if (p->claude)
        skills_add_place(out, commands, p->directory, true);
}

void skills_add_project(struct skills *out, const char *directory, const char *home)
{
    auto_free char *top = project_of(directory), *own = home ? realpath(home, NULL) : NULL;
    char *at = realpath(directory, NULL);
    for (bool more = at != NULL; more;) {
        if (!own || strcmp(at, own) != 0)
            add_directory(out, at, top);
        more = strlen(at) > strlen(top);
        mem_replace(&at, paths_parent(at));
    }
    free(at);
}

void skills_add_own(struct skills *out, const char *home, const char *configuration)
{
    auto_free char *place = paths_join(configuration, "skills");
    if (home && *home)
        add_directory(out, home, NULL);
    skills_add_place(out, place, NULL, false);
    AUTO(plugins_release) struct plugins plugins;
    (void)plugins_read(&plugins, &(struct error){0}); /* tiro plugin list tells of a damaged file */
    for (size_t i = 0; i < plugins.list.len; i++)
        skills_add_plugin(out, &plugins.list.items[i]);
}

const struct skill *skills_find(const struct skills *s, const char *name)
{
    for (size_t i = 0; i < s->items.len; i++)
        if (s->items.items[i].state == SKILL_READY && strcmp(s->items.items[i].name, name) == 0)
            return &s->items.items[i];
    return NULL;
}

static bool is_offered(const struct skill *s)
{
    return s->state == SKILL_READY && !s->command;
}

bool skills_offered(const struct skills *s)
{
    for (size_t i = 0; i < s->items.len; i++)
        if (is_offered(&s->items.items[i]))
            return true;
    return false;
}

char *skills_prompt(const struct skills *s)
{
    struct buf out = BUF_INIT;
    buf_addstr(&out,
               "# Skills\nInstructions for kinds of tasks. If a task fits a description, open "
               "that skill with the tool `skill` before you begin.\n");
    for (size_t i = 0; i < s->items.len; i++)
        if (is_offered(&s->items.items[i]))
            buf_addf(&out, "- %s: %s\n", s->items.items[i].name, s->items.items[i].description);
    char *text = buf_take(&out);
    if (!skills_offered(s))
        mem_replace(&text, NULL);
    return text;
}

/* --- what a skill has ------------------------------------------------------------------------- */

char *skill_folder(const struct skill *s)
{
    return paths_parent(s->path);
}

/* Names the other files of the folder, one a line with its size. */
static void add_files(const struct skill *s, const char *folder, struct buf *out)
{
    struct error e;
    struct walk *w = s->command ? NULL : walk_new(folder, &e);
    struct walk_file file;
    bool found = false;
    for (int count = 0; w && walk_next(w, &file, &found, &e) && found;) {
        const char *name = file.path + strlen(folder) + 1;
        if (strcmp(file.path, s->path) == 0)
            continue;
        if (count++ == 0)
            buf_addstr(out, "Files of its folder:\n");
        if (count > SKILL_FILES_MAX) {
            buf_addstr(out, "[more files]\n");
            break;
        }
        utf8_reveal(out, name, strlen(name), UTF8_ONE_LINE);
        buf_addf(out, " (%lld bytes)\n", (long long)file.stat.st_size);
    }
    walk_free(w);
}

static const char opened[] = "<skill name=\"";

bool skill_open(const struct skill *s, const char *arguments, struct buf *out, struct error *e)
{
    static const char mark[] = "$ARGUMENTS";
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!read_file(s->path, &text, e))
        return false;
    auto_free char *body = skill_body(text.data), *folder = skill_folder(s);
    if (s->command)
        buf_addf(out, "<command name=\"%s\">\n", s->name);
    else
        buf_addf(out, "%s%s\" folder=\"%s\">\n", opened, s->name, folder);
    const char *at = body;
    for (const char *hole; arguments && (hole = strstr(at, mark)); at = hole + sizeof mark - 1) {
        buf_add(out, at, (size_t)(hole - at));
        buf_addstr(out, arguments);
    }
    buf_addstr(out, at);
    buf_trim_end(out, "\n");
    buf_addstr(out, s->command ? "\n</command>\n" : "\n</skill>\n");
    add_files(s, folder, out);
    buf_trim_end(out, "\n");
    return true;
}

bool skill_opened_in(const char *text, const char *name)
{
    size_t begin = sizeof opened - 1, len = name ? strlen(name) : 0;
    return text && strncmp(text, opened, begin) == 0 &&
           (!name || (strncmp(text + begin, name, len) == 0 && text[begin + len] == '"'));
}
