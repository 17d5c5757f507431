#include "ui/text/edit_keys.h"

#include "base/utf8.h"

enum { WHEEL_ROWS = 3 };

bool edit_key(struct editor *e, enum action action, const struct key *key)
{
    if (action != ACTION_NONE)
        return action != ACTION_UP && action != ACTION_DOWN && editor_do(e, action);
    if (key->code != K_CHAR || key->ctrl || key->alt || key->cp < ' ')
        return false;
    char text[4];
    editor_insert(e, text, utf8_encode(key->cp, text));
    return true;
}

bool edit_text_move(struct editor *e, enum action action, int page)
{
    const struct {
        enum action action, edit;
        int times;
    } moves[] = {{ACTION_UP, ACTION_UP, 1},
                 {ACTION_DOWN, ACTION_DOWN, 1},
                 {ACTION_SCROLL_UP, ACTION_UP, WHEEL_ROWS},
                 {ACTION_SCROLL_DOWN, ACTION_DOWN, WHEEL_ROWS},
                 {ACTION_PAGE_UP, ACTION_UP, page},
                 {ACTION_PAGE_DOWN, ACTION_DOWN, page},
                 {ACTION_TOP, ACTION_TEXT_START, 1},
                 {ACTION_BOTTOM, ACTION_TEXT_END, 1}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].action != action)
            continue;
        for (int n = 0; n < moves[i].times && editor_do(e, moves[i].edit); n++)
            ;
        return true;
    }
    return false;
}
