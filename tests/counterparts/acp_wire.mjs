// tiro as an agent of the client of the Agent Client Protocol's SDK, and all that goes over the wire
// between them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { load, PACKAGES, TIRO } from './acp_place.mjs';

const acp = await load('@agentclientprotocol/sdk/dist/v1/unstable/acp.js');

// Passes bytes on; the messages in them go to the list.
function note(list) {
  let rest = '';
  const decoder = new TextDecoder();
  return new TransformStream({ transform(bytes, out) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop();
    list.push(...lines.filter(Boolean).map((line) => JSON.parse(line)));
    out.enqueue(bytes);
  } });
}

// Whether each message of tiro's is as the protocol's JSON schema has it; how many there were.
function checkSchema(sent, received) {
  const require = createRequire(path.join(PACKAGES, 'x.js'));
  const Ajv = require('ajv/dist/2020').default;
  const schema = JSON.parse(fs.readFileSync(
    path.join(PACKAGES, '@agentclientprotocol/sdk/schema/v1/schema.json')));
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(schema, 'acp');
  const byMethod = (suffix, method) => Object.entries(schema.$defs).find(([name, d]) =>
    d['x-method'] === method && name.endsWith(suffix))?.[0];
  const methods = new Map(sent.filter((m) => m.method && m.id !== undefined).map((m) => [m.id, m.method]));
  const check = (def, value) => {
    const fits = ajv.getSchema(`acp#/$defs/${def}`);
    assert.ok(fits(value), `${def}: ${JSON.stringify(fits.errors?.slice(0, 3))} ${JSON.stringify(value).slice(0, 300)}`);
  };
  for (const m of received) {
    assert.equal(m.jsonrpc, '2.0');
    if (m.error) check('Error', m.error);
    else if (m.method === 'session/update') check('SessionNotification', m.params);
    else if (m.method === '$/cancel_request') check('CancelRequestNotification', m.params);
    else if (m.method) check(byMethod('Request', m.method), m.params);
    else check(byMethod('Response', methods.get(m.id)), m.result);
  }
  return received.length;
}

// `handlers` gets the SDK's client and returns it with what it answers.
export async function startTiro(place, handlers, ...args) {
  const child = spawn(TIRO, [...place.args, ...args],
    { cwd: place.root, env: place.env, stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  const sent = [], received = [];
  const toTiro = note(sent), fromTiro = note(received);
  toTiro.readable.pipeTo(Writable.toWeb(child.stdin)).catch(() => {});
  const stream = acp.ndJsonStream(toTiro.writable,
                                  Readable.toWeb(child.stdout).pipeThrough(fromTiro));
  const connection = handlers(acp.client({ name: 'counterpart' })).connect(stream);
  return {
    agent: connection.agent, received,
    end() { child.stdin.end(); return exited; },
    kill() { child.kill(); },
    checkSchema: () => checkSchema(sent, received),
  };
}
