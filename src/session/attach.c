#include "session/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/approval.h"
#include "agent/confine.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/environment.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "knowledge/walk.h"
#include "provider/outgoing.h"
#include "session/conversation_private.h"
#include "session/folders.h"
#include "session/projection.h"

enum {
    READ_MS = 30000,        /* the longest time in which a file is read */
    FOLDER_FILES = 2000,    /* that a folder's list names */
    MAGIC_BYTES = 16,       /* by which an image is known */
    ROOM_LEAST = 16 * 1024, /* bytes of all attached texts */
    ROOM_MOST = 4 * 1024 * 1024,
    ROOM_UNKNOWN = 256 * 1024, /* where the model's window is not known */
    ROOM_SHARE = 2             /* of the window */
};

char *attach_clipboard_file(const char *name)
{
    auto_free char *directory = paths_dir(PATHS_STATE);
    return mem_printf("%s/clipboard-%s", directory, name);
}

static bool is_clipboard(const char *name)
{
    return strncmp(name, MENTION_CLIPBOARD, sizeof MENTION_CLIPBOARD - 1) == 0 &&
           !strchr(name, '/');
}

/* The path that a name means, without its lines. */
static char *path_of(const char *directory, const char *name, int64_t *first, int64_t *last)
{
    const char *home = strncmp(name, "~/", 2) == 0 ? environment_get("HOME") : NULL;
    char *path = home                 ? paths_join(home, name + 2)
                 : is_clipboard(name) ? attach_clipboard_file(name + sizeof MENTION_CLIPBOARD - 1)
                 : *name == '/'       ? mem_strdup(name)
                                      : paths_join(directory, name);
    size_t lines = strlen(name) - mention_lines(name, first, last);
    if (lines > 0 && access(path, F_OK) == 0) { /* the file itself has such a name */
        *first = 0;
        *last = INT32_MAX;
    } else {
        path[strlen(path) - lines] = '\0';
    }
    return path;
}

/* Tells the kind of an open file by its first bytes. A text may turn out to be binary later. */
static enum attach_kind kind_of(int fd, struct stat *st)
{
    char magic[MAGIC_BYTES];
    if (fstat(fd, st) != 0 || (!S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode)))
        return ATTACH_REFUSED;
    if (S_ISDIR(st->st_mode))
        return ATTACH_FOLDER;
    ssize_t n = pread(fd, magic, sizeof magic, 0);
    return n > 0 && image_media_type(magic, (size_t)n) ? ATTACH_IMAGE : ATTACH_TEXT;
}

void attach_list(const char *folder, size_t most, struct mentions *out, bool *more)
{
    struct error e;
    struct walk *w = walk_new(folder, &e);
    struct walk_file file;
    bool found = w != NULL;
    size_t len = w ? strlen(walk_root(w)) : 0;
    *out = (struct mentions){0};
    *more = false;
    while (found && !*more && walk_next(w, &file, &found, &e) && found) {
        *more = out->items.len == most;
        if (!*more)
            vec_push(&out->items, mem_strdup(file.path + len + (file.path[len] == '/')));
    }
    walk_free(w);
    vec_sort(&out->items, vec_text_order); /* by whole paths: "a.c" is before "a/b.c" */
}

