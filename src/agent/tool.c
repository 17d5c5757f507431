#include "agent/tool.h"

#include <stdlib.h>

#include "agent/tool_surface.h"
#include "base/clock.h"

const char *tool_class_name(enum tool_class class)
{
    static const char *const names[] = {
#define X(id, name) [TOOL_##id] = name,
        TOOL_CLASSES(X)
#undef X
    };
    return names[class];
}

const char *tool_lacks(const struct tool *tool)
{
    return tool->lacks ? tool->lacks(tool->self) : NULL;
}

enum tool_stop tool_stop(const struct tool_context *context)
{
    if (!wakeup_sleep(context->wakeup, 0))
        return TOOL_INTERRUPTED;
    return clock_mono_ms() > context->deadline_ms ? TOOL_TIMED_OUT : TOOL_GOES_ON;
}

bool tool_stopped(const struct tool_context *context, struct buf *out)
{
    static const char *const reasons[] = {
        [TOOL_INTERRUPTED] = "interrupted", [TOOL_TIMED_OUT] = "timed out"};
    enum tool_stop stop = tool_stop(context);
    if (stop == TOOL_GOES_ON)
        return false;
    buf_clear(out);
    buf_addstr(out, reasons[stop]);
    return true;
}

void tool_sight_release(struct tool_sight *sight)
{
    free(sight->text);
    *sight = (struct tool_sight){0};
}

void surface_run_release(struct surface_run *r)
{
    buf_release(&r->output);
    free(r->signal);
    *r = (struct surface_run){.output = BUF_INIT};
}
