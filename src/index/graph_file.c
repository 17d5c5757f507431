#include "index/graph_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"

#define SUFFIX ".hnsw"
#define DAMAGED ".damaged"
#define LOCK ".lock"

enum { FORMAT = 1, NAME_SHOWN = 64, BLOCK = 1 << 16 };

/* Written as in memory: `order` tells machines of another byte order. */
struct header {
    char magic[8];
    uint32_t format, order;
    uint32_t dimension, name_len;
    uint64_t count;
    int64_t version;
};
static const char magic[8] = {'t', 'i', 'r', 'o', 'h', 'n', 's', 'w'};
static const uint32_t order = 0x01020304;

/* Over words of 8 bytes, the last one filled up with zeros. */
static uint64_t checksum(uint64_t sum, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, len - at < sizeof word ? len - at : sizeof word);
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
    }
    return sum;
}

/* The hash tells names apart that look alike in a path. */
char *graph_file_path(const char *directory, const char *tables, const char *model)
{
    auto_free char *safe =
        mem_strndup(model, strlen(model) < NAME_SHOWN ? strlen(model) : NAME_SHOWN);
    for (char *c = safe; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            *c = '_';
    auto_free char *name = mem_printf("%s-%s-%08x" SUFFIX, tables, safe,
                                      (unsigned)checksum(FORMAT, model, strlen(model)));
    return paths_join(directory, name);
}

struct graph_file graph_file_stat(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return (struct graph_file){0};
    return (struct graph_file){.device = (int64_t)st.st_dev,
                               .inode = (int64_t)st.st_ino,
                               .size = st.st_size,
                               .changed_ns =
                                   (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec};
}

/* --- reading --------------------------------------------------------------------------------- */

static bool parse(const struct buf *text, struct graph_content *content)
{
    struct header h;
    uint64_t sum;
    if (text->len < sizeof h + sizeof sum)
        return false;
    const char *at = text->data + sizeof h, *end = text->data + text->len - sizeof sum;
    memcpy(&sum, end, sizeof sum);
    memcpy(&h, text->data, sizeof h);
    size_t left = (size_t)(end - at);
    if (checksum(FORMAT, text->data, text->len - sizeof sum) != sum ||
        memcmp(h.magic, magic, sizeof magic) != 0 || h.format != FORMAT || h.order != order ||
        h.dimension != (uint32_t)content->dimension || h.name_len != strlen(content->model) ||
        h.name_len > left || memcmp(at, content->model, h.name_len) != 0 ||
        h.count > (left - h.name_len) / sizeof(struct vector_id))
        return false;
    at += h.name_len;
    size_t bytes = h.count * sizeof(struct vector_id);
    vec_reserve(&content->of.items, h.count + 1);
    content->of.items.len = h.count;
    memcpy(content->of.items.items, at, bytes);
    content->version = h.version;
    at += bytes;
    content->hnsw = hnsw_read(content->dimension, at, (size_t)(end - at));
    if (content->hnsw && hnsw_count(content->hnsw) == h.count)
        return true;
    hnsw_free(content->hnsw);
    content->hnsw = NULL;
    vec_release(&content->of.items);
    return false;
}

bool graph_file_read(const char *path, struct graph_content *content)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e;
    if (!paths_read_file(path, PATHS_FILE, &text, &e))
        return false;
    if (parse(&text, content))
        return true;
    auto_free char *aside = mem_printf("%s" DAMAGED, path);
    log_line(LOG_ERROR, "memory: a graph is damaged and made anew");
    if (rename(path, aside) != 0)
        unlink(path);
    return false;
}

/* --- writing --------------------------------------------------------------------------------- */

struct writer {
    struct whole_file *file;
    struct buf block;
    uint64_t sum;
    struct error *e;
};

static bool flush(struct writer *w)
{
    w->sum = checksum(w->sum, w->block.data, w->block.len);
    bool ok = whole_file_write(w->file, w->block.data, w->block.len, w->e);
    buf_clear(&w->block);
    return ok;
}

/* Writes in blocks of whole words. */
static bool put(void *context, const void *bytes, size_t len)
{
    struct writer *w = context;
    const char *at = bytes;
    while (len > 0) {
        size_t room = BLOCK - w->block.len, some = len < room ? len : room;
        buf_add(&w->block, at, some);
        at += some;
        len -= some;
        if (w->block.len == BLOCK && !flush(w))
            return false;
    }
    return true;
}

bool graph_file_write(const char *path, const struct graph_content *content,
                      struct whole_file *file, struct error *e)
{
    struct writer w = {.file = file, .block = BUF_INIT, .sum = FORMAT, .e = e};
    struct header h = {.format = FORMAT,
                       .order = order,
                       .dimension = (uint32_t)content->dimension,
                       .name_len = (uint32_t)strlen(content->model),
                       .count = content->of.items.len,
                       .version = content->version};
    memcpy(h.magic, magic, sizeof magic);
    bool ok = whole_file_begin(file, path, true, e) && put(&w, &h, sizeof h) &&
              put(&w, content->model, h.name_len) &&
              put(&w, content->of.items.items, h.count * sizeof(struct vector_id)) &&
              hnsw_write(content->hnsw, put, &w) && flush(&w) &&
              whole_file_write(file, &w.sum, sizeof w.sum, e) && whole_file_sync(file, e);
    if (!ok)
        whole_file_drop(file);
    buf_release(&w.block);
    return ok;
}

void graph_file_remove(const char *path)
{
    unlink(path);
    graph_file_remove_aside(path);
}

void graph_file_remove_aside(const char *path)
{
    auto_free char *aside = mem_printf("%s" DAMAGED, path);
    unlink(aside);
}

/* --- one writer ------------------------------------------------------------------------------ */

bool graph_file_lock(const char *path, int *lock)
{
    auto_free char *name = mem_printf("%s" LOCK, path);
    *lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) != 0) {
        graph_file_unlock(lock);
        return false;
    }
    whole_file_sweep(path);
    return true;
}

