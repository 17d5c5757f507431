/* `tiro memory`, `tiro config set` and `tiro doctor` in the kill campaign. */
#include "tests/kill_commands.h"
#include "tests/program.h"
#include "tests/suite.h"

enum { MOST_ENTRIES = 40 };

/* --- memory ----------------------------------------------------------------------------------- */

static bool choose_entry(const struct kill_stage *stage, struct kill_op *op, const char *verb)
{
    size_t count = stage->model.entries.len;
    if (count == 0)
        return false;
    op->entry = stage->model.entries.items[kill_below(count)];
    if (!op->entry->sure)
        return false;
    kill_op_add(op, "memory");
    kill_op_add(op, verb);
    return true;
}

bool kill_begin_remember(struct kill_stage *stage, struct kill_op *op)
{
    AUTO(buf_release) struct buf lines = BUF_INIT;
    size_t count = 1 + kill_below(MOST_ENTRIES);
    char word[KILL_WORD_LEN + 1];
    op->number = ++stage->number;
    op->path = mem_printf("%s/entries-%d.jsonl", stage->work, op->number);
    for (size_t i = 0; i < count; i++) {
        kill_word(word);
        auto_free char *id = mem_printf("e%d-%zu", op->number, i);
        auto_free char *content = mem_printf("%s is entry %zu", word, i);
        buf_addf(&lines,
                 "{\"id\":\"%s\",\"session_id\":\"s%zu\",\"turn\":1,\"role\":\"user\","
                 "\"created_at\":\"2024-05-07T10:00:00Z\",\"content\":\"%s\"}\n",
                 id, i / 10, content);
        kill_model_add_entry(&stage->model, id, content, op->number);
    }
    support_write(op->path, lines.data);
    kill_op_add(op, "memory");
    kill_op_add(op, "import");
    kill_op_add(op, op->path);
    return true;
}

void kill_told_remember(struct kill_stage *stage, struct kill_op *op)
{
    for (size_t i = 0; i < stage->model.entries.len; i++)
        if (stage->model.entries.items[i]->import == op->number)
            stage->model.entries.items[i]->sure = true;
}

bool kill_begin_pin(struct kill_stage *stage, struct kill_op *op)
{
    bool pin = kill_below(2) == 0;
    if (!choose_entry(stage, op, pin ? "pin" : "unpin"))
        return false;
    op->value = mem_strdup(pin ? "yes" : "no");
    kill_op_add(op, op->entry->id);
    kill_texts_add(&op->entry->pinned.tried, op->value);
    return true;
}

void kill_told_pin(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->entry->pinned.told, op->value);
}

bool kill_begin_edit(struct kill_stage *stage, struct kill_op *op)
{
    if (!choose_entry(stage, op, "edit"))
        return false;
    op->value = mem_printf("%s says something else", op->word);
    kill_op_add(op, "--content");
    kill_op_add(op, op->value);
    kill_op_add(op, op->entry->id);
    kill_texts_add(&op->entry->content.tried, op->value);
    return true;
}

void kill_told_edit(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->entry->content.told, op->value);
}

bool kill_begin_forget(struct kill_stage *stage, struct kill_op *op)
{
    if (!choose_entry(stage, op, "delete"))
        return false;
    kill_op_add(op, "--yes");
    kill_op_add(op, op->entry->id);
    op->entry->delete_tried = true;
    return true;
}

void kill_told_forget(struct kill_stage *stage, struct kill_op *op)
{
    op->entry->delete_told = true;
    stage->model.deletes_told++;
}

bool kill_begin_reindex(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_op_add(op, "memory");
    kill_op_add(op, "reindex");
    return true;
}

/* Finds an entry that is in memory and in no other place. */
bool kill_begin_search(struct kill_stage *stage, struct kill_op *op)
{
    if (!choose_entry(stage, op, "search"))
        return false;
    const char *word = kill_word_find(op->entry->content.was);
    kill_op_add(op, "--json");
    auto_free char *query = mem_strndup(word, KILL_WORD_LEN);
    kill_op_add(op, query);
    return true;
}

void kill_told_search(struct kill_stage *stage, struct kill_op *op)
{
    bool may_have_changed = op->entry->content.tried.items.len > 0 || op->entry->delete_tried;
    (void)stage;
    if (!may_have_changed)
        assert_text(op->child.out_text.data, op->entry->id);
}

/* --- the configuration, and looking at all of it ---------------------------------------------- */

bool kill_begin_set(struct kill_stage *stage, struct kill_op *op)
{
    static const char *const keys[] = {"ui.notify_after", "tools.timeout", "tools.max_output_bytes",
                                       "memory.index_tool_results"};
    op->setting = kill_model_setting(&stage->model, keys[kill_below(4)]);
    if (strcmp(op->setting->key, "memory.index_tool_results") == 0)
        op->value = mem_strdup(kill_below(2) ? "true" : "false");
    else
        op->value = mem_printf("%zu", 4096 + kill_below(30000));
    if (strcmp(op->setting->key, "ui.notify_after") == 0 ||
        strcmp(op->setting->key, "tools.timeout") == 0) {
        free(op->value);
        op->value = mem_printf("%zu", 60 + kill_below(500));
    }
    kill_op_add(op, "config");
    kill_op_add(op, "set");
    kill_op_add(op, op->setting->key);
    kill_op_add(op, op->value);
    kill_texts_add(&op->setting->value.tried, op->value);
    return true;
}

void kill_told_set(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->setting->value.told, op->value);
}

bool kill_begin_doctor(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_op_add(op, "doctor");
    return true;
}
