// acpx, a command-line client of the Agent Client Protocol, runs tiro: with everything approved, with
// everything denied, in sessions that it keeps.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { makePlace, runSteps, PACKAGES, TIRO } from './acp_place.mjs';
import { WRITTEN } from './acp_model.mjs';

const place = await makePlace();
const written = path.join(place.cwd, 'written.txt');
const cli = JSON.parse(fs.readFileSync(path.join(PACKAGES, 'acpx/package.json'))).bin.acpx;
const agent = [TIRO, ...place.args, '--tools', 'full'].join(' ');

// {status, out}: what it prints, and all that went over the wire with --format json.
function acpx(...args) {
  const child = spawn(process.execPath, [path.join(PACKAGES, 'acpx', cli), '--agent', agent,
    '--cwd', place.cwd, '--timeout', '30', ...args], { cwd: place.cwd, env: place.env });
  let out = '';
  child.stdout.on('data', (bytes) => { out += bytes; });
  child.stderr.on('data', (bytes) => { out += bytes; });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, out })));
}

function messages(out) {
  return out.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}

const steps = {
  async 'a prompt is answered'() {
    const r = await acpx('--approve-all', '--format', 'text', 'exec', 'hello');
    assert.equal(r.status, 0, r.out);
    assert.match(r.out, /Hello from the scripted model\./);
  },
  async 'what it approves is written'() {
    const r = await acpx('--approve-all', '--format', 'json', 'exec', 'WRITE it');
    assert.equal(r.status, 0, r.out);
    assert.equal(fs.readFileSync(written, 'utf8'), WRITTEN);
    const asked = messages(r.out).find((m) => m.method === 'session/request_permission');
    assert.equal(asked.params.toolCall.content[0].type, 'diff', r.out);
    assert.match(r.out, /"stopReason":"end_turn"/);
  },
  async 'its terminal runs what it approves'() {
    const r = await acpx('--approve-all', '--format', 'json', 'exec', 'RUN echo $((6*7)); pwd; exit 3');
    const methods = messages(r.out).map((m) => m.method).filter((m) => m?.startsWith('terminal/'));
    assert.ok(methods.includes('terminal/create') && methods.includes('terminal/release'), r.out);
    assert.match(r.out, /42/);
    assert.match(r.out, /exit status 3/);
    assert.ok(r.out.includes(place.cwd), r.out);
  },
  async 'what it denies is not'() {
    fs.writeFileSync(written, 'mine\n');
    const r = await acpx('--deny-all', '--format', 'json', 'exec', 'WRITE it');
    assert.equal(fs.readFileSync(written, 'utf8'), 'mine\n');
    assert.match(r.out, /the editor refused: .*--deny-all/, r.out);
  },
  async 'a session of its own goes on'() {
    let r = await acpx('--approve-all', 'sessions', 'new');
    assert.equal(r.status, 0, r.out);
    for (const text of ['hello', 'hello again']) {
      r = await acpx('--approve-all', '--ttl', '1', text);
      assert.equal(r.status, 0, r.out);
      assert.match(r.out, /Hello from the scripted model\./);
    }
    r = await acpx('sessions', 'close');
    assert.equal(r.status, 0, r.out);
  },
};

const passed = await runSteps('acpx', steps);
place.done();
process.exit(passed ? 0 : 1);
