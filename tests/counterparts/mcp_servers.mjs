// Servers that we did not write, as `tiro mcp test` finds them: server-memory of the MCP project on
// its standard input and output, and one of SDK 1 over HTTP, with a session.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { load, makePlace, run, runSteps, TIRO } from './mcp_place.mjs';

const place = await makePlace();
const memory = path.join(process.env.COUNTERPARTS,
                         'node_modules/@modelcontextprotocol/server-memory/dist/index.js');
const { McpServer } = load('@modelcontextprotocol/sdk/server/mcp.js');
const { StreamableHTTPServerTransport } = load('@modelcontextprotocol/sdk/server/streamableHttp.js');

const methods = [];
const server = new McpServer({ name: 'of-sdk-1', version: '1' });
server.registerTool('shout', { description: 'Shouts.' },
                    () => ({ content: [{ type: 'text', text: 'HI' }] }));
const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
await server.connect(transport);
const web = http.createServer((request, answer) => {
  methods.push(request.method);
  transport.handleRequest(request, answer);
});
await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));

fs.mkdirSync(path.join(place.root, '.config/tiro'), { recursive: true });
fs.writeFileSync(path.join(place.root, '.config/tiro/mcp.json'), JSON.stringify({ mcpServers: {
  memory: { command: process.execPath, args: [memory],
            env: { MEMORY_FILE_PATH: path.join(place.root, 'memory.jsonl') } },
  web: { type: 'http', url: `http://127.0.0.1:${web.address().port}/mcp` } } }));

async function found(name) {
  const result = await run(TIRO, ['mcp', 'test', '--json', name], { env: place.env, cwd: place.root });
  assert.equal(result.status, 0, result.out);
  return JSON.parse(result.printed).servers[0];
}

const passed = await runSteps('mcp servers', {
  async 'server-memory is ready with its nine tools'() {
    const s = await found('memory');
    assert.equal(s.state, 'ready', s.about);
    assert.equal(s.tools, 9);
    assert.match(s.about, /memory-server .*, protocol 2025-11-25/);
  },
  async 'a server of SDK 1 is ready over HTTP, and its session is ended'() {
    const s = await found('web');
    assert.equal(s.state, 'ready', s.about);
    assert.match(s.about, /of-sdk-1 1, protocol 2025-11-25/);
    assert.match(s.about, /shout/);
    assert.equal(methods.at(-1), 'DELETE');
  },
});
web.close();
web.closeAllConnections();
await place.done();
process.exit(passed ? 0 : 1);
