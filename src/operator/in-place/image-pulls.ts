import { createHash } from 'node:crypto';
import { labelNames, managedBy, prepullLabel } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { listOf } from '../../inject/kubernetes/admission-pod.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { ApiError, isNotFound } from '../../kube/api-error.ts';
import type { Logger } from '../../kube/ports.ts';
import { pods } from '../cluster-view.ts';
import type { LeaderClient } from '../controller/leading-client.ts';

export interface ImagePullsOptions {
  /** Checks before each write that this process still leads. */
  readonly client: Pick<LeaderClient, 'list' | 'create' | 'delete'>;
  /** The namespace of the operator, in which the pods run. */
  readonly namespace: string;
  readonly logger: Logger;
}

/** For whom images are pulled, and how. */
export interface Prepull {
  /** The RevisionTag as stored. Kubernetes deletes the pods with it. */
  readonly tag: KubernetesObject;
  /** The Secrets in the namespace of the operator that the pods use. */
  readonly pullSecrets: readonly string[];
}

/** Says that a node does not have an image yet. */
export class ImageNotPulled extends Error {
  /** `Pulling`: the node is pulling it. `NotPulled`: it could not; it may be tried again. */
  readonly reason: 'Pulling' | 'NotPulled';

  constructor(reason: ImageNotPulled['reason'], message: string) {
    super(message);
    this.name = 'ImageNotPulled';
    this.reason = reason;
  }
}

/** How long a pod may pull, in seconds. The kubelet then ends it. */
const deadlineSeconds = 600;
/** The command of the pods. No image has it, so the container fails as soon as it is created. */
const command = ['/sidecar-injector-has-pulled'];

/**
 * Pulls images on nodes, by pods that end at once. These pods are the only record: they stay until
 * the updates of their tag are complete, which also keeps the kubelet from removing the image.
 */
export class ImagePulls {
  readonly #options: ImagePullsOptions;

  constructor(options: ImagePullsOptions) {
    this.#options = options;
  }

  /**
   * Returns when a node has all images. Else it lets the node pull them.
   * @throws ImageNotPulled until the node has them; ApiError
   */
  async require(node: string, images: readonly string[], how: Prepull, signal: AbortSignal): Promise<void> {
    const stored = new Map((await this.#list(signal)).map((pod) => [pod.metadata.name, pod]));
    const pulling: string[] = [];
    for (const image of images) {
      const what = `image ${image} on node ${node}`;
      const wanted = pullingPod(this.#options.namespace, node, image, how);
      const found = stored.get(wanted.metadata.name);
      if (found === undefined) {
        await this.#create(wanted, signal);
        this.#options.logger.info('pulls an image before an update', { node, image });
      }
      const progress = found === undefined ? 'Pulling' : pullProgress(found);
      if (progress === 'Pulling') pulling.push(what);
      if (typeof progress === 'string') continue;
      if (progress.isOver && found !== undefined) await this.#delete(found, signal);
      throw new ImageNotPulled('NotPulled', `${what} could not be pulled: ${progress.failed}`);
    }
    if (pulling.length > 0) throw new ImageNotPulled('Pulling', `waits for ${pulling.join(', ')}`);
  }

  /** Deletes the pods that pulled images for a tag. Those that remain are deleted with the tag. */
  async remove(tag: string, signal: AbortSignal): Promise<void> {
    try {
      for (const pod of await this.#list(signal))
        if (pod.metadata.ownerReferences?.some(({ name }) => name === tag) === true) await this.#delete(pod, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason === 'NotLeading') throw error;
      this.#options.logger.warn('failed to delete pods that pulled images', { revisionTag: tag, error: error.message });
    }
  }

  async #list(signal: AbortSignal): Promise<KubernetesObject[]> {
    const { client, namespace } = this.#options;
    return (await client.list(pods, { namespace, labelSelector: prepullLabel, signal })).items;
  }

  async #create(pod: KubernetesObject, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.client.create(pod, { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 403) throw error;
      const advice = 'set operator.prepullPods of the chart, or remove spec.strategy.restart.prepull';
      throw new ImageNotPulled(
        'NotPulled',
        `the operator may not create a pod that pulls: ${error.message}; ${advice}`,
      );
    }
  }

  async #delete(pod: KubernetesObject, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.client.delete(pod, { uid: pod.metadata.uid, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** Returns the pod that pulls an image on a node. Its name is that of the pair. */
export function pullingPod(namespace: string, nodeName: string, image: string, { tag, pullSecrets }: Prepull) {
  const { apiVersion, kind, metadata } = tag;
  const digest = createHash('sha256').update(`${nodeName}\n${image}`).digest('hex').slice(0, 16);
  const none = { cpu: '0', memory: '0' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `sidecar-injector-prepull-${digest}`,
      namespace,
      labels: { [prepullLabel]: 'true', [labelNames.managedBy]: managedBy },
      ownerReferences: [{ apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '' }],
    },
    spec: {
      nodeName,
      restartPolicy: 'Never',
      activeDeadlineSeconds: deadlineSeconds,
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      tolerations: [{ operator: 'Exists' }],
      imagePullSecrets: pullSecrets.map((name) => ({ name })),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_534,
        runAsGroup: 65_534,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'pull',
          image,
          command,
          imagePullPolicy: 'IfNotPresent',
          // A full node must not refuse it.
          resources: { requests: none, limits: { cpu: '100m', memory: '64Mi' } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}

/** Whether the node has the image, or why not and whether the pod has ended. */
type PullProgress = 'Done' | 'Pulling' | { readonly failed: string; readonly isOver: boolean };

/**
 * Returns how far a pod is that pulls an image. The evidence is that the kubelet reports the id of
 * the image, no matter how the container ends.
 */
function pullProgress({ status }: KubernetesObject): PullProgress {
  const pod = { status } as JsonObject;
  const { phase, reason, message, containerStatuses } = objectAt(pod, ['status']);
  const [container = {}] = listOf(containerStatuses);
  if (typeof container.imageID === 'string' && container.imageID !== '') return 'Done';
  const saying = (...parts: unknown[]): string => parts.filter(Boolean).join(': ');
  if (phase === 'Failed' || phase === 'Succeeded') return { failed: saying(reason, message), isOver: true };
  const waiting = objectAt(container, ['state', 'waiting']);
  const isWaiting = waiting.reason === undefined || waiting.reason === 'ContainerCreating';
  return isWaiting ? 'Pulling' : { failed: saying(waiting.reason, waiting.message), isOver: false };
}
