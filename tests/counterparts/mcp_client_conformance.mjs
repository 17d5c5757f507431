// The MCP project's conformance suite asks what it requires of clients, all but OAuth:
// mcp_client_conformance.mjs. For each scenario the suite runs this script with the URL of its
// server: tiro in lines, a scripted model that calls the tools, and a person who says yes to forms.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePlace, run, runSteps, TIRO } from './mcp_place.mjs';

const suite = path.join(process.env.COUNTERPARTS,
                        'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

// Scenario: revision, and the calls of the model; a function makes arguments of the tools it has.
const scenarios = {
  'initialize': ['2025-11-25', []],
  'tools_call': ['2025-11-25', [['add_numbers', { a: 5, b: 3 }]]],
  'elicitation-sep1034-client-defaults': ['2025-11-25', [['test_client_elicitation_defaults', {}]]],
  'sse-retry': ['2025-11-25', [['test_reconnection', {}]]],
  'json-schema-2020-12-preservation': ['2025-11-25', [
    ['json_schema_echo', (tools) => ({ schema: tools.mcp__s__json_schema_2020_12_tool })]]],
  'request-metadata': ['2026-07-28', []],
  'sep-2322-client-request-state': ['2026-07-28', [
    ['test_mrtr_echo_state', {}], ['test_mrtr_unrelated', {}], ['test_mrtr_no_state', {}],
    ['test_mrtr_no_result_type', {}]]],
  'http-standard-headers': ['2026-07-28', [['test_headers', {}]]],
  'http-custom-headers': ['2026-07-28',
                          (context.toolCalls ?? []).map((c) => [c.name, c.arguments])],
  'http-invalid-tool-headers': ['2026-07-28', [['valid_tool', { region: 'x' }]]],
  'json-schema-ref-no-deref': ['2026-07-28', []],
};

// A model that makes these calls, one after the other.
function startModel(calls) {
  const server = http.createServer((request, answer) => {
    let body = '';
    request.on('data', (bytes) => { body += bytes; });
    request.on('end', () => {
      const { messages, tools = [] } = JSON.parse(body || '{"messages":[]}');
      const schemas = Object.fromEntries(tools.map((t) => [t.function.name, t.function.parameters]));
      const [next, given] = calls[messages.filter((m) => m.role === 'tool' &&
                                                          m.tool_call_id.startsWith('own')).length] ?? [];
      // Servers that start late on a busy machine join at the next call of the model.
      const late = next && !Object.keys(schemas).some((n) => n.startsWith('mcp__s__'));
      const name = late ? 'list_directory' : next && `mcp__s__${next}`;
      const args = late ? {} : typeof given === 'function' ? given(schemas) : given;
      const call = { index: 0, id: `${late ? 'wait' : 'own'}_${messages.length}`, type: 'function',
                     function: { name, arguments: JSON.stringify(args) } };
      const choice = name ? { delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }
        : { delta: { content: 'Done.' }, finish_reason: 'stop' };
      setTimeout(() => {
        answer.writeHead(200, { 'content-type': 'text/event-stream' });
        answer.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
      }, late ? 200 : 0);
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

// What the suite runs.
async function beClient(url) {
  const place = await makePlace();
  const model = await startModel(scenarios[process.env.MCP_CONFORMANCE_SCENARIO][1]);
  const config = path.join(place.root, '.config/tiro');
  fs.mkdirSync(config, { recursive: true });
  fs.writeFileSync(path.join(config, 'mcp.json'),
                   JSON.stringify({ mcpServers: { s: { type: 'http', url } } }));
  const env = { ...place.env, OPENAI_API_KEY: 'k',
                OPENAI_BASE_URL: `http://127.0.0.1:${model.address().port}/v1` };
  const result = await run(TIRO, ['--plain', '--provider', 'openai', '--model', 'scripted',
                                  '--tools', 'full', '--allow', 'network'],
                           { env, cwd: place.root, input: 'go\nyes\nyes\n' });
  console.log(result.out);
  model.close();
  model.closeAllConnections();
  await place.done();
  process.exit(result.status);
}

const url = process.argv[2];
if (url) await beClient(url);
const place = await makePlace();
const steps = Object.fromEntries(Object.entries(scenarios).map(([name, [revision]]) => [name,
  async () => {
    const { status, out } = await run(process.execPath, [
      suite, 'client', '--command', `${process.execPath} ${fileURLToPath(import.meta.url)}`,
      '--scenario', name, '--spec-version', revision, '--output-dir', place.root],
      { env: { ...process.env, ...place.env }, cwd: place.root });
    if (status !== 0) throw new Error(out);
  }]));
const passed = await runSteps('MCP conformance of the client', steps);
await place.done();
process.exit(passed ? 0 : 1);
