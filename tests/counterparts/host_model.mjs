// A model for other agents, in the dialects of Anthropic, OpenAI (both of its interfaces) and Google:
// the first request that offers a tool whose name matches calls it with the arguments, each other one is
// answered by the text of reply(). The requests are kept.
import http from 'node:http';

function toolsOf(body) {
  const list = body.tools ?? [];
  return list.flatMap((t) => t.tools ? t.tools.map((x) => ({ ...x, namespace: t.name }))
    : t.functionDeclarations ?? [t.function ?? t]);
}

function sse(res, events) {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    if (event.type) res.write(`event: ${event.type}\n`);
    res.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
  res.end();
}

const usage = { input_tokens: 900, output_tokens: 9 };

// Hosts join what has the same id, so each answer has its own.
let answers = 0;

function anthropic(call, text) {
  const block = call ? { type: 'tool_use', id: `toolu_${answers}`, name: call.name, input: {} } : { type: 'text', text: '' };
  const delta = call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) }
    : { type: 'text_delta', text };
  return [
    { type: 'message_start', message: { id: `msg_${answers}`, type: 'message', role: 'assistant', model: 'm', content: [],
      stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' }];
}

function chat(call, text) {
  const choice = (delta, finish_reason = null) => ({ id: `c_${answers}`, object: 'chat.completion.chunk', created: 1,
    model: 'm', choices: [{ index: 0, delta, finish_reason }] });
  const delta = call ? { role: 'assistant', tool_calls: [{ index: 0, id: `call_${answers}`, type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.args) } }] } : { role: 'assistant', content: text };
  return [choice(delta), choice({}, call ? 'tool_calls' : 'stop'), '[DONE]'];
}

function responses(call, text) {
  const item = call ? { type: 'function_call', id: `fc_${answers}`, call_id: `call_${answers}`, name: call.name,
    ...(call.namespace && { namespace: call.namespace }), arguments: JSON.stringify(call.args), status: 'completed' }
    : { type: 'message', id: `m_${answers}`, role: 'assistant', status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }] };
  return [
    { type: 'response.created', response: { id: `r_${answers}` } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: `r_${answers}`, output: [item],
      usage: { ...usage, total_tokens: 909, input_tokens_details: null, output_tokens_details: null } } }];
}

function gemini(call, text) {
  const parts = [call ? { functionCall: { name: call.name, args: call.args } } : { text }];
  return [{ candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
            usageMetadata: { promptTokenCount: 900, candidatesTokenCount: 9, totalTokenCount: 909 } }];
}

// Resolves to {url, requests, called(), close()}.
export function startHostModel(tool_name, tool_args, reply = () => 'Done.') {
  const requests = [];
  let called = false;
  const server = http.createServer((req, res) => {
    let text = '';
    req.on('data', (bytes) => { text += bytes; });
    req.on('end', () => {
      const body = text && text[0] === '{' ? JSON.parse(text) : {};
      const path = new URL(req.url, 'http://x').pathname;
      requests.push({ method: req.method, path, body, text });
      const tool = toolsOf(body).find((t) => tool_name.test(t.name ?? ''));
      const call = tool && !called && { name: tool.name, namespace: tool.namespace, args: tool_args };
      called ||= !!call;
      answers++;
      if (path.endsWith('/count_tokens')) return res.end('{"input_tokens":900}');
      if (path.endsWith('/messages')) return sse(res, anthropic(call, reply(body)));
      if (path.endsWith('/chat/completions')) return sse(res, chat(call, reply(body)));
      if (path.endsWith('/responses')) return sse(res, responses(call, reply(body)));
      if (path.endsWith('streamGenerateContent')) return sse(res, gemini(call, reply(body)));
      if (path.endsWith('generateContent'))
        return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(gemini(null, '{}')[0]));
      if (req.method === 'HEAD' || path === '/') return res.end();
      return res.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not here"}}');
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({
    url: `http://127.0.0.1:${server.address().port}`, requests, called: () => called,
    close: () => { server.close(); server.closeAllConnections(); } })));
}
