/* What is asked: a tool before it runs, a summary before it counts. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "ui/app/plain_private.h"

bool plain_is_asked(const struct plain *p)
{
    return approval_open(&p->approval) || p->reviewing;
}

static const char *grant(const struct plain *p)
{
    return p->approval.questions.items[0].grant;
}

const char *plain_question(const struct plain *p)
{
    if (!approval_open(&p->approval))
        return _("Use this summary? yes, no, or again: ");
    return grant(p) ? _("Allow it? yes, no, or session: ") : _("Allow it? yes or no: ");
}

void plain_show_question(struct plain *p)
{
    if (!approval_open(&p->approval))
        return;
    const struct question *q = &p->approval.questions.items[0];
    char *title = approval_title(q);
    plain_writef(&p->out, "%s:", title);
    free(title);
    if (q->guarded)
        plain_writef(&p->out, _("! keys or tiro's own files: %s"), q->guarded);
    plain_write(&p->out, q->text);
    if (q->grant)
        plain_writef(&p->out, _("With \"session\" you allow %s for this session."), q->grant);
    if (!p->in.terminal)
        plain_write(&p->out, plain_question(p));
}

/* A word in the user's language or in English, or its first letter. */
static bool is_word(const char *text, const char *english, const char *local)
{
    text += strspn(text, " \t\n");
    size_t len = strcspn(text, " \t\n");
    const char *words[] = {english, local};
    if (text[len + strspn(text + len, " \t\n")] != '\0')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(text, words[i], len) == 0 && (len == 1 || len == strlen(words[i])))
            return true;
    return false;
}

static void answer_tool(struct plain *p, enum approval_answer answer)
{
    char *id = mem_strdup(approval_id(&p->approval));
    approval_over(&p->approval, id);
    plain_send(p, &operation_approval_decide,
               &(struct approval_decide_params){.call = id, .decision = answer});
    free(id);
    plain_show_question(p);
}

static void answer_review(struct plain *p, enum draft_answer answer)
{
    p->reviewing = false;
    plain_send(p, &operation_compaction_decide,
               &(struct compaction_decide_params){.decision = answer});
}

bool plain_answer(struct plain *p, const char *text)
{
    bool yes = is_word(text, "yes", _("yes")), no = is_word(text, "no", _("no"));
    bool tool = approval_open(&p->approval);
    bool third = tool ? grant(p) && is_word(text, "session", _("session"))
                      : is_word(text, "again", _("again"));
    if (!*text || !(yes || no || third))
        return !*text;
    if (tool)
        answer_tool(p, yes ? ANSWER_ONCE : no ? ANSWER_DENY : ANSWER_SESSION);
    else
        answer_review(p, yes ? DRAFT_COMMIT : no ? DRAFT_REFUSE : DRAFT_AGAIN);
    return true;
}

void plain_deny(struct plain *p)
{
    while (approval_open(&p->approval))
        answer_tool(p, ANSWER_DENY);
    if (p->reviewing)
        answer_review(p, DRAFT_REFUSE);
}

void plain_review(struct plain *p, const struct notice *n)
{
    p->reviewing = true;
    plain_write(&p->out, _("Draft of the summary:"));
    plain_write(&p->out, n->text ? n->text : "");
    plain_writef(&p->out, _("With it the next request has about %lld tokens, instead of %lld."),
                 (long long)n->draft.tokens_after, (long long)n->draft.tokens_before);
    if (!p->in.terminal)
        plain_write(&p->out, plain_question(p));
}

void plain_forget_questions(struct plain *p)
{
    approval_forget(&p->approval);
    p->reviewing = false;
}
