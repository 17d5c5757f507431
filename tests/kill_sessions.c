/* `tiro sessions` in the kill campaign. */
#include <unistd.h>

#include "tests/kill_commands.h"
#include "tests/program.h"
#include "tests/suite.h"

/* --- one that is there
 * -------------------------------------------------------------------------------
 */

bool kill_begin_rename(struct kill_stage *stage, struct kill_op *op)
{
    if (!kill_op_begin(stage, op, "rename"))
        return false;
    op->value = mem_printf("Title %d", ++stage->number);
    kill_op_add(op, op->session->id);
    kill_op_add(op, op->value);
    kill_texts_add(&op->session->title.tried, op->value);
    return true;
}

void kill_told_rename(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->session->title.told, op->value);
}

bool kill_begin_label(struct kill_stage *stage, struct kill_op *op)
{
    if (!kill_op_begin(stage, op, "label") || op->session->labels.items.len > 8)
        return false;
    op->value = mem_printf("label%d", ++stage->number);
    kill_op_add(op, op->session->id);
    kill_op_add(op, op->value);
    return true;
}

void kill_told_label(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->session->labels, op->value);
}

bool kill_begin_archive(struct kill_stage *stage, struct kill_op *op)
{
    bool in = kill_below(2) == 0;
    if (!kill_op_begin(stage, op, in ? "archive" : "unarchive"))
        return false;
    op->value = mem_strdup(in ? "yes" : "no");
    kill_op_add(op, op->session->id);
    kill_texts_add(&op->session->archived.tried, op->value);
    return true;
}

void kill_told_archive(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    kill_texts_add(&op->session->archived.told, op->value);
}

bool kill_begin_delete(struct kill_stage *stage, struct kill_op *op)
{
    if (stage->model.sessions.len < 2 || !kill_op_begin(stage, op, "delete"))
        return false;
    kill_op_add(op, "--yes");
    kill_op_add(op, op->session->id);
    op->session->delete_tried = true;
    return true;
}

void kill_told_delete(struct kill_stage *stage, struct kill_op *op)
{
    op->session->delete_told = true;
    stage->model.deletes_told++;
}

bool kill_begin_rebuild(struct kill_stage *stage, struct kill_op *op)
{
    if (!kill_op_begin(stage, op, "rebuild"))
        return false;
    if (kill_below(3) > 0)
        kill_op_add(op, op->session->id);
    return true;
}

/* --- sessions that come ----------------------------------------------------------------------- */

/* The id that was printed is that of a session with all these words. */
void kill_told_new(struct kill_stage *stage, struct kill_op *op)
{
    char *id = mem_strndup(op->child.out_text.data, strcspn(op->child.out_text.data, "\n"));
    struct kill_session *s = kill_model_add_session(&stage->model, id);
    kill_texts_add_all(&s->words, &op->words);
    kill_texts_add_all(&s->completed, &op->words);
    s->words_said = s->words.items.len;
    s->archived.was = mem_strdup("no");
    free(id);
}

static void add_whole(struct kill_stage *stage, const struct kill_texts *words)
{
    struct kill_texts whole = {0};
    kill_texts_add_all(&whole, words);
    vec_push(&stage->model.wholes, whole);
}

/* Text that is added to the parent during the fork may be copied or not. */
bool kill_begin_fork(struct kill_stage *stage, struct kill_op *op)
{
    if (!kill_op_begin(stage, op, "fork"))
        return false;
    kill_op_add(op, op->session->id);
    kill_texts_add_all(&op->words, &op->session->completed);
    add_whole(stage, &op->session->completed);
    return true;
}

static char *messages_of(struct kill_op *op, size_t pairs)
{
    struct buf text = BUF_INIT;
    char word[KILL_WORD_LEN + 1];
    for (size_t i = 0; i < pairs; i++) {
        bool marked = i < 4 || i + 4 >= pairs;
        if (marked) {
            kill_word(word);
            kill_texts_add(&op->words, word);
        }
        buf_addf(&text,
                 "%s{\"role\":\"user\",\"content\":\"Is %s the %zu. quincunx?\"},"
                 "{\"role\":\"assistant\",\"content\":\"It has five points, this %zu.\"}",
                 i ? "," : "[", marked ? word : "that", i, i);
    }
    buf_addstr(&text, "]");
    return buf_take(&text);
}

bool kill_begin_import(struct kill_stage *stage, struct kill_op *op)
{
    auto_free char *text = messages_of(op, kill_below(8) == 0 ? 3000 : 1 + kill_below(30));
    op->path = mem_printf("%s/import-%d.json", stage->work, ++stage->number);
    support_write(op->path, text);
    kill_op_add(op, "sessions");
    kill_op_add(op, "import");
    kill_op_add(op, op->path);
    add_whole(stage, &op->words);
    return true;
}

void kill_after_import(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    unlink(op->path);
}

bool kill_begin_export(struct kill_stage *stage, struct kill_op *op)
{
    static const char *const formats[] = {"json", "jsonl", "markdown"};
    if (!kill_op_begin(stage, op, "export"))
        return false;
    op->path = mem_printf("%s/export-%d", stage->exports, ++stage->number);
    kill_op_add(op, "--format");
    kill_op_add(op, formats[kill_below(3)]);
    kill_op_add(op, "-o");
    kill_op_add(op, op->path);
    kill_op_add(op, op->session->id);
    for (size_t i = 0; i < op->session->words_said; i++)
        kill_texts_add(&op->words, op->session->words.items.items[i]);
    return true;
}

/* An exported file appears whole, and must exist if the export was acknowledged. */
void kill_after_export(struct kill_stage *stage, struct kill_op *op)
{
    (void)stage;
    if (access(op->path, F_OK) == 0) {
        auto_free char *text = support_read(op->path);
        for (size_t i = 0; i < op->words.items.len; i++)
            assert_text(text, op->words.items.items[i]);
        unlink(op->path);
    } else if (op->status == 0) {
        fail_msg("%s was told written, and is not there", op->path);
    }
}
