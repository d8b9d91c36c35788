import { setTimeout as sleep } from 'node:timers/promises';
import { applyObject, objectOf } from '../harness/apply.ts';
import { applyMarked } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import { applyTagUntilReady, restartsOf, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { createAll, nameOf, workload } from '../harness/workload-kinds.ts';
import { disturbances, edits } from '../harness/workload-observer/history.ts';
import { WorkloadObserver } from '../harness/workload-observer/workload-observer.ts';
import { barePod } from '../harness/workloads.ts';

const name = 'missing-sidecars';
const tag = 'prod';
const bounds = { maxUnavailableWorkloads: 3, perNamespace: 2, minReadySeconds: 1, readyTimeout: '60s' };

export const missingSidecars: Scenario = {
  name,
  about:
    'pods that were created while the operator was away get their sidecars by restarts within the bounds, only if the tag asks for it, and only where a sidecar belongs; restarts that a policy refuses stop, and no pod is lost',
  destructive: 'it kills the operator while pods are created',
  run: async (context) => {
    const { client } = context;
    const installation = await context.install({ operator: { restartWorkloads: true } });
    const operator = await installation.startOperator({ flags: [shortLeases] });
    await applyMarked(client, { v1: 'one' }, { webhook: { failurePolicy: 'Ignore' } });
    const tagWith = (missing: boolean) => revisionTag(tag, 'v1', { strategy: { restart: { ...bounds, missing } } });
    await applyTagUntilReady(client, tagWith(false));
    const observer = await WorkloadObserver.open(context, (each) => /^missing-sidecars-(?!system)/.test(each));
    const followed = { 'istio.io/rev': tag };
    const namespaces = [await context.namespace('one', followed), await context.namespace('two', followed)];
    const denying = await context.namespace('denying', followed);
    const other = await context.namespace('other');
    const annotations = { 'sidecar-injector.io/updates': 'deny' };
    await client.patch(objectOf('v1', 'Namespace', denying), 'merge', { metadata: { annotations } });

    await operator.process.kill();
    const kinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
    const bare = namespaces.flatMap((namespace) =>
      kinds.flatMap((kind) =>
        [0, 1].map((index) => workload(kind, namespace, `${kind.toLowerCase()}-${index}`, { replicas: 2 })),
      ),
    );
    const [first = ''] = namespaces;
    const labels = { 'sidecar.istio.io/inject': 'false' };
    const excluded = workload('Deployment', first, 'excluded');
    excluded.metadata.annotations = { 'sidecar-injector.io/restart': 'false' };
    const left = [
      workload('Deployment', first, 'opted-out', { labels }),
      workload('Deployment', first, 'on-host', { spec: { hostNetwork: true } }),
      excluded,
      workload('Deployment', denying, 'denied'),
      workload('Deployment', other, 'elsewhere'),
    ];
    await createAll(context, [...bare, ...left, barePod(first, 'alone')]);
    const areWhole = (objects: typeof bare, by: string) => () =>
      found(
        objects
          .map(nameOf)
          .filter((each) => !observer.isWholeBy(each, by))
          .join(),
        '',
      );
    await context.check(
      'while the operator is away, the API server creates pods without sidecars',
      areWhole([...bare, ...left], 'none'),
    );
    await operator.restart();

    const after = observer.latest();
    const changed = () => [...edits(observer.sightings(), after).keys()].sort().join();
    await context.check('negative control: by default, the tag is Idle', async () => {
      const { phase, stale, missing } = await restartsOf(context, tag);
      return found(`${phase} ${stale} ${missing}`, 'Idle 0 undefined');
    });
    // Longer than the time that the operator waits after a change of a webhook.
    await sleep(6000);
    await context.checkNow('negative control: by default, it restarts no workload without sidecars', () =>
      found(changed(), ''),
    );

    const started = Date.now();
    await applyObject(client, tagWith(true));
    await context.check('with restart.missing, the status counts these workloads', async () => {
      const { stale, missing } = await restartsOf(context, tag);
      return missing !== undefined && missing > bare.length / 2 && found(String(stale), String(missing));
    });
    await context.check(`${bare.length} workloads get their sidecars`, areWhole(bare, 'v1'), { timeout: 180_000 });
    const seconds = Math.round((Date.now() - started) / 1000);
    await context.check('the status lists the others, with the reason', async () => {
      const { phase, missing, untouched } = await restartsOf(context, tag);
      const reasons = untouched.map((each) => `${each.name} ${each.reason}`).sort();
      return found(
        `${phase} ${missing}: ${reasons.join(', ')}`,
        'Idle 3: alone NoController, denied Denied, excluded Excluded',
      );
    });
    await context.checkNow('each was restarted once, and no other workload', () =>
      found(
        [changed(), Math.max(...edits(observer.sightings(), after).values())].join(),
        [bare.map(nameOf).sort().join(), 1].join(),
      ),
    );
    await context.checkNow('pods where no sidecar belongs are as before', areWhole(left, 'none'));
    const most = disturbances(observer.sightings(), { after });
    const peaks = `${most.cluster.count} ${most.namespace.count}`;
    await context.checkNow(
      `at ${most.instants} instants, at most ${peaks} workloads were unavailable (in the cluster, in a namespace)`,
      () =>
        peaks === `${bounds.maxUnavailableWorkloads} ${bounds.perNamespace}` || found(most.cluster.which.join(), ''),
    );

    // Pod Security refuses the sidecar, which has no securityContext.
    await operator.process.kill();
    const strict = await context.namespace('strict', {
      ...followed,
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
    const refused = ['a', 'b', 'c', 'd', 'e'].map((each) => workload('Deployment', strict, each, { spec: restricted }));
    await createAll(context, refused);
    await waitFor('pods without sidecars', areWhole(refused, 'none'));
    const before = observer.latest();
    await operator.restart();
    await context.check(
      'if a policy refuses the pods, the restarts stop, and the status says which and why',
      async () => {
        const { phase, message } = await restartsOf(context, tag);
        if (phase === 'Stopped' && /new pods are refused.*PodSecurity/.test(message)) return true;
        throw new Error(`${phase}: ${message}`);
      },
    );
    const tried = [...edits(observer.sightings(), before).keys()].length;
    await context.checkNow(
      `${tried} of ${refused.length} workloads were tried, at most ${bounds.perNamespace}`,
      () => tried > 0 && tried <= bounds.perNamespace,
    );
    await context.checkNow('their old pods are still ready', () => {
      const pods = refused.flatMap((each) => [...(observer.standing(nameOf(each))?.pods.values() ?? [])]);
      return found(pods.map(({ ready }) => ready).join(), refused.map(() => true).join());
    });
    context.measured({
      workloads: bare.length,
      seconds,
      mostInCluster: most.cluster.count,
      mostInNamespace: most.namespace.count,
      tried,
    });
    return `${bare.length} workloads without sidecars restarted once in ${seconds} s, at most ${most.cluster.count} at a time; a policy refused ${tried}, and no pod was lost`;
  },
};

/** The part of a pod's spec that Pod Security demands. */
const restricted = {
  securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'sleep',
      image: 'busybox:1.37',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
};
