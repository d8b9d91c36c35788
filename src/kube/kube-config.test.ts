import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadKubeConfig } from './kube-config.ts';

const text = `apiVersion: v1
kind: Config
clusters:
- {name: one, cluster: {server: "https://one.example:6443"}}
- {name: two, cluster: {server: "https://two.example:6443"}}
users:
- {name: file, user: {tokenFile: token, token: inline}}
- {name: inline, user: {token: inline}}
contexts:
- {name: first, context: {cluster: one, user: file}}
- {name: second, context: {cluster: two, user: inline}}
- {name: lost, context: {cluster: three, user: inline}}
current-context: first
`;

describe('loadKubeConfig', () => {
  let folder: string;
  let file: string;
  let before: string | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
    file = join(folder, 'config');
    writeFileSync(file, text);
    writeFileSync(join(folder, 'token'), 'secret');
    before = process.env.KUBECONFIG;
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    if (before === undefined) delete process.env.KUBECONFIG;
    else process.env.KUBECONFIG = before;
  });

  it('uses the current context, or the context given by name', () => {
    const serverOf = (options: object) => loadKubeConfig({ kubeconfig: file, ...options }).getCurrentCluster()?.server;
    assert.equal(serverOf({}), 'https://one.example:6443');
    assert.equal(serverOf({ context: 'second' }), 'https://two.example:6443');
  });

  it('reads the file that KUBECONFIG names', () => {
    process.env.KUBECONFIG = file;
    assert.equal(loadKubeConfig().getCurrentUser()?.name, 'file');
  });

  it('merges several files as kubectl does: the first definition wins, missing files are skipped', () => {
    const second = `${file}.second`;
    const others = text.replaceAll('.example', '.other').replace('current-context: first', 'current-context: new');
    writeFileSync(second, others.replace('name: second', 'name: new'));
    process.env.KUBECONFIG = [`${file}.missing`, file, '', second].join(':');
    const serverOf = (context?: string) => loadKubeConfig({ context }).getCurrentCluster()?.server;
    assert.deepEqual([serverOf(), serverOf('new')], ['https://one.example:6443', 'https://two.example:6443']);
    process.env.KUBECONFIG = [second, file].join(':');
    assert.deepEqual([serverOf(), serverOf('second')], Array(2).fill('https://two.other:6443'));
  });

  it('resolves a tokenFile relative to the kubeconfig and rereads it', () => {
    const user = loadKubeConfig({ kubeconfig: file }).getCurrentUser();
    assert.deepEqual(user?.authProvider, { name: 'tokenFile', config: { tokenFile: join(folder, 'token') } });
    assert.equal(user.token, undefined);
    assert.equal(loadKubeConfig({ kubeconfig: file, context: 'second' }).getCurrentUser()?.token, 'inline');
  });

  const broken = (): void => {
    writeFileSync(file, 'users: {');
    process.env.KUBECONFIG = file;
  };
  const optionsFor = (context?: string) => (): object => ({ kubeconfig: file, context });
  const unknown = /the kubeconfig has no context "third"; its contexts are first, second, lost/;
  const mistakes: [what: string, options: () => object, message: RegExp][] = [
    ['a file that does not exist', () => ({ kubeconfig: `${file}.missing` }), /config\.missing: there is no such file/],
    ['an unknown context', optionsFor('third'), unknown],
    ['a context whose cluster is missing', optionsFor('lost'), /current-context "lost" names no known cluster/],
    ['a file that is not a kubeconfig', () => (broken(), optionsFor()()), /config: not a kubeconfig/],
    ['an empty file', () => (writeFileSync(file, '\n'), optionsFor()()), /config: not a kubeconfig: it is empty/],
    ['a file in KUBECONFIG that is not a kubeconfig', () => (broken(), {}), /config: not a kubeconfig/],
    ['missing files in KUBECONFIG', () => ((process.env.KUBECONFIG = '/a:/b'), {}), /\/a:\/b: there is no such file/],
  ];
  for (const [what, options, message] of mistakes) {
    it(`refuses ${what}`, () => {
      const kubeConfigOptions = options();
      assert.throws(() => loadKubeConfig(kubeConfigOptions), { name: 'ConfigurationError', message });
    });
  }
});
