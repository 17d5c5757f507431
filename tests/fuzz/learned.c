/* Learning from texts: sentences lie within their message, directives and accepted proposals of a
 * model are bounded, and an entity that was read is written as it reads. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/directive.h"
#include "knowledge/learned_extract.h"
#include "tests/fuzz/fuzz.h"

static void check_directives(const char *text)
{
    AUTO(directives_release) struct directives found = {0};
    directives_read(text, &found);
    FUZZ_CHECK(found.items.len <= DIRECTIVES_MOST);
    for (size_t i = 0; i < found.items.len; i++) {
        size_t len = strlen(found.items.items[i].text);
        FUZZ_CHECK(len > 0 && len <= LEARNED_TEXT_BYTES);
        FUZZ_CHECK(utf8_valid(found.items.items[i].text, len));
    }
}

static void check_proposals(const char *text)
{
    AUTO(typed_messages_release) struct typed_messages typed = {0};
    AUTO(proposals_release) struct proposals found = {0};
    struct error e;
    FUZZ_CHECK(typed_messages_add(&typed, 3, "We deploy on Fridays."));
    bool ok = extraction_read(text, &typed, &found, &e);
    FUZZ_CHECK(ok || found.items.len == 0);
    FUZZ_CHECK(found.items.len <= 2 * (size_t)EXTRACTION_PROPOSALS);
    for (size_t i = 0; i < found.items.len; i++) {
        const struct proposal *p = &found.items.items[i];
        FUZZ_CHECK(p->seq == 3 && *p->text && strlen(p->text) <= LEARNED_TEXT_BYTES);
        FUZZ_CHECK(p->kind <= LEARNED_ENTITY);
    }
}

static char *write_entity(const struct entity_text *t)
{
    return entity_text_write(t->name, t->type, (const char *const *)t->observations.items,
                             t->observations.len);
}

static void check_entity(const char *text)
{
    struct entity_text once, twice;
    struct error e;
    if (!entity_text_read(text, &once, &e))
        return;
    auto_free char *line = write_entity(&once);
    FUZZ_CHECK(entity_text_read(line, &twice, &e));
    auto_free char *again = write_entity(&twice);
    FUZZ_CHECK(strcmp(line, again) == 0);
    FUZZ_CHECK(once.observations.len == twice.observations.len);
    entity_text_release(&once);
    entity_text_release(&twice);
}

int fuzz_learned(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_strndup((const char *)data, strnlen((const char *)data, size));
    struct sentences sentences = {0};
    const char *end = text + strlen(text), *before = text;
    sentences_read(text, &sentences);
    for (size_t i = 0; i < sentences.items.len; i++) {
        const struct sentence *s = &sentences.items.items[i];
        FUZZ_CHECK(s->len > 0 && s->text >= before && s->text + s->len <= end);
        before = s->text + s->len;
    }
    vec_release(&sentences.items);
    check_directives(text);
    check_proposals(text);
    check_entity(text);
    return 0;
}
