import { join } from 'node:path';
import { ApiClient } from '../../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../../src/kube/kube-config.ts';
import { refusalOf } from '../../harness/admissions.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { isAllowed, type Access } from '../../harness/rights/access-review.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { found } from '../../harness/wait-for.ts';

/** What may not be done to a workload by whoever has the operator's token; each a merge patch. */
const attempts: Record<string, object> = {
  'another image': { spec: { template: { spec: { containers: [{ name: 'sleep', image: 'example.com/mine:1' }] } } } },
  'another ServiceAccount': { spec: { template: { spec: { serviceAccountName: 'somebody' } } } },
  'a label of the pod template': { spec: { template: { metadata: { labels: { mine: 'x' } } } } },
  'another annotation of the pod template': { spec: { template: { metadata: { annotations: { mine: 'x' } } } } },
  'the removal of an annotation of the pod template': {
    spec: { template: { metadata: { annotations: { 'e2e.sidecar-injector.io/ready-after': null } } } },
  },
  'all annotations of the pod template': { spec: { template: { metadata: { annotations: null } } } },
  'our annotation and a label with it': {
    metadata: { labels: { mine: 'x' } },
    spec: { template: { metadata: { annotations: { 'sidecar-injector.io/restarted': 'prod v2.00000000 x' } } } },
  },
  minReadySeconds: { spec: { minReadySeconds: 5 } },
  'a label of its own': { metadata: { labels: { mine: 'x' } } },
  'an annotation of its own': { metadata: { annotations: { 'sidecar-injector.io/restarted': 'x' } } },
  'a finalizer': { metadata: { finalizers: ['example.com/mine'] } },
  'an owner': {
    metadata: {
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: '00000000-0000-0000-0000-000000000000' }],
    },
  },
};

/** Only of those that have replicas. */
const scaling = { spec: { replicas: 0 } };

const plurals = { Deployment: 'deployments', StatefulSet: 'statefulsets', DaemonSet: 'daemonsets' };

/** With the very token of a process that leads: one annotation of a pod template may be written, nothing else of a workload. Nothing is changed. */
export async function checkOwnToken(
  context: ScenarioContext,
  { installation, controllers }: Replicas,
  workloads: Readonly<Record<keyof typeof plurals, { readonly namespace: string; readonly name: string }>>,
): Promise<number> {
  const [controller] = controllers;
  if (controller === undefined) throw new Error('there is no controller');
  const kubeconfig = join(context.cluster.run.path, `${installation.namespace}-${controller.name}.kubeconfig`);
  const client = new ApiClient(loadKubeConfig({ kubeconfig }), { userAgent: 'e2e-with-the-operators-token' });
  let refused = 0;
  try {
    for (const [kind, metadata] of Object.entries(workloads)) {
      const target = { apiVersion: 'apps/v1', kind, metadata };
      const annotations = { 'sidecar-injector.io/restarted': `prod v2.00000000 ${new Date().toISOString()}` };
      const ours = { ...target, spec: { template: { metadata: { annotations } } } };
      await context.check(
        `the operator's token may write our annotation on the pod template of a ${kind}`,
        async () => {
          await client.apply(ours, { fieldManager: 'sidecar-injector-restarts', dryRun: true });
          return true;
        },
      );
      const all = kind === 'DaemonSet' ? attempts : { ...attempts, 'its replicas': scaling };
      const allowed: string[] = [];
      for (const [what, patch] of Object.entries(all)) {
        const refusal = await refusalOf(() => client.patch(target, 'merge', patch, { dryRun: true }));
        if (refusal?.includes('the operator may change nothing but') === true) refused++;
        else allowed.push(`${what} (${refusal ?? 'it was allowed'})`);
      }
      await context.checkNow(`and nothing else of it: ${Object.keys(all).length} attempts denied by the policy`, () =>
        found(allowed.join('; '), ''),
      );
    }
  } finally {
    client.close();
  }
  await checkRoles(context, installation.username, workloads.Deployment.namespace);
  return refused;
}

/** What RBAC alone forbids, asked so that no refusal of the operator's is in the audit log. */
async function checkRoles(context: ScenarioContext, user: string, namespace: string): Promise<void> {
  const mayNot: Access[] = Object.values(plurals).flatMap((resource) => [
    ...['create', 'update', 'delete', 'deletecollection', 'get'].map((verb) => ({ verb, resource, group: 'apps' })),
    ...['status', 'scale'].map((subresource) => ({ verb: 'patch', resource, subresource, group: 'apps' })),
  ]);
  mayNot.push(
    { verb: 'patch', resource: 'replicasets', group: 'apps' },
    { verb: 'delete', resource: 'pods' },
    { verb: 'create', resource: 'pods', subresource: 'eviction' },
    { verb: 'patch', resource: 'poddisruptionbudgets', group: 'policy' },
    { verb: 'patch', resource: 'jobs', group: 'batch' },
  );
  const allowed: string[] = [];
  for (const access of mayNot) {
    if (await isAllowed(context.client, user, namespace, access)) allowed.push(JSON.stringify(access));
  }
  await context.checkNow(`its role allows none of ${mayNot.length} other accesses`, () =>
    found(allowed.join('; '), ''),
  );
}
