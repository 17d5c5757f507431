#include "tests/still_app.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/support.h"
#include "ui/app/dispatch.h"
#include "ui/app/notices.h"

struct app app;

static struct config *config;
static struct engine_options engine;
static struct ui_options options;

int still_app_setup(void **state)
{
    struct error e;
    support_setup(state);
    config = config_new();
    if (!config_set(config, CONFIG_UI_NOTIFY_AFTER, "0", &e))
        return -1;
    engine = (struct engine_options){.persist = true};
    options = (struct ui_options){.config = config, .engine = &engine};
    app_init(&app, &options);
    dispatch_init(&app);
    transcript_resize(app.transcript, 100, 30);
    return 0;
}

int still_app_teardown(void **state)
{
    app_release(&app);
    config_free(config);
    return support_teardown(state);
}

void still_app_event(struct event *ev)
{
    static int64_t seq = 100;
    struct notice *n = notice_new(NOTICE_EVENT);
    ev->seq = seq++;
    n->event = ev;
    notices_take(&app, n);
}

void still_app_session(const char *id, const char *title, bool read_only, bool opened)
{
    struct notice *n = notice_new(NOTICE_SESSION);
    memcpy(n->info.id, id, strlen(id) + 1);
    free(n->info.title);
    n->info.title = mem_strdup(title);
    n->read_only = read_only;
    n->flag = opened;
    notices_take(&app, n);
}
