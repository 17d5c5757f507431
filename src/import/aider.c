/* aider: PROJECT/.aider.chat.history.md. A heading begins a session; each line that a person wrote
 * begins with "#### ", the program's own lines with "> ", all others are the answer. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "import/source.h"
#include "import/text.h"

#define HEADING "# aider chat started at "

struct talk {
    struct import_sink *sink;
    struct import_conversation c;
    char *id, *directory;
    char *when;     /* of a heading without a text so far; NULL: there is none */
    enum role role; /* of the text */
    struct buf text;
    bool open; /* a session was begun, and is wanted */
};

/* The session is known by its time and its first line, not by its place: projects are moved and
 * copied. */
static bool begin_session(struct talk *t, const char *first, struct error *e)
{
    uint64_t hash = mem_hash(MEM_HASH, first, strcspn(first, "\n"));
    mem_replace(&t->id, mem_printf("%s %016llx", t->when, (unsigned long long)hash));
    mem_replace(&t->when, NULL);
    t->c.id = t->id;
    t->open = import_wants(t->sink, &t->c, 0);
    return !t->open || import_begin(t->sink, &t->c, e);
}

/* Gives the text so far, without empty lines around it. */
static bool give_text(struct talk *t, struct error *e)
{
    struct import_message m = IMPORT_MESSAGE(t->role, NULL);
    buf_trim_end(&t->text, "\n ");
    m.text = t->text.data + strspn(t->text.data, "\n");
    m.ms = t->c.created_ms;
    bool blank = utf8_is_blank(m.text);
    bool ok = blank || !t->when || begin_session(t, m.text, e);
    ok = ok && (!t->open || blank || import_add(t->sink, &m, e));
    buf_clear(&t->text);
    return ok;
}

static bool end_session(struct talk *t, struct error *e)
{
    bool ok = give_text(t, e) && (!t->open || import_end(t->sink, e));
    t->open = false;
    return ok;
}

/* "2026-03-01 10:00:00", in the local time. */
static bool take_heading(struct talk *t, const char *when, struct error *e)
{
    struct tm tm = {.tm_isdst = -1};
    if (!end_session(t, e))
        return false;
    mem_replace(&t->when, mem_strdup(when));
    t->c = (struct import_conversation){.directory = t->directory};
    if (sscanf(when, "%d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) == 6) {
        tm.tm_year -= 1900;
        tm.tm_mon--;
        t->c.created_ms = import_time((double)mktime(&tm));
    }
    t->role = ROLE_ASSISTANT;
    return true;
}

static bool take_line(struct talk *t, const char *line, struct error *e)
{
    bool said = strncmp(line, "#### ", 5) == 0;
    if (strncmp(line, HEADING, strlen(HEADING)) == 0)
        return take_heading(t, line + strlen(HEADING), e);
    if (strncmp(line, "> ", 2) == 0 || strcmp(line, ">") == 0)
        return true;
    enum role role = said ? ROLE_USER : ROLE_ASSISTANT;
    /* An empty line does not end what a person wrote, another one does. */
    if (role != t->role && (said || !utf8_is_blank(line))) {
        if (!give_text(t, e))
            return false;
        t->role = role;
    }
    if (t->text.len < IMPORT_ELEMENT_BYTES)
        buf_addf(&t->text, "%s\n", said ? line + 5 : line);
    return true;
}

static bool read_aider(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct talk t = {.sink = k, .text = BUF_INIT};
    struct import_text lines;
    FILE *in = import_file_open(f, e);
    if (!in)
        return false;
    struct error cause = {0};
    bool ok = true;
    t.directory = paths_parent(f->path);
    import_text_init(&lines, in, 64 * 1024, NULL, NULL);
    while (ok && import_text_line(&lines, &cause)) {
        char *line = lines.element.data;
        line[strcspn(line, "\r")] = '\0';
        ok = take_line(&t, line, e);
        buf_clear(&lines.element);
    }
    ok = ok && end_session(&t, e);
    if (ok && cause.code != ERR_OK)
        ok = err_set(e, cause.code, "%s", cause.text);
    import_text_release(&lines);
    fclose(in);
    buf_release(&t.text);
    free(t.id);
    free(t.when);
    free(t.directory);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

/* aider has no list of its projects: that of the working directory. */
static void places(struct text_list *out)
{
    auto_free char *here = getcwd(NULL, 0);
    import_place(out, "AIDER_CHAT_HISTORY_FILE", "", NULL);
    if (here)
        vec_push(&out->items, paths_join(here, ".aider.chat.history.md"));
}

static bool named(const char *path)
{
    return is(import_name(path), ".aider.chat.history.md");
}

static bool sniff(const struct import_file *f)
{
    size_t blank = 0;
    while (blank < f->head_len && strchr("\r\n", f->head[blank]))
        blank++;
    return f->head_len - blank > strlen(HEADING) &&
           memcmp(f->head + blank, HEADING, strlen(HEADING)) == 0;
}

const struct import_source import_aider = {
    .name = "aider",
    .label = "aider",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_aider,
};
