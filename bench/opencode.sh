#!/bin/sh
# opencode as an agent for editors that talks to the model of the benchmark, for ACP_PEER. It comes
# by `npm install opencode-ai`; its program must be in PATH.
OPENCODE_CONFIG_CONTENT=$(printf '{"model":"bench/bench","small_model":"bench/bench","share":"disabled",
"autoupdate":false,"provider":{"bench":{"npm":"@ai-sdk/openai-compatible","models":{"bench":{}},
"options":{"baseURL":"%s","apiKey":"%s"}}}}' "$OPENAI_BASE_URL" "$OPENAI_API_KEY")
export OPENCODE_CONFIG_CONTENT
exec opencode acp
