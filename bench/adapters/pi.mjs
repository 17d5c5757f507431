// pi (npm: @mariozechner/pi-coding-agent) as the program that the bench `reach` measures
// (doc/reach.md): REACH_ADAPTER="node bench/adapters/pi.mjs". PI names the program if `pi` is not
// in PATH. The defaults of pi are for windows of 100,000 tokens and more. Here it compacts above
// seven eighths of REACH_WINDOW and keeps the newest messages, as many as fit 40 % of that.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';

const home = process.env.HOME;
const window = Number(process.env.REACH_WINDOW);
const reserveTokens = Math.floor(window / 8);
const keepRecentTokens = Math.floor((window - reserveTokens) * 0.4);
const bench = {
  api: 'openai-completions',
  baseUrl: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
  models: [{ id: 'bench', contextWindow: window, maxTokens: reserveTokens, input: ['text'] }],
};
const files = {
  'models.json': { providers: { bench } },
  'settings.json': { compaction: { enabled: true, reserveTokens, keepRecentTokens } },
};
const folder = `${home}/.pi/agent`;
mkdirSync(folder, { recursive: true });
for (const [name, value] of Object.entries(files)) {
  writeFileSync(`${folder}/${name}`, JSON.stringify(value));
}

// Lines end with LF alone: readline would split at U+2028, too.
function readLines(stream, take) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    lines.forEach((line) => take(JSON.parse(line)));
  });
}

const write = (stream, value) => stream.write(`${JSON.stringify(value)}\n`);

const options = ['--mode', 'rpc', '--offline', '--no-context-files', '--no-skills',
  '--no-extensions', '--model', 'bench/bench', '--session', `${home}/session.jsonl`];
const pi = spawn(process.env.PI ?? 'pi', options,
  { cwd: home, stdio: ['pipe', 'pipe', 'inherit'] });
pi.on('exit', (code) => process.exit(code ?? 1));

// A turn is complete when the agent has ended, and neither compacts nor tries again.
let ended = false;
readLines(pi.stdout, (event) => {
  if (event.type === 'agent_end') ended = true;
  if (event.type === 'compaction_end' && event.willRetry) ended = false;
  if (['agent_end', 'compaction_end'].includes(event.type)) write(pi.stdin, { type: 'get_state' });
  if (event.message?.errorMessage) console.error(event.message.errorMessage);
  if (event.type === 'response' && !event.success) throw new Error(event.error);
  const state = event.command === 'get_state' ? event.data : { isStreaming: true };
  if (ended && !state.isStreaming && !state.isCompacting) {
    ended = false;
    write(process.stdout, {});
  }
});
readLines(process.stdin, ({ turn }) => write(pi.stdin, { type: 'prompt', message: turn }));
process.stdin.on('end', () => pi.stdin.end());
