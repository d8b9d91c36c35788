import { listOf } from '../inject/kubernetes/admission-pod.ts';
import { amountIn } from '../inject/kubernetes/container-sum.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import { jsonEqual } from '../inject/patch/json-equal.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import type { Family } from '../inject/configuration/family.ts';
import { injectionStatus } from '../inject/pod/injection-status.ts';
import { without } from '../inject/pod/without.ts';
import { sameImage } from './image-reference.ts';
import { jsonOf } from './uninject.ts';
import type { PodChange } from './pod-changes.ts';

/** What decides whether a running pod can be updated, apart from the pod. */
export interface InPlaceSituation {
  /** `status.nodeInfo.kubeletVersion` of the pod's node, e.g. `v1.35.2`; undefined if not known. */
  readonly kubeletVersion?: string | undefined;
  /** Whether the pod has a node. Until then, no kubelet has seen the pod. */
  readonly isScheduled: boolean;
  /** The family of the injector, whose annotations record what it added to the pod. */
  readonly family: Pick<Family, 'keys' | 'overridesKey'>;
  /** Reports whether a selector of a Service of the namespace reads, or may read, a label. */
  readonly isSelected: (label: string) => boolean;
}

/** A field that keeps a running pod from becoming the new pod, and why. */
export interface InPlaceObstacle {
  readonly field: string;
  readonly reason: string;
}

/**
 * Returns what keeps a running pod from becoming `wanted` without being recreated; empty if an
 * update in place makes it equal. Kubernetes permits changes of images, of labels and annotations
 * (k8s.io/kubernetes/pkg/apis/core/validation, ValidatePodUpdate), and of CPU and memory by the
 * subresource `resize` (ValidatePodResize).
 * @param running the stored pod
 * @param changes the differences between the running pod and `wanted`, see `podChanges`
 * @param changedByOthers the paths that other webhooks or people changed after the injection
 */
export function inPlaceObstacles(
  running: JsonObject,
  wanted: JsonObject,
  changes: readonly PodChange[],
  changedByOthers: readonly string[],
  situation: InPlaceSituation,
): InPlaceObstacle[] {
  const { kubeletVersion, isScheduled, family, isSelected } = situation;
  const annotations = objectAt(running, ['metadata', 'annotations']);
  const obstacles: InPlaceObstacle[] = [];
  const add = (field: string, reason: string): void => void obstacles.push({ field, reason });
  if (annotations['kubernetes.io/config.mirror'] !== undefined)
    return [{ field: 'metadata.annotations["kubernetes.io/config.mirror"]', reason: 'a static pod cannot be changed' }];
  const text = annotations[family.keys.status];
  const added = typeof text === 'string' ? injectionStatus(text) : undefined;
  const overridden = overriddenContainers(annotations[family.overridesKey]);
  const kubelet = isScheduled ? minorAndPatch(kubeletVersion) : newest;
  const [labels, wantedLabels] = [objectAt(running, ['metadata', 'labels']), objectAt(wanted, ['metadata', 'labels'])];
  for (const name of new Set([...Object.keys(labels), ...Object.keys(wantedLabels)]))
    if (labels[name] !== wantedLabels[name] && isSelected(name))
      add(`metadata.labels[${JSON.stringify(name)}]`, 'a selector of a Service may read the label');
  const resized = new Set<string>();
  for (const { path, before, after } of changes) {
    if (path.startsWith('metadata.annotations') || path.startsWith('metadata.labels')) continue;
    const [, list = '', name = '', member] = containerPath.exec(path) ?? [];
    if (member !== 'image' && member !== 'resources') {
      add(path, 'Kubernetes cannot change the field in a running pod');
      continue;
    }
    const container = containerIn(running, list, name);
    const field = `spec.${list}[${name}].${member}`;
    if (container === undefined || added?.[list as 'containers'].has(name) !== true)
      add(field, 'the injector did not add the container');
    else if (member === 'resources' && overridden.has(name))
      add(field, 'the author of the pod overrides the container');
    else if (member === 'resources' && changedByOthers.some((each) => each.startsWith(`${field}.`) || each === field))
      add(field, 'another webhook or a person changed it');
    else if (list === 'initContainers' && container.restartPolicy !== 'Always') {
      // It has finished: the kubelet leaves it alone, and what it requested has no effect any more.
      continue;
    } else if (member === 'image') {
      if (sameImage(String(before), String(after))) continue;
      const reason = imageObstacle(running, container, list, kubelet);
      if (reason !== undefined) add(field, reason);
    } else if (!resized.has(field)) {
      const next = containerIn(wanted, list, name) ?? {};
      resized.add(field);
      const reason = resizeObstacle(container, next, kubelet);
      if (reason !== undefined) add(field, reason);
    }
  }
  if (resized.size > 0) {
    const node = objectAt(running, ['spec', 'nodeSelector'])['kubernetes.io/os'];
    if ([objectAt(running, ['spec', 'os']).name, node].includes('windows'))
      add('spec.os', 'kubelets do not resize containers on Windows');
    if (Object.keys(objectAt(running, ['spec', 'resources'])).length > 0)
      add('spec.resources', 'a pod with resources of its own cannot be resized');
    const [old, now] = [qosClass(running), qosClass(withResources(running, wanted))];
    if (old !== now) add('status.qosClass', `would change from ${old} to ${now}`);
  }
  return obstacles;
}

