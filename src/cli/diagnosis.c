#include "cli/diagnosis.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "session/engine.h"

enum { PATIENCE_MS = 15000 };

static void ask_engine(struct diagnosis *d)
{
    struct operation_context context = {.config = d->setup.config};
    struct capabilities can = {0};
    if (!operation_call(&context, &operation_capabilities_get, NULL, &can, &d->service_fault) ||
        !operation_call(&context, &operation_engine_info, NULL, &d->engine, &d->service_fault))
        return;
    d->built = can.built_store;
    d->kept = can.store;
}

void diagnosis_begin(struct diagnosis *d)
{
    *d = (struct diagnosis){0};
    setup_load(&d->setup);
    setup_check_screen(d->setup.config, d->setup.path, &d->setup.problems);
    d->config_exists = access(d->setup.path, F_OK) == 0;
    ask_engine(d);
}

void diagnosis_release(struct diagnosis *d)
{
    for (size_t i = 0; i < d->service.len; i++)
        free(d->service.items[i].name), free(d->service.items[i].value);
    vec_release(&d->service);
    shape_release(operation_engine_info.result, &d->engine);
    health_report_release(&d->store);
    orphans_release(&d->orphans);
    health_rescue_release(&d->recovery);
    setup_release(&d->setup);
}

void diagnosis_look_at_store(struct diagnosis *d, bool thorough)
{
    if (!d->built)
        return;
    health_report_release(&d->store);
    d->thorough = thorough;
    health_report(NULL, thorough, &d->store);
}

/* The engine's store is in memory here; doctor looks at the one on the disk itself. */
static void add_facts(struct diagnosis *d, const struct report_result *said)
{
    for (size_t i = 0; i < said->facts.len; i++) {
        const struct report_fact *f = &said->facts.items[i];
        if (strcmp(f->name, "store") == 0)
            continue;
        struct report_fact fact = {mem_strdup(f->name), mem_strdup(f->value)};
        vec_push(&d->service, fact);
    }
    if (said->fault.code != ERR_OK)
        d->service_fault = said->fault;
}

/* Whether it was the last notice that matters. */
static bool take_notice(struct diagnosis *d, const struct notice *n)
{
    bool answer = n->type == NOTICE_ANSWER;
    if (answer && n->answer->result)
        add_facts(d, n->answer->result);
    else if (answer)
        d->service_fault = n->answer->error;
    else if (n->type == NOTICE_ERROR)
        d->service_fault = n->error;
    return answer;
}

/* The engine keeps its store in memory, so that nothing on the disk changes. */
static void ask_service(struct diagnosis *d)
{
    const struct engine_options wanted = {.config = d->setup.config, .persist = false};
    struct engine *service = engine_new(&wanted);
    (void)engine_start(service, &operation_doctor_report, NULL);
    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    for (bool last = false; !last;) {
        int64_t left = deadline - clock_mono_ms();
        struct notice *n = mailbox_wait(engine_notices(service), left > 0 ? (int)left : 0);
        if (n)
            last = take_notice(d, n);
        else
            last = !err_set(&d->service_fault, ERR_AGENT_ERROR, "%s",
                            _("the service does not answer; try again"));
        notice_free(n);
    }
    engine_free(service);
}

void diagnosis_complete(struct diagnosis *d)
{
    const char *term = getenv("TERM");
    if (d->built)
        orphans_find(d->store.path, &d->orphans);
    ask_service(d);
    d->term = term && *term ? term : NULL;
    d->to_terminal = isatty(STDOUT_FILENO);
    d->codeset = nl_langinfo(CODESET);
    d->utf8 = strcmp(d->codeset, "UTF-8") == 0;
}

bool diagnosis_store_well(const struct diagnosis *d)
{
    switch (d->store.found.state) {
    case HEALTH_GOOD:
    case HEALTH_MISSING:
    case HEALTH_EMPTY:
        return true;
    default:
        return !d->built;
    }
}

bool diagnosis_language_stale(const struct diagnosis *d)
{
    const struct health *found = &d->store.found;
    return found->entries > 0 && *found->language &&
           strcmp(found->language, config_string(d->setup.config, CONFIG_MEMORY_LANGUAGE)) != 0;
}

bool diagnosis_well(const struct diagnosis *d)
{
    return d->setup.problems.list.len == 0 && d->service_fault.code == ERR_OK &&
           diagnosis_store_well(d) && d->utf8;
}
