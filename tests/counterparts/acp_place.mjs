// Where a counterpart of the Agent Client Protocol runs tiro: a home of its own, a working
// directory, a model; and how it tells what passed. TIRO is the program, COUNTERPARTS the directory
// whose node_modules has the packages.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { startModel } from './acp_model.mjs';

export const TIRO = process.env.TIRO;
export const PACKAGES = path.join(process.env.COUNTERPARTS ?? process.cwd(), 'node_modules');

export function load(file) {
  return import(pathToFileURL(path.join(PACKAGES, file)));
}

export async function makePlace() {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tiro-acp-')));
  const home = path.join(root, 'home'), cwd = path.join(root, 'work');
  const model = await startModel();
  fs.mkdirSync(path.join(home, '.config', 'tiro'), { recursive: true });
  fs.mkdirSync(cwd);
  fs.writeFileSync(path.join(home, '.config', 'tiro', 'tiro.ini'),
    '[model scripted-model]\nwindow = 32000\ninput_price = 1\noutput_price = 2\n');
  const env = { PATH: process.env.PATH, HOME: home, LC_ALL: 'C.UTF-8', OPENAI_API_KEY: 'key',
                OPENAI_BASE_URL: model.url };
  const args = ['serve', '--acp', '--provider', 'openai', '--model', 'scripted-model'];
  return { root, cwd, env, args,
           done() { model.close(); fs.rmSync(root, { recursive: true, force: true }); } };
}

// Runs named steps in their order; each says PASS or FAIL. Whether all passed.
export async function runSteps(name, steps) {
  let passed = true;
  for (const [what, step] of Object.entries(steps)) {
    try {
      await step();
      console.log(`PASS: ${name}: ${what}`);
    } catch (e) {
      passed = false;
      console.log(`FAIL: ${name}: ${what}: ${e.stack ?? e}`);
    }
  }
  return passed;
}
