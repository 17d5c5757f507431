#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/import_private.h"

static const struct place whole = {"the text"};

struct form {
    struct import_text *text;
    struct imported *out;
    bool versioned, has_session, has_events;
    struct import_openai *messages; /* NULL: none came */
};

/* --- arrays and objects, element by element --------------------------------------------------- */

/* An array whose bracket was taken. */
static bool read_array(struct form *f, const char *name,
                       bool (*take)(struct form *f, const struct json *v, const struct place *p,
                                    struct error *e),
                       struct error *e)
{
    struct import_text *t = f->text;
    if (import_text_take(t, ']'))
        return true;
    for (size_t i = 0;; i++) {
        struct place p = place_of("%s[%zu]", name, i);
        struct json *v = import_text_value(t, &p, e);
        bool ok = v && take(f, v, &p, e);
        json_free(v);
        if (!ok || !imported_settle(f->out, e))
            return false;
        if (import_text_take(t, ']'))
            return true;
        if (!import_text_take(t, ','))
            return import_text_fault(t, &p, e);
    }
}

/* A member's name and its colon; the caller frees. */
static char *read_name(struct import_text *t, struct error *e)
{
    struct json *v = import_text_value(t, &whole, e);
    char *name = mem_strdup(json_string(v));
    json_free(v);
    if (v && !(name && import_text_take(t, ':'))) {
        import_text_fault(t, &whole, e);
        free(name);
        return NULL;
    }
    return name;
}

/* An object whose bracket was taken; `take` reads the member's value. */
static bool read_object(struct form *f,
                        bool (*take)(struct form *f, const char *name, struct error *e),
                        struct error *e)
{
    struct import_text *t = f->text;
    if (import_text_take(t, '}'))
        return true;
    for (;;) {
        char *name = read_name(t, e);
        bool ok = name && take(f, name, e);
        free(name);
        if (!ok)
            return false;
        if (import_text_take(t, '}'))
            return true;
        if (!import_text_take(t, ','))
            return import_text_fault(t, &whole, e);
    }
}

/* --- what a text is --------------------------------------------------------------------------- */

static bool take_version(struct form *f, const struct json *v, struct error *e)
{
    f->versioned = true;
    return import_own_version(v, &whole, e);
}

static bool take_session(struct form *f, const struct json *v, struct error *e)
{
    if (f->has_session)
        return import_fault(&whole, e, "a second \"session\"");
    f->has_session = true;
    return import_own_session(v, f->out, e);
}

static bool take_model(struct form *f, const struct json *v, struct error *e)
{
    (void)e;
    if (!f->out->info.model)
        f->out->info.model = mem_strdup(json_string(v));
    return true;
}

static bool take_nothing(struct form *f, const struct json *v, struct error *e)
{
    (void)f;
    (void)v;
    (void)e;
    return true;
}

static bool take_event(struct form *f, const struct json *v, const struct place *p, struct error *e)
{
    return import_own_event(v, p, f->out, e);
}

static bool take_message(struct form *f, const struct json *v, const struct place *p,
                         struct error *e)
{
    return import_openai_message(f->messages, v, p, e);
}

static bool read_events(struct form *f, struct error *e)
{
    if (f->has_events || f->messages)
        return import_fault(&whole, e, "a second list of events or messages");
    f->has_events = true;
    return import_text_take(f->text, '[') ? read_array(f, "events", take_event, e)
                                          : import_fault(&whole, e, "\"events\" is no array");
}

static bool read_messages(struct form *f, struct error *e)
{
    f->messages = import_openai_new(f->out);
    if (!read_array(f, "messages", take_message, e))
        return false;
    import_openai_end(f->messages);
    return true;
}

static bool read_messages_member(struct form *f, struct error *e)
{
    struct place p = place_of("messages");
    if (f->has_events || f->messages)
        return import_fault(&whole, e, "a second list of events or messages");
    return import_text_take(f->text, '[') ? read_messages(f, e)
                                          : import_fault(&p, e, "it is no list");
}

static bool read_small(struct form *f, const char *name,
                       bool (*take)(struct form *f, const struct json *v, struct error *e),
                       struct error *e)
{
    struct place p = place_of("\"%.40s\"", name);
    struct json *v = import_text_value(f->text, &p, e);
    bool ok = v && take(f, v, e);
    json_free(v);
    return ok;
}

static bool read_member(struct form *f, const char *name, struct error *e)
{
    static const struct {
        const char *name;
        bool (*take)(struct form *f, const struct json *v, struct error *e);
    } small[] = {{"tiro", take_version}, {"session", take_session}, {"model", take_model}};
    if (strcmp(name, "events") == 0)
        return read_events(f, e);
    if (strcmp(name, "messages") == 0)
        return read_messages_member(f, e);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (strcmp(name, small[i].name) == 0)
            return read_small(f, name, small[i].take, e);
    return read_small(f, name, take_nothing, e);
}

static bool is_whole(const struct form *f, struct error *e)
{
    struct place session = place_of("session");
    if (f->messages)
        return true;
    if (!f->versioned)
        return import_fault(&whole, e,
                            "neither a session that tiro exported nor a list of messages");
    if (!f->has_session)
        return import_fault(&session, e, "the session is no object");
    return f->has_events || import_fault(&whole, e, "\"events\" is no array");
}

static bool read_json(struct form *f, struct error *e)
{
    if (import_text_take(f->text, '['))
        return read_messages(f, e);
    if (import_text_take(f->text, '{'))
        return read_object(f, read_member, e) && is_whole(f, e);
    return import_fault(
        &whole, e, "neither a session that tiro exported nor a list of messages, which are JSON");
}

static bool read_whole_json(struct import_text *t, struct imported *out, struct error *e)
{
    struct form f = {.text = t, .out = out};
    bool ok = read_json(&f, e) && (import_text_peek(t) < 0 || import_text_fault(t, &whole, e));
    import_openai_free(f.messages);
    return ok;
}

/* Whether the first line is a JSON object by itself that says what it is. */
static bool is_lines(struct import_text *t)
{
    struct error none;
    if (import_text_peek(t) != '{' || !import_text_line(t, &none))
        return false;
    struct json *line = json_parse_foreign(t->element.data, t->element.len, NULL);
    bool ok = json_get_string(line, "type") != NULL;
    json_free(line);
    return ok;
}

static bool read_form(struct import_text *t, struct imported *out, struct error *e)
{
    if (!import_text_rewind(t, e))
        return false;
    if (import_text_peek(t) < 0)
        return import_fault(&whole, e, "there is nothing in it");
    bool lines = is_lines(t);
    return import_text_rewind(t, e) && (lines ? import_own_lines : read_whole_json)(t, out, e) &&
           (out->count > 0 || (out->info.draft && *out->info.draft) ||
            import_fault(&whole, e, "there is no message in it"));
}

/* A text that breaks off is no fault of the text where it could not be read on. */
bool import_form_read(struct import_text *t, struct imported *out, struct error *e)
{
    bool ok = read_form(t, out, e);
    return t->fault.code == ERR_OK ? ok : err_set(e, t->fault.code, "%s", t->fault.text);
}
