/* A payload from a foreign database or file: an accepted event is written as a payload and as a
 * line that both read as the same event. The first byte is the type. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chat/event.h"
#include "tests/fuzz/fuzz.h"

static void check_payload(const struct event *ev, const char *payload)
{
    struct event *again;
    struct error e = {0};
    bool ok =
        event_from_payload(ev->type, event_version(ev->type), payload, strlen(payload), &again, &e);
    FUZZ_CHECK_ERROR(ok, &e);
    auto_free char *written = event_payload(again);
    FUZZ_CHECK_SAME(payload, written);
    event_free(again);
}

static void check_line(struct event *ev, const char *payload)
{
    static const char id[] = "01890a5d-ac96-774b-bcce-b302099a8057";
    struct event *again;
    struct error e = {0};
    ev->seq = 7;
    ev->wall_ms = 1683554160123;
    memcpy(ev->session_id, id, sizeof id);
    auto_free char *line = event_to_line(ev);
    AUTO(json_free_local) struct json *v = json_parse(line, strlen(line), &e);
    FUZZ_CHECK_ERROR(v && event_from_json(v, &again, &e), &e);
    auto_free char *of_line = event_payload(again), *line_again = event_to_line(again);
    FUZZ_CHECK_SAME(payload, of_line);
    FUZZ_CHECK_SAME(line, line_again);
    FUZZ_CHECK(!strchr(line, '\n'));
    event_free(again);
}

int fuzz_event(const uint8_t *data, size_t size)
{
    struct event *ev;
    struct error e = {0};
    if (size == 0)
        return -1;
    enum event_type type = (enum event_type)(data[0] % EVENT_TYPE_COUNT);
    if (!event_from_payload(type, 1, (const char *)data + 1, size - 1, &ev, &e)) {
        fuzz_check_error(&e);
        return 0;
    }
    auto_free char *payload = event_payload(ev);
    check_payload(ev, payload);
    check_line(ev, payload);
    struct event *copy = event_clone(ev);
    auto_free char *of_copy = event_payload(copy);
    FUZZ_CHECK_SAME(payload, of_copy);
    event_free(copy);
    event_free(ev);
    return 0;
}
