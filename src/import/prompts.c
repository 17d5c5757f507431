/* Lists of all prompts that a person ever wrote, a line a prompt: what is left of conversations
 * whose transcripts were deleted. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "import/source.h"

/* A transcript may come later than the prompt. */
enum { REST_MS = 24 * 60 * 60 * 1000 };

struct prompt {
    uint64_t session; /* a hash */
    int64_t begin, ms;
};

static int prompt_order(const void *a, const void *b)
{
    const struct prompt *left = a, *right = b;
    if (left->session != right->session)
        return left->session < right->session ? -1 : 1;
    return (left->begin > right->begin) - (left->begin < right->begin);
}

/* "/clear", "/model opus", but not "/home/u is full". */
static bool is_command(const char *text)
{
    return *text == '/' && text[1 + strcspn(text + 1, "/ \n")] != '/';
}

static bool add_prompt(struct import_sink *k, const struct import_prompts *p,
                       const struct json *line, const struct prompt *prompt, struct error *e)
{
    const char *text = json_get_string(line, p->text);
    AUTO(buf_release) struct buf all = BUF_INIT;
    if (!text || is_command(text))
        return true;
    import_add_paragraph(&all, text);
    for (const struct json *v = json_first(json_get(line, "pastedContents")); v; v = json_next(v))
        import_add_paragraph(&all, json_get_string(v, "content"));
    auto_free char *id =
        mem_printf("%016llx/%lld", (unsigned long long)prompt->session, (long long)prompt->ms);
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, all.data);
    m.id = id;
    m.ms = prompt->ms;
    return import_add(k, &m, e);
}

/* The prompts of one session, whose transcript would have no stamp. */
static bool give_session(struct import_sink *k, const struct import_prompts *p,
                         struct import_lines *l, const struct prompt *prompts, size_t count,
                         struct error *e)
{
    struct import_conversation c = {.created_ms = prompts->ms, .updated_ms = prompts[count - 1].ms};
    bool ok = true, begun = false;
    for (size_t i = 0; ok && i < count; i++) {
        import_lines_seek(l, prompts[i].begin);
        AUTO(json_free_local) struct json *line = import_lines_next(l, NULL);
        if (i == 0) {
            import_take(&c.id, json_get_string(line, p->session));
            import_take(&c.directory, p->directory ? json_get_string(line, p->directory) : NULL);
            begun = c.id && import_stamp(k, c.id) != 0 && import_wants(k, &c, c.updated_ms);
            ok = !begun || import_begin(k, &c, e);
        }
        if (!begun)
            break;
        ok = ok && add_prompt(k, p, line, &prompts[i], e);
    }
    ok = ok && (!begun || import_end(k, e));
    import_conversation_release(&c);
    return ok;
}

bool import_prompts(struct import_sink *k, struct import_file *f, const struct import_prompts *p,
                    struct error *e)
{
    VEC(struct prompt) list = {0};
    struct import_lines l;
    import_lines_init(&l, k, f, 0);
    for (struct json *v; (v = import_lines_next(&l, e)); json_free(v)) {
        const char *session = json_get_string(v, p->session);
        if (session && *session) /* else nobody knows whether there is a transcript */
            vec_push(&list, (struct prompt){mem_hash(MEM_HASH, session, strlen(session)), l.begin,
                                            import_time_of(json_get(v, p->time))});
    }
    vec_sort(&list, prompt_order);
    bool ok = !l.failed;
    for (size_t i = 0, next; ok && i < list.len; i = next) {
        for (next = i; next < list.len && list.items[next].session == list.items[i].session; next++)
            ;
        if (list.items[next - 1].ms < clock_wall_ms() - REST_MS)
            ok = give_session(k, p, &l, &list.items[i], next - i, e);
    }
    import_lines_release(&l);
    vec_release(&list);
    return ok;
}
