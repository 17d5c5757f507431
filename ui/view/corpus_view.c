/* Corpora as a tab: their documents and passages, files that could not be read, a search in all of
 * them, and the passages that the model was given to cite. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "chat/knowledge.h"
#include "session/corpus_operations.h"
#include "ui/view/browser.h"
#include "ui/view/memory_view.h"

enum {
    LISTED = 500,     /* rows of a level */
    WIDE = 57,        /* columns, from which on passages are counted, too */
    SHOWN_BYTES = 400 /* of a passage, in its row */
};

/* From the list of corpora the user opens a corpus (its documents), then a document (its passages).
 * A query at the top finds passages; LEVEL_CITED lists those that the model was given. */
enum corpus_level { LEVEL_CORPORA, LEVEL_FOUND, LEVEL_CITED, LEVEL_DOCUMENTS, LEVEL_PASSAGES };

enum corpus_row_kind { ROW_CITED, ROW_CORPUS, ROW_FAILED, ROW_DOCUMENT, ROW_PASSAGE };

struct corpus_row {
    enum corpus_row_kind kind;
    size_t index; /* in the list of its kind */
};

struct corpus_view {
    struct browser b;
    enum corpus_level level;
    char *corpus; /* of LEVEL_DOCUMENTS and below; NULL: passages were opened otherwise */
    char *file;   /* of LEVEL_PASSAGES */
    int64_t document, chunk; /* likewise; the passage to choose when they come */
    enum corpus_level from;  /* the level to which Backspace leads from passages */
    int wanted;              /* citation to open when it comes; 0: none */
    int64_t cited_before;    /* event before which `cited` was given; 0: last of all */

    struct corpus_list corpora;
    struct corpus_passages cited;
    struct corpus_found found;
    struct corpus_documents documents, failed;
    struct corpus_passages passages;
    VEC(struct corpus_row) rows; /* of the level */
    char *progress;              /* of reading files or of vectors; NULL: none */
};

/* NULL: nothing is chosen. */
static const struct corpus_row *chosen_row(const struct corpus_view *v)
{
    size_t chosen = browser_chosen(&v->b);
    return chosen < v->rows.len ? &v->rows.items[chosen] : NULL;
}

/* NULL: the row is no passage. */
static const struct corpus_passage *passage_of(const struct corpus_view *v,
                                               const struct corpus_row *r)
{
    if (!r || r->kind != ROW_PASSAGE)
        return NULL;
    return v->level == LEVEL_CITED   ? &v->cited.items.items[r->index]
           : v->level == LEVEL_FOUND ? &v->found.items.items[r->index]
                                     : &v->passages.items.items[r->index];
}

/* NULL: the row is no document, nor a file that could not be read. */
static const struct corpus_document *document_of(const struct corpus_view *v,
                                                 const struct corpus_row *r)
{
    return r->kind == ROW_DOCUMENT ? &v->documents.items.items[r->index]
           : r->kind == ROW_FAILED ? &v->failed.items.items[r->index]
                                   : NULL;
}

static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash && slash[1] ? slash + 1 : file;
}

/* The file's name, with as much of its path as tells it from the other files of the list. */
static const char *name_among(const struct corpus_view *v, const char *file)
{
    const char *name = name_of(file);
    for (size_t i = 0; i < v->rows.len; i++) {
        const struct corpus_passage *p = passage_of(v, &v->rows.items[i]);
        const struct corpus_document *d = document_of(v, &v->rows.items[i]);
        const char *other = p ? p->file : d ? d->file : NULL;
        while (other && strcmp(other, file) != 0 && name > file) {
            size_t len = strlen(other), tail = strlen(name);
            bool alike = len >= tail && strcmp(other + len - tail, name) == 0 &&
                         (len == tail || *name == '/' || other[len - tail - 1] == '/');
            if (!alike)
                break;
            name -= name > file + 1 ? 2 : 1;
            while (name > file && name[-1] != '/')
                name--;
        }
    }
    return name;
}

/* --- entries ---------------------------------------------------------------------------------- */

