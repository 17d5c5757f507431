#include "tests/steps.h"

#include "tests/suite.h"
#include "ui/term/rows.h"

static const char pointer[] = "\u203a";

/* The length of "<name>" or "<name*count>" at the beginning; 0: it is text. */
static size_t key_at(const char *keys, char *name, size_t size, int *count)
{
    size_t len = 1 + strspn(keys + 1, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    if (*keys != '<' || len == 1 || len > size)
        return 0;
    snprintf(name, size, "%.*s", (int)len - 1, keys + 1);
    *count = 1;
    if (keys[len] == '*') {
        char *end;
        *count = (int)strtol(keys + len + 1, &end, 10);
        len = (size_t)(end - keys);
    }
    return keys[len] == '>' ? len + 1 : 0;
}

void steps_type(const char *keys, const struct typist *typist, void *to)
{
    char name[32];
    int count;
    while (*keys) {
        size_t len = key_at(keys, name, sizeof name, &count);
        if (len > 0) {
            for (int i = 0; i < count; i++)
                (name[1] ? typist->key : typist->text)(to, name);
        } else {
            len = 1 + strcspn(keys + 1, "<");
            auto_free char *text = mem_strndup(keys, len);
            typist->text(to, text);
        }
        keys += len;
    }
}

bool steps_own(const struct step *table, const char *step)
{
    size_t len = strcspn(step, " ");
    for (; table && table->name; table++) {
        if (strlen(table->name) != len || strncmp(table->name, step, len) != 0)
            continue;
        if (table->alone)
            table->alone();
        else
            table->run(step + len + (step[len] == ' '));
        return true;
    }
    return false;
}

struct step_look steps_look(const char *look)
{
    static const struct {
        const char *sign;
        enum step_look_kind kind;
    } signs[] = {
        {"!?", LOOK_UNASKED}, {"!", LOOK_ABSENT}, {"?", LOOK_ASKED}, {pointer, LOOK_CHOSEN}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t len = strlen(signs[i].sign);
        if (strncmp(look, signs[i].sign, len) == 0)
            return (struct step_look){signs[i].kind, look + len};
    }
    return (struct step_look){LOOK_SHOWN, look};
}

static bool is_chosen(const char *rows, int entry_rows, const char *text)
{
    const char *sign = glyph(GLYPH_POINTER);
    bool is = false;
    for (const char *at = rows; !is && (at = strstr(at, sign)); at += strlen(sign)) {
        const char *end = at + strcspn(at, "\n");
        for (int i = 1; i < entry_rows && *end; i++)
            end += 1 + strcspn(end + 1, "\n");
        auto_free char *entry = mem_strndup(at, (size_t)(end - at));
        is = strstr(entry, text) != NULL;
    }
    return is;
}

static bool has_line(const char *lines, const char *line)
{
    size_t len = strlen(line);
    for (const char *at = lines; at && (at = strstr(at, line)); at++)
        if ((at == lines || at[-1] == '\n') && at[len] == '\n')
            return true;
    return false;
}

bool steps_holds(const struct scenery *seen, struct step_look look)
{
    switch (look.kind) {
    case LOOK_SHOWN:
        return strstr(seen->rows, look.text) != NULL;
    case LOOK_ABSENT:
        return strstr(seen->rows, look.text) == NULL;
    case LOOK_CHOSEN:
        return is_chosen(seen->rows, seen->entry_rows, look.text);
    case LOOK_ASKED:
        return has_line(seen->asked, look.text);
    case LOOK_UNASKED:
        return !has_line(seen->asked, look.text);
    }
    return false;
}

void steps_check(const char *file, int line, const struct scenery *seen, const char *const *looks)
{
    if (!seen->rows)
        _fail(file, line);
    for (; *looks; looks++)
        if (!steps_holds(seen, steps_look(*looks))) {
            fprintf(stderr, "\"%s\" in:\n%s\n", *looks, seen->rows);
            if (seen->asked)
                fprintf(stderr, "asked for:\n%s\n", seen->asked);
            _fail(file, line);
        }
}
