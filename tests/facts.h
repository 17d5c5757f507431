/* A graph of facts (knowledge/graph.h) for tests: parameters are JSON with ' for ", results are
 * short texts, and the graph has a database of its own. An unexpected error fails the test. */
#ifndef TESTS_FACTS_H
#define TESTS_FACTS_H

#include "knowledge/graph.h"

extern struct facts {
    struct graph graph;
    struct error e; /* error of the last call */
    char *path;     /* path of the database */
} facts;
extern const struct graph_by facts_nobody;

int facts_setup(void **state);
int facts_teardown(void **state);
void facts_open_store(void);

void facts_parse(const struct shape *shape, const char *json, void *out);
/* The part as text: "Kyoto (city): big; old\nKyoto -lies in-> Japan\n?Rome\n"; releases the
 * part. */
const char *facts_told(struct graph_part *p);

/* The new part, as a text of facts_told(); NULL on failure, with the error in facts.e. */
const char *facts_create(const char *json);
const char *facts_relate(const char *json);
const char *facts_observe(const char *json); /* "Kyoto+big\nJapan\n" */

bool facts_delete_entities(const char *json, struct graph_part *gone);
bool facts_delete_observations(const char *json, struct graph_part *gone);
bool facts_delete_relations(const char *json, struct graph_part *gone);

/* The call failed, with this code and this part of its text. `result` is NULL or false. */
void facts_refused(const void *result, enum err_code code, const char *part);
void facts_sql(const char *sql);

const char *facts_search(const char *query);
const char *facts_open_names(const char *json);
char *facts_lines(void); /* the export */
/* The line of the fault; -1: a fault without a line; 0: no fault. */
int64_t facts_import(const char *text);
int64_t facts_number(const char *sql);

/* Makes a city, a country, a person, and two relations; the other function makes random
 * entities. */
void facts_kyoto(void);
void facts_make_random(uint64_t *seed, int entities);

#define FACTS_KYOTO "{'names':['Kyoto','Japan','Ada']}"
#define FACTS_KYOTO_TOLD                                                                           \
    "Kyoto (city): has ryokans by the river; was the capital\nJapan (country)\n"                   \
    "Ada (person): likes Kyoto in autumn\nAda -visits-> Kyoto\nKyoto -lies in-> Japan\n"

#endif
