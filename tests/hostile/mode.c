#include "tests/hostile/mode.h"

#define CHAT (1u << TARGET_CHAT)

const struct mode_table mode_tables[] = {
    {connection_modes, CHAT},
    {head_modes, CHAT},
    {framing_modes, CHAT},
    {status_modes, CHAT},
    {stream_modes, CHAT},
    {json_modes, CHAT},
    {text_modes, CHAT},
    {figure_modes, CHAT},
    {call_modes, CHAT},
    {listing_modes, 1u << TARGET_LISTING},
    {embedding_modes, 1u << TARGET_EMBEDDING},
    {NULL, 0},
};
