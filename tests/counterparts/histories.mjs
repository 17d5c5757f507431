// Histories that other agents really write: histories.mjs claude|codex|opencode|gemini|pi. The agent talks
// with a scripted model, is resumed, compacted and forked where it can be; tiro imports its files: each
// word once, in the order of the talk.
//
// The packages are big, and no part of package.json: see hosts.mjs. Last tried:
// @anthropic-ai/claude-code 2.1.332, @openai/codex 0.171.0, opencode-ai 1.18.33,
// @google/gemini-cli 0.61.0, @mariozechner/pi-coding-agent 0.73.1.
import assert from 'node:assert/strict';
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

const WORDS = ['The staging host of the walrus project is pelican-7.', 'Which fjord has the kelp station?',
               'And who feeds the otter?', 'A fork asks about the auk.'];
const place = await makePlace();
let answers = 0;
const model = await startHostModel(/^(Bash|bash|exec_command|run_shell_command)$/,
  { command: 'echo walrus-tool', ...(which === 'codex' && { cmd: 'echo walrus-tool' }), description: 'say it' },
  () => `Reply heron-${++answers}.`);
const project = path.join(place.root, 'project');
fs.mkdirSync(project);
const env = {
  ...place.env, TMPDIR: place.root, NO_COLOR: '1', IS_SANDBOX: '1', npm_config_offline: 'true',
  ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'x', DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ENABLE_TOOL_SEARCH: 'false',
  OPENAI_API_KEY: 'x', CODEX_HOME: path.join(place.root, '.codex'),
  GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: 'true',
  OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
};

function write(file, text) {
  const whole = path.join(place.root, file);
  fs.mkdirSync(path.dirname(whole), { recursive: true });
  fs.writeFileSync(whole, typeof text === 'string' ? text : JSON.stringify(text));
}

async function start(command, ...args) {
  const result = await run(command, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 90000 });
  assert.equal(result.status, 0, `${command} ${args.join(' ')}: ${result.out}`);
  return result.printed;
}

const openai = { baseURL: `${model.url}/v1`, apiKey: 'x' };

// The four messages of WORDS, the last one in a fork where the agent has forks without a screen.
const agents = {
  async claude() {
    const ask = (...args) => start(program, '-p', '--allowedTools', 'Bash', ...args);
    const { session_id: id } = JSON.parse(await ask('--output-format', 'json', '--', WORDS[0]));
    await ask('--resume', id, '--', WORDS[1]);
    await ask('--resume', id, '--', '/compact');
    await ask('--resume', id, '--', WORDS[2]);
    await ask('--resume', id, '--fork-session', '--', WORDS[3]);
  },
  async codex() {
    write('.codex/config.toml',
      `model = "m"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n` +
      `base_url = "${model.url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`);
    const ask = (...args) => start(program, 'exec', '--skip-git-repo-check', ...args);
    await ask(WORDS[0]);
    await ask('resume', '--last', WORDS[1]);
    await ask('resume', '--last', WORDS[2]);
    const files = fs.readdirSync(path.join(place.root, '.codex/sessions'), { recursive: true });
    await ask('fork', /([0-9a-f-]{36})\.jsonl/.exec(files.join(' '))[1], WORDS[3]);
  },
  async opencode() {
    write('project/opencode.json', {
      model: 'bench/bench', small_model: 'bench/bench', share: 'disabled', autoupdate: false, snapshot: false,
      provider: { bench: { npm: '@ai-sdk/openai-compatible', options: openai,
                           models: { bench: { limit: { context: 100000, output: 1000 } } } } } });
    await start(program, 'run', WORDS[0]);
    await start(program, 'run', '-c', WORDS[1]);
    await start(program, 'run', '-c', WORDS[2]);
    await start(program, 'run', '-c', '--fork', WORDS[3]);
  },
  async gemini() {
    write('.gemini/settings.json', { security: { auth: { selectedType: 'gemini-api-key' } } });
    const ask = (...args) => start(program, '-m', 'gemini-2.5-pro', '--yolo', ...args);
    await ask('-p', WORDS[0]);
    for (const text of WORDS.slice(1)) await ask('--resume', 'latest', '-p', text);
  },
  async pi() {
    write('.pi/agent/models.json', { providers: { scripted: {
      baseUrl: openai.baseURL, api: 'openai-completions', apiKey: 'x',
      models: [{ id: 'm', name: 'm', contextWindow: 100000, maxTokens: 1000, input: ['text'], reasoning: false,
                 cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }] } } });
    const ask = (...args) => start(program, '--provider', 'scripted', '--model', 'm', ...args);
    await ask('-p', WORDS[0]);
    for (const text of WORDS.slice(1)) await ask('-c', '-p', text);
  },
};

async function imported() {
  await start(TIRO, 'import', '--from', which);
  const sessions = JSON.parse(await start(TIRO, 'sessions', 'list', '--json'));
  const texts = await Promise.all(sessions.map(async ({ id }) => start(TIRO, 'sessions', 'export', id)));
  return { sessions, text: texts.join('\n') };
}

let first;
const passed = await runSteps(`history of ${which}`, {
  async 'each word comes in once, in its order'() {
    await agents[which]();
    first = await imported();
    const lines = first.text.split('\n');
    for (const text of WORDS) /* opencode adds quotes; a title is a heading */
      assert.equal(lines.filter((line) => [text, `"${text}"`].includes(line)).length, 1, `${text}\n${first.text}`);
    const talk = await start(TIRO, 'sessions', 'export', first.sessions.at(-1).id);
    const places = WORDS.slice(0, 3).map((text) => talk.lastIndexOf(text));
    assert.ok(places[0] >= 0 && places[0] < places[1] && places[1] < places[2], talk);
    assert.match(talk, /walrus-tool/);
  },

  async 'its answers come in, and nothing of the program itself'() {
    const replies = [...first.text.matchAll(/^Reply heron-\d+\.$/gm)].map((found) => found[0]);
    assert.ok(replies.length >= WORDS.length, first.text);
    assert.equal(new Set(replies).size, replies.length, first.text);
    assert.doesNotMatch(first.text, /<(environment_context|session_context|system-reminder|local-command)/);
  },

  async 'another scan adds nothing'() {
    const again = await imported();
    assert.equal(again.sessions.length, first.sessions.length);
    assert.equal(again.text, first.text);
  },
}, {});
model.close();
await place.done();
process.exit(passed ? 0 : 1);
