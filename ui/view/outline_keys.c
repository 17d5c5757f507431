#include "ui/view/outline.h"

enum { WHEEL_ROWS = 3 };

static void row_up(struct outline *o)
{
    outline_move(o, -1);
}

static void row_down(struct outline *o)
{
    outline_move(o, 1);
}

static void page_up(struct outline *o)
{
    outline_page(o, false);
}

static void page_down(struct outline *o)
{
    outline_page(o, true);
}

static void wheel_up(struct outline *o)
{
    outline_move(o, -WHEEL_ROWS);
}

static void wheel_down(struct outline *o)
{
    outline_move(o, WHEEL_ROWS);
}

static void to_first(struct outline *o)
{
    outline_to_end(o, true);
}

static void to_last(struct outline *o)
{
    outline_to_end(o, false);
}

static const struct {
    enum action action;
    void (*run)(struct outline *o);
} moves[] = {{ACTION_UP, row_up},           {ACTION_DOWN, row_down},
             {ACTION_PAGE_UP, page_up},     {ACTION_PAGE_DOWN, page_down},
             {ACTION_SCROLL_UP, wheel_up},  {ACTION_SCROLL_DOWN, wheel_down},
             {ACTION_TOP, to_first},        {ACTION_BOTTOM, to_last},
             {ACTION_LINE_START, to_first}, {ACTION_LINE_END, to_last}};

static const struct {
    char letter;
    bool ctrl;
    void (*run)(struct outline *o);
} letters[] = {{'j', false, row_down}, {'k', false, row_up},  {'g', false, to_first},
               {'G', false, to_last},  {'n', true, row_down}, {'p', true, row_up},
               {' ', false, page_down}};

bool outline_key(struct outline *o, enum action action, const struct key *key)
{
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].action == action) {
            moves[i].run(o);
            return true;
        }
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (key->code == K_CHAR && !key->alt && key->ctrl == letters[i].ctrl &&
            key->cp == (uint32_t)letters[i].letter) {
            letters[i].run(o);
            return true;
        }
    return false;
}
