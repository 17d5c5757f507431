// server-memory of the MCP project and `tiro serve --mcp --as server-memory` get the same calls from
// the same client, and give the same results, but for the order of what is a set. The file of the one
// is imported by the other.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { load, makePlace, runSteps, TIRO } from './mcp_place.mjs';

const place = await makePlace();
const file = path.join(place.root, 'memory.jsonl');
const root = path.join(process.env.COUNTERPARTS, 'node_modules/@modelcontextprotocol/server-memory');
const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { ResourceUpdatedNotificationSchema } = load('@modelcontextprotocol/sdk/types.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');

async function connect(command, args) {
  const client = new Client({ name: 'tiro-counterpart', version: '1' });
  await client.connect(new StdioClientTransport({
    command, args, env: { ...place.env, MEMORY_FILE_PATH: file }, stderr: 'ignore' }));
  return client;
}
const theirs = await connect(process.execPath, [path.join(root, 'dist/index.js')]);
const ours = await connect(TIRO, ['serve', '--mcp', '--as', 'server-memory']);

// A list of named things is a set: sorted by what they are.
function settled(value) {
  if (Array.isArray(value)) {
    const list = value.map(settled);
    return typeof list[0] === 'object'
      ? list.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))) : list;
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, settled(value[key])]));
}

function parsed(text) {
  try { return settled(JSON.parse(text)); } catch { return text; }
}

async function same(name, args) {
  const [a, b] = [await theirs.callTool({ name, arguments: args }),
                  await ours.callTool({ name, arguments: args })];
  assert.equal(!!b.isError, !!a.isError, `${name}: ${JSON.stringify(b)}`);
  if (a.isError) return;
  assert.deepEqual(settled(b.structuredContent), settled(a.structuredContent), name);
  assert.deepEqual(parsed(b.content[0].text), parsed(a.content[0].text), name);
}

const entity = (name, entityType, ...observations) => ({ name, entityType, observations });
const relation = (from, relationType, to) => ({ from, to, relationType });

// The members of a schema with their types; descriptions and titles are not compared.
function bones(schema) {
  if (!schema || typeof schema !== 'object') return schema;
  const { type, properties, items, required } = schema;
  return { type, items: bones(items), required: required && [...required].sort(), properties:
    properties && Object.fromEntries(Object.entries(properties).sort()
      .map(([name, value]) => [name, bones(value)])) };
}

const passed = await runSteps('server-memory', {
  async 'the same tools, with the same arguments and hints'() {
    const [a, b] = [(await theirs.listTools()).tools, (await ours.listTools()).tools];
    assert.deepEqual(b.map((t) => t.name), a.map((t) => t.name));
    for (const [i, tool] of a.entries()) {
      const { description, title, annotations } = b[i];
      assert.equal(description, tool.description);
      assert.equal(title, tool.title);
      assert.deepEqual({ ...annotations, title: undefined },
                       { ...tool.annotations, title: undefined }, tool.name);
      const [given, wanted] = [bones(b[i].inputSchema), bones(tool.inputSchema)];
      assert.deepEqual({ ...given, required: given.required ?? [] },
                       { ...wanted, required: wanted.required ?? [] }, tool.name);
      assert.deepEqual(Object.keys(b[i].outputSchema.properties).sort(),
                       Object.keys(tool.outputSchema.properties).sort(), tool.name);
    }
  },

  async 'what is made is told'() {
    await same('read_graph', {});
    await same('create_entities', { entities: [
      entity('Ada', 'person', 'writes programs', 'likes tea'), entity('Acme', 'company')] });
    await same('create_entities', { entities: [
      entity('Ada', 'poet', 'lost'), entity('Zoë "Z"', 'person', 'spricht Deutsch\nund Französisch')] });
    await same('create_relations', { relations: [
      relation('Ada', 'works at', 'Acme'), relation('Zoë "Z"', 'knows', 'Ada')] });
    await same('create_relations', { relations: [
      relation('Ada', 'works at', 'Acme'), relation('Ada', 'founded', 'Acme')] });
    await same('add_observations', { observations: [
      { entityName: 'Acme', contents: ['in Rome', 'since 1999'] },
      { entityName: 'Ada', contents: ['likes tea', 'hates coffee'] }] });
    await same('read_graph', {});
  },

  async 'what is looked for is found'() {
    for (const query of ['tea', 'PERSON', 'acme', 'französisch', 'rom', 'walrus', ''])
      await same('search_nodes', { query });
    for (const names of [['Ada'], ['Acme', 'Nobody'], []]) await same('open_nodes', { names });
  },

  async 'faults are faults'() {
    await same('add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] });
    await same('create_entities', { entities: [{ name: 'half' }] });
    await same('create_entities', {});
    await same('search_nodes', { query: 7 });
    await same('read_graph', {});
  },

  async 'what is deleted is gone, and what is missing is passed over'() {
    await same('delete_observations', { deletions: [
      { entityName: 'Ada', observations: ['likes tea', 'never said'] },
      { entityName: 'Nobody', observations: ['x'] }] });
    await same('delete_relations', { relations: [
      relation('Ada', 'founded', 'Acme'), relation('Nobody', 'is', 'Ada')] });
    await same('read_graph', {});
    await same('delete_entities', { entityNames: ['Acme', 'Nobody'] });
    await same('read_graph', {});
  },

  async 'the graph is a resource, whose changes are told'() {
    const uri = 'memory://knowledge-graph';
    const [a, b] = await Promise.all([theirs, ours].map(async (client) => {
      const heard = new Promise((done) => client.setNotificationHandler(
        ResourceUpdatedNotificationSchema, (told) => done(told.params)));
      await client.subscribeResource({ uri });
      await client.callTool({ name: 'create_entities', arguments: { entities: [
        entity('Eve', 'person')] } });
      const { resources } = await client.listResources();
      const { contents } = await client.readResource({ uri });
      await client.callTool({ name: 'delete_entities', arguments: { entityNames: ['Eve'] } });
      return { resources, heard: await heard, templates: await client.listResourceTemplates(),
               text: parsed(contents[0].text), contents: { ...contents[0], text: '' } };
    }));
    assert.deepEqual(settled(b), settled(a));
  },

  async 'its file is imported, with the ends that lack'() {
    const [a, b] = await Promise.all([theirs, ours].map((client) => client.callTool({
      name: 'create_relations', arguments: { relations: [relation('Ada', 'moved to', 'Oslo')] } })));
    assert.deepEqual(b.structuredContent, a.structuredContent);
    const env = { ...place.env, XDG_DATA_HOME: path.join(place.root, 'other') };
    const imported = spawnSync(TIRO, ['graph', 'import', file], { env, encoding: 'utf8' });
    assert.equal(imported.status, 0, imported.stderr);
    assert.match(imported.stdout, /entities 3, observations 3, relations 2\n1 /);
    const exported = spawnSync(TIRO, ['graph', 'export'], { env, encoding: 'utf8' }).stdout;
    const lines = (text) => text.trim().split('\n').map((line) => settled(JSON.parse(line)));
    const had = lines(fs.readFileSync(file, 'utf8')), has = lines(exported);
    for (const fact of had) assert.ok(has.some((f) => JSON.stringify(f) === JSON.stringify(fact)));
    assert.equal(has.length, had.length + 1); // Oslo
  },
}, {});
await theirs.close();
await ours.close();
await place.done();
process.exit(passed ? 0 : 1);
