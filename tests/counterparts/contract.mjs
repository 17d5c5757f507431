// What `tiro serve --describe` prints, against the schemas of OpenRPC, OpenAPI and JSON Schema, and
// what the program answers against what it printed, with a validator that we did not write.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { createRequire } from 'node:module';
import { load, makePlace, runSteps, TIRO } from './mcp_place.mjs';

const Ajv2020 = load('ajv/dist/2020').default;
const Ajv = load('ajv').default;
const addFormats = load('ajv-formats').default;
const place = await makePlace();

const described = (format) => JSON.parse(execFileSync(
  TIRO, ['serve', '--describe', format], { env: place.env, cwd: place.root, encoding: 'utf8' }));

function faults(validate) {
  return JSON.stringify(validate.errors?.slice(0, 3));
}

// --- the program ---

const tiro = spawn(TIRO, ['serve', '--stdio', '--provider', 'offline'],
                   { env: place.env, cwd: place.root, stdio: ['pipe', 'pipe', 'inherit'] });
const exited = new Promise((resolve) => tiro.on('exit', resolve));
const waiting = new Map(), told = [];
createInterface({ input: tiro.stdout }).on('line', (line) => {
  const v = JSON.parse(line);
  if (v.method) told.push(v);
  else waiting.get(v.id)(v);
});
let asked = 0;
function call(method, params) {
  const id = ++asked;
  tiro.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n');
  return new Promise((resolve) => waiting.set(id, resolve));
}

// --- the steps ---

const schemas = described('json-schema');
const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
addFormats(ajv);

// Fails unless it fits the definition of this name.
function fits(name, v) {
  const validate = ajv.compile(schemas.$defs[name]);
  assert.ok(validate(v), `${name}: ${faults(validate)}`);
}

async function answers(method, params = {}) {
  fits(`${method}.params`, params);
  const answer = await call(method, params);
  assert.ok(answer.result !== undefined, `${method}: ${JSON.stringify(answer.error)}`);
  fits(`${method}.result`, answer.result);
  return answer.result;
}

const passed = await runSteps('contract', {
  'each JSON schema is one': () => {
    assert.ok(ajv.validateSchema(schemas), JSON.stringify(ajv.errors));
    for (const [name, schema] of Object.entries(schemas.$defs)) {
      assert.ok(ajv.validateSchema(schema), `${name}: ${JSON.stringify(ajv.errors)}`);
      ajv.compile(schema);
    }
  },
  'the OpenRPC document is one': () => {
    // What it says of schemas within is a draft's that is not packed: the step before looked at ours.
    const draft = 'https://meta.json-schema.tools';
    const { $schema, ...meta } = JSON.parse(
      JSON.stringify(load('@open-rpc/meta-schema').openrpcDocument)
        .replaceAll(`"$ref":"${draft}/#/definitions/JSONSchemaObject/properties/$ref"`,
                    '"type":"string"'));
    const openrpc = new Ajv({ strict: false });
    addFormats(openrpc);
    openrpc.addSchema({ $id: draft });
    const validate = openrpc.compile(meta);
    const document = described('openrpc');
    assert.ok(validate(document), faults(validate));
    assert.ok(!validate({ ...document, methods: [{ name: 1 }] }));
  },
  'the OpenAPI document is one': async () => {
    const { Validator } = await import(path.join(
      process.env.COUNTERPARTS, 'node_modules/@seriousme/openapi-schema-validator/index.js'));
    const document = described('openapi');
    const result = await new Validator().validate(document);
    assert.ok(result.valid, JSON.stringify(result.errors?.slice?.(0, 3) ?? result.errors));
    const other = await new Validator().validate({ ...document, paths: [] });
    assert.ok(!other.valid);
  },
  'answers and notifications fit': async () => {
    await answers('initialize', { client_info: { name: 'counterpart', version: '1' } });
    await answers('engine/info');
    await answers('config/get');
    const { id } = await answers('session/create');
    await answers('turn/start', { session_id: id, prompt: 'hello' });
    await answers('session/list', { limit: 5 });
    await answers('session/history', { session_id: id });
    await answers('context/read', { session_id: id });
    await answers('memory/stats');
    await answers('doctor/report', { session_id: id });
    for (const v of told) {
      fits(`${v.method}.notification`, v.params);
      if (v.params.event) fits(`${v.params.event.type}.event`, v.params.event);
    }
    assert.ok(told.some((v) => v.method === 'session/event'));
  },
  'errors are those of the document': async () => {
    const { components } = described('openrpc');
    for (const [method, params, name] of [
      ['session/read', { session_id: 'nobody' }, 'SESSION_NOT_FOUND'],
      ['session/list', { limit: 'x' }, 'USAGE']]) {
      const { error } = await call(method, params);
      assert.equal(error.code, components.errors[name].code);
      assert.equal(error.data.code, name);
    }
  },
  'the program ends': async () => {
    tiro.stdin.end();
    assert.equal(await exited, 0);
  },
});
await place.done();
process.exit(passed ? 0 : 1);
