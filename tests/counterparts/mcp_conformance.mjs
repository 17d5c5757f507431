// The MCP project's conformance suite asks tiro what a revision requires of servers:
// mcp_conformance.mjs REVISION. What is expected to fail is in mcp_expected_REVISION.yaml, each with
// its reason; what passes all the same is a failure, too.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePlace, run, runSteps } from './mcp_place.mjs';

const [revision] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const suite = path.join(process.env.COUNTERPARTS,
                        'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const place = await makePlace();

const steps = {
  async 'all that is required and offered'() {
    const url = `${await place.serveHttp()}/mcp`;
    const { status, out } = await run(process.execPath, [
      suite, 'server', '--url', url, '--requirements', revision, '--output-dir', place.root,
      '--expected-failures', path.join(here, `mcp_expected_${revision}.yaml`)],
      { env: place.env, cwd: place.root });
    if (status !== 0) throw new Error(out.slice(out.indexOf('=== SUMMARY')));
    console.log(/Total: .*/.exec(out)?.[0]);
  },
};

const passed = await runSteps(`MCP conformance, ${revision}`, steps);
await place.done();
process.exit(passed ? 0 : 1);