struct attach_look attach_look(const char *directory, const char *name)
{
    struct attach_look look = {.kind = ATTACH_NOTHING};
    int64_t first, last, line = 1;
    struct stat st;
    auto_free char *path = path_of(directory, name, &first, &last);
    auto_free char *found = realpath(path, NULL);
    if (!found)
        return look;
    int fd = guard_asks(found) && !is_clipboard(name)
                 ? -1
                 : open(found, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    look.kind = fd >= 0 ? kind_of(fd, &st) : ATTACH_REFUSED;
    if (look.kind == ATTACH_FOLDER) {
        struct mentions files;
        attach_list(found, FOLDER_FILES, &files, &look.cut);
        look.lines = (int64_t)files.items.len;
        for (size_t i = 0; i < files.items.len; i++)
            look.bytes += (int64_t)strlen(files.items.items[i]) + 1;
        mentions_release(&files);
    } else if (look.kind == ATTACH_IMAGE) {
        look.bytes = st.st_size;
    }
    char chunk[64 * 1024];
    bool open_line = false;
    for (ssize_t n; look.kind == ATTACH_TEXT && line <= last && !look.cut &&
                    (n = read(fd, chunk, sizeof chunk)) > 0;) {
        if (memchr(chunk, '\0', (size_t)n))
            look.kind = ATTACH_REFUSED;
        for (ssize_t i = 0; look.kind == ATTACH_TEXT && i < n && line <= last; i++) {
            bool wanted = line >= first;
            look.bytes += wanted;
            open_line = wanted && chunk[i] != '\n';
            look.lines += wanted && chunk[i] == '\n';
            line += chunk[i] == '\n';
        }
        look.cut = look.bytes > ROOM_MOST;
    }
    look.lines += open_line;
    if (look.kind == ATTACH_TEXT && first > 1 && look.lines == 0)
        look.kind = ATTACH_NOTHING;
    if (fd >= 0)
        close(fd);
    return look;
}

/* --- what goes with a message ----------------------------------------------------------------- */

/* Copies an image into the session's folder, where it stays when the file changes. Without a store
 * the file itself is named. */
static bool add_image(const struct conversation *c, const char *name, const char *path,
                      struct json *blocks, struct error *e)
{
    AUTO(catalog_release) struct catalog catalog = {0};
    AUTO(buf_release) struct buf bytes = {.data = buf_empty, .max = IMAGE_MAX_BYTES};
    struct session_image image = {0};
    if (!paths_read_file(path, PATHS_FILE, &bytes, e))
        return false;
    catalog_borrow(&catalog, c->store, c->journal.directory, c->journal.info.id);
    auto_free char *directory = projection_directory(&catalog, c->journal.info.id);
    auto_free char *data = base64_encode((const unsigned char *)bytes.data, bytes.len);
    bool ok = !directory || image_file_add(directory, data, &image, e);
    if (ok)
        json_push(blocks, json_pack("{type:'image' name:s text:s media_type:s}", name,
                                    image.path ? image.path : path,
                                    image_media_type(bytes.data, bytes.len)));
    free(image.path);
    free(image.media_type);
    return ok;
}

/* The list of a folder's files, as many as have room. */
static void add_folder(const char *path, const char *label, size_t room, struct buf *out)
{
    struct mentions files;
    bool more;
    AUTO(buf_release) struct buf list = BUF_INIT;
    attach_list(path, FOLDER_FILES, &files, &more);
    for (size_t i = 0; i < files.items.len && list.len < room; i++) {
        utf8_reveal(&list, files.items.items[i], strlen(files.items.items[i]), UTF8_ONE_LINE);
        buf_addch(&list, '\n');
    }
    more = more || list.len >= room;
    mentions_release(&files);
    attached_file_add(out, label, list.data, list.len);
    if (more)
        buf_addf(out, "[%s has more files; list_directory and search_files find them]\n", label);
}

static bool add_text(struct conversation *c, int fd, const char *label, const char *path,
                     int64_t first, int64_t last, size_t room, struct buf *out, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT, title = BUF_INIT;
    int64_t from = first > 0 ? first : 1, lines = 0;
    const struct tool_context context = {.self = &c->tools.host,
                                         .max_output = room,
                                         .deadline_ms = clock_mono_ms() + READ_MS,
                                         .wakeup = &c->wakeup};
    if (!builtin_read(&context, fd, label, path, from, last - from + 1, &text))
        return err_set(e, ERR_FILE_ERROR, "%.200s; it cannot be attached", text.data);
    bool cut = text.len > room;
    if (cut) { /* at the end of a line, if there is one */
        size_t keep = utf8_cut_bytes(text.data, text.len, room), end = keep;
        while (end > 0 && text.data[end - 1] != '\n')
            end--;
        buf_truncate(&text, end > 0 ? end : keep);
    }
    if (!utf8_valid(text.data, text.len))
        return err_set(e, ERR_FILE_ERROR, "%.160s is not UTF-8 text; convert it first", label);
    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n' || i + 1 == text.len;
    buf_addstr(&title, label);
    if (first > 0 || cut)
        buf_addf(&title, " (lines %lld-%lld)", (long long)from, (long long)(from + lines - 1));
    attached_file_add(out, title.data, text.data, text.len);
    if (cut)
        buf_addf(out,
                 "[cut here: %s is longer than the room for attached files; read_file with offset "
                 "%lld reads on]\n",
                 label, (long long)(from + lines));
    return true;
}

/* Adds the block of a name. A name that is `mentioned` in the message and stands for nothing adds
 * none: it is only a word there. */
static bool add_one(struct conversation *c, const char *name, bool mentioned, size_t *room,
                    struct json *blocks, struct error *e)
{
    int64_t first, last;
    struct stat st;
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_free char *given = path_of(c->root, name, &first, &last);
    auto_free char *label =
        mem_strndup(name, first > 0 ? mention_lines(name, &first, &last) : strlen(name));
    auto_free char *block = mem_printf("@%s", name);
    struct error fault;
    bool own = !c->engine->options.serves, copied = own && is_clipboard(name);
    auto_free char *path =
        copied ? realpath(given, NULL)
               : folders_resolve(c->config, c->root, given, SHAPE_READS, own, &fault);
    if (!path && copied)
        err_set_errno(&fault, ERR_FILE_ERROR, "%.160s cannot be attached", label);
    if (!path && mentioned && fault.code == ERR_FILE_ERROR)
        return true;
    if (!path) {
        *e = fault;
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum attach_kind kind = fd >= 0 ? kind_of(fd, &st) : ATTACH_REFUSED;
    bool ok = true;
    if (fd < 0)
        ok = err_set_errno(e, ERR_FILE_ERROR, "%.160s cannot be attached", label);
    else if (kind == ATTACH_IMAGE)
        ok = add_image(c, block, path, blocks, e);
    else if (kind == ATTACH_FOLDER)
        add_folder(path, label, *room, &text);
    else
        ok = add_text(c, fd, label, path, first, last, *room, &text, e);
    if (fd >= 0)
        close(fd);
    *room -= text.len < *room ? text.len : *room;
    if (ok && kind != ATTACH_IMAGE)
        json_push(blocks, json_pack("{type:'text' name:s text:s media_type:s}", block, text.data,
                                    kind == ATTACH_FOLDER ? "inode/directory" : NULL));
    return ok;
}

bool conversation_attach(struct conversation *c, const struct mentions *names, const char *text,
                         const char *before, char **attachments, struct error *e)
{
    const char *all = *attachments ? *attachments : "[]";
    AUTO(json_free_local) struct json *old = json_parse(all, strlen(all), NULL);
    AUTO(json_free_local) struct json *blocks = json_new_array();
    AUTO(mentions_release) struct mentions now = {0}, then = {0}, done = {0};
    int64_t share = c->backend.facts.window * MESSAGE_BYTES_A_TOKEN / ROOM_SHARE;
    size_t room = share <= 0           ? ROOM_UNKNOWN
                  : share < ROOM_LEAST ? ROOM_LEAST
                  : share > ROOM_MOST  ? ROOM_MOST
                                       : (size_t)share;
    if (names->items.len == 0 && !before)
        return true;
    mentions_find(text, &now);
    mentions_find(before ? before : "", &then);
    for (const struct json *v = json_first(old); v; v = json_next(v)) {
        const char *label = json_get_string(v, "name");
        bool ours = label && *label == '@';
        if (!ours || (!mentions_have(names, label + 1) &&
                      (!mentions_have(&then, label + 1) || mentions_have(&now, label + 1))))
            json_push(blocks, json_clone(v));
    }
    bool ok = true;
    for (size_t i = 0; ok && i < names->items.len; i++) {
        const char *name = names->items.items[i];
        if (!*name || mentions_have(&done, name) ||
            strncmp(name, MENTION_SKILL, sizeof MENTION_SKILL - 1) == 0)
            continue;
        ok = add_one(c, name, mentions_have(&now, name), &room, blocks, e);
        vec_push(&done.items, mem_strdup(name));
    }
    if (ok)
        mem_replace(attachments, json_first(blocks) ? json_print(blocks) : NULL);
    return ok;
}