static int64_t entry_id(const struct browser *b, size_t index)
{
    const struct corpus_view *v = (const struct corpus_view *)b;
    const struct corpus_row *r = &v->rows.items[index];
    const struct corpus_passage *p = passage_of(v, r);
    int64_t level = (int64_t)v->level << 8 | (int64_t)r->kind;
    if (p)
        return browser_hash(level + p->number * 977 + p->chunk * 31, p->file);
    if (r->kind == ROW_CORPUS)
        return browser_hash(level, v->corpora.items.items[r->index].name);
    return document_of(v, r) ? browser_hash(level, document_of(v, r)->file) : level;
}

/* "[2] kyoto.md:12  The night train …", with the score of a search. */
static void passage_entry(const struct corpus_view *v, const struct corpus_passage *p,
                          struct browser_entry *out)
{
    bool within = v->level == LEVEL_PASSAGES;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (p->number > 0)
        buf_addf(&text, "[%d] ", p->number);
    if (!within)
        browser_clean(&text, name_among(v, p->file));
    if (p->page > 0)
        buf_addf(&text, _(" p. %lld"), (long long)p->page);
    else if (p->line > 0 && within)
        buf_addf(&text, _("line %lld"), (long long)p->line);
    else if (p->line > 0)
        buf_addf(&text, ":%lld", (long long)p->line);
    buf_addstr(&text, "  ");
    utf8_add_cut(&text, p->content, strlen(p->content), SHOWN_BYTES);
    browser_clean(&out->left, text.data);
    if (!within)
        buf_addf(&out->right, "%.2f ", p->score);
}

static void entry(const struct browser *b, size_t index, struct browser_entry *out)
{
    const struct corpus_view *v = (const struct corpus_view *)b;
    const struct corpus_row *r = &v->rows.items[index];
    const struct corpus_document *d = document_of(v, r);
    if (r->kind == ROW_PASSAGE) {
        passage_entry(v, passage_of(v, r), out);
    } else if (r->kind == ROW_CITED) {
        out->style = STYLE_LINK;
        buf_addstr(&out->left, _("What the model was given last"));
        buf_addf(&out->right, "%zu ", v->cited.items.len);
    } else if (d) {
        browser_clean(&out->left, name_among(v, d->file));
        if (!d->error) {
            buf_addf(&out->right, "%lld ", (long long)d->passages);
            return;
        }
        out->style = STYLE_WARNING;
        buf_addstr(&out->left, ": ");
        browser_clean(&out->left, d->error);
    } else {
        const struct corpus_info *n = &v->corpora.items.items[r->index];
        bool wide = b->view.width >= WIDE;
        browser_clean(&out->left, n->name);
        if (n->failed > 0)
            buf_addf(&out->left, " %s %lld %s", glyph(GLYPH_DOT), (long long)n->failed,
                     _("unreadable"));
        if (n->pending)
            buf_addf(&out->left, " %s %s", glyph(GLYPH_DOT), _("being read"));
        buf_addf(&out->right,
                 ngettext("%lld document", "%lld documents", (unsigned long)n->documents),
                 (long long)n->documents);
        buf_addstr(&out->right, wide ? ", " : " ");
        if (wide)
            buf_addf(&out->right,
                     ngettext("%lld passage ", "%lld passages ", (unsigned long)n->passages),
                     (long long)n->passages);
    }
}

static bool entry_text(const struct browser *b, size_t index, struct buf *out)
{
    const struct corpus_view *v = (const struct corpus_view *)b;
    const struct corpus_row *r = &v->rows.items[index];
    const struct corpus_passage *p = passage_of(v, r);
    if (r->kind == ROW_FAILED) {
        const struct corpus_document *d = document_of(v, r);
        buf_addf(out, "%s\n%s", d->file, d->error ? d->error : "");
    } else if (p) {
        bool headed = p->heading && *p->heading;
        buf_addf(out, "%s\n%s%s\n%s", p->file, headed ? p->heading : "", headed ? "\n" : "",
                 p->content);
    }
    return out->len > 0;
}

static const struct browser_columns columns = {entry_id, entry, entry_text, NULL};

