#include "ui/term/glyph.h"

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
