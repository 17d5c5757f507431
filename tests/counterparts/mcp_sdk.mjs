// A client of the MCP project's SDK talks with tiro, over standard input and output or HTTP:
// mcp_sdk.mjs v1|legacy|modern stdio|http. v1 is the SDK's first generation; the second is asked to
// begin with a handshake, or to speak 2026-07-28, and checks results against the tools' schemas.
import assert from 'node:assert/strict';
import { load, makePlace, runSteps, TIRO } from './mcp_place.mjs';

const [which, transport] = process.argv.slice(2);
const place = await makePlace();

function make() {
  const info = { name: 'tiro-counterpart', version: '1' };
  if (which === 'v1')
    return [new (load('@modelcontextprotocol/sdk/client/index.js').Client)(info),
            load('@modelcontextprotocol/sdk/client/stdio.js').StdioClientTransport,
            load('@modelcontextprotocol/sdk/client/streamableHttp.js').StreamableHTTPClientTransport];
  const sdk = load('@modelcontextprotocol/client');
  const mode = which === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  return [new sdk.Client(info, { versionNegotiation: { mode } }),
          load('@modelcontextprotocol/client/stdio').StdioClientTransport,
          sdk.StreamableHTTPClientTransport];
}

const [client, Stdio, Http] = make();
await client.connect(transport === 'http'
  ? new Http(new URL(`${await place.serveHttp()}/mcp`))
  : new Stdio({ command: TIRO, args: ['serve', '--mcp', ...place.args], env: place.env }));
assert.equal(client.getServerVersion().name, 'tiro');

const steps = {
  async 'tools are listed in the same order, each with schemas and annotations'() {
    const { tools } = await client.listTools();
    const again = await client.listTools();
    assert.deepEqual(tools, again.tools);
    for (const tool of tools) {
      assert.equal(tool.inputSchema.type, 'object', tool.name);
      assert.equal(typeof tool.annotations.readOnlyHint, 'boolean', tool.name);
      assert.ok(tool.title && tool.description, tool.name);
    }
    assert.ok(tools.some((tool) => tool.name === 'tiro_run'));
  },

  async 'a prompt runs, and its progress is told'() {
    const progress = [];
    const result = await client.callTool(
      { name: 'tiro_run', arguments: { prompt: 'the walrus sleeps', provider: 'offline' } },
      which === 'v1' ? undefined : { onprogress: (p) => progress.push(p) },
      which === 'v1' ? { onprogress: (p) => progress.push(p) } : undefined);
    assert.ok(!result.isError, JSON.stringify(result));
    this.session = result.structuredContent.session_id;
    assert.equal(result.structuredContent.stop_reason, 'end_turn');
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    assert.ok(progress.length > 0 && progress[0].progress === 1);
  },

  async 'a session goes on, is found and read'() {
    const resumed = await client.callTool({ name: 'tiro_resume', arguments: {
      session_id: this.session, prompt: 'and the carpenter weeps' } });
    assert.equal(resumed.structuredContent.turns, 2, JSON.stringify(resumed));
    const found = await client.callTool({ name: 'tiro_sessions_search', arguments: {
      query: 'carpenter' } });
    assert.ok(found.structuredContent.matches.some((m) => m.session_id === this.session));
    const page = await client.callTool({ name: 'tiro_session_read', arguments: {
      session_id: this.session } });
    assert.match(page.structuredContent.transcript, /the walrus sleeps[^]*the carpenter weeps/);
    assert.match(page.content[0].text, /the walrus sleeps/);
  },

  async 'memory, corpora and the graph answer'() {
    const corpus = 'counterpart';
    await this.succeeds('tiro_memory_search', { query: 'walrus' });
    await this.succeeds('tiro_rag_ingest', {
      corpus_id: corpus, filename: 'tides.md', text: '# Tides\n\nThe moon pulls the sea.\n' });
    const passages = await this.succeeds('tiro_rag_search', { corpus_id: corpus, query: 'moon' });
    assert.match(passages.items?.[0]?.content ?? JSON.stringify(passages), /moon/);
    await this.succeeds('tiro_rag_corpora', {});
    await this.succeeds('tiro_memory_create_entities', {
      entities: [{ name: 'Alice', entity_type: 'person', observations: ['likes tea'] }] });
    const nodes = await this.succeeds('tiro_memory_search_nodes', { query: 'tea' });
    assert.match(JSON.stringify(nodes), /Alice/);
    await this.succeeds('tiro_memory_open_nodes', { names: ['Alice'] });
    await this.succeeds('tiro_memory_delete_entities', { entity_names: ['Alice'] });
  },

  async 'failures are results that name their code'() {
    await this.fails('tiro_session_read', { session_id: 'no such session' }, /^SESSION_NOT_FOUND: /);
    await this.fails('tiro_memory_read', { id: 'none' }, /^MEMORY_NOT_FOUND: /);
    await this.fails('tiro_session_read', { session_id: this.session, limit: 0 }, /^USAGE: .*"limit"/);
  },

  async 'an unknown tool is an error of the protocol'() {
    const error = await this.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }));
    assert.equal(error.code, -32602);
  },

  async 'sessions are resources'() {
    const { resources } = await client.listResources();
    const uri = `tiro://session/${this.session}`;
    assert.ok(resources.some((r) => r.uri === uri));
    const { contents } = await client.readResource({ uri });
    assert.equal(contents[0].mimeType, 'text/markdown');
    assert.match(contents[0].text, /the walrus sleeps/);
    const json = await client.readResource({ uri: `${uri}.json` });
    assert.equal(JSON.parse(json.contents[0].text).session.id, this.session);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(resourceTemplates.length, 2);
  },

  async 'a resource that is not there is not found'() {
    const error = await this.rejects(client.readResource({ uri: 'tiro://session/none' }));
    // the second generation of the SDK tells its callers the new number for the old one
    assert.equal(error.code, which === 'v1' ? -32002 : -32602);
  },

  async 'a call that is cancelled ends'() {
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const call = client.callTool(
      { name: 'tiro_resume', arguments: { session_id: this.session, prompt: 'once more' } },
      which === 'v1' ? undefined : options, which === 'v1' ? options : undefined);
    controller.abort();
    await this.rejects(call);
    await this.succeeds('tiro_sessions_search', { query: 'walrus' });
  },
};

const state = {
  async succeeds(name, args) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
    return result.structuredContent;
  },
  async fails(name, args, text) {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.isError, true, name);
    assert.match(result.content[0].text, text);
  },
  async rejects(promise) {
    return promise.then(() => assert.fail('it was answered'), (error) => error);
  },
};

const passed = await runSteps(`MCP SDK, ${which}, ${transport}`, steps, state);
await client.close();
await place.done();
process.exit(passed ? 0 : 1);