static void list_rows(struct corpus_view *v)
{
    const struct {
        enum corpus_level level;
        enum corpus_row_kind kind;
        size_t count;
    } parts[] = {{LEVEL_CORPORA, ROW_CITED, v->cited.items.len > 0},
                 {LEVEL_CORPORA, ROW_CORPUS, v->corpora.items.len},
                 {LEVEL_FOUND, ROW_PASSAGE, v->found.items.len},
                 {LEVEL_CITED, ROW_PASSAGE, v->cited.items.len},
                 {LEVEL_DOCUMENTS, ROW_FAILED, v->failed.items.len},
                 {LEVEL_DOCUMENTS, ROW_DOCUMENT, v->documents.items.len},
                 {LEVEL_PASSAGES, ROW_PASSAGE, v->passages.items.len}};
    vec_clear(&v->rows);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t k = 0; parts[i].level == v->level && k < parts[i].count; k++)
            vec_push(&v->rows, (struct corpus_row){parts[i].kind, k});
    browser_fill(&v->b.main, v->rows.len);
}

static bool has_query(const struct browser *b)
{
    enum corpus_level level = ((const struct corpus_view *)b)->level;
    return level == LEVEL_CORPORA || level == LEVEL_FOUND;
}

/* LEVEL_CORPORA is LEVEL_FOUND while there is a query. */
static void open_level(struct corpus_view *v, enum corpus_level level)
{
    bool searches = !utf8_is_blank(editor_text(v->b.query));
    v->level = level == LEVEL_CORPORA && searches ? LEVEL_FOUND : level;
    if (v->b.place == BROWSER_QUESTION || !has_query(&v->b))
        v->b.place = BROWSER_LIST;
    list_rows(v);
    if (v->rows.len > 0)
        outline_choose(v->b.main.outline, 0);
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool take_cited(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = (struct corpus_view *)view;
    int wanted = v->wanted;
    if (words)
        return true; /* the session is not kept yet */
    browser_take(a, &v->cited);
    if (v->level == LEVEL_CORPORA || v->level == LEVEL_CITED)
        list_rows(v);
    v->wanted = 0;
    if (wanted <= 0)
        return true;
    for (size_t i = 0; i < v->cited.items.len; i++)
        if (v->cited.items.items[i].number == wanted) {
            open_level(v, LEVEL_CITED);
            outline_choose(v->b.main.outline, i);
            outline_open(v->b.main.outline, i);
            return true;
        }
    remark_set(&v->b.remark, STYLE_NOTE, _("The model was given no passage with this number."));
    return true;
}

/* The entries of the level, or of one that was left meanwhile. */
static bool take_entries(struct view *view, struct operation_answer *a, const char *words)
{
    struct corpus_view *v = (struct corpus_view *)view;
    const struct operation *o = a->request->operation;
    const struct corpus_documents_query *asked = a->request->params;
    if (!browser_came(&v->b, words))
        return true;
    if (o == &operation_corpus_list)
        browser_take(a, &v->corpora);
    else if (o == &operation_corpus_search)
        browser_take(a, &v->found);
    else if (o == &operation_corpus_documents)
        browser_take(a, asked->failed ? &v->failed : &v->documents);
    else
        browser_take(a, &v->passages);
    if (o == &operation_corpus_search && v->found.badge)
        remark_set(&v->b.remark, STYLE_NOTE, v->found.badge);
    list_rows(v);
    for (size_t i = 0; o == &operation_corpus_passages && i < v->passages.items.len; i++)
        if (v->passages.items.items[i].chunk == v->chunk) {
            outline_choose(v->b.main.outline, i);
            outline_open(v->b.main.outline, i);
        }
    return true;
}

/* --- asking ----------------------------------------------------------------------------------- */

static void ask_cited(struct corpus_view *v)
{
    const struct session_info *session = v->b.view.host->session;
    if (session && session->id[0])
        (void)view_ask(&v->b.view, &operation_corpus_cited,
                       &(struct corpus_cited){session->id, v->cited_before}, take_cited);
}

static void refresh(struct browser *b)
{
    struct corpus_view *v = (struct corpus_view *)b;
    const char *text = editor_text(b->query);
    struct corpus_documents_query documents = {.name = v->corpus, .failed = true, .limit = LISTED};
    const struct corpus_passages_query passages = {
        .document = v->document,
        .from = v->chunk > LISTED / 2 ? v->chunk - LISTED / 2 : 0,
        .limit = LISTED};
    switch (v->level) {
    case LEVEL_DOCUMENTS:
        (void)view_ask(&b->view, &operation_corpus_documents, &documents, take_entries);
        documents.failed = false;
        b->asked = view_ask(&b->view, &operation_corpus_documents, &documents, take_entries);
        break;
    case LEVEL_PASSAGES:
        b->asked = view_ask(&b->view, &operation_corpus_passages, &passages, take_entries);
        break;
    case LEVEL_CITED:
        ask_cited(v);
        break;
    case LEVEL_CORPORA:
    case LEVEL_FOUND:
        if (utf8_is_blank(text)) {
            browser_ask(b, &operation_corpus_list, NULL, take_entries);
            ask_cited(v);
        } else {
            const struct corpus_search search = {
                .query = text, .top_k = CORPUS_TOP_K_MOST, .hybrid_weight = -1};
            browser_ask(b, &operation_corpus_search, &search, take_entries);
        }
        break;
    }
}

static void search(struct browser *b)
{
    open_level((struct corpus_view *)b, LEVEL_CORPORA);
    refresh(b);
}

/* --- walking ---------------------------------------------------------------------------------- */

static void open_document(struct corpus_view *v, int64_t document, const char *file, int64_t chunk)
{
    char *copy = mem_strdup(file);
    free(v->file);
    v->file = copy;
    v->document = document;
    v->chunk = chunk;
    v->from = v->level;
    shape_release(&corpus_passages_shape, &v->passages);
    v->b.known = false;
    open_level(v, LEVEL_PASSAGES);
    refresh(&v->b);
}

static bool open_chosen(struct browser *b)
{
    struct corpus_view *v = (struct corpus_view *)b;
    const struct corpus_row *r = chosen_row(v);
    if (r && r->kind == ROW_CITED) {
        open_level(v, LEVEL_CITED);
    } else if (r && r->kind == ROW_DOCUMENT) {
        open_document(v, document_of(v, r)->id, document_of(v, r)->file, -1);
    } else if (r && r->kind == ROW_CORPUS) {
        free(v->corpus);
        v->corpus = mem_strdup(v->corpora.items.items[r->index].name);
        shape_release(&corpus_documents_shape, &v->documents);
        shape_release(&corpus_documents_shape, &v->failed);
        v->b.known = false;
        open_level(v, LEVEL_DOCUMENTS);
        refresh(&v->b);
    } else {
        return false;
    }
    return true;
}

/* At the top, the cited passages are those that were given last of all. */
static void back(struct browser *b)
{
    struct corpus_view *v = (struct corpus_view *)b;
    bool older = v->level == LEVEL_CITED && v->cited_before > 0;
    if (v->level == LEVEL_PASSAGES) {
        open_level(v, v->from);
        return;
    }
    if (v->level == LEVEL_CITED)
        v->cited_before = 0;
    open_level(v, LEVEL_CORPORA);
    if (older)
        ask_cited(v);
}

/* --- actions ---------------------------------------------------------------------------------- */

/* The corpus of the chosen row; *file: the file in it that is meant, NULL: the whole corpus. NULL:
 * the row is neither. */
static const char *chosen_corpus(const struct corpus_view *v, const char **file)
{
    const struct corpus_row *r = chosen_row(v);
    const struct corpus_document *d = r ? document_of(v, r) : NULL;
    *file = d ? d->file : NULL;
    return r && r->kind == ROW_CORPUS ? v->corpora.items.items[r->index].name
           : d                        ? v->corpus
                                      : NULL;
}

static const char *done(struct browser *b, struct operation_answer *a)
{
    (void)b;
    (void)a;
    return _("Removed; the files stay as they are.");
}

static void remove_chosen(struct browser *b)
{
    const char *file, *name = chosen_corpus((const struct corpus_view *)b, &file);
    if (name)
        (void)view_ask(&b->view, &operation_corpus_remove, &(struct corpus_remove){name, file},
                       browser_changed);
}

static bool updated(struct view *view, struct operation_answer *a, const char *words)
{
    const struct corpus_progress *p = a->result;
    if (words)
        remark_set(&browser_of(view)->remark, STYLE_ERROR, words);
    else if (p->asks)
        remark_set(&browser_of(view)->remark, STYLE_WARNING,
                   _("More than 1,000 files or 100 MB for the embedding endpoint: tiro corpus "
                     "update asks."));
    else
        remark_set(&browser_of(view)->remark, STYLE_NOTE, _("Looking for changed files."));
    return true;
}

static bool act(struct browser *b, enum action action)
{
    struct corpus_view *v = (struct corpus_view *)b;
    const struct corpus_row *r = chosen_row(v);
    const struct corpus_passage *p = passage_of(v, r);
    const struct corpus_document *d = r ? document_of(v, r) : NULL;
    const struct view_host *host = b->view.host;
    const char *file, *name;
    bool paged = p && v->level == LEVEL_PASSAGES && p->page > 0;
    AUTO(buf_release) struct buf page = BUF_INIT;
    switch (action) {
    case ACTION_MEMORY_OPEN: /* the passage within its document */
        if (p && v->level != LEVEL_PASSAGES)
            open_document(v, p->document, p->file, p->chunk);
        else if (!p)
            remark_set(&b->remark, STYLE_NOTE, _("No passage is selected."));
        return true;
    case ACTION_MEMORY_EDIT:
        for (size_t i = 0; paged && i < v->passages.items.len; i++)
            if (v->passages.items.items[i].page == p->page)
                buf_addf(&page, "%s\n\n", v->passages.items.items[i].content);
        if (p) /* with all that is known of its page */
            host->open_file(host->app, p->file, p->line, paged ? page.data : p->content);
        else if (d && r->kind == ROW_DOCUMENT && !d->given)
            host->open_file(host->app, d->file, 1, NULL);
        else
            remark_set(&b->remark, STYLE_NOTE, _("No passage is selected."));
        return true;
    case ACTION_MEMORY_RESTORE:
        name = chosen_corpus(v, &file);
        if (v->level == LEVEL_DOCUMENTS)
            name = v->corpus;
        if (name)
            (void)view_ask(&b->view, &operation_corpus_update, &(struct corpus_add){.name = name},
                           updated);
        else
            remark_set(&b->remark, STYLE_NOTE, _("No corpus and no document is selected."));
        return true;
    default:
        return false;
    }
}

/* --- texts ------------------------------------------------------------------------------------ */

static void title(const struct browser *b, struct buf *out)
{
    const struct corpus_view *v = (const struct corpus_view *)b;
    bool passages = v->level == LEVEL_PASSAGES;
    bool of_corpus = v->level == LEVEL_DOCUMENTS || (passages && v->from == LEVEL_DOCUMENTS);
    buf_addf(out, " %s", _("Corpora"));
    if (of_corpus && v->corpus) {
        buf_addstr(out, " > ");
        browser_clean(out, v->corpus);
    }
    if (v->level == LEVEL_CITED)
        buf_addf(out, " > %s", _("given to the model"));
    if (passages && v->file) {
        buf_addstr(out, " > ");
        browser_clean(out, name_of(v->file));
    }
    if (v->level == LEVEL_FOUND && b->known)
        buf_addf(out,
                 ngettext(" %s %lld passage searched", " %s %lld passages searched",
                          (unsigned long)v->found.searched),
                 glyph(GLYPH_DOT), (long long)v->found.searched);
    if (v->progress)
        buf_addf(out, " %s %s", glyph(GLYPH_DOT), v->progress);
}

static const char *empty(const struct browser *b)
{
    enum corpus_level level = ((const struct corpus_view *)b)->level;
    return level == LEVEL_FOUND     ? _("Nothing found.")
           : level == LEVEL_CORPORA ? _("There is no corpus. /corpus add NAME PATH or tiro corpus "
                                        "add makes one.")
                                    : _("There is nothing here.");
}

static const char *question(const struct browser *b, struct buf *out)
{
    const char *file, *name = chosen_corpus((const struct corpus_view *)b, &file);
    if (!name)
        return _("No corpus and no document is selected.");
    auto_free char *shown = remark_name(file ? name_of(file) : name);
    buf_addf(out, _("Remove %s from the corpus? The files stay. y/n"), shown);
    return NULL;
}

static struct hint_table hints(const struct browser *b)
{
    static const struct hint in_list[] = {
        {ACTION_SEND, NULL, N_("open")},
        {ACTION_MEMORY_QUERY, NULL, N_("search")},
        {ACTION_MEMORY_RESTORE, NULL, N_("update|read files that have changed")},
        {ACTION_MEMORY_FORGET, NULL, N_("remove|take it out of the corpus; files stay")},
        {ACTION_CANCEL, NULL, N_("back")},
        {ACTION_PANE_NEXT, NULL, N_("next tab")},
        {ACTION_MEMORY_EDIT, NULL, N_("|on a document: open the file in your editor")},
        {ACTION_LEFT, NULL, N_("|back")}};
    static const struct hint in_passages[] = {
        {ACTION_SEND, NULL, N_("unfold")},
        {ACTION_MEMORY_EDIT, NULL, N_("editor|open the file in your editor")},
        {ACTION_MEMORY_OPEN, NULL, N_("whole document")},
        {ACTION_MEMORY_QUERY, NULL, N_("search")},
        {ACTION_CANCEL, NULL, N_("back")},
        {ACTION_PANE_NEXT, NULL, N_("next tab")},
        {ACTION_LEFT, NULL, N_("|back")}};
    enum corpus_level level = ((const struct corpus_view *)b)->level;
    return level == LEVEL_CORPORA || level == LEVEL_DOCUMENTS ? HINTS(in_list, COMMON_TAB)
                                                              : HINTS(in_passages, COMMON_TAB);
}

/* --- the view --------------------------------------------------------------------------------- */

static const struct browser_table table = {
    .act = act,
    .open = open_chosen,
    .done = done,
    .title = title,
    .empty = empty,
    .to_list = N_("to the list"),
    .hints = hints,
    .has_query = has_query,
    .back = back,
    .search = search,
    .refresh = refresh,
    .question = question,
    .confirm = remove_chosen,
};

/* A tool or a session may have given other passages. */
static void notice(struct view *view, struct notice *n)
{
    struct corpus_view *v = (struct corpus_view *)view;
    bool tool = n->type == NOTICE_EVENT && n->event->type == EVENT_TOOL_EXECUTION_COMPLETED &&
                n->event->name && strncmp(n->event->name, "rag_", 4) == 0;
    if (tool || (n->type == NOTICE_SESSION && n->flag))
        ask_cited(v);
    if (n->type != NOTICE_CORPORA_STATE)
        return;
    bool over = n->flag ? n->number == 0 : n->progress.finished || n->error.code != ERR_OK;
    free(v->progress);
    v->progress = NULL;
    if (n->error.code != ERR_OK)
        remark_set(&v->b.remark, STYLE_ERROR, n->error.text);
    else if (!over && n->flag)
        v->progress = mem_printf(_("vectors: %lld to go"), (long long)n->number);
    else if (!over)
        v->progress = mem_printf(_("%s: file %lld of %lld"), n->progress.corpus,
                                 (long long)n->progress.done, (long long)n->progress.files);
    if (over || v->level == LEVEL_CORPORA)
        refresh(&v->b);
}

static void free_view(struct view *view)
{
    struct corpus_view *v = (struct corpus_view *)view;
    shape_release(&corpus_list_shape, &v->corpora);
    shape_release(&corpus_passages_shape, &v->cited);
    shape_release(&corpus_found_shape, &v->found);
    shape_release(&corpus_documents_shape, &v->documents);
    shape_release(&corpus_documents_shape, &v->failed);
    shape_release(&corpus_passages_shape, &v->passages);
    vec_release(&v->rows);
    browser_release(&v->b);
    free(v->corpus);
    free(v->file);
    free(v->progress);
    free(v);
}

struct view *corpus_view_new(const struct view_host *host)
{
    static const struct view_ops ops = {BROWSER_OPS, .free = free_view, .notice = notice};
    struct corpus_view *v = mem_alloc(sizeof *v);
    browser_init(&v->b, host, &ops, &table, &columns);
    v->b.place = BROWSER_QUERY;
    return &v->b.view;
}

void corpus_view_show(struct view *view, const char *query)
{
    struct corpus_view *v = (struct corpus_view *)view;
    int number = 0;
    long long before = 0;
    bool citation = query && sscanf(query, "[%d]@%lld", &number, &before) >= 1;
    v->cited_before = before;
    if (citation || (query && *query)) {
        v->wanted = citation ? number : v->wanted;
        browser_to_query(&v->b);
        editor_set(v->b.query, citation ? "" : query);
        v->b.place = citation ? BROWSER_QUERY : BROWSER_LIST;
        open_level(v, LEVEL_CORPORA);
        v->cited_before = before; /* browser_to_query() may have left a citation */
    }
    browser_refresh(&v->b);
}
