/* A session of somebody's on the screen: events as lines of JSON, notes and searches in them. The
 * rows fit the width and hold nothing that a terminal obeys, with everything folded and opened. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/fuzz/fuzz.h"
#include "ui/transcript/transcript.h"

enum { HEIGHT = 24, MOST_EVENTS = 60, MOST_SCREENS = 30 };

static void check_screen(struct transcript *t, int width)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    FUZZ_CHECK(count <= HEIGHT);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i].rows->list.items[rows[i].index];
        FUZZ_CHECK(rows_width(rows[i].rows, rows[i].index) <= (size_t)width);
        FUZZ_CHECK(fuzz_is_clean(rows[i].rows->text.data + row->text, row->len, false));
    }
}

static void check_screens(struct transcript *t, int width)
{
    transcript_resize(t, width, HEIGHT);
    transcript_scroll_to_end(t);
    check_screen(t, width);
    for (int i = 0; i < MOST_SCREENS && transcript_scroll(t, HEIGHT); i++)
        check_screen(t, width);
}

int fuzz_transcript(const uint8_t *data, size_t size)
{
    static const int widths[] = {40, 120};
    auto_free char *text = fuzz_text(data, size);
    struct transcript *t = transcript_new();
    transcript_set_reasoning(t, REASONING_OPEN);
    transcript_resize(t, 80, HEIGHT);
    int events = 0;
    for (const char *line = text; *line && events < MOST_EVENTS; events++) {
        size_t len = strcspn(line, "\n");
        struct event *ev;
        struct error e = {0};
        AUTO(json_free_local) struct json *v = json_parse(line, len, &e);
        if (v && event_from_json(v, &ev, &e)) {
            transcript_apply(t, ev);
            event_free(ev);
        } else {
            fuzz_check_error(&e);
        }
        line += len + (line[len] == '\n');
        check_screen(t, 80);
    }
    transcript_note(t, STYLE_NOTE, text);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        check_screens(t, widths[i]);
        transcript_toggle_all(t);
    }
    transcript_find(t, "a", true);
    check_screen(t, widths[1]);
    free(transcript_last_code(t));
    transcript_free(t);
    return 0;
}
