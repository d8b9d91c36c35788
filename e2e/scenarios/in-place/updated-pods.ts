import { dump } from 'js-yaml';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { podChanges } from '../../../src/explain/pod-changes.ts';
import { asAdmitted } from '../../../src/explain/predict-pod.ts';
import { injectorConfig } from '../../harness/injector-configs.ts';
import { agent, call } from '../../harness/node/agent.ts';
import { agentImage, otherAgentImage, unreadyAgentImage } from '../../harness/node/images.ts';
import { containersIn, isReady, type Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { found } from '../../harness/wait-for.ts';

/** The image of a revision, and a field that differs, too. */
interface Revision {
  image: string;
  env?: object[];
  cpu?: string;
  lifecycle?: object;
}

export const usualCpu = '10m';

export const revisions: Record<string, Revision> = {
  first: { image: agentImage },
  next: { image: agentImage },
  absent: { image: '127.0.0.1:1/absent:1' },
  larger: { image: otherAgentImage, cpu: '20m' },
  // The resize succeeds. Then the sidecar starts, and is never Ready.
  unready: { image: unreadyAgentImage, cpu: '20m' },
  huge: { image: agentImage, cpu: '1000' },
  denied: { image: 'docker.io/library/busybox:1.36' },
  other: { image: agentImage, env: [{ name: 'OTHER', value: 'yes' }] },
};

/** What the status says about a pod that revision `unready` has got. */
export const neverReady = /pod \S+: the pod is not Ready after 20s, sidecar with image localhost\/agent:unready/;

export function configOf(revision: string, { image, env, cpu = usualCpu, lifecycle }: Revision) {
  const flags = { name: 'pod/sidecar', recorder: '', port: 15020 };
  const probe = call(15020, '/', { periodSeconds: 1 });
  const resources = { requests: { cpu, memory: '16Mi' }, limits: { cpu: cpu === '1000' ? cpu : '1', memory: '256Mi' } };
  const more = {
    image,
    restartPolicy: 'Always',
    // It succeeds although the agent answers 503; the kubelet would else restart the container.
    startupProbe: { tcpSocket: { port: 15020 }, periodSeconds: 1, failureThreshold: 30 },
    readinessProbe: probe,
    env,
    resources,
    lifecycle,
  };
  const sidecar = agent(flags, { ...more, securityContext: undefined });
  const setup = agent(
    { name: 'pod/setup', recorder: '', exit: 0 },
    { image: setupImage(image), securityContext: undefined },
  );
  return injectorConfig(revision, {
    injection: { templates: { sidecar: dump({ spec: { initContainers: [setup, sidecar] } }, { skipInvalid: true }) } },
  });
}

/** A new pod needs an image that exists in its init container; a running pod does not run it. */
function setupImage(image: string): string {
  return image.startsWith('localhost/') ? image : agentImage;
}

export const app = { name: 'pod/app', recorder: '', port: 8080 };

export const statusesOf = ({ status }: Pod) => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

export function restartsIn(pod: Pod, container: string): number {
  return statusesOf(pod).find((each) => each.name === container)?.restartCount ?? 0;
}

export const imageOf = (pod: Pod) => containersIn(pod).find((each) => each.name === 'sidecar')?.image;

interface Requesting {
  readonly resources?: { readonly requests?: { readonly cpu?: string } };
}

/** Returns the CPU that the sidecar requests, and what the kubelet reports of it. */
export const cpusOf = (pod: Pod) =>
  [...containersIn(pod), ...statusesOf(pod)]
    .filter((each) => each.name === 'sidecar')
    .map((each) => (each as Requesting).resources?.requests?.cpu);

export const configurationOf = ({ metadata }: Pod) => metadata.annotations?.['sidecar-injector.io/config'] ?? '';
export const describe = (pod: Pod) =>
  [
    `${pod.metadata.name} ${configurationOf(pod)} ${imageOf(pod)} ready: ${isReady(pod)}`,
    ...['sidecar', 'app'].map((each) => `${each} restarted ${restartsIn(pod, each)} times`),
  ].join(', ');

export function isAt(pod: Pod, revision: string): boolean {
  const { image, cpu = usualCpu } = revisions[revision] ?? {};
  return (
    imageOf(pod) === image &&
    cpusOf(pod).every((each) => each === cpu) &&
    configurationOf(pod).startsWith(`${revision}.`)
  );
}

/** Checks that an updated pod of a workload has no difference from a new pod, made as a dry run. */
export async function checkLikeNew(
  context: ScenarioContext,
  workload: KubernetesObject | undefined,
  pods: readonly Pod[],
) {
  if (workload === undefined) throw new Error('no workload');
  const { kind, metadata, spec } = workload;
  const updated = pods.find(({ metadata: { name: pod = '' } }) => pod.split('-')[0] === metadata.name);
  if (updated === undefined) throw new Error(`no pod of ${metadata.name}`);
  const { template = { spec } } = (spec ?? {}) as { template?: { metadata?: object; spec: unknown } };
  const { labels, ownerReferences, generateName, namespace } = updated.metadata;
  const identity = kind === 'Pod' ? { name: 'bare-2' } : { generateName, ownerReferences, labels: hashLabels(labels) };
  const made = { ...template.metadata, ...identity, namespace };
  const created = await context.client.create(
    { apiVersion: 'v1', kind: 'Pod', metadata: made, spec: template.spec } as KubernetesObject,
    { dryRun: true },
  );
  const [one, other] = [updated, created].map((pod) => asAdmitted(pod as never));
  const differences = podChanges(one ?? {}, other ?? {}, (path) => path === 'metadata.name');
  await context.checkNow(`the updated pod of ${kind} ${metadata.name} equals a new pod, field by field`, () =>
    found(differences.map((each) => `${each.path}: ${JSON.stringify([each.before, each.after])}`).join('; '), ''),
  );
}

/** Returns the labels that the controller gives to a pod, without those of the injector. */
function hashLabels(labels: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => key === 'app' || key === 'pod-template-hash'));
}
