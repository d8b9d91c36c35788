import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { type ForeignWebhook, startForeignWebhooks } from '../harness/foreign-webhooks.ts';
import { without } from '../../src/inject/pod/without.ts';
import type { Pod } from '../harness/pod.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { caseOf, installOurs, ownWebhook, reportOn } from './torture/torture-reports.ts';

export const torture: Scenario = {
  name: 'torture',
  about: '`injector torture` passes this injector, and finds what a careless one does to pods, on the API server',
  run: async (context) => {
    const { source } = await installOurs(context);
    const own = await reportOn(context, ownWebhook);
    // Istio's templates read a container of that name as settings of the sidecar, and move it.
    const [named, host] = ['a container named as the sidecar', 'the network of the host'];
    await context.checkNow("with Istio's templates, this injector fails only in the pod in which istiod does", () =>
      found(own.failed.map(caseOf).join(), named),
    );
    await context.checkNow('all other pods get a sidecar, but for the network of the host', () =>
      found(own.bare.join(), host),
    );
    await startForeignWebhooks(context, [careless]);
    const stub = await reportOn(context, careless.name);
    await context.checkNow('each mistake of the careless injector is found in its pods, and no other', () =>
      found(
        stub.failed
          .sort()
          .map((each, index) => each.slice(0, carelessMistakes[index]?.length))
          .join('\n'),
        carelessMistakes.join('\n'),
      ),
    );
    await context.check('nothing is left of the namespaces', async () => {
      const { items } = await context.client.listAll(resourceKind('v1', 'Namespace'));
      const left = items.filter(({ metadata }) => metadata.name?.startsWith('injector-torture-'));
      return left.every(({ metadata }) => metadata.deletionTimestamp !== undefined);
    });
    return `${own.passed} of ${own.judged} pods pass with ${source}; ${carelessMistakes.length} mistakes of a careless injector found`;
  },
};

/** An injector with mistakes that public reports describe. */
const careless: ForeignWebhook = {
  name: 'careless-injector',
  namespaceLabels: { 'careless-injection': 'enabled' },
  patch: ({ metadata, spec }: Pod) => {
    if (metadata.ownerReferences?.some(({ kind }) => kind === 'Unheard'))
      return 'owner of kind Unheard is not supported';
    const { containers, initContainers = [] } = spec as unknown as Record<string, KubernetesObject[] | undefined>;
    const sidecar = { name: 'careless', image: 'registry.example.com/careless:1' };
    const isThere = JSON.stringify(containers).includes('"careless"');
    const kept = containers?.map((each) => without(each, 'resizePolicy', 'livenessProbe')) ?? [];
    return [
      { op: 'replace', path: '/spec/containers', value: isThere ? kept : [...kept, sidecar] },
      ...(initContainers.length > 1
        ? [{ op: 'replace', path: '/spec/initContainers', value: [...initContainers].reverse() }]
        : []),
    ];
  },
};

/** The pods in which the mistakes must be found, with what is said first. */
const carelessMistakes = [
  'an owner of an unknown kind: it is refused: admission webhook "careless-injector.foreign.example" denied',
  'new field: resizePolicy of a container: spec.containers[main].resizePolicy[0] is lost or changed',
  'probes of all kinds: spec.containers[main].livenessProbe is lost or changed',
  "the author's own native sidecar: spec.initContainers[proxy] (its order) is lost or changed",
];
