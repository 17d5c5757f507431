/* How texts are ranked that stand for themselves, unlike what is said in a talk: nothing of a
 * neighbour counts, nor who says it or whether it asks. */
#ifndef KNOWLEDGE_LONE_TEXTS_H
#define KNOWLEDGE_LONE_TEXTS_H

#include "index/rank.h"

/* k1 and b are those of documents (index/rank.h). */
static inline struct rank_settings lone_texts_settings(void)
{
    struct rank_settings s = rank_settings_for(1.2, 0.75);
    s.before = s.after = s.answer = s.session = s.window = 0;
    s.asks = s.named = s.user = 1;
    s.half = 0;
    s.passages = false;
    return s;
}

#endif
