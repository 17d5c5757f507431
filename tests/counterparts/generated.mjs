// What is made of the descriptions by programs that we did not write: a linter finds nothing, and
// what generators write of them compiles.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { makePlace, run, runSteps, TIRO } from './mcp_place.mjs';

const place = await makePlace();
const options = { cwd: place.root, env: { ...place.env, REDOCLY_TELEMETRY: 'off',
                                          REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } };

async function works(command, ...args) {
  const { status, out } = await run(command, args, options);
  assert.equal(status, 0, out);
  return out;
}

function bin(name, ...args) {
  return works(path.join(process.env.COUNTERPARTS, 'node_modules/.bin', name), ...args);
}

// A program of these types, which must compile, and one with a fault, which must not.
async function compiles(types, good, bad) {
  for (const [name, text] of [['good', good], ['bad', bad]])
    fs.writeFileSync(path.join(place.root, `${name}.ts`), text);
  await bin('tsc', '--noEmit', '--strict', types, 'good.ts');
  await assert.rejects(bin('tsc', '--noEmit', '--strict', 'bad.ts'), /TS2/);
}

for (const format of ['openapi', 'openrpc'])
  fs.writeFileSync(path.join(place.root, `${format}.json`),
                   await works(TIRO, 'serve', '--describe', format));

const passed = await runSteps('generated', {
  'redocly finds nothing in the OpenAPI document': async () => {
    const out = await bin('redocly', 'lint', '--format', 'json', 'openapi.json');
    assert.ok(/"totals": *\{\s*"errors": *0,\s*"warnings": *0/.test(out), out);
  },
  'openapi-typescript makes types that compile': async () => {
    await bin('openapi-typescript', 'openapi.json', '-o', 'api.ts');
    const use = `import type { components, operations } from './api';
      type Event = components['schemas']['event'];
      export function text(e: Event): string | undefined {
        return e.type === 'text_delta' ? e.delta : undefined;
      }
      export type Made = operations['session_create']['responses'][201];
      export type Refused = operations['turn_start']['responses']['4XX'];\n`;
    await compiles('api.ts', use, use.replace("'text_delta'", "'text_delte'"));
  },
  'open-rpc-typings makes types that compile': async () => {
    await bin('open-rpc-typings', '-d', 'openrpc.json', '--output-ts', '.', '--name-ts', 'rpc');
    const use = `import type { SessionRename, TurnStart } from './rpc';
      export async function say(start: TurnStart, rename: SessionRename) {
        const turn = await start('last', 'hello');
        await rename('last', 'A title');
        return turn.stop_reason;
      }\n`;
    await compiles('rpc.ts', use, use.replace("start('last'", 'start(7'));
  },
});
await place.done();
process.exit(passed ? 0 : 1);
