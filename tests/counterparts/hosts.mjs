// Other agents with tiro as their memory: hosts.mjs claude|codex|opencode|gemini. The agent lists the
// server, its (scripted) model calls tiro_memory_search, and the next request has the answer. Claude
// Code gets data/plugin, and its compaction what the plugin's hooks give back.
//
// These packages are big, and no part of package.json: whoever wants to try one installs it beside the
// others, in DIRECTORY (`npm install --no-save PACKAGE@VERSION`). Without it the row is passed over.
// Last tried: @anthropic-ai/claude-code 2.1.332, @openai/codex 0.171.0, opencode-ai 1.18.33,
// @google/gemini-cli 0.61.0.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { startHostModel } from './host_model.mjs';
import { makePlace, run, runSteps, TIRO } from './mcp_place.mjs';

const which = process.argv[2];
const program = path.join(process.env.COUNTERPARTS, 'node_modules/.bin', which);
if (!fs.existsSync(program)) {
  console.log(`SKIP: ${which} is not installed`);
  process.exit(0);
}

const QUESTION = 'Which port has the heron database?';
const plugin = path.join(import.meta.dirname, '../../data/plugin');
const place = await makePlace();
const model = await startHostModel(/memory_search$/, { query: QUESTION });
const project = path.join(place.root, 'project'), bin = path.join(place.root, 'bin');
fs.mkdirSync(project);
fs.mkdirSync(bin);
fs.symlinkSync(TIRO, path.join(bin, 'tiro'));
const env = {
  ...place.env, PATH: `${bin}:${process.env.PATH}`, TMPDIR: place.root, NO_COLOR: '1',
  ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'x', DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ENABLE_TOOL_SEARCH: 'false',
  OPENAI_API_KEY: 'x', CODEX_HOME: path.join(place.root, '.codex'),
  GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: 'true',
  OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1', npm_config_offline: 'true',
};
const server = { command: 'tiro', args: ['serve', '--mcp', '--as', 'memory'] };

function write(file, text) {
  const whole = path.join(place.root, file);
  fs.mkdirSync(path.dirname(whole), { recursive: true });
  fs.writeFileSync(whole, typeof text === 'string' ? text : JSON.stringify(text));
}

async function start(...args) {
  const result = await run(program, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 90000 });
  assert.equal(result.status, 0, `${which} ${args.join(' ')}: ${result.out}`);
  return result.out;
}

// How each is told of tiro, how it lists its servers, and how it is asked.
const hosts = {
  claude: {
    async configure() {
      await start('plugin', 'marketplace', 'add', plugin);
      await start('plugin', 'install', 'tiro@tiro');
    },
    list: ['mcp', 'list'], healthy: /tiro:tiro: .*Connected/,
    ask: (text) => ['-p', text, '--allowedTools', 'mcp__plugin_tiro_tiro__tiro_memory_search'],
  },
  codex: {
    configure: () => write('.codex/config.toml',
      `model = "m"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n` +
      `base_url = "${model.url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n` +
      `[mcp_servers.tiro]\ncommand = "tiro"\nargs = ${JSON.stringify(server.args)}\n`),
    list: ['mcp', 'list'], healthy: /tiro .*enabled/,
    ask: (text) => ['exec', '--skip-git-repo-check', text],
  },
  opencode: {
    configure: () => write('project/opencode.json', {
      mcp: { tiro: { type: 'local', command: ['tiro', ...server.args], enabled: true } },
      model: 'bench/bench', small_model: 'bench/bench', share: 'disabled', autoupdate: false, snapshot: false,
      provider: { bench: { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${model.url}/v1`, apiKey: 'x' },
                           models: { bench: { limit: { context: 100000, output: 1000 } } } } } }),
    list: ['mcp', 'list'], healthy: /tiro.*connected/,
    ask: (text) => ['run', text],
  },
  gemini: {
    configure: () => write('.gemini/settings.json', {
      mcpServers: { tiro: { ...server, trust: true } }, security: { auth: { selectedType: 'gemini-api-key' } } }),
    list: ['mcp', 'list'], healthy: /tiro: .*Connected/,
    ask: (text) => ['-m', 'gemini-2.5-pro', '-p', text],
  },
};
const host = hosts[which];

const steps = {
  async 'it lists tiro'() {
    const entry = { session_id: 'old', role: 'user', created_at: '2026-11-01T10:00:00Z',
                    content: 'The heron database has port 7431.' };
    const kept = spawnSync(TIRO, ['memory', 'import', '-'], { env, input: `${JSON.stringify(entry)}\n` });
    assert.equal(kept.status, 0);
    await host.configure();
    assert.match(await start(...host.list), host.healthy);
  },

  async 'its model searches memory, and gets the answer'() {
    await start(...host.ask(QUESTION));
    assert.ok(model.called(), 'the tool was not offered');
    assert.match(model.requests.at(-1).text, /7431/);
  },
};
if (which === 'claude')
  steps['after a compaction it has what was dropped and is needed'] = async () => {
    const first = JSON.parse(await start('-p', 'The staging host of the walrus project is called pelican-7.',
                                         '--output-format', 'json'));
    const on = (text) => start('-p', '--resume', first.session_id, text);
    await on('How is the staging host of the walrus project called?');
    await on('/compact');
    await on('Thanks.');
    assert.match(model.requests.at(-1).text, /From tiro's memory[^]*pelican-7/);
  };

const passed = await runSteps(which, steps, {});
model.close();
await place.done();
process.exit(passed ? 0 : 1);