/** Returns the names in the annotation that keeps what an author wrote for injected containers. */
function overriddenContainers(text: unknown): ReadonlySet<unknown> {
  const saved = jsonOf(text);
  return new Set(['containers', 'initContainers'].flatMap((list) => listOf(saved[list]).map(({ name }) => name)));
}

const containerPath = /^spec\.(containers|initContainers)\[([^\]]*)\]\.(\w+)/;

/** The kubelet for pods without a node, which has no known fault. */
const newest = [Infinity, 0] as const;

type KubeletVersion = readonly [minor: number, patch: number];

function minorAndPatch(version: string | undefined): KubeletVersion | undefined {
  const [, minor, patch] = /^v1\.(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return minor === undefined ? undefined : [Number(minor), Number(patch)];
}

/** Says why the kubelet would not, or not safely, restart a container with another image. */
function imageObstacle(
  running: JsonObject,
  container: JsonObject,
  list: string,
  kubelet: KubeletVersion | undefined,
): string | undefined {
  if (kubelet === undefined) return 'the version of the kubelet is not known';
  const [minor, patch] = kubelet;
  if (list === 'containers' && objectAt(running, ['spec']).restartPolicy === 'Never')
    return 'in a pod with restartPolicy Never, the kubelet does not start the container again if it fails';
  if (list === 'initContainers' && minor < 32)
    return `kubelets before 1.32 do not restart a native sidecar with another image; this one is 1.${minor}`;
  // Mended by kubernetes/kubernetes pull request 137146.
  if (list === 'initContainers' && minor === 35 && patch < 4 && container.startupProbe !== undefined)
    return `kubelets 1.35.0 to 1.35.3 skip a native sidecar with a startup probe; this one is 1.35.${patch}`;
  return undefined;
}

/** Says why a container cannot be resized. */
function resizeObstacle(
  container: JsonObject,
  wanted: JsonObject,
  kubelet: KubeletVersion | undefined,
): string | undefined {
  if (kubelet === undefined) return 'the version of the kubelet is not known';
  if (kubelet[0] < 33) return `kubelets before 1.33 do not resize containers; this one is 1.${kubelet[0]}`;
  const [old, now] = [objectAt(container, ['resources']), objectAt(wanted, ['resources'])];
  for (const part of ['requests', 'limits']) {
    const [was, becomes] = [objectAt(old, [part]), objectAt(now, [part])];
    const removed = ['cpu', 'memory'].find((each) => was[each] !== undefined && becomes[each] === undefined);
    if (removed !== undefined) return `Kubernetes cannot remove ${part}.${removed}`;
    const added = ['cpu', 'memory'].find((each) => was[each] === undefined && becomes[each] !== undefined);
    if (added !== undefined) return `Kubernetes could not remove ${part}.${added} again if the update failed`;
  }
  const [limit, newLimit] = [old, now].map((each) => amountIn(objectAt(each, ['limits']), 'memory'));
  if (kubelet[0] < 34 && limit !== newLimit && !isRestartedForMemory(container))
    return 'Kubernetes 1.33 does not lower limits.memory, so it could not restore it if the update failed';
  return jsonEqual(withoutComputing(old), withoutComputing(now)) ? undefined : 'Kubernetes resizes only CPU and memory';
}

function isRestartedForMemory({ resizePolicy }: JsonObject): boolean {
  return listOf(resizePolicy).some(
    ({ resourceName, restartPolicy }) => resourceName === 'memory' && restartPolicy === 'RestartContainer',
  );
}

/** Returns resources without CPU and memory. */
function withoutComputing(resources: JsonObject): JsonObject {
  const parts = ['requests', 'limits'].map((part) => {
    return [part, without(objectAt(resources, [part]), 'cpu', 'memory')] as const;
  });
  return { ...resources, ...Object.fromEntries(parts) };
}

function containerIn(pod: JsonObject, list: string, name: string): JsonObject | undefined {
  return listOf(objectAt(pod, ['spec'])[list]).find((each) => each.name === name);
}

/** Returns a running pod with the resources of another, except in ordinary init containers. */
function withResources(running: JsonObject, wanted: JsonObject): JsonObject {
  const resized = (list: string): JsonObject[] =>
    listOf(objectAt(running, ['spec'])[list]).map((each) => {
      if (list === 'initContainers' && each.restartPolicy !== 'Always') return each;
      return { ...each, resources: objectAt(containerIn(wanted, list, String(each.name)) ?? each, ['resources']) };
    });
  return { spec: { containers: resized('containers'), initContainers: resized('initContainers') } };
}

/**
 * Returns the quality-of-service class of a pod without resources of its own
 * (k8s.io/kubernetes/pkg/apis/core/v1/helper/qos, ComputePodQOS).
 */
function qosClass(pod: JsonObject): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const spec = objectAt(pod, ['spec']);
  const all = ['containers', 'initContainers'].flatMap((list) => listOf(spec[list]));
  const amounts = all.map((container) =>
    (['cpu', 'memory'] as const).map((name) => ({
      request: amountIn(objectAt(container, ['resources', 'requests']), name),
      limit: amountIn(objectAt(container, ['resources', 'limits']), name),
    })),
  );
  const each = amounts.flat();
  if (each.every(({ request, limit }) => request <= 0 && limit <= 0)) return 'BestEffort';
  if (each.some(({ limit }) => limit <= 0)) return 'Burstable';
  // The API server compares sums. No request exceeds its limit, so equal sums have equal parts.
  return each.every(({ request, limit }) => request === limit) ? 'Guaranteed' : 'Burstable';
}
