import assert from 'node:assert/strict';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { formatRoute } from '../../routing/route.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { hashedConfigMap } from '../../manifests/desired-objects.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { ApiError } from '../../kube/api-error.ts';
import { rankOf } from '../../routing/workload-key.ts';
import { type CheckReport, checkSubject } from './check-report.ts';
import { surroundingsOf } from '../../explain/files/facts.ts';
import { readClusterFacts } from './read-cluster-facts.ts';
import { operatorLeases } from '../testdata/operator-leases.ts';
import { subjectOf } from './subject.ts';
import type { ListPage } from '../../kube/api-client.ts';
import { MemoryClient } from './testdata/memory-client.ts';

const home = 'injector-system';
const spec = { containers: [{ name: 'app', image: 'app' }] };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec };
const labels = { 'istio.io/rev': '1-24' };
const shop: KubernetesObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } };

/** Returns the objects of the operator for one InjectorConfig. */
function installed(webhook: Record<string, unknown> = {}, name = '1-24') {
  const config = injectorConfig(name, { webhook });
  const files = configurationFiles(config);
  const hash = configurationHash(files);
  const context = { namespace: home, operatorClass: 'default', podSelector: {}, targetPort: 15017 };
  return {
    config,
    webhooks: webhookConfiguration({ config, hash, caBundlePem: '' }, context),
    configMap: hashedConfigMap(config, files, hash, home),
  };
}

async function check(
  objects: readonly KubernetesObject[],
  forbidden: readonly string[] = [],
  Client = MemoryClient,
): Promise<CheckReport> {
  const facts = await readClusterFacts(new Client([...operatorLeases(), ...objects], forbidden), ['shop']);
  const subject = subjectOf(pod, 'shop');
  assert.ok(subject);
  return checkSubject(subject, facts, surroundingsOf(facts));
}

