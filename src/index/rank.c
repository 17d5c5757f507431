#include "index/rank.h"

#include <math.h>

enum { PAUSE_MS = 6 * 60 * 60 * 1000, TALK_PLACES = 1 << RANK_TALK_BITS };

struct rank_settings rank_settings_for(double k1, double b)
{
    return (struct rank_settings){.k1 = k1,
                                  .b = b,
                                  .before = 0.3,
                                  .after = 0.1,
                                  .answer = 1,
                                  .session = 0.3,
                                  .window = 0.4,
                                  .named = 1.5,
                                  .asks = 0.8,
                                  .half = 8};
}

int64_t rank_place_for(int64_t next, int64_t last_ms, int64_t created_ms)
{
    int64_t pause = created_ms > last_ms ? created_ms - last_ms : last_ms - created_ms;
    bool has_room = next < (int64_t)1 << (RANK_PLACE_BITS - 1);
    if (pause < PAUSE_MS || next == 0 || !has_room)
        return next;
    return (next + RANK_WINDOW + TALK_PLACES - 1) / TALK_PLACES * TALK_PLACES;
}

double rank_idf(int64_t all, int64_t entries)
{
    double n = (double)entries;
    double others = (double)(all > entries ? all - entries : 0);
    return log(1 + (others + 0.5) / (n + 0.5));
}

double rank_score(double coverage)
{
    const double knee = 0.32, at_knee = 0.70;
    if (coverage <= 0)
        return 0;
    if (coverage >= 1)
        return 1;
    if (coverage <= knee)
        return coverage / knee * at_knee;
    return at_knee + (coverage - knee) / (1 - knee) * (1 - at_knee);
}
