#include "ui/app/way_back.h"

#include <string.h>

#include "ui/app/jump.h"
#include "ui/view/memory_view.h"

static void copy_id(char out[UUID_LEN + 1], const char *id)
{
    memset(out, 0, UUID_LEN + 1);
    memcpy(out, id, strnlen(id, UUID_LEN));
}

static struct place_left here(const struct app *app)
{
    struct place_left p = {
        .read_only = app->read_only,
        .blank = app->fresh && editor_len(app->editor) == 0,
        .view = transcript_place(app->transcript),
        .caret = editor_caret(app->editor),
        .memory = memory_view_is_open(app->memory),
        .memory_focused = memory_view_focused(app->memory),
    };
    copy_id(p.session, app->session.id);
    return p;
}

void way_back_mark(struct app *app)
{
    vec_push(&app->way_back.places, here(app));
    app_touch_now(app, DIRTY_STATUS);
}

void way_back_leave(struct app *app, const char *id)
{
    struct way_back *w = &app->way_back;
    w->moving = WAY_OUT;
    w->left = here(app);
    copy_id(w->to, id);
}

bool way_back_known(const struct app *app)
{
    return app->way_back.places.len > 0;
}

static void show_again(struct app *app, const struct place_left *p)
{
    jump_to_place(app, &p->view);
    if (p->memory)
        memory_view_return(app->memory, p->memory_focused);
    app_touch_now(app, DIRTY_ALL);
}

/* A draft that came with what was only read is not to be taken along. */
static void leave_draft(struct app *app)
{
    const char *draft = app->session.draft;
    if (app->read_only && draft && strcmp(draft, editor_text(app->editor)) == 0)
        editor_set(app->editor, "");
}

static void open_again(struct app *app, const struct place_left *p)
{
    leave_draft(app);
    if (p->blank)
        app_begin_session(app);
    else
        app_open_session(app, p->session, p->read_only);
}

bool way_back_go(struct app *app)
{
    struct way_back *w = &app->way_back;
    if (w->moving == WAY_HOME)
        return true;
    if (w->places.len == 0)
        return false;
    struct place_left p = vec_last(&w->places);
    w->places.len--;
    if (strcmp(p.session, app->session.id) == 0 && p.read_only == app->read_only) {
        show_again(app, &p);
        return true;
    }
    w->moving = WAY_HOME;
    w->left = p;
    open_again(app, &p);
    return true;
}

void way_back_forget(struct app *app)
{
    app->way_back.places.len = 0;
    app->way_back.moving = WAY_STAYS;
    app_touch(app, DIRTY_STATUS);
}

void way_back_session(struct app *app, const char *id)
{
    struct way_back *w = &app->way_back;
    bool out = w->moving == WAY_OUT && strcmp(id, w->to) == 0;
    bool home = w->moving == WAY_HOME && (w->left.blank || strcmp(id, w->left.session) == 0);
    if (out)
        vec_push(&w->places, w->left);
    if (out || (home && w->left.blank))
        w->moving = WAY_STAYS;
    else if (!home)
        way_back_forget(app);
    if (home && w->left.blank)
        show_again(app, &w->left);
}

void way_back_draft(struct app *app)
{
    if (app->way_back.moving == WAY_HOME)
        editor_set_caret(app->editor, app->way_back.left.caret);
}

void way_back_page(struct app *app)
{
    struct way_back *w = &app->way_back;
    if (w->moving != WAY_HOME)
        return;
    w->moving = WAY_STAYS;
    show_again(app, &w->left);
}

void way_back_refused(struct app *app)
{
    app->way_back.moving = WAY_STAYS;
}
