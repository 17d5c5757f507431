// Where a counterpart of the Model Context Protocol runs tiro: a home of its own, and how it tells
// what passed. TIRO is the program, COUNTERPARTS the directory whose node_modules has the packages.
import fs from 'node:fs';
import http from 'node:http';
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

  // Not every client can send a header of ours, so requests pass through here and get the token.
  // The URL to ask.
  function addToken(url, token) {
    const passing = http.createServer((request, answer) => {
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      const onward = http.request(url + request.url, { method: request.method, headers }, (reply) => {
        answer.writeHead(reply.statusCode, reply.headers);
        answer.flushHeaders();
        reply.pipe(answer);
      });
      onward.on('error', () => answer.destroy());
      answer.on('close', () => onward.destroy());
      request.pipe(onward);
    });
    servers.push({ kill: () => { passing.close(); passing.closeAllConnections(); } });
    return new Promise((resolve) => passing.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${passing.address().port}`)));
  }

  // Where it listens, and its token.
  function serveBare() {
    const child = spawn(TIRO, ['serve', '--http', '127.0.0.1:0', ...args],
                        { env, cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    servers.push(child);
    return new Promise((resolve, reject) => {
      let said = '';
      child.stderr.on('data', (bytes) => {
        said += bytes;
        const url = /http:\/\/[0-9.:]+/.exec(said);
        const file = /the token in (.*)\n/.exec(said);
        if (url) resolve({ url: url[0], token: fs.readFileSync(file[1], 'utf8').trim() });
      });
      child.on('exit', () => reject(new Error(`tiro serve --http has ended: ${said}`)));
    });
  }

  // The URL to ask it at without a token.
  async function serveHttp() {
    const { url, token } = await serveBare();
    return addToken(url, token);
  }

  // A server that still ends would write files while they are removed.
  async function done() {
    const running = servers.filter((child) => child.pid && child.exitCode === null && !child.signalCode);
    const ended = running.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of servers) child.kill();
    await Promise.all(ended);
    fs.rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
  return { root, env, args, serveBare, serveHttp, done };
}

// A program's status, what it printed, and all that it said. `input` of the options is its input.
export function run(command, args, options) {
  const child = spawn(command, args, options);
  if (options.input) child.stdin.end(options.input);
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
