#include "ui/view/list_view.h"

#include <stdlib.h>

#include "base/mem.h"

enum { POPUP_ROWS = 8 };

struct list_view {
    struct view view;
    enum list_subject subject;
    struct list *list;
    struct list_view_host to;
    int width, height;
};

static struct list_view *of(struct view *view)
{
    return (struct list_view *)view;
}

static const struct list_view *of_const(const struct view *view)
{
    return (const struct list_view *)view;
}

static void choose(struct view *view)
{
    const struct list_view *v = of(view);
    const char *chosen = list_value(v->list);
    char *value = chosen ? mem_strdup(chosen) : NULL;
    void (*tell)(struct app * app, const char *value) = v->to.chosen;
    struct app *app = view->host->app;
    view_close(view);
    if (tell && value)
        tell(app, value);
    free(value);
}

static void leave(struct view *view)
{
    void (*tell)(struct app * app) = of(view)->to.left;
    struct app *app = view->host->app;
    view_close(view);
    if (tell)
        tell(app);
}

static bool is_popup(const struct view *view)
{
    return list_is_popup(of_const(view)->list);
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    bool popup = is_popup(view), goes_on = of(view)->to.sends && action == ACTION_SEND;
    if (popup && (action == ACTION_COMPLETE || action == ACTION_SEND)) {
        choose(view);
        return !goes_on;
    }
    switch (list_key(of(view)->list, action, key)) {
    case LIST_CHOSEN:
        choose(view);
        return true;
    case LIST_CLOSED:
        leave(view);
        return true;
    case LIST_STAYS:
        return true;
    case LIST_NOT_MINE:
        break;
    }
    return !popup;
}

static void click(struct view *view, int row, int col)
{
    (void)col;
    if (list_click(of(view)->list, row))
        choose(view);
}

static bool passes(const struct view *view)
{
    return is_popup(view);
}

static int height(struct view *view, int width, int room)
{
    (void)width;
    if (!is_popup(view))
        return room;
    int wanted = (int)list_count(of_const(view)->list);
    wanted = wanted < POPUP_ROWS ? wanted : POPUP_ROWS;
    return wanted < room - 1 ? wanted : room - 1;
}

static void resize(struct view *view, int width, int rows)
{
    of(view)->width = width;
    of(view)->height = rows;
}

static const struct rows *rows(struct view *view)
{
    return list_rows(of(view)->list, of(view)->width, of(view)->height);
}

static bool caret(const struct view *view, int *row, int *col)
{
    return list_caret(of_const(view)->list, row, col);
}

static void free_view(struct view *view)
{
    list_free(of(view)->list);
    free(view);
}

static const struct view_ops ops = {
    .layer = VIEW_LIST,
    .free = free_view,
    .key = take_key,
    .click = click,
    .passes = passes,
    .height = height,
    .resize = resize,
    .rows = rows,
    .caret = caret,
};

struct view *list_view_new(const struct view_host *host, enum list_subject subject,
                           struct list *list, const struct list_view_host *to)
{
    struct list_view *v = mem_alloc(sizeof *v);
    *v = (struct list_view){
        .view = {.ops = &ops, .host = host}, .subject = subject, .list = list, .to = *to};
    return &v->view;
}

struct list *list_view_find(const struct views *s, enum list_subject subject)
{
    const struct view *view = s->at[VIEW_LIST];
    return view && of_const(view)->subject == subject ? of_const(view)->list : NULL;
}
