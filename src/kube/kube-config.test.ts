import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../api/errors.ts';
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

  it('takes the current context, or the one that is named', () => {
    assert.equal(loadKubeConfig({ kubeconfig: file }).getCurrentCluster()?.server, 'https://one.example:6443');
    assert.equal(
      loadKubeConfig({ kubeconfig: file, context: 'second' }).getCurrentCluster()?.server,
      'https://two.example:6443',
    );
  });

  it('finds the file in the environment', () => {
    process.env.KUBECONFIG = file;
    assert.equal(loadKubeConfig().getCurrentUser()?.name, 'file');
  });

  it('turns a tokenFile, relative to the kubeconfig, into one that is read again', () => {
    const user = loadKubeConfig({ kubeconfig: file }).getCurrentUser();
    assert.deepEqual(user?.authProvider, { name: 'tokenFile', config: { tokenFile: join(folder, 'token') } });
    assert.equal(user.token, undefined);
    assert.equal(loadKubeConfig({ kubeconfig: file, context: 'second' }).getCurrentUser()?.token, 'inline');
  });

  const mistakes: [what: string, options: () => object, message: RegExp][] = [
    ['a file that does not exist', () => ({ kubeconfig: `${file}.missing` }), /config\.missing: there is no such file/],
    [
      'an unknown context',
      () => ({ kubeconfig: file, context: 'third' }),
      /third: the kubeconfig has no such context; it has first, second, lost/,
    ],
    [
      'a context without its cluster',
      () => ({ kubeconfig: file, context: 'lost' }),
      /current-context "lost" leads to no cluster/,
    ],
    [
      'a file that is something else',
      () => {
        writeFileSync(file, 'users: {');
        return { kubeconfig: file };
      },
      /config: not a kubeconfig/,
    ],
    [
      'a default that is something else',
      () => {
        writeFileSync(file, 'users: {');
        process.env.KUBECONFIG = file;
        return {};
      },
      /cannot load the kubeconfig/,
    ],
  ];
  for (const [what, options, message] of mistakes) {
    it(`refuses ${what}`, () => {
      const given = options();
      assert.throws(
        () => loadKubeConfig(given),
        (error) => error instanceof ConfigurationError && message.test(error.message),
      );
    });
  }
});
