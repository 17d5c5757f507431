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

static bool is_evidence(const struct exam_question *q, const char *id)
{
    for (size_t i = 0; i < q->evidence.len; i++)
        if (strcmp(q->evidence.items[i], id) == 0)
            return true;
    return false;
}

struct exam_score exam_score(const struct exam_question *q, const struct exam_found *found)
{
    struct exam_score out = {.questions = 1};
    double part = 1.0 / (double)q->evidence.len;
    for (size_t i = 0; i < found->ids.len && i < EXAM_MOST; i++) {
        if (!is_evidence(q, found->ids.items[i]))
            continue;
        if (out.first == 0)
            out.first = 1.0 / (double)(i + 1);
        out.at5 += i < 5 ? part : 0;
        out.at10 += i < 10 ? part : 0;
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
