#include "bench/exam.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"

#define FILE_BYTES ((size_t)256 * 1024 * 1024)

const char exam_questions[] = "questions.jsonl", exam_held[] = "held.jsonl";
static const char ending[] = ".jsonl";

/* ---- lines ---- */

typedef bool line_taker(struct exam *x, const struct json *line, struct error *e);

static bool take_line(struct exam *x, const char *text, size_t len, line_taker *take,
                      struct error *e)
{
    struct json *v = json_parse(text, len, e);
    bool ok = v && take(x, v, e);
    json_free(v);
    return ok;
}

static bool take_lines(struct exam *x, const char *path, const struct buf *text, line_taker *take,
                       struct error *e)
{
    struct error fault;
    int number = 1;
    for (const char *at = text->data; *at; number++) {
        size_t len = strcspn(at, "\n");
        if (len > 0 && !take_line(x, at, len, take, &fault))
            return err_set(e, fault.code, "%s:%d: %s", path, number, fault.text);
        at += len + (at[len] == '\n');
    }
    return true;
}

static bool read_file(struct exam *x, const char *directory, const char *name, line_taker *take,
                      struct error *e)
{
    char *path = paths_join(directory, name);
    struct buf text;
    buf_init(&text, FILE_BYTES);
    bool ok = paths_read_file(path, PATHS_FILE, &text, e) && take_lines(x, path, &text, take, e);
    buf_release(&text);
    free(path);
    return ok;
}

/* ---- conversations ---- */

static bool take_turn(struct exam *x, const struct json *line, struct error *e)
{
    struct memory_entry turn;
    if (!memory_entry_read(line, &turn, e))
        return false;
    if (!turn.id) {
        memory_entry_release(&turn);
        return err_set(e, ERR_USAGE, "a turn needs an \"id\"");
    }
    vec_push(&vec_last(&x->conversations).turns.items, turn);
    return true;
}

static bool is_conversation(const char *name)
{
    size_t len = strlen(name), end = sizeof ending - 1;
    return len > end && name[0] != '.' && strcmp(name + len - end, ending) == 0 &&
           strcmp(name, exam_questions) != 0 && strcmp(name, exam_held) != 0;
}

static int by_name(const void *a, const void *b)
{
    const struct exam_conversation *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static bool find_conversations(struct exam *x, const char *directory, struct error *e)
{
    DIR *d = opendir(directory);
    if (!d)
        return err_set(e, ERR_USAGE, "cannot read %s: %s", directory, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(d)) != NULL;)
        if (is_conversation(entry->d_name)) {
            char *name = mem_strndup(entry->d_name, strlen(entry->d_name) - (sizeof ending - 1));
            vec_push(&x->conversations, (struct exam_conversation){.name = name});
        }
    closedir(d);
    if (x->conversations.len == 0)
        return err_set(e, ERR_USAGE, "there is no conversation in %s", directory);
    qsort(x->conversations.items, x->conversations.len, sizeof *x->conversations.items, by_name);
    return true;
}

/* Lines are taken by the last conversation, so that each is read as the only one. */
static bool read_conversation(struct exam_conversation *c, const char *directory, struct error *e)
{
    struct exam alone = {0};
    char *name = mem_printf("%s%s", c->name, ending);
    vec_push(&alone.conversations, *c);
    bool ok = read_file(&alone, directory, name, take_turn, e);
    *c = alone.conversations.items[0];
    vec_release(&alone.conversations);
    free(name);
    return ok;
}

/* ---- questions ---- */

struct place {
    size_t conversation, turn; /* indexes */
};

static bool find_turn(const struct exam *x, const char *id, struct place *out)
{
    for (size_t i = 0; i < x->conversations.len; i++)
        for (size_t j = 0; j < x->conversations.items[i].turns.items.len; j++)
            if (strcmp(x->conversations.items[i].turns.items.items[j].id, id) == 0) {
                *out = (struct place){i, j};
                return true;
            }
    return false;
}

static const struct memory_entry *turn_at(const struct exam *x, struct place at)
{
    return &x->conversations.items[at.conversation].turns.items.items[at.turn];
}

/* An exchange is a message of the user with all messages up to the user's next one or the session's
 * end. */
static bool begins_exchange(const struct exam *x, struct place at)
{
    const struct memory_entry *turn = turn_at(x, at);
    return at.turn == 0 || turn->role == ROLE_USER ||
           strcmp(turn[-1].session_id, turn->session_id) != 0;
}

static struct place first_of(const struct exam *x, struct place at, enum exam_unit unit)
{
    while (unit == EXAM_EXCHANGE && !begins_exchange(x, at))
        at.turn--;
    return at;
}

