#include "ui/text/edit_keys.h"

#include "base/utf8.h"

enum { WHEEL_ROWS = 3 };

static const struct {
    enum action action;
    enum editor_action edit;
} edits[] = {{ACTION_NEWLINE, EDIT_NEWLINE},
             {ACTION_LEAVE, EDIT_DELETE},
             {ACTION_LEFT, EDIT_LEFT},
             {ACTION_RIGHT, EDIT_RIGHT},
             {ACTION_WORD_LEFT, EDIT_WORD_LEFT},
             {ACTION_WORD_RIGHT, EDIT_WORD_RIGHT},
             {ACTION_LINE_START, EDIT_LINE_START},
             {ACTION_LINE_END, EDIT_LINE_END},
             {ACTION_TEXT_START, EDIT_TEXT_START},
             {ACTION_TEXT_END, EDIT_TEXT_END},
             {ACTION_BACKSPACE, EDIT_BACKSPACE},
             {ACTION_DELETE, EDIT_DELETE},
             {ACTION_KILL_END, EDIT_KILL_TO_END},
             {ACTION_KILL_START, EDIT_KILL_TO_START},
             {ACTION_KILL_WORD_LEFT, EDIT_KILL_WORD_LEFT},
             {ACTION_KILL_WORD_RIGHT, EDIT_KILL_WORD_RIGHT},
             {ACTION_YANK, EDIT_YANK},
             {ACTION_YANK_POP, EDIT_YANK_POP},
             {ACTION_TRANSPOSE, EDIT_TRANSPOSE},
             {ACTION_UNDO, EDIT_UNDO},
             {ACTION_REDO, EDIT_REDO}};

bool edit_key(struct editor *e, enum action action, const struct key *key)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        if (edits[i].action == action)
            return editor_do(e, edits[i].edit);
    if (action != ACTION_NONE || key->code != K_CHAR || key->ctrl || key->alt || key->cp < ' ')
        return false;
    char text[4];
    editor_insert(e, text, utf8_encode(key->cp, text));
    return true;
}

bool edit_text_move(struct editor *e, enum action action, int page)
{
    const struct {
        enum action action;
        enum editor_action edit;
        int times;
    } moves[] = {{ACTION_UP, EDIT_UP, 1},
                 {ACTION_DOWN, EDIT_DOWN, 1},
                 {ACTION_SCROLL_UP, EDIT_UP, WHEEL_ROWS},
                 {ACTION_SCROLL_DOWN, EDIT_DOWN, WHEEL_ROWS},
                 {ACTION_PAGE_UP, EDIT_UP, page},
                 {ACTION_PAGE_DOWN, EDIT_DOWN, page},
                 {ACTION_TOP, EDIT_TEXT_START, 1},
                 {ACTION_BOTTOM, EDIT_TEXT_END, 1}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].action != action)
            continue;
        for (int n = 0; n < moves[i].times && editor_do(e, moves[i].edit); n++)
            ;
        return true;
    }
    return false;
}
