#include "ui/term/glyph.h"

#include <stddef.h>

#include "base/charset.h"
#include "base/i18n.h"
#include "base/mem.h"

static const char *const symbols[][2] = {
#define X(id, symbol, ascii) {symbol, ascii},
    GLYPHS(X)
#undef X
};

static bool ascii_only;

const char *glyph(enum glyph which)
{
    return symbols[which][ascii_only];
}

void glyph_set_ascii(bool ascii)
{
    ascii_only = ascii;
}

void glyph_set_up(void)
{
    glyph_set_ascii(charset() == CHARSET_OTHER);
    bind_textdomain_codeset("tiro", "UTF-8");
}

char *glyph_note(void)
{
    switch (charset()) {
    case CHARSET_OTHER:
        return mem_printf(
            _("The locale \"%.60s\" lacks some characters; similar ones replace them. To see all, "
              "start with LC_ALL=C.UTF-8."),
            charset_locale());
    case CHARSET_ASSUMED:
        return mem_printf(_("The locale \"%.60s\" is not installed; texts are English, characters "
                            "UTF-8. \"locale -a\" lists the installed ones."),
                          charset_locale());
    default:
        return NULL;
    }
}
