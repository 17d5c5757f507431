#include "tests/documents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/paths.h"
#include "tests/chunk_check.h"
#include "tests/support.h"

static const struct document_options *usual(void)
{
    static struct document_options o;
    o.limits = document_limits;
    return &o;
}

void documents_load(struct loaded_document *d, const char *name)
{
    struct error e = {0};
    struct chunks c = {0};
    if (document_load_file(d, support_path(name), usual(), &e) != DOCUMENT_LOADED)
        fail_msg("%s: %s", name, e.text);
    chunks_make(&c, d, CHUNK_CHARACTERS);
    const char *fault = chunks_fault(&c, d, CHUNK_CHARACTERS, NULL, 0);
    if (fault)
        fail_msg("%s: %s", name, fault);
    chunks_release(&c);
}

static void add_shown(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\t')
            buf_addstr(out, "⇥");
        else if (text[i] == '\n')
            buf_addstr(out, "⏎");
        else
            buf_addch(out, text[i]);
}

const char *documents_show(const struct loaded_document *d, bool with_lines)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < d->parts.len; i++) {
        const struct document_part *p = &d->parts.items[i];
        if (with_lines)
            buf_addf(&out, "%lld: ", (long long)p->line);
        if (p->page > 0)
            buf_addf(&out, "page %lld: ", (long long)p->page);
        if (p->kind == DOCUMENT_HEADING)
            buf_addf(&out, "#%d ", p->level);
        else if (p->kind != DOCUMENT_PROSE)
            buf_addf(&out, "%s: ", document_part_kind_name(p->kind));
        add_shown(&out, d->text.data + p->at, p->len);
        buf_addch(&out, '\n');
    }
    return support_keep(buf_take(&out));
}

const char *documents_refused_with(const char *name, const struct document_options *options,
                                   enum document_outcome outcome)
{
    struct loaded_document d;
    struct error e = {0};
    enum document_outcome is = document_load_file(&d, support_path(name), options, &e);
    if (is == DOCUMENT_LOADED) {
        loaded_document_release(&d);
        fail_msg("%s is loaded", name);
    }
    if (is != outcome)
        fail_msg("%s: outcome %d, not %d: %s", name, is, outcome, e.text);
    return support_text("%s", e.text);
}

const char *documents_refused(const char *name, enum document_outcome outcome)
{
    return documents_refused_with(name, usual(), outcome);
}

/* --- PDF -------------------------------------------------------------------------------------- */

struct pdf {
    struct buf bytes;
    VEC(size_t) objects;
};

static void begin_object(struct pdf *p)
{
    vec_push(&p->objects, p->bytes.len);
    buf_addf(&p->bytes, "%zu 0 obj\n", p->objects.len);
}

void documents_write_pdf(const char *name, int pages, bool encrypted)
{
    enum { FIRST_PAGE = 4 };
    static const char password[] =
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct pdf p = {.bytes = BUF_INIT};
    struct error e;
    buf_addstr(&p.bytes, "%PDF-1.4\n");
    begin_object(&p);
    buf_addstr(&p.bytes, "<< /Type /Catalog /Pages 2 0 R >>\nendobj\n");
    begin_object(&p);
    buf_addf(&p.bytes, "<< /Type /Pages /Count %d /Kids [", pages);
    for (int i = 0; i < pages; i++)
        buf_addf(&p.bytes, " %d 0 R", FIRST_PAGE + 2 * i);
    buf_addstr(&p.bytes, " ] >>\nendobj\n");
    begin_object(&p);
    buf_addstr(&p.bytes, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n");
    for (int i = 1; i <= pages; i++) {
        char *stream = support_text("BT /F1 12 Tf 72 720 Td (This is page %d.) Tj ET", i);
        begin_object(&p);
        buf_addf(
            &p.bytes,
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %zu 0 R /Resources << "
            "/Font << /F1 3 0 R >> >> >>\nendobj\n",
            p.objects.len + 1);
        begin_object(&p);
        buf_addf(&p.bytes, "<< /Length %zu >>\nstream\n%s\nendstream\nendobj\n", strlen(stream),
                 stream);
    }
    size_t xref = p.bytes.len;
    buf_addf(&p.bytes, "xref\n0 %zu\n0000000000 65535 f \n", p.objects.len + 1);
    for (size_t i = 0; i < p.objects.len; i++)
        buf_addf(&p.bytes, "%010zu 00000 n \n", p.objects.items[i]);
    buf_addf(&p.bytes, "trailer\n<< /Size %zu /Root 1 0 R", p.objects.len + 1);
    if (encrypted)
        buf_addf(
            &p.bytes,
            " /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -1 /O <%s> /U <%s> >>",
            password, password);
    buf_addf(&p.bytes, " >>\nstartxref\n%zu\n%%%%EOF\n", xref);
    if (!paths_write_file(support_path(name), p.bytes.data, p.bytes.len, &e))
        fail_msg("%s", e.text);
    buf_release(&p.bytes);
    vec_release(&p.objects);
}

bool documents_can_run(const char *program)
{
    return system(support_text("command -v %s >/dev/null 2>&1", program)) == 0;
}
