#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/session_operations.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/view/hints.h"
#include "ui/view/sessions_private.h"

enum { FILE_NAME_BYTES = 100, TITLE_COLUMNS = 40 /* of a question */ };

/* --- what stands there at first --- */

static char *first_title(const struct session_info *target)
{
    return sessions_clean(target->title);
}

static char *first_labels(const struct session_info *target)
{
    return sessions_clean(target->labels);
}

char *sessions_file_name(const char *title)
{
    char *clean = sessions_clean(title);
    size_t len = utf8_cut_bytes(clean, strlen(clean), FILE_NAME_BYTES);
    for (size_t i = 0; i < len; i++)
        if (clean[i] == '/')
            clean[i] = '-';
    size_t dots = strspn(clean, ". "); /* no hidden file */
    dots = dots < len ? dots : len;
    char *name = len > dots ? mem_printf("%.*s.md", (int)(len - dots), clean + dots)
                            : mem_strdup("session.md");
    free(clean);
    return name;
}

static char *first_file(const struct session_info *target)
{
    return sessions_file_name(target->title);
}

/* --- what is asked for with it: the request's id; 0: there is nothing to do --- */

static uint64_t rename_to(struct sessions *s, const char *text)
{
    const struct session_rename_params params = {s->target.id, text};
    if (strcmp(s->target.title, text) == 0)
        return 0;
    return sessions_change(s, &operation_session_rename, &params);
}

static bool has_word(const char *words, const char *word, size_t len)
{
    while (*(words += strspn(words, " "))) {
        size_t n = strcspn(words, " ");
        if (n == len && memcmp(words, word, len) == 0)
            return true;
        words += n;
    }
    return false;
}

/* The line holds the labels as they shall be: what it no longer has is taken away. */
static uint64_t label_as(struct sessions *s, const char *text)
{
    struct buf changes = BUF_INIT;
    const char *labels = s->target.labels ? s->target.labels : "", *old = labels;
    if (strcmp(labels, text) == 0)
        return 0;
    while (*(old += strspn(old, " "))) {
        size_t len = strcspn(old, " ");
        if (!has_word(text, old, len))
            buf_addf(&changes, "-%.*s ", (int)len, old);
        old += len;
    }
    buf_addstr(&changes, text);
    const struct session_label_params params = {s->target.id, changes.data};
    uint64_t id = sessions_change(s, &operation_session_label, &params);
    buf_release(&changes);
    return id;
}

static bool take_export(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = sessions_of(view);
    const struct session_export_params *p = a->request->params;
    char *done = words ? NULL : mem_printf(_("Exported to %s."), p->path);
    sessions_input_answered(s, a->request->id, !words);
    sessions_say(s, words ? STYLE_ERROR : STYLE_NOTE, words ? words : done);
    free(done);
    return true;
}

static uint64_t export_to(struct sessions *s, const char *text)
{
    const struct session_export_params params = {
        .session = s->target.id, .path = text, .format = export_format_of_path(text)};
    return *text ? view_ask(&s->view, &operation_session_export, &params, take_export) : 0;
}

static uint64_t delete_it(struct sessions *s, const char *text)
{
    const struct session_params params = {s->target.id};
    (void)text;
    return sessions_change(s, &operation_session_delete, &params);
}

static const struct {
    const char *prompt; /* for gettext */
    char *(*first)(const struct session_info *target);
    uint64_t (*ask)(struct sessions *s, const char *text);
} inputs[] = {[INPUT_TITLE] = {N_("Title: "), first_title, rename_to},
              [INPUT_LABELS] = {N_("Labels: "), first_labels, label_as},
              [INPUT_FILE] = {N_("Export to: "), first_file, export_to},
              [INPUT_DELETE] = {NULL, NULL, delete_it}};

/* --- the line --- */

/* A place that was found tells less of its session than a row of the list. */
static void set_target(struct sessions *s)
{
    struct sessions_entry e = sessions_entry(s, s->selected);
    session_info_release(&s->target);
    session_info_init(&s->target);
    if (e.session) {
        session_info_release(&s->target);
        s->target = session_info_clone(e.session);
    } else if (e.hit && strcmp(s->previewed.id, e.hit->session_id) == 0) {
        session_info_release(&s->target);
        s->target = session_info_clone(&s->previewed);
    } else if (e.hit) {
        memcpy(s->target.id, e.hit->session_id, sizeof s->target.id);
        free(s->target.title);
        s->target.title = mem_strdup(e.hit->title ? e.hit->title : "");
    }
}

void sessions_input_open(struct sessions *s, enum sessions_input input)
{
    if (!sessions_selected_id(s))
        return;
    set_target(s);
    s->input = input;
    s->sent = 0;
    s->pinned = true;
    char *first = inputs[input].first ? inputs[input].first(&s->target) : NULL;
    editor_set(s->line, first);
    free(first);
}

void sessions_input_close(struct sessions *s)
{
    s->input = INPUT_NONE;
    s->sent = 0;
}

const char *sessions_input_prompt(const struct sessions *s)
{
    return inputs[s->input].prompt ? _(inputs[s->input].prompt) : NULL;
}

char *sessions_input_question(const struct sessions *s)
{
    char *title = sessions_title(&s->target);
    size_t len = strlen(title), cut = utf8_cut_width(title, len, TITLE_COLUMNS);
    char *question = mem_printf(_("Delete \"%.*s%s\" for good? y/n"), (int)cut, title,
                                cut < len ? glyph(GLYPH_ELLIPSIS) : "");
    free(title);
    return question;
}

static void send(struct sessions *s)
{
    s->sent = inputs[s->input].ask(s, editor_text(s->line));
    if (s->sent == 0) /* else the line stays until it is known what became of it */
        sessions_input_close(s);
}

void sessions_input_answered(struct sessions *s, uint64_t id, bool done)
{
    if (s->sent != id)
        return;
    s->sent = 0;
    if (done)
        sessions_input_close(s);
}

void sessions_edit(struct editor *line, enum action action, const struct key *key, size_t max)
{
    size_t len = editor_len(line);
    if (action == ACTION_NEWLINE)
        return;
    if (key->code == K_PASTE && len < max) {
        struct buf clean = BUF_INIT;
        utf8_clean(&clean, key->text, strcspn(key->text, "\r\n"), UTF8_ONE_LINE);
        editor_paste(line, clean.data, utf8_cut_bytes(clean.data, clean.len, max - len));
        buf_release(&clean);
    } else if (key->code != K_PASTE && (action != ACTION_NONE || len < max)) {
        (void)editor_take_key(line, action, key);
    }
}

static void answer_key(struct sessions *s, const struct key *key)
{
    if (hint_is_letter(key, _("y"))) {
        send(s);
        sessions_input_close(s);
    } else if (hint_is_letter(key, _("n"))) {
        sessions_input_close(s);
    }
}

void sessions_input_key(struct sessions *s, enum action action, const struct key *key)
{
    if (action == ACTION_CANCEL)
        sessions_input_close(s);
    else if (s->input == INPUT_DELETE)
        answer_key(s, key);
    else if (s->sent)
        ; /* what is being done is not changed any more */
    else if (action == ACTION_SEND)
        send(s);
    else
        sessions_edit(s->line, action, key, SESSIONS_INPUT_BYTES);
}
