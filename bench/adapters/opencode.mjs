// opencode (npm: opencode-ai) as the program that the bench `reach` measures (doc/reach.md):
// REACH_ADAPTER="node bench/adapters/opencode.mjs". OPENCODE names the program if `opencode` is not
// in PATH. It compacts by its own defaults for a window of REACH_WINDOW tokens and answers of an
// eighth of that.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const home = process.env.HOME;
const window = Number(process.env.REACH_WINDOW);
const config = {
  model: 'bench/bench',
  small_model: 'bench/bench',
  share: 'disabled',
  autoupdate: false,
  snapshot: false,
  compaction: { auto: true },
  agent: { title: { disable: true } },
  provider: {
    bench: {
      npm: '@ai-sdk/openai-compatible',
      models: { bench: { limit: { context: window, output: Math.floor(window / 8) } } },
      options: { baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY },
    },
  },
};
const env = {
  ...process.env,
  OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  npm_config_offline: 'true', // it would install a package for plugins
  TMPDIR: home, // it leaves files there
};
for (const name of ['CONFIG', 'DATA', 'STATE', 'CACHE']) delete env[`XDG_${name}_HOME`];

function readLines(stream, take) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    lines.forEach(take);
  });
}

const server = spawn(process.env.OPENCODE ?? 'opencode', ['serve', '--port', '0', '--pure'],
  { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] });
server.on('exit', (code) => process.exit(code ?? 1));
const address = await new Promise((found) => {
  readLines(server.stdout, (line) => {
    const [url] = line.match(/http:\/\/\S+/) ?? [];
    if (url) found(url);
  });
});

async function post(path, body) {
  const response = await fetch(address + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

const kept = `${home}/reach-session`;
if (!existsSync(kept)) writeFileSync(kept, (await post('/session', { title: 'reach' })).id);
const session = readFileSync(kept, 'utf8');

// The answer comes when the turn is complete.
let before = Promise.resolve();
readLines(process.stdin, (line) => {
  before = before.then(async () => {
    const parts = [{ type: 'text', text: JSON.parse(line).turn }];
    const { info } = await post(`/session/${session}/message`, { parts });
    if (info.error) console.error(JSON.stringify(info.error));
    process.stdout.write('{}\n');
  });
});
process.stdin.on('end', () => before.finally(() => server.kill()));
