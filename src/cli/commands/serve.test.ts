import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { generateRsaKeyPair } from '../../certs/key-pair.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

const main = join(import.meta.dirname, '..', 'main.ts');

describe('injector serve', () => {
  let caPem: string;
  const running: ChildProcess[] = [];
  const { path: at, write } = temporaryFolder();
  before(async () => {
    const options = { now: new Date(), duration: 3_600_000, random: randomBytes };
    const authority = issueAuthority('test', await generateRsaKeyPair(2048), options);
    const names = { service: 'serve', namespace: 'test' };
    const pair = issueServingCertificate(authority, names, await generateRsaKeyPair(2048), options);
    caPem = authority.certificatePem;
    write('cert', pair.certificatePem);
    write('key', pair.privateKeyPem);
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });

  /** Replaces the file atomically, as the kubelet does in a volume. */
  function writeConfig(text: string): void {
    renameSync(write('new', text), at('config'));
  }

  /** Starts the server; its log lines appear in `lines`. */
  function start(...flags: string[]): { child: ChildProcess; lines: string[] } {
    const files = ['--config-dir', at(), '--tls-cert', at('cert'), '--tls-key', at('key')];
    const listen = ['--host', '127.0.0.1', '--port', '0', '--drain-seconds', '0', '--log-format', 'json'];
    const argv = [...process.execArgv, main, 'serve', ...files, ...listen, ...flags];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'] });
    running.push(child);
    const lines: string[] = [];
    createInterface(child.stderr).on('line', (each) => lines.push(each));
    return { child, lines };
  }

  async function line(lines: readonly string[], pattern: RegExp): Promise<string> {
    for (;;) {
      const found = lines.find((each) => pattern.test(each));
      if (found !== undefined) return found;
      await setTimeout(20);
    }
  }

  function ask(port: number, method: string, path: string, body = ''): Promise<{ status: number; text: string }> {
    const tls = { servername: 'serve.test.svc', ca: caPem, agent: false as const };
    const options = { host: '127.0.0.1', port, method, path, ...tls };
    return new Promise((resolve, reject) => {
      const sent = request({ ...options, headers: { 'Content-Type': 'application/json' } }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      sent.on('error', reject).end(body);
    });
  }

  const config = (image: string) =>
    `policy: enabled\ntemplates: {sidecar: "spec: {containers: [{name: side, image: ${image}}]}"}\n`;
  const review = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'u', namespace: 'ns', operation: 'CREATE', object: { spec: { containers: [{ name: 'app' }] } } },
  });

  async function injectedImage(port: number): Promise<string> {
    const { text } = await ask(port, 'POST', '/inject/cluster/c1', review);
    const { response } = JSON.parse(text) as { response: { patch: string } };
    return /"image":"([^"]+)"/.exec(Buffer.from(response.patch, 'base64').toString())?.[1] ?? '';
  }

  it('injects, reloads its files, keeps the last valid configuration, and ends cleanly', async () => {
    writeConfig(config('one'));
    const { child, lines } = start();
    const { port } = JSON.parse(await line(lines, /"serving"/)) as { port: number };
    assert.deepEqual(await ask(port, 'GET', '/readyz'), { status: 200, text: 'ok\n' });
    assert.equal(await injectedImage(port), 'one');
    writeConfig('templates: [');
    await line(lines, /the configuration cannot be loaded; the last valid version stays in use/);
    assert.equal(await injectedImage(port), 'one');
    writeConfig(config('two'));
    while ((await injectedImage(port)) !== 'two') await setTimeout(50);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    assert.equal(code, 0);
  });

  it('does not start with an invalid configuration, and reports the error', async () => {
    writeConfig('templates: {sidecar: "{{ if }}"}\n');
    const { child, lines } = start('--kubelet-version', 'v1.33.0', '--delims', '{{,}}', '--platform', 'openshift');
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 2);
    assert.match(lines.join('\n'), /templates\.sidecar.*line 1/);
  });
});
