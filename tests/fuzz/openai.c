/* Answers of OpenAI: any split gives the same deltas and blocks; error messages are clean and
 * without the key. */
#include "provider/outgoing.h"
#include "tests/fuzz/answer.h"

int fuzz_openai(const uint8_t *data, size_t size)
{
    return fuzz_answer(&provider_openai, "text/event-stream", data, size);
}
