// Where a counterpart of the Model Context Protocol runs tiro: a home of its own, and how it tells
// what passed. TIRO is the program, COUNTERPARTS the directory whose node_modules has the packages.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { spawn } from 'node:child_process';

export const TIRO = process.env.TIRO;
export const load = createRequire(path.join(process.env.COUNTERPARTS, 'packages.js'));

export async function makePlace() {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tiro-mcp-')));
  const env = { PATH: process.env.PATH, HOME: root, LC_ALL: 'C.UTF-8' };
  const args = ['--provider', 'offline', '--allow', 'run,corpora,graph'];
  const servers = [];

  // Its URL, once it listens.
  function serveHttp() {
    const child = spawn(TIRO, ['serve', '--http', '127.0.0.1:0', ...args],
                        { env, cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    servers.push(child);
    return new Promise((resolve, reject) => {
      let said = '';
      child.stderr.on('data', (bytes) => {
        said += bytes;
        const url = /http:\/\/[0-9.:]+/.exec(said);
        if (url) resolve(url[0]);
      });
      child.on('exit', () => reject(new Error(`tiro serve --http has ended: ${said}`)));
    });
  }

  function done() {
    for (const child of servers) child.kill();
    fs.rmSync(root, { recursive: true, force: true });
  }
  return { root, env, args, serveHttp, done };
}

// A program's status, what it printed, and all that it said.
export function run(command, args, options) {
  const child = spawn(command, args, options);
  let printed = '', out = '';
  child.stdout.on('data', (bytes) => { printed += bytes; out += bytes; });
  child.stderr.on('data', (bytes) => { out += bytes; });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, printed, out })));
}

// Runs named steps in their order; each says PASS or FAIL. Whether all passed.
export async function runSteps(name, steps, self) {
  let passed = true;
  for (const [what, step] of Object.entries(steps)) {
    try {
      await step.call(self);
      console.log(`PASS: ${name}: ${what}`);
    } catch (error) {
      passed = false;
      console.log(`FAIL: ${name}: ${what}: ${error.stack ?? error}`);
    }
  }
  return passed;
}
