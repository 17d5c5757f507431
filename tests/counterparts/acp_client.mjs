// The client of the Agent Client Protocol's SDK as an editor: it has files open that are not saved,
// writes files, and has terminals; the tools of tiro use them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { makePlace, runSteps } from './acp_place.mjs';
import { startTiro } from './acp_wire.mjs';
import { WRITTEN } from './acp_model.mjs';

const place = await makePlace();
const written = path.join(place.cwd, 'written.txt');

// --- the editor ---

const open = new Map(), updates = [], calls = [], terminals = new Map();

function startTerminal({ command, args, env, cwd, outputByteLimit }) {
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, EDITORS_SECRET: 'sesame',
           ...Object.fromEntries(env.map((v) => [v.name, v.value])) } });
  const t = { child, output: '', truncated: false };
  const take = (bytes) => {
    t.output += bytes;
    t.truncated ||= t.output.length > outputByteLimit;
    t.output = t.output.slice(-outputByteLimit);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  t.exited = new Promise((resolve) => child.on('close', (exitCode, signal) =>
    resolve(t.exitStatus = { exitCode, signal })));
  const terminalId = `terminal-${terminals.size + 1}`;
  terminals.set(terminalId, t);
  return { terminalId };
}

const heard = (answer) => (c) => { calls.push(c); return answer(c.params); };
const terminal = (params) => terminals.get(params.terminalId);
const tiro = await startTiro(place, (client) => client
  .onNotification('session/update', (c) => { updates.push(c.params.update); })
  .onRequest('session/request_permission', heard((p) => ({ outcome: { outcome: 'selected',
    optionId: p.options.find((o) => o.kind === 'allow_once').optionId } })))
  .onRequest('fs/read_text_file', heard((p) => {
    if (!open.has(p.path) && !fs.existsSync(p.path)) throw new Error(`there is no ${p.path}`);
    return { content: open.get(p.path) ?? fs.readFileSync(p.path, 'utf8') };
  }))
  .onRequest('fs/write_text_file', heard((p) => { open.set(p.path, p.content); return {}; }))
  .onRequest('terminal/create', heard(startTerminal))
  .onRequest('terminal/wait_for_exit', heard((p) => terminal(p).exited))
  .onRequest('terminal/output', heard((p) => {
    const { output, truncated, exitStatus } = terminal(p);
    return { output, truncated, exitStatus };
  }))
  .onRequest('terminal/kill', heard(async (p) => {
    process.kill(-terminal(p).child.pid, 'SIGKILL');
    await terminal(p).exited;
    return {};
  }))
  .onRequest('terminal/release', heard((p) => { terminal(p).released = true; return {}; })),
  '--tools', 'full');
const { agent } = tiro;

// --- the steps ---

let session;
const say = (text) => agent.request('session/prompt',
  { sessionId: session, prompt: [{ type: 'text', text }] });
function said(from) {
  return updates.slice(from).filter((u) => u.sessionUpdate === 'agent_message_chunk')
    .map((u) => u.content.text ?? '').join('');
}
const asked = (from) => tiro.received.slice(from).map((m) => m.method)
  .filter((method) => method && method !== 'session/update');
async function until(holds) {
  const end = Date.now() + 10000;
  while (!holds()) {
    assert.ok(Date.now() < end, 'it did not come');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const steps = {
  async 'it says what it has'() {
    await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true }, terminal: true } });
    session = (await agent.request('session/new', { cwd: place.cwd, mcpServers: [] })).sessionId;
  },
  async 'a new file is written by it, and not on the disk'() {
    const from = updates.length, begun = tiro.received.length;
    assert.equal((await say('WRITE it')).stopReason, 'end_turn');
    assert.equal(open.get(written), WRITTEN);
    assert.ok(!fs.existsSync(written));
    assert.match(said(from), /The tool said: wrote 15 bytes/);
    assert.deepEqual(asked(begun),
      ['fs/read_text_file', 'session/request_permission', 'fs/write_text_file']);
  },
  async 'what is open is what is compared'() {
    open.set(written, 'not saved\n');
    const from = updates.length;
    await say('WRITE it');
    const diff = updates.slice(from).flatMap((u) => u.content ?? []).find((c) => c.type === 'diff');
    assert.equal(diff.oldText, 'not saved\n');
    assert.equal(diff.newText, WRITTEN);
    assert.equal(open.get(written), WRITTEN);
  },
  async 'a command runs in its terminal'() {
    const from = updates.length, begun = tiro.received.length;
    await say('RUN pwd; env; echo bad >&2; exit 3');
    const shown = updates.slice(from).flatMap((u) => u.content ?? []).find((c) => c.type === 'terminal');
    const t = terminals.get(shown.terminalId);
    assert.ok(t.released);
    assert.ok(t.output.startsWith(`${place.cwd}\n`), t.output);
    assert.ok(!t.output.includes('sesame') && !t.output.includes('OPENAI'), t.output);
    assert.match(t.output, /^TERM=dumb$/m);
    assert.match(said(from), /bad\s+\[exit status 3\]/);
    assert.deepEqual(asked(begun), ['session/request_permission', 'terminal/create',
      'terminal/wait_for_exit', 'terminal/output', 'terminal/release']);
  },
  async 'a cancelled command is killed, and its terminal released'() {
    const from = terminals.size;
    const running = say('RUN echo begun; sleep 600');
    await until(() => terminals.size > from && [...terminals.values()].at(-1).output === 'begun\n');
    await agent.notify('session/cancel', { sessionId: session });
    assert.equal((await running).stopReason, 'cancelled');
    const t = [...terminals.values()].at(-1);
    await until(() => t.released);
    assert.equal(t.exitStatus.signal, 'SIGKILL');
  },
  async 'much output is cut at its beginning'() {
    const from = updates.length;
    await say('RUN seq 1 100000');
    assert.match(said(from), /The tool said: \[… the beginning was left out …\]/);
    assert.match(said(from), /\n100000\n\[exit status 0\]/);
  },
  async 'it ends with its input'() {
    assert.equal(await tiro.end(), 0);
  },
  async 'all that it sent fits the schema'() {
    const checked = tiro.checkSchema();
    assert.ok(checked > 30, `${checked} messages`);
  },
};

const passed = await runSteps('ACP SDK as an editor', steps);
tiro.kill();
place.done();
process.exit(passed ? 0 : 1);
