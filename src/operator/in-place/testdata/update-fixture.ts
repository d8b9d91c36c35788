import assert from 'node:assert/strict';
import { filesOf } from '../../../api/injector-config/configuration-files.ts';
import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';
import { parsePodUpdate, updateAnnotation } from '../../../api/revision-tag/update-annotation.ts';
import { containerDefaults } from '../../../explain/pod-resources.ts';
import { predictPod } from '../../../explain/predict-pod.ts';
import { loadInjector } from '../../../inject/injector.ts';
import { bounds, RestartFixture } from '../../restarts/testdata/restart-fixture.ts';

/** A template with a native sidecar. */
const template = (image: string, more = ''): Record<string, unknown> => ({
  injection: {
    templates: { sidecar: `spec: {initContainers: [{name: proxy, image: "${image}", restartPolicy: Always${more}}]}` },
    nativeSidecars: 'Enabled',
  },
});

export const allowed = { updatePods: true, restartWorkloads: false };
export const strategy = { update: 'InPlace', restart: { ...bounds, readyTimeout: '1m' } };

/** What a kubelet says about a resize, and the namespace of the pod. */
export interface Reported {
  readonly conditions?: readonly object[];
  readonly resources?: object;
  readonly namespace?: string;
}

/** Returns a cluster for the tests of a `describe`, and functions for its pods. */
export function updateFixture() {
  const fixture = new RestartFixture();
  afterEach(() => fixture.stop());

  /** What the metric of updates counts. */
  const counted: string[] = [];

  /** Installs revisions `old`, `new` and `env`, and tag `prod` at `old`. */
  async function begin(settings: object = {}, cpu: Partial<Record<'old' | 'new', string>> = {}): Promise<void> {
    const requests = (revision: 'old' | 'new'): string =>
      cpu[revision] === undefined ? '' : `, resources: {requests: {cpu: ${cpu[revision]}}}`;
    counted.length = 0;
    fixture.metrics.podsUpdated = (tag, result, pods) => {
      if (pods > 0) counted.push(`${tag} ${result} ${pods}`);
    };
    await fixture.begin(strategy, { ...allowed, ...settings });
    await fixture.edit('old', template('proxy:1', requests('old')), 'prod');
    await fixture.edit('new', template('proxy:2', requests('new')));
    await fixture.install('env', template('proxy:2', ', env: [{name: A, value: b}]'));
    await fixture.later(5000, 'old');
    await fixture.reconcileTag('prod');
    for (const [node, kubeletVersion] of Object.entries({ node: 'v1.36.0', old: 'v1.31.14' })) {
      const status = { nodeInfo: { kubeletVersion, operatingSystem: 'linux' } };
      fixture.cluster.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: node }, status });
    }
  }

  /** Creates a ready pod that revision `old` has injected. */
  function create(name: string, owner?: { kind: string; name: string }, nodeName = 'node', namespace = 'shop'): void {
    const hash = fixture.hash('old');
    const configMap = fixture.cluster.get('configmaps', `sidecar-injector-old-${hash}`, 'injection');
    const files = configMap && filesOf(configMap);
    assert.ok(files !== undefined);
    const metadata = {
      name,
      namespace,
      labels: { app: name },
      ...(owner && { ownerReferences: [{ apiVersion: 'apps/v1', controller: true, uid: owner.name, ...owner }] }),
    };
    const bare = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'web', image: 'web' }] } };
    const context = { request: { namespace, path: '/inject' }, containerDefaults: containerDefaults([]) };
    const named = { name: 'old', hash, injector: loadInjector(files) };
    const { pod, message } = predictPod(bare, named, context);
    assert.ok(pod !== undefined, message);
    const injected = pod as unknown as KubernetesObject;
    fixture.cluster.put('pods', { ...injected, spec: { ...(injected.spec as object), nodeName } });
    become(name, 0, {}, 'True', { namespace });
  }

  /** Sets the status of the sidecar, as a kubelet does. */
  function become(name: string, restartCount: number, state: object, ready = 'True', more: Reported = {}): void {
    const { conditions = [], resources, namespace = 'shop' } = more;
    fixture.cluster.edit('pods', name, namespace, (pod) => {
      const lastTransitionTime = new Date(0).toISOString();
      pod.status = {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: ready, lastTransitionTime }, ...conditions],
        initContainerStatuses: [{ name: 'proxy', restartCount, state, ...(resources && { resources }) }],
      };
    });
    fixture.observe(name, namespace);
  }


  const stored = (name: string, namespace = 'shop') => fixture.cluster.get('pods', name, namespace);
  const imageOf = (name: string, namespace?: string): string | undefined =>
    (stored(name, namespace)?.spec as { initContainers?: { image: string }[] } | undefined)?.initContainers?.[0]?.image;
  const cpuOf = (name: string): string | undefined =>
    (stored(name)?.spec as { initContainers?: { resources?: { requests?: { cpu?: string } } }[] } | undefined)
      ?.initContainers?.[0]?.resources?.requests?.cpu;
  const updateOf = (name: string) => parsePodUpdate(stored(name)?.metadata.annotations?.[updateAnnotation]);
  const running = () => ({ running: { startedAt: fixture.clock.now().toISOString() } });

  return { fixture, counted, begin, create, become, stored, imageOf, cpuOf, updateOf, running };
}
