import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { objectOf } from '../harness/apply.ts';
import { describeEvent } from '../harness/audit-log.ts';
import { paths } from '../harness/paths.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { serviceAccountKubeconfig } from '../harness/service-account.ts';
import { runInShell } from '../harness/shell.ts';
import { none } from '../harness/wait-for.ts';

// Omits `clean`, which would stop this control plane. `gates` and `bench` run other targets.
const targets = ['help', 'e2e-list', 'up', 'kubeconfig', 'demo', 'e2e SCENARIO=label-truth-table', 'down', 'verify'];
const longTargets = ['build', 'format', 'unit', 'test', 'conformance'];

export const exportedKubeconfig: Scenario = {
  name: 'exported-kubeconfig',
  about: 'make targets send no request to the cluster that an exported KUBECONFIG names',
  full: 'also runs make build, format, unit, test and conformance, 15 minutes',
  ownControlPlane: true,
  run: async (context) => {
    const { client, cluster } = context;
    const namespace = await context.namespace('system');
    const account = 'user';
    await client.create(objectOf('v1', 'ServiceAccount', account, namespace));
    await client.create({
      ...objectOf('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', `${context.name}-${account}`),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    });
    const kubeconfig = await serviceAccountKubeconfig(cluster, namespace, account, undefined);
    const environment = { ...process.env, KUBECONFIG: kubeconfig, STANDING: context.name, MAKEFLAGS: '' };
    const audit = context.requireAudit();
    const requests = () =>
      audit.events().filter(({ user }) => user.username === `system:serviceaccount:${namespace}:${account}`);

    await runInShell(`node ${paths.injector} status`, environment);
    await context.checkNow(
      'negative control: the audit log records the requests of injector status',
      () => requests().length > 0,
    );
    const before = requests().length;
    const all = [...targets, ...(context.size === 'full' ? longTargets : [])];
    try {
      for (const target of all) {
        const said = await runInShell(`make ${target}`, environment);
        await context.checkNow(`make ${target} exits with 0`, () =>
          none(said.code === 0 ? [] : [said.text.slice(-500)]),
        );
        await context.checkNow(`make ${target} sends no request to the cluster that KUBECONFIG names`, () =>
          none(requests().slice(before).map(describeEvent)),
        );
      }
    } finally {
      await runInShell('make down', environment);
      rmSync(join(dirname(paths.standing), context.name), { recursive: true, force: true });
    }
    return `${String(all.length)} targets sent 0 requests, injector status (the negative control) sent ${String(before)}`;
  },
};