void graph_file_unlock(int *lock)
{
    if (*lock >= 0)
        close(*lock);
    *lock = -1;
}

/* --- all of them ----------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool begins_with(const char *name, const char *tables)
{
    size_t len = strlen(tables);
    return strncmp(name, tables, len) == 0 && name[len] == '-';
}

void graph_files_list(const char *directory, const char *tables, struct text_list *out)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (begins_with(entry->d_name, tables) &&
            (ends_with(entry->d_name, SUFFIX) || ends_with(entry->d_name, SUFFIX DAMAGED)))
            vec_push(&out->items, mem_strdup(entry->d_name));
    if (dir)
        closedir(dir);
}

bool graph_names_read(const struct corpus *c, struct text_list *out, struct error *e)
{
    struct query q = corpus_query(c, e, "SELECT DISTINCT name FROM #_model", "");
    return query_texts(&q, out);
}

const char *graph_file_model(const char *tables, const struct text_list *models, const char *name,
                             const char **behind)
{
    const char *found = NULL;
    for (size_t i = 0; !found && i < models->items.len; i++) {
        auto_free char *own = graph_file_path("", tables, models->items.items[i]);
        if (strncmp(name, own, strlen(own)) == 0) {
            found = models->items.items[i];
            *behind = name + strlen(own);
        }
    }
    return found;
}

enum graph_file_kind graph_file_kind(const char *tables, const struct text_list *models,
                                     const char *name)
{
    const char *behind;
    if (!begins_with(name, tables) || !strstr(name, SUFFIX))
        return GRAPH_FILE_NONE;
    if (!graph_file_model(tables, models, name, &behind))
        return GRAPH_FILE_LEFT;
    if (strcmp(behind, "") == 0 || strcmp(behind, LOCK) == 0)
        return GRAPH_FILE_USED;
    return strcmp(behind, DAMAGED) == 0 ? GRAPH_FILE_DAMAGED : GRAPH_FILE_BEGUN;
}
