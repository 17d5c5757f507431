#include "tests/still_app.h"

#include "tests/support.h"
#include "ui/app/dispatch.h"

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