static struct place end_of(const struct exam *x, struct place at, enum exam_unit unit)
{
    size_t turns = x->conversations.items[at.conversation].turns.items.len;
    do
        at.turn++;
    while (unit == EXAM_EXCHANGE && at.turn < turns && !begins_exchange(x, at));
    return at;
}

static void add_target(const struct exam *x, struct place evidence, enum exam_unit unit,
                       struct exam_targets *targets)
{
    struct place at = first_of(x, evidence, unit), end = end_of(x, at, unit);
    struct exam_target target = {0};
    for (size_t i = 0; i < targets->items.len; i++)
        if (targets->items.items[i].ids.items[0] == turn_at(x, at)->id)
            return;
    for (; at.turn < end.turn; at.turn++)
        vec_push(&target.ids, turn_at(x, at)->id);
    vec_push(&targets->items, target);
}

static bool take_evidence(const struct exam *x, struct exam_question *q, const struct json *list,
                          struct error *e)
{
    for (const struct json *at = json_first(list); at; at = json_next(at)) {
        struct place where;
        const char *id = json_string(at);
        if (!id || !find_turn(x, id, &where))
            return err_set(e, ERR_USAGE, "no turn has the id \"%s\"", id ? id : "");
        if (at == json_first(list))
            q->conversation = where.conversation;
        for (int unit = 0; unit < EXAM_UNITS; unit++)
            add_target(x, where, (enum exam_unit)unit, &q->evidence[unit]);
    }
    return json_first(list) || err_set(e, ERR_USAGE, "a question needs \"evidence\"");
}

static bool take_question(struct exam *x, const struct json *line, struct error *e)
{
    const char *text = json_get_string(line, "question");
    const char *category = json_get_string(line, "category");
    if (!text)
        return err_set(e, ERR_USAGE, "a line needs a \"question\"");
    vec_push(&x->questions,
             (struct exam_question){.text = mem_strdup(text),
                                    .category = mem_strdup(category ? category : "other")});
    return take_evidence(x, &vec_last(&x->questions), json_get(line, "evidence"), e);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_known(const struct exam *x, const char *category)
{
    for (size_t i = 0; i < x->categories.len; i++)
        if (strcmp(x->categories.items[i], category) == 0)
            return true;
    return false;
}

static void list_categories(struct exam *x)
{
    for (size_t i = 0; i < x->questions.len; i++)
        if (!is_known(x, x->questions.items[i].category))
            vec_push(&x->categories, x->questions.items[i].category);
    if (x->categories.len > 0)
        qsort(x->categories.items, x->categories.len, sizeof *x->categories.items, by_text);
}

/* ---- all ---- */

static bool read_all(struct exam *x, const char *directory, const char *questions, struct error *e)
{
    bool ok = find_conversations(x, directory, e);
    for (size_t i = 0; ok && i < x->conversations.len; i++)
        ok = read_conversation(&x->conversations.items[i], directory, e);
    ok = ok && read_file(x, directory, questions, take_question, e);
    if (ok)
        list_categories(x);
    return ok;
}

bool exam_read(struct exam *out, const char *directory, const char *questions, struct error *e)
{
    *out = (struct exam){0};
    if (read_all(out, directory, questions, e))
        return true;
    exam_release(out);
    return false;
}

static void release_question(struct exam_question *q)
{
    for (int unit = 0; unit < EXAM_UNITS; unit++) {
        struct exam_targets *targets = &q->evidence[unit];
        for (size_t i = 0; i < targets->items.len; i++)
            vec_release(&targets->items.items[i].ids);
        vec_release(&targets->items);
    }
    free(q->category);
    free(q->text);
}

void exam_release(struct exam *x)
{
    for (size_t i = 0; i < x->conversations.len; i++) {
        free(x->conversations.items[i].name);
        memory_entries_release(&x->conversations.items[i].turns);
    }
    for (size_t i = 0; i < x->questions.len; i++)
        release_question(&x->questions.items[i]);
    vec_release(&x->conversations);
    vec_release(&x->questions);
    vec_release(&x->categories);
}

void exam_join_sessions(struct exam *x)
{
    for (size_t i = 0; i < x->conversations.len; i++) {
        const struct exam_conversation *c = &x->conversations.items[i];
        for (size_t j = 0; j < c->turns.items.len; j++) {
            struct memory_entry *turn = &c->turns.items.items[j];
            free(turn->session_id);
            turn->session_id = mem_strdup(c->name);
            turn->seq = (int64_t)j + 1;
        }
    }
}
