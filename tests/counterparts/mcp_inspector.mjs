// The MCP inspector's command line asks tiro: mcp_inspector.mjs stdio|http.
import assert from 'node:assert/strict';
import path from 'node:path';
import { makePlace, run, runSteps, TIRO } from './mcp_place.mjs';

const [transport] = process.argv.slice(2);
const place = await makePlace();
const program = path.join(process.env.COUNTERPARTS, 'node_modules/.bin/mcp-inspector');
const url = transport === 'http' ? `${await place.serveHttp()}/mcp` : null;

async function inspect(...args) {
  const all = url ? [url, ...args] : [...args, '--', TIRO, 'serve', '--mcp', ...place.args];
  const { status, out, printed } = await run(program, ['--cli', ...all],
                                             { env: place.env, cwd: place.root });
  return { status, out, json: () => JSON.parse(printed) };
}

const steps = {
  async 'tools are listed'() {
    const r = await inspect('--method', 'tools/list');
    assert.equal(r.status, 0, r.out);
    assert.ok(r.json().tools.some((tool) => tool.name === 'tiro_memory_search'), r.out);
  },
  async 'a prompt runs, and is found'() {
    const ran = await inspect('--method', 'tools/call', '--tool-name', 'tiro_run',
                              '--tool-arg', 'prompt=the walrus sleeps');
    assert.equal(ran.status, 0, ran.out);
    const found = await inspect('--method', 'tools/call', '--tool-name', 'tiro_sessions_search',
                                '--tool-arg', 'query=walrus');
    assert.match(found.out, /the walrus sleeps/);
  },
  async 'a failure names its code'() {
    const r = await inspect('--method', 'tools/call', '--tool-name', 'tiro_session_read',
                            '--tool-arg', 'session_id=nowhere');
    assert.match(r.out, /SESSION_NOT_FOUND/);
  },
  async 'sessions are listed and read'() {
    const listed = await inspect('--method', 'resources/list');
    const [resource] = listed.json().resources;
    const read = await inspect('--method', 'resources/read', '--uri', resource.uri);
    assert.match(read.out, /the walrus sleeps/);
    const templates = await inspect('--method', 'resources/templates/list');
    assert.equal(templates.json().resourceTemplates.length, 2, templates.out);
  },
};

const passed = await runSteps(`MCP inspector, ${transport}`, steps);
await place.done();
process.exit(passed ? 0 : 1);
