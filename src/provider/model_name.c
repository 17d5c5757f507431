#include "provider/model_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* "-20260101" or "-2026-01-01", to the end. */
static bool is_date(const char *text)
{
    static const char *const forms[] = {"-dddddddd", "-dddd-dd-dd"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const char *form = forms[f], *at = text;
        for (; *form && (*form == 'd' ? *at >= '0' && *at <= '9' : *at == *form); form++)
            at++;
        if (!*form && !*at)
            return true;
    }
    return false;
}

/* Bytes of the name in front of "-latest". */
static size_t base_of(const char *name)
{
    static const char latest[] = "-latest";
    size_t len = strlen(name), end = sizeof latest - 1;
    return len > end && strcmp(name + len - end, latest) == 0 ? len - end : len;
}

static bool means(const char *name, const char *listed)
{
    size_t len = strlen(name), base = base_of(name);
    const char *folder = strrchr(listed, '/');
    if (strcmp(name, listed) == 0 || (folder && strcmp(folder + 1, name) == 0))
        return true;
    if (strncmp(name, listed, len) == 0 && listed[len] == ':')
        return true;
    return strncmp(name, listed, base) == 0 && is_date(listed + base);
}

bool model_name_is_listed(const char *name, const struct provider_names *listed)
{
    for (size_t i = 0; i < listed->names.len; i++)
        if (means(name, listed->names.items[i]))
            return true;
    return false;
}

const char *model_name_nearest(const char *name, const struct provider_names *listed)
{
    return config_nearest(name, (const char *const *)listed->names.items, listed->names.len);
}

const char *model_name_pick(const struct provider_names *listed)
{
    static const char *const preferred[] = {"gpt-5.4-mini", "gpt-5-mini", "gpt-4.1"};
    static const char *const unfit[] = {"embed",  "rerank", "whisper", "tts",   "moderation",
                                        "dall-e", "bge-",   "minilm",  "image", "transcribe"};
    for (size_t p = 0; p < sizeof preferred / sizeof *preferred; p++)
        for (size_t i = 0; i < listed->names.len; i++)
            if (strcmp(listed->names.items[i], preferred[p]) == 0)
                return listed->names.items[i];
    for (size_t i = 0; i < listed->names.len; i++) {
        bool fits = true;
        for (size_t u = 0; fits && u < sizeof unfit / sizeof *unfit; u++)
            fits = !strstr(listed->names.items[i], unfit[u]);
        if (fits)
            return listed->names.items[i];
    }
    return NULL;
}
