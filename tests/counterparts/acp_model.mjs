// A model for the counterparts of the Agent Client Protocol: OpenAI's dialect on 127.0.0.1. What it
// answers follows from the newest message: WRITE calls write_file, RUN run_command with what follows,
// SLOW streams until the client goes, a tool's result is told, whoever asks without tools gets a
// summary.
import http from 'node:http';

export const WRITTEN = 'one\nzwei\nthree\n';
const ids = { n: 0 };

function textOf(content) {
  return typeof content === 'string' ? content
    : (content ?? []).map((part) => part.text ?? '[image]').join('');
}

function answerTo(body) {
  const last = body.messages.at(-1);
  const text = textOf(last.content);
  if (last.role === 'tool') return { text: `The tool said: ${text}` };
  if (/summar/i.test(text) && text.length > 200) return { text: 'They said hello, and it was kept.' };
  if (text.includes('WRITE')) {
    const args = JSON.stringify({ path: 'written.txt', content: WRITTEN });
    return { call: { name: 'write_file', args } };
  }
  const command = /RUN (.*)/.exec(text)?.[1];
  if (command) return { call: { name: 'run_command', args: JSON.stringify({ command }) } };
  if (text.includes('SLOW')) return { slow: true };
  if (text.includes('image')) return { text: `Seen: ${text.includes('[image]')}` };
  return { text: 'Hello from the scripted model.', reasoning: 'They greet me.' };
}

function send(res, delta, finish = null) {
  res.write(`data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
}

function end(res, reason) {
  send(res, {}, reason);
  res.write('data: {"id":"x","choices":[],"usage":{"prompt_tokens":120,"completion_tokens":9}}\n\n');
  res.end('data: [DONE]\n\n');
}

function answer(res, body) {
  const a = answerTo(body);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  if (a.reasoning) send(res, { reasoning_content: a.reasoning });
  if (a.slow) {
    const timer = setInterval(() => send(res, { content: 'and so on, ' }), 5);
    res.on('close', () => clearInterval(timer));
  } else if (a.call) {
    const id = `call_${++ids.n}`;
    send(res, { tool_calls: [{ index: 0, id, type: 'function',
                               function: { name: a.call.name, arguments: a.call.args } }] });
    end(res, 'tool_calls');
  } else {
    for (const piece of a.text.match(/.{1,12}/gs)) send(res, { content: piece });
    end(res, 'stop');
  }
}

// Resolves to {url, close()}.
export function startModel() {
  const server = http.createServer((req, res) => {
    let text = '';
    req.on('data', (piece) => { text += piece; });
    req.on('end', () => {
      if (req.url.endsWith('/chat/completions')) return answer(res, JSON.parse(text));
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end('{"data":[{"id":"scripted-model"},{"id":"other/model"}]}');
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: () => { server.closeAllConnections(); server.close(); },
  })));
}