describe('readClusterFacts', () => {
  const { webhooks, configMap, config } = installed();

  it("finds the configuration in the namespace of the webhook's Service", async () => {
    assert.equal((await check([shop, webhooks, configMap, config])).result, 'Injected');
  });

  it('finds the configuration by its labels if the webhook has a url', async () => {
    const byUrl = installed({ url: 'https://example.com/hooks' });
    assert.equal((await check([shop, byUrl.webhooks, byUrl.configMap, byUrl.config])).result, 'Injected');
  });

  it('reads both configurations of a rollout, and selects one according to rank', async () => {
    const next = installed({}, '1-25');
    const [stable, canary] = [configMap, next.configMap].map(({ metadata: { name = '' } }) => {
      const [, revision = '', hash = ''] = /^sidecar-injector-(.*)-([0-9a-f]{8})$/.exec(name) ?? [];
      return { injectorConfig: revision, hash };
    });
    assert.ok(stable !== undefined && canary !== undefined);
    const rank = rankOf('prod', { namespace: 'shop', kind: 'Pod', name: 'web' });
    const ask = async (threshold: string, shadow = false): Promise<readonly string[]> => {
      const path = formatRoute({ tag: 'prod', stable, canary, threshold, shadow });
      const text = JSON.stringify(webhooks).replaceAll(/"path":"[^"]*"/g, `"path":"${path}"`);
      const inRollout = JSON.parse(text) as KubernetesObject;
      const { result, injectedBy, rollouts } = await check([
        shop,
        inRollout,
        configMap,
        next.configMap,
        config,
        next.config,
      ]);
      assert.equal(result, 'Injected');
      return [...injectedBy, ...rollouts.map(({ part, message }) => `${part}: ${message}`)];
    };
    const share = ((Number.parseInt(rank, 16) / 2 ** 64) * 100).toFixed(2);
    const told = (part: string, by: string, is: string, threshold: string): string =>
      `${part}: Pod/web is in the ${part} part of the rollout of tag prod (${by}): its rank, ${share} %, ${is} below the threshold, ${threshold} %`;
    const [old, young] = [`1-24.${stable.hash}`, `1-25.${canary.hash}`];
    assert.deepEqual(await ask(rank), [old, told('stable', old, 'is not', share)]);
    assert.deepEqual(await ask('ffffffffffffffff'), [young, told('canary', young, 'is', '100.00')]);
    assert.deepEqual(await ask('ffffffffffffffff', true), [`1-24.${stable.hash}`]);
  });

  const unknown: [title: string, objects: KubernetesObject[], forbidden: string[], mention: RegExp][] = [
    ['is missing', [shop, webhooks, config], [], /sidecar-injector-1-24-[0-9a-f]{8} does not exist/],
    ['cannot be read', [shop, webhooks, configMap, config], ['ConfigMap'], /cannot be read: user "ann"/],
    [
      'differs from its hash label',
      [shop, webhooks, { ...configMap, data: { config: '', values: '', mesh: '', settings: '' } }, config],
      [],
      /differs from its hash label/,
    ],
  ];
  for (const [title, objects, forbidden, mention] of unknown) {
    it(`reports Unknown with the reason for a configuration that ${title}`, async () => {
      const { result, message } = await check(objects, forbidden);
      assert.equal(result, 'Unknown');
      assert.match(message, mention);
    });
  }

  it('adds a note if the user may not read InjectorConfigs', async () => {
    const { result, notes } = await check([shop, webhooks, configMap], ['InjectorConfig', 'RevisionTag']);
    assert.equal(result, 'Injected');
    assert.match(notes.join(), /InjectorConfigs cannot be read/);
  });

  it('adds a note for an invalid InjectorConfig', async () => {
    const strange: KubernetesObject = { ...config, metadata: { name: 'strange' }, spec: { injection: 7 } };
    const { result, notes } = await check([shop, webhooks, configMap, config, strange]);
    assert.equal(result, 'Injected');
    const note = /InjectorConfig strange is invalid for this version: InjectorConfig strange: spec\.injection/;
    assert.match(notes.join(), note);
  });

  const failing: [title: string, kind: string, error: Error, result: string | RegExp][] = [
    ['a missing CRD', 'InjectorConfig', new ApiError({ code: 404, reason: 'NotFound', message: 'none' }), 'Injected'],
    ['a lost connection', 'RevisionTag', new ApiError({ code: 0, reason: 'Unreachable', message: 'gone' }), /gone/],
    ['a programming error', 'ConfigMap', new TypeError('mistake'), /mistake/],
  ];
  for (const [title, kind, error, expected] of failing) {
    it(`${expected === 'Injected' ? 'tolerates' : 'fails on'} ${title} when it reads a ${kind}`, async () => {
      class Failing extends MemoryClient {
        override find<T>(...argv: Parameters<MemoryClient['find']>): Promise<T | undefined> {
          return argv[0].kind === kind ? Promise.reject(error) : super.find<T>(...argv);
        }
        override listAll<T>(...argv: Parameters<MemoryClient['listAll']>): Promise<ListPage<T>> {
          return argv[0].kind === kind ? Promise.reject(error) : super.listAll<T>(...argv);
        }
      }
      const answer = check([shop, webhooks, configMap, config], [], Failing);
      if (typeof expected === 'string') assert.equal((await answer).result, expected);
      else await assert.rejects(answer, expected);
    });
  }

  it('has no files for a configuration that no webhook names', async () => {
    const facts = await readClusterFacts(new MemoryClient(operatorLeases()), []);
    const target = { injectorConfig: '1-24', hash: '00000000', namespace: home };
    assert.deepEqual(facts.filesOf(target), { unavailable: 'it was not read' });
  });

  it('fails if the user may not read webhook configurations', async () => {
    await assert.rejects(check([shop], ['MutatingWebhookConfiguration']), /cannot read MutatingWebhookConfiguration/);
  });
});
