#include "ui/view/moves.h"

long moves_by_action(enum action action, long page, long wheel)
{
    const struct {
        enum action action;
        long rows;
    } moves[] = {{ACTION_UP, -1},
                 {ACTION_DOWN, 1},
                 {ACTION_PAGE_UP, -page},
                 {ACTION_PAGE_DOWN, page},
                 {ACTION_SCROLL_UP, -wheel},
                 {ACTION_SCROLL_DOWN, wheel},
                 {ACTION_TOP, -MOVES_ALL},
                 {ACTION_LINE_START, -MOVES_ALL},
                 {ACTION_BOTTOM, MOVES_ALL},
                 {ACTION_LINE_END, MOVES_ALL}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].action == action)
            return moves[i].rows;
    return 0;
}

bool moves_is_letter(const struct key *key, char letter)
{
    return key->code == K_CHAR && !key->ctrl && !key->alt && key->cp == (uint32_t)letter;
}

long moves_by_letter(const struct key *key)
{
    static const struct {
        char letter;
        long rows;
    } letters[] = {{'j', 1}, {'k', -1}, {'g', -MOVES_ALL}, {'G', MOVES_ALL}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (moves_is_letter(key, letters[i].letter))
            return letters[i].rows;
    return 0;
}

long moves_by_control(const struct key *key)
{
    bool control = key->code == K_CHAR && key->ctrl && !key->alt;
    return !control ? 0 : key->cp == 'n' ? 1 : key->cp == 'p' ? -1 : 0;
}

size_t moves_within(long to, size_t count)
{
    return to < 0 || count == 0 ? 0 : (size_t)to < count ? (size_t)to : count - 1;
}

size_t moves_keep_in_view(size_t top, size_t from, size_t to, size_t count, size_t rows)
{
    size_t last = count > rows ? count - rows : 0;
    if (from < top)
        top = from;
    if (to >= top + rows)
        top = to + 1 - rows;
    return top < last ? top : last;
}
