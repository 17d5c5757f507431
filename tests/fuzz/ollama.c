/* Answers of Ollama: any split gives the same deltas and blocks; error messages are clean and
 * without the key. */
#include "provider/outgoing.h"
#include "tests/fuzz/answer.h"

int fuzz_ollama(const uint8_t *data, size_t size)
{
    return fuzz_answer(&provider_ollama, "application/x-ndjson", data, size);
}
