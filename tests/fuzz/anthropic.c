/* Answers of Anthropic: any split gives the same deltas and blocks; error messages are clean and
 * without the key. */
#include "provider/outgoing.h"
#include "tests/fuzz/answer.h"

int fuzz_anthropic(const uint8_t *data, size_t size)
{
    return fuzz_answer(&provider_anthropic, "text/event-stream", data, size);
}
