// The client of the Agent Client Protocol's SDK talks with tiro, and what tiro sends is checked
// against the protocol's JSON schema.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { makePlace, runSteps } from './acp_place.mjs';
import { startTiro } from './acp_wire.mjs';
import { WRITTEN } from './acp_model.mjs';

const place = await makePlace();
const updates = [], asked = [];
let pick = 'allow_once';
const tiro = await startTiro(place, (client) => client
  .onNotification('session/update', (c) => { updates.push(c.params); })
  .onRequest('session/request_permission', (c) => {
    asked.push(c.params);
    if (pick === 'cancelled') return { outcome: { outcome: 'cancelled' } };
    const option = c.params.options.find((o) => o.kind === pick);
    return { outcome: { outcome: 'selected', optionId: option.optionId } };
  }));
const { agent } = tiro;

function kinds(from, session) {
  return updates.slice(from).filter((u) => u.sessionId === session).map((u) => u.update.sessionUpdate);
}
function said(from, session, kind = 'agent_message_chunk') {
  return updates.slice(from)
    .filter((u) => u.sessionId === session && u.update.sessionUpdate === kind)
    .map((u) => u.update.content.text ?? '').join('');
}
const say = (sessionId, text) =>
  agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
async function failsWith(code, promise) {
  await assert.rejects(promise, (e) => e.code === code || assert.fail(`${e.code} ${e.message}`));
}
async function until(holds) {
  const end = Date.now() + 10000;
  while (!holds()) {
    assert.ok(Date.now() < end, 'it did not come');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

// --- the steps ---

let session, other;
const written = path.join(place.cwd, 'written.txt');
const steps = {
  async 'initialize tells what it can'() {
    const r = await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {
      session: { compaction: {}, notices: {} } } });
    assert.equal(r.protocolVersion, 1);
    assert.equal(r.agentInfo.name, 'tiro');
    assert.ok(r.agentCapabilities.loadSession);
    for (const what of ['list', 'delete', 'resume', 'close'])
      assert.ok(r.agentCapabilities.sessionCapabilities[what], what);
  },
  async 'a session begins, with commands and options'() {
    const r = await agent.request('session/new', { cwd: place.cwd, mcpServers: [] });
    session = r.sessionId;
    assert.deepEqual(r.configOptions.map((o) => o.id).sort(), ['compaction', 'model', 'tools']);
    await until(() => kinds(0, session).includes('config_option_update'));
    const models = updates.find((u) => u.update.sessionUpdate === 'config_option_update')
      .update.configOptions.find((o) => o.id === 'model').options.map((o) => o.value);
    assert.ok(models.includes('openai/other/model'), models.join());
    assert.ok(kinds(0, session).includes('available_commands_update'));
  },
  async 'a prompt streams thoughts and text'() {
    const from = updates.length;
    const r = await say(session, 'hello');
    assert.equal(r.stopReason, 'end_turn');
    assert.equal(said(from, session), 'Hello from the scripted model.');
    assert.equal(said(from, session, 'agent_thought_chunk'), 'They greet me.');
    assert.ok(!kinds(from, session).includes('user_message_chunk'));
    await until(() => updates.slice(from).some((u) => u.update.cost));
    const usage = updates.findLast((u) => u.update.sessionUpdate === 'usage_update').update;
    assert.equal(usage.size, 32000);
    assert.equal(usage.cost.currency, 'USD');
  },
  async 'an image and an embedded file go along'() {
    const from = updates.length;
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const r = await agent.request('session/prompt', { sessionId: session, prompt: [
      { type: 'text', text: 'image of ' },
      { type: 'resource_link', uri: `file://${written}`, name: 'written.txt' },
      { type: 'resource', resource: { uri: 'file:///x/y.txt', text: 'abc' } },
      { type: 'image', data, mimeType: 'image/png' }] });
    assert.equal(r.stopReason, 'end_turn');
    assert.equal(said(from, session), 'Seen: true');
  },
  async 'a tool asks, with the diff, and writes when it is allowed'() {
    const o = await agent.request('session/set_config_option',
      { sessionId: session, configId: 'tools', value: 'full' });
    assert.equal(o.configOptions.find((c) => c.id === 'tools').currentValue, 'full');
    const from = updates.length;
    const r = await say(session, 'WRITE it');
    assert.equal(r.stopReason, 'end_turn');
    assert.equal(fs.readFileSync(written, 'utf8'), WRITTEN);
    const { toolCall, options } = asked.at(-1);
    assert.deepEqual(options.map((x) => x.kind), ['allow_once', 'reject_once', 'allow_always', 'allow_always',
      'reject_always']);
    assert.equal(toolCall.kind, 'edit');
    assert.deepEqual(toolCall.locations, [{ path: written }]);
    assert.deepEqual(toolCall.content, [{ type: 'diff', path: written, newText: WRITTEN }]);
    const states = updates.slice(from).map((u) => u.update)
      .filter((u) => u.toolCallId === toolCall.toolCallId).map((u) => u.status).filter(Boolean);
    assert.equal(states[0], 'pending');
    assert.equal(states.at(-1), 'completed');
    assert.match(said(from, session), /The tool said: wrote 15 bytes/);
  },
  async 'a change shows the old text, and is not made when it is refused'() {
    fs.writeFileSync(written, 'one\ntwo\nthree\n');
    pick = 'reject_once';
    const from = updates.length;
    const r = await say(session, 'WRITE it again');
    assert.equal(r.stopReason, 'end_turn');
    assert.equal(fs.readFileSync(written, 'utf8'), 'one\ntwo\nthree\n');
    assert.deepEqual(asked.at(-1).toolCall.content,
      [{ type: 'diff', path: written, oldText: 'one\ntwo\nthree\n', newText: WRITTEN }]);
    assert.match(said(from, session), /declined/);
    assert.ok(updates.slice(from).some((u) => u.update.status === 'failed'));
  },
  async 'what is allowed for the session is not asked again'() {
    pick = 'allow_always';
    const before = asked.length;
    await say(session, 'WRITE it');
    assert.equal(asked.length, before + 1);
    fs.writeFileSync(written, 'old\n');
    await say(session, 'WRITE it');
    assert.equal(asked.length, before + 1);
    assert.equal(fs.readFileSync(written, 'utf8'), WRITTEN);
  },
  async 'a prompt that is cancelled says so'() {
    const from = updates.length;
    const running = say(session, 'SLOW');
    await until(() => said(from, session).length > 20);
    await failsWith(-32600, say(session, 'another one'));
    await agent.notify('session/cancel', { sessionId: session });
    assert.equal((await running).stopReason, 'cancelled');
  },
  async 'two sessions answer at once'() {
    other = (await agent.request('session/new', { cwd: place.cwd, mcpServers: [] })).sessionId;
    const from = updates.length;
    const slow = say(session, 'SLOW');
    await until(() => said(from, session).length > 20);
    assert.equal((await say(other, 'hello')).stopReason, 'end_turn');
    assert.equal(said(from, other), 'Hello from the scripted model.');
    await agent.notify('session/cancel', { sessionId: session });
    assert.equal((await slow).stopReason, 'cancelled');
  },
  async 'a compaction is told as one'() {
    for (let i = 0; i < 8; i++) await say(session, `Message ${i}: ${'lorem ipsum '.repeat(300)}`);
    const from = updates.length;
    const r = await say(session, '/compact handoff keep the greetings');
    assert.equal(r.stopReason, 'end_turn');
    const told = updates.slice(from).map((u) => u.update).filter((u) => u.compactionId);
    assert.equal(told[0].status, 'in_progress');
    assert.equal(told.at(-1).status, 'completed');
    assert.ok(told.at(-1).summary[0].text.length > 0);
    assert.equal(new Set(told.map((u) => u.compactionId)).size, 1);
  },
  async 'sessions are listed, by directory'() {
    const r = await agent.request('session/list', { cwd: place.cwd });
    assert.deepEqual(r.sessions.map((s) => s.sessionId).sort(), [session, other].sort());
    assert.ok(r.sessions.every((s) => s.cwd === place.cwd && s.updatedAt));
    assert.deepEqual((await agent.request('session/list', { cwd: '/nowhere' })).sessions, []);
  },
  async 'a compacted session is told from its beginning'() {
    await agent.request('session/close', { sessionId: session });
    await failsWith(-32002, say(session, 'hello'));
    const from = updates.length;
    await agent.request('session/load', { sessionId: session, cwd: place.cwd, mcpServers: [] });
    const mine = said(from, session, 'user_message_chunk');
    assert.ok(mine.startsWith('hello'), mine.slice(0, 80));
    for (let i = 0; i < 8; i++) assert.ok(mine.includes(`Message ${i}: lorem`), `message ${i}`);
    assert.match(said(from, session), /Hello from the scripted model\..*The tool said/s);
    const seen = kinds(from, session);
    assert.ok(seen.includes('tool_call') && seen.includes('compaction_update'));
    assert.equal((await say(session, 'hello')).stopReason, 'end_turn');
  },
  async 'a resumed one is not'() {
    await agent.request('session/close', { sessionId: session });
    const from = updates.length;
    await agent.request('session/resume', { sessionId: session, cwd: place.cwd });
    assert.ok(!kinds(from, session).includes('user_message_chunk'));
    assert.equal((await say(session, 'hello')).stopReason, 'end_turn');
  },
  async 'commands answer'() {
    for (const [text, what] of [['/context', /history: \d+/], ['/memory greetings', /./],
                                ['/pin', /pinned/], ['/model', /openai\/scripted-model/],
                                ['/remember we write C', /we write C/]]) {
      const from = updates.length;
      assert.equal((await say(session, text)).stopReason, 'end_turn');
      assert.match(said(from, session), what, text);
    }
  },
  async 'a model is chosen'() {
    const r = await agent.request('session/set_config_option',
      { sessionId: session, configId: 'model', value: 'openai/other/model' });
    assert.equal(r.configOptions.find((o) => o.id === 'model').currentValue, 'openai/other/model');
    await agent.request('session/set_mode', { sessionId: session, modeId: 'read' });
  },
  async 'errors have the numbers of the protocol'() {
    await failsWith(-32002, say('01a205d3-0000-7000-8000-000000000000', 'x'));
    await failsWith(-32602, agent.request('session/prompt', { sessionId: session, prompt: [
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] }));
    await failsWith(-32602, agent.request('session/new', { cwd: 'relative', mcpServers: [] }));
    await failsWith(-32602, agent.request('session/set_config_option',
      { sessionId: session, configId: 'tools', value: 'everything' }));
    await failsWith(-32601, agent.request('session/unheard_of', {}));
    await failsWith(-32002, agent.request('session/load',
      { sessionId: '01a205d3-0000-7000-8000-000000000000', cwd: place.cwd, mcpServers: [] }));
  },
  async 'a deleted session is gone'() {
    await agent.request('session/delete', { sessionId: other });
    const r = await agent.request('session/list', { cwd: place.cwd });
    assert.deepEqual(r.sessions.map((s) => s.sessionId), [session]);
  },
  async 'it ends with its input'() {
    assert.equal(await tiro.end(), 0);
  },
  async 'all that it sent fits the schema'() {
    const checked = tiro.checkSchema();
    assert.ok(checked > 100, `${checked} messages`);
  },
};

const passed = await runSteps('ACP SDK', steps);
tiro.kill();
place.done();
process.exit(passed ? 0 : 1);
