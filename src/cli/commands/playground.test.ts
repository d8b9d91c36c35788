import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { playgroundCommand } from './playground.ts';
import { recordingTerminal, sees, runCommand } from '../testdata/recording-terminal.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

interface Sent {
  readonly method?: string;
  readonly host?: string;
  readonly origin?: string;
}

/** Requests exactly this path, which a URL would normalize. */
function answerOf(base: string, path: string, { method = 'GET', ...headers }: Sent = {}) {
  const { hostname, port } = new URL(base);
  return new Promise<{ status: number | undefined; policy: string; body: string }>((resolve, reject) => {
    request({ hostname, port, path, method, headers, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode, policy: String(response.headers['content-security-policy']), body }),
      );
    })
      .once('error', reject)
      .end();
  });
}

describe('injector playground', () => {
  const { path, write } = temporaryFolder();

  it('serves only its pages, only to this host, until it is interrupted', async () => {
    write('index.html', '<p>page</p>');
    write('page.js', 'page()');
    write('secret', 'secret');
    const answers: Awaited<ReturnType<typeof answerOf>>[] = [];
    let url = '';
    const { terminal, seen } = recordingTerminal('', undefined, {
      onOut: (out, interrupt) => {
        url = /http:\S+/.exec(out)?.[0] ?? '';
        const { port } = new URL(url);
        const asked = [
          ['/'],
          ['/page.js', { host: `localhost:${port}` }],
          ['/engine.js'],
          ['/secret'],
          ['/../secret'],
          ['/constructor'],
          ['/', { method: 'POST' }],
          ['/', { method: 'OPTIONS' }],
          ['/', { host: `evil.example:${port}` }],
          ['/', { host: '127.0.0.1' }],
          ['/', { origin: 'http://evil.example' }],
          ['/', { origin: `http://127.0.0.1:${port}` }],
        ] as const;
        void Promise.all(asked.map(([each, sent]) => answerOf(url, each, sent)))
          .then((all) => answers.push(...all))
          .finally(interrupt);
      },
    });
    await playgroundCommand(terminal, path()).parseAsync([], { from: 'user' });
    sees(seen(), 0, { out: /^the playground is at http:\/\/127\.0\.0\.1:\d+\/ \(Ctrl-C stops it\)\n$/ });
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 500, 404, 404, 404, 405, 405, 421, 421, 403, 200]);
    assert.deepEqual([answers[0]?.body, answers[1]?.body], ['<p>page</p>', 'page()']);
    assert.ok(answers.every(({ policy }) => policy.startsWith("default-src 'none'; script-src 'self'")));
    assert.ok(answers.every(({ body }) => !body.includes('secret')));
    await assert.rejects(answerOf(url, '/'), /ECONNREFUSED/);
  });

  it('says what to do without the pages, or without the port', async () => {
    const { terminal } = recordingTerminal();
    const missing = playgroundCommand(terminal, join(path(), 'none')).parseAsync([], { from: 'user' });
    await assert.rejects(missing, /cannot be served: its page is not in .*; use the npm package or the kubectl plugin/);
    write('index.html', '');
    const { terminal: other } = recordingTerminal('', undefined, {
      onOut: (out, interrupt) => {
        const { port } = new URL(/http:\S+/.exec(out)?.[0] ?? '');
        const again = playgroundCommand(terminal, path()).parseAsync(['--port', port], { from: 'user' });
        void assert.rejects(again, /EADDRINUSE.*; name another --port, or 0 for any free port$/).finally(interrupt);
      },
    });
    await playgroundCommand(other, path()).parseAsync([], { from: 'user' });
    sees(await runCommand(['playground', '--port', 'x']), 2, { errors: /It must be a port/ });
  });
});
