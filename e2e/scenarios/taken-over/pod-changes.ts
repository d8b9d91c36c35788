import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { updateAnnotation } from '../../../src/api/revision-tag/update-annotation.ts';
import { pullingPod } from '../../../src/operator/in-place/image-pulls.ts';
import type { Container, Pod } from '../../harness/pod.ts';

/** A change of a running pod, as a merge patch. */
export interface PodAttempt {
  readonly change: Record<string, unknown>;
  readonly subresource?: 'resize';
}

/** Returns pods of the operator's namespace: the first pulls an image, and others do more. */
export function pullAttempts(namespace: string, node: string): Record<string, KubernetesObject> {
  const tag = {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'RevisionTag',
    metadata: { name: 'none', uid: 'none' },
  };
  const pod = (image: string) => {
    const made = pullingPod(namespace, node, image, { tag, pullSecrets: ['registry'] });
    return { ...made, metadata: { ...made.metadata, ownerReferences: [] } };
  };
  const good = pod('example.com/injected:2');
  const [container] = good.spec.containers;
  const withSpec = (more: object) => ({ ...good, spec: { ...good.spec, ...more } });
  const withContainer = (more: object) => withSpec({ containers: [{ ...container, ...more }] });
  return {
    'a pod that pulls an image': good,
    'another image': pod('example.com/thief:1'),
    'another command': withContainer({ command: ['/bin/sh'] }),
    arguments: withContainer({ args: ['-c', 'true'] }),
    'a variable of a Secret': withContainer({ envFrom: [{ secretRef: { name: 'sidecar-injector-hello' } }] }),
    root: withSpec({ securityContext: { runAsNonRoot: false } }),
    'a token': withSpec({ automountServiceAccountToken: true }),
    'the ServiceAccount of replicas': withSpec({ serviceAccountName: 'injector-operator-webhook' }),
    'a volume': withSpec({ volumes: [{ name: 'keys', secret: { secretName: 'sidecar-injector-hello' } }] }),
    'an init container': withSpec({ initContainers: [{ ...container, name: 'other' }] }),
    'no deadline': withSpec({ activeDeadlineSeconds: undefined }),
    'no label': { ...good, metadata: { ...good.metadata, labels: {} } },
  };
}

/** What the chart allows in `operator.updateImages` and `operator.updateMetadata`. */
export const allowed = { images: ['example.com/injected:'], metadata: ['sidecar.istio.io/', 'example.com/'] };

/** Two containers of the pod's author. The status annotation contains the word `volumes`. */
export const ownContainers = ['web', 'volumes'].map((name) => ({
  name,
  image: 'example.com/web:1',
  resources: { requests: { cpu: '10m' } },
}));

const config = 'sidecar-injector.io/config';
const status = 'sidecar.istio.io/status';
const configuration = 'other.0a1b2c3d';
/** The record of an update to another configuration. */
const committed = { [updateAnnotation]: recordOf({}), [config]: configuration };

/** The record of an update that is about to resize the pod. */
export const resizing = recordOf({ resizing: true });

function recordOf(more: object, target = configuration): string {
  return JSON.stringify({ tag: 'none', target, at: new Date(0).toISOString(), ...more });
}

/** Returns changes of an injected pod by the titles that SECURITY.md gives them. */
export function podAttempts(pod: Pod): Record<string, PodAttempt> {
  const annotations = pod.metadata.annotations ?? {};
  const text = annotations[status] ?? '';
  const change = (container: string, fields: Partial<Container>, changed: object = committed) => ({
    metadata: { annotations: changed },
    spec: { containers: pod.spec.containers.map((each) => (each.name === container ? { ...each, ...fields } : each)) },
  });
  const image = { image: 'example.com/injected:2' };
  const resources = { resources: { requests: { cpu: '20m' } } };
  const inStatus = (revision: string, containers = '"injected"') =>
    text.replace(/"revision":"[^"]*"/, `"revision":"${revision}"`).replace('"injected"', containers);
  const annotated = (changed: object) => ({ change: { metadata: { annotations: changed } } });
  return {
    'the image of an injected container, with the record of the update': { change: change('injected', image) },
    'the revision in the status annotation, with another configuration and the record of the update': annotated({
      ...committed,
      [status]: inStatus('other'),
    }),
    'a record of a failed update': annotated({ [updateAnnotation]: recordOf({ failed: 'it crashes' }) }),
    'a label that `operator.updateMetadata` allows': { change: { metadata: { labels: { 'example.com/new': 'yes' } } } },
    'the CPU of an injected container, if the pod has a record': {
      change: change('injected', resources, {}),
      subresource: 'resize',
    },
    'an image that `operator.updateImages` does not allow': {
      change: change('injected', { image: 'example.com/thief:1' }),
    },
    'the image of an injected container, without a record': {
      change: change('injected', image, { [updateAnnotation]: null }),
    },
    'the image of another container': { change: change('web', image) },
    'the image of another container whose name is a word of the status annotation': {
      change: change('volumes', image),
    },
    'the CPU of another container': { change: change('web', resources, {}), subresource: 'resize' },
    'the containers in the status annotation': annotated({
      ...committed,
      [status]: inStatus('other', '"injected","web"'),
    }),
    'another status annotation': annotated({ ...committed, 'example.com/status': text.replace('injected', 'web') }),
    'the revision in the status annotation, without another configuration': annotated({ [status]: inStatus('other') }),
    'no status annotation': annotated({ ...committed, [status]: null }),
    'another configuration, while the pod is resized': annotated({ [config]: configuration }),
    'another configuration, without a record': annotated({ [config]: configuration, [updateAnnotation]: null }),
    'another configuration than the record names': annotated({ ...committed, [config]: 'third.0a1b2c3d' }),
    'no configuration': annotated({ [config]: null }),
    'an older configuration than the record of a failed update has': annotated({
      [config]: configuration,
      [updateAnnotation]: recordOf({ failed: 'it crashes' }),
    }),
    'a record that names another configuration': annotated({ [updateAnnotation]: recordOf({}, 'third.0a1b2c3d') }),
    'a label that `operator.updateMetadata` does not allow': { change: { metadata: { labels: { app: 'other' } } } },
    'an annotation that `operator.updateMetadata` does not allow': annotated({ 'example.org/new': 'yes' }),
    tolerations: {
      change: { spec: { tolerations: [...(pod.spec.tolerations as object[]), { operator: 'Exists', key: 'thief' }] } },
    },
    'a deadline': { change: { spec: { activeDeadlineSeconds: 1 } } },
    finalizers: { change: { metadata: { finalizers: ['example.com/thief'] } } },
    'the owner': {
      change: {
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'thief', uid: 'thief' }] },
      },
    },
  };
}
