import { cpuPerPod } from '../harness/cpu-per-pod.ts';
import { startForeignWebhooks } from '../harness/foreign-webhooks.ts';
import { installIstio } from '../harness/istio.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { installOurs } from './torture/torture-reports.ts';

const rounds = 5;
/** The most that the API server may use with this injector, compared with istiod's webhook. */
const mostOfIstiod = 1.05;

export const webhookHop: Scenario = {
  name: 'webhook-hop',
  about: 'what a webhook costs the API server for each pod: none, one that adds a label, istiod, and this injector',
  destructive: "it installs Istio's charts",
  ownControlPlane: true,
  onlyGate: true,
  full: `${rounds} rounds in turn, 3 minutes`,
  run: async (context) => {
    await installIstio(context);
    await installOurs(context);
    const label = { op: 'add', path: '/metadata/labels', value: { added: 'true' } };
    const constant = { name: 'constant-injector', namespaceLabels: { constant: 'yes' }, patch: () => [label] };
    await startForeignWebhooks(context, [constant]);
    const namespaces = {
      none: await context.namespace('none'),
      constant: await context.namespace('constant', constant.namespaceLabels),
      istiod: await context.namespace('istiod', { 'istio-injection': 'enabled' }),
      ours: await context.namespace('ours', { 'istio.io/rev': 'torture' }),
    };
    const server = context.requireControlPlane().component('kube-apiserver');
    const taken: Record<string, number[]> = {};
    for (let round = 0; round < rounds; round++) {
      for (const [name, namespace] of Object.entries(namespaces))
        (taken[name] ??= []).push(await cpuPerPod(context.client, namespace, [server]));
    }
    const milliseconds = Object.fromEntries(Object.entries(taken).map(([name, all]) => [name, median(all)]));
    const { none = NaN, constant: added = NaN, istiod = NaN, ours = NaN } = milliseconds;
    context.measured({ rounds, cpuMillisecondsOfApiServerForPod: milliseconds });
    await context.checkNow(
      `this injector costs the API server at most ${mostOfIstiod} times what istiod costs it`,
      () => {
        if (ours <= mostOfIstiod * istiod) return true;
        throw new Error(JSON.stringify(taken));
      },
    );
    return `CPU of the API server for a pod: no webhook ${none} ms, a label ${added} ms, istiod ${istiod} ms, this injector ${ours} ms`;
  },
};

function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? NaN;
}
