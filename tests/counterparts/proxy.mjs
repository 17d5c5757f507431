// tiro behind a proxy that takes TLS off, with the configuration of doc/: proxy.mjs nginx|caddy.
// Names of files, ports and certificates are those of this place, all else is as it is documented.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import { makePlace, runSteps } from './mcp_place.mjs';

const [name] = process.argv.slice(2);
const unpacked = path.join(process.env.COUNTERPARTS, 'debian/usr');
const program = [`/usr/sbin/${name}`, `/usr/bin/${name}`, `${unpacked}/sbin/${name}`,
                 `${unpacked}/bin/${name}`].find((file) => fs.existsSync(file));
if (!program) {
  console.log(`SKIP: ${name}: it is not installed, and Debian's archive is not reached`);
  process.exit(0);
}
const place = await makePlace();
const config = path.join(place.root, '.config/tiro');
fs.mkdirSync(config, { recursive: true });
fs.writeFileSync(path.join(config, 'tiro.ini'), '[serve]\nhosts = tiro.example\n');
const { url, token } = await place.serveBare();
const port = await new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const free = server.address().port;
    server.close(() => resolve(free));
  });
});

// --- the proxy ---

const files = { nginx: 'nginx.conf', caddy: 'Caddyfile' };
function documented() {
  const file = path.join(import.meta.dirname, '../../doc', files[name]);
  return fs.readFileSync(file, 'utf8').replaceAll('127.0.0.1:8476', url.slice('http://'.length));
}

const writers = {
  nginx() {
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj',
                             '/CN=tiro.example', '-keyout', `${place.root}/tiro.example.key`,
                             '-out', `${place.root}/tiro.example.pem`], { stdio: 'ignore' });
    const site = documented().replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replaceAll(/\/etc\/ssl\/[a-z]+|\/var\/log\/nginx/g, place.root);
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((what) => `${what}_temp_path ${place.root}/${what};`).join(' ');
    fs.writeFileSync(`${place.root}/proxy.conf`, `daemon off; master_process off; pid ${place.root}/pid;
      error_log ${place.root}/error.log; events {} http { ${places} ${site} }`);
    return ['-e', `${place.root}/error.log`, '-c', `${place.root}/proxy.conf`];
  },
  caddy() {
    const site = documented().replace('tiro.example {', `https://tiro.example:${port} {\ntls internal`);
    fs.writeFileSync(`${place.root}/proxy.conf`,
                     `{\nadmin off\nskip_install_trust\nauto_https disable_redirects\n}\n${site}`);
    return ['run', '--adapter', 'caddyfile', '--config', `${place.root}/proxy.conf`];
  },
};
const log = fs.openSync(`${place.root}/said.log`, 'w');
const proxy = spawn(program, writers[name](), { env: { ...place.env, XDG_DATA_HOME: place.root },
                                                stdio: ['ignore', log, log] });

// --- requests through it ---

const host = `tiro.example:${port}`;
function ask(method, target, { body, headers = {}, stream } = {}) {
  return new Promise((resolve, reject) => {
    const request = https.request({
      host: '127.0.0.1', port, servername: 'tiro.example', rejectUnauthorized: false, method,
      path: target, headers: { Host: host, ...(body ? { 'Content-Type': 'application/json' } : {}),
                               ...headers },
    }, (reply) => {
      let text = '';
      if (stream) { resolve({ status: reply.statusCode, reply, request }); return; }
      reply.on('data', (bytes) => { text += bytes; });
      reply.on('end', () => resolve({ status: reply.statusCode, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}
const bearer = { Authorization: `Bearer ${token}` };

async function untilItListens() {
  for (let tries = 0; ; tries++) {
    try {
      await ask('GET', '/health', { headers: bearer });
      return;
    } catch (error) {
      if (tries > 200 || proxy.exitCode !== null)
        throw new Error(`${error}: ${fs.readFileSync(`${place.root}/said.log`)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

// Reads until this is there.
function readUntil(reply, wanted) {
  let text = '';
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no ${wanted}: ${text}`)), 10000);
    reply.on('data', function take(bytes) {
      text += bytes;
      if (!text.includes(wanted)) return;
      clearTimeout(late);
      reply.off('data', take);
      resolve(text);
    });
  });
}

let ticket;
const passed = await runSteps(name, {
  'its own pages may ask, others not': async () => {
    await untilItListens();
    for (const [origin, status] of [[`https://${host}`, 200], [`http://${host}`, 403],
                                    ['https://evil.example', 403]]) {
      const answer = await ask('GET', '/health', { headers: { ...bearer, Origin: origin } });
      assert.equal(answer.status, status, `${origin}: ${answer.text}`);
    }
    assert.equal((await ask('GET', '/health')).status, 401);
  },
  'a ticket opens a stream, at once': async () => {
    const made = await ask('POST', '/sessions', { body: '{}', headers: bearer });
    assert.equal(made.status, 201, made.text);
    const { id } = JSON.parse(made.text);
    const given = await ask('POST', '/tickets', { body: '{}', headers: bearer });
    ({ ticket } = JSON.parse(given.text));
    const target = `/sessions/${id}/events?ticket=${ticket}`;
    const stream = await ask('GET', target, { stream: true });
    assert.equal(stream.status, 200);
    await readUntil(stream.reply, 'session_loaded');
    let answered = false;
    const turn = ask('POST', `/sessions/${id}/messages`,
                     { body: '{"prompt":"hello"}', headers: bearer }).then((answer) => {
      answered = true;
      return answer;
    });
    await readUntil(stream.reply, 'text_delta');
    assert.ok(!answered, 'events were gathered');
    assert.equal((await turn).status, 200);
    stream.request.destroy();
    assert.equal((await ask('GET', target)).status, 401);
  },
  'no log has the ticket or the token': () => {
    for (const file of fs.readdirSync(place.root).filter((one) => one.endsWith('.log'))) {
      const text = fs.readFileSync(path.join(place.root, file), 'utf8');
      for (const secret of [ticket, token]) assert.ok(!text.includes(secret), `${file}: ${text}`);
    }
  },
});
proxy.kill();
await place.done();
process.exit(passed ? 0 : 1);
