import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { Pod } from '../../harness/pod.ts';
import { barePod } from '../../harness/workloads.ts';
import type { Choices } from './random-choices.ts';

const inject = 'sidecar.istio.io/inject';

/** The namespaces of the random pods: what a person might have labelled. */
export const namespaceLabels: readonly (readonly [suffix: string, labels: Readonly<Record<string, string>>])[] = [
  ['unlabelled', {}],
  ['enabled', { 'istio-injection': 'enabled' }],
  ['disabled', { 'istio-injection': 'disabled' }],
  ['stable', { 'istio.io/rev': '1-24' }],
  ['tagged', { 'istio.io/rev': 'prod' }],
  ['lost', { 'istio.io/rev': 'nobody' }],
  ['both', { 'istio-injection': 'enabled', 'istio.io/rev': '1-24' }],
  ['team', { team: 'blue' }],
  ['team-enabled', { team: 'green', 'istio-injection': 'enabled' }],
  ['odd', { odd: 'yes' }],
  ['odd-stable', { odd: 'yes', 'istio.io/rev': '1-24' }],
  ['excluded', { 'istio-injection': 'enabled', team: 'blue' }],
];

/** A pod with what steers injection, and some of what does not. */
export function randomPod({ one, chance }: Choices, namespace: string, name: string): KubernetesObject & Pod {
  const labels: Record<string, string> = {};
  const annotations: Record<string, string> = {};
  if (chance(0.5)) labels[inject] = one(['true', 'true', 'false', 'maybe', '']);
  if (chance(0.3)) labels['istio.io/rev'] = one(['default', '1-24', 'prod', 'nobody']);
  if (chance(0.3)) labels['always'] = one(['yes', 'no']);
  if (chance(0.3)) labels['never'] = one(['yes', 'no']);
  if (chance(0.7)) labels['tier'] = one(['web', 'batch']);
  if (chance(0.3)) labels['logs'] = one(['on', 'off']);
  if (chance(0.15)) labels['strange'] = 'yes';
  if (chance(0.3)) annotations[inject] = one(['true', 'false', 'maybe']);
  // Both count for few pods only: where the proxy of the default revision is injected.
  if (chance(0.45)) annotations['sidecar.istio.io/proxyCPU'] = one(['100m', 'plenty']);
  if (chance(0.1)) annotations['inject.istio.io/templates'] = one(['sidecar', 'nobody']);
  if (chance(0.45)) annotations['example.com/level'] = one(['info', 'info"\n  - name: stowaway\n    image: "x']);
  const spec: Record<string, unknown> = { schedulerName: 'nobody' };
  if (chance(0.12)) spec['hostNetwork'] = true;
  if (chance(0.2)) spec['priorityClassName'] = 'system-cluster-critical';
  if (chance(0.2)) spec['terminationGracePeriodSeconds'] = one([0, 60]);
  if (chance(0.06)) {
    annotations['kubernetes.io/config.mirror'] = 'digest';
    spec['nodeName'] = 'node-a';
  }
  return barePod(namespace, name, { labels, annotations, spec });
}
