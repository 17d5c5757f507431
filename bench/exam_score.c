#include "bench/exam_score.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void exam_found_clear(struct exam_found *f)
{
    for (size_t i = 0; i < f->ids.len; i++)
        free(f->ids.items[i]);
    vec_clear(&f->ids);
}

void exam_found_release(struct exam_found *f)
{
    exam_found_clear(f);
    vec_release(&f->ids);
}

static bool is_one_of(const struct exam_target *target, const char *id)
{
    for (size_t i = 0; i < target->ids.len; i++)
        if (strcmp(target->ids.items[i], id) == 0)
            return true;
    return false;
}

/* The place of the first hit that is the target; EXAM_MOST if none is. */
static size_t place_of(const struct exam_target *target, const struct exam_found *found)
{
    size_t i = 0;
    while (i < found->ids.len && i < EXAM_MOST && !is_one_of(target, found->ids.items[i]))
        i++;
    return i < found->ids.len ? i : EXAM_MOST;
}

struct exam_score exam_score(const struct exam_targets *evidence, const struct exam_found *found)
{
    struct exam_score out = {.questions = 1};
    double part = 1.0 / (double)evidence->items.len;
    for (size_t i = 0; i < evidence->items.len; i++) {
        size_t place = place_of(&evidence->items.items[i], found);
        double first = place < EXAM_MOST ? 1.0 / (double)(place + 1) : 0;
        out.first = first > out.first ? first : out.first;
        out.at5 += place < 5 ? part : 0;
        out.at10 += place < 10 ? part : 0;
    }
    return out;
}

void exam_score_add(struct exam_score *sum, const struct exam_score *more)
{
    sum->at5 += more->at5;
    sum->at10 += more->at10;
    sum->first += more->first;
    sum->questions += more->questions;
}

double exam_mean(double sum, size_t questions)
{
    return questions > 0 ? sum / (double)questions : 0;
}
