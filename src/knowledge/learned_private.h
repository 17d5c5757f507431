/* What the parts of learned memory share: learned.c (changes), learned_list.c (reading). */
#ifndef KNOWLEDGE_LEARNED_PRIVATE_H
#define KNOWLEDGE_LEARNED_PRIVATE_H

#include "knowledge/learned.h"
#include "store/sql.h"

/* A statement's columns and table, and a row of its. */
#define LEARNED_ROWS                                                                               \
    "SELECT id, scope, kind, state, origin, project, session, seq, replaced_by, created_ms,"       \
    " changed_ms, uses, used_ms, text, session IS NOT NULL AND NOT EXISTS"                         \
    " (SELECT 1 FROM session WHERE session.id = learned_item.session) FROM learned_item "
struct learned_item learned_row_read(const struct query *q);
/* What is left of them, to the end; the query ends. */
bool learned_rows_read(struct query *q, struct learned_items *out);

#endif
