import type { JsonObject } from '../../inject/patch/json-value.ts';

/** A pod that some injector has once refused, damaged or made invalid. */
export interface TortureCase {
  readonly name: string;
  /** What went wrong in public reports of this kind. */
  readonly about: string;
  readonly pod: JsonObject;
}

interface PodParts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  /** Fields of the only container. */
  readonly container?: JsonObject;
}

const main = { name: 'main', image: 'registry.example.com/main:1' };

function podWith({ metadata = {}, spec = {}, container = {} }: PodParts): JsonObject {
  const containers = [{ ...main, ...container }];
  // A token would add a volume with a random name to each answer.
  const named = metadata['name'] === undefined ? { generateName: 'torture-', ...metadata } : metadata;
  return { metadata: named, spec: { automountServiceAccountToken: false, containers, ...spec } };
}

const longest = (count: number): string => 'n'.repeat(count);
const httpGet = { path: '/healthz', port: 'http', httpHeaders: [{ name: 'X-Probe', value: 'one' }] };
const probe = { periodSeconds: 7, failureThreshold: 5, timeoutSeconds: 2 };
const emptyFields = { env: [], envFrom: [], volumeMounts: [], securityContext: {}, resources: {}, ports: [] };

/** Fields that an older API server drops or refuses. */
const newFields: Readonly<Record<string, PodParts>> = {
  'resizePolicy of a container': {
    container: { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] },
  },
  'resources of the pod': { spec: { resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } } },
  'restart rules of a container': {
    container: {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    },
  },
  'a user namespace': { spec: { hostUsers: false } },
  'a scheduling gate': { spec: { schedulingGates: [{ name: 'example.com/quota' }] } },
  'a resource claim': {
    spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }] },
    container: { resources: { claims: [{ name: 'gpu' }] } },
  },
  'an image volume': {
    spec: { volumes: [{ name: 'model', image: { reference: 'registry.example.com/model:1' } }] },
    container: { volumeMounts: [{ name: 'model', mountPath: '/model' }] },
  },
  'a recursive read-only mount': {
    spec: { volumes: [{ name: 'data', emptyDir: {} }] },
    container: {
      volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true, recursiveReadOnly: 'IfPossible' }],
    },
  },
  'an AppArmor profile': { spec: { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } } },
  'a stop signal': { spec: { os: { name: 'linux' } }, container: { lifecycle: { stopSignal: 'SIGUSR1' } } },
  'a matchLabelKeys spread': {
    spec: {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'one' } },
          matchLabelKeys: ['pod-template-hash'],
        },
      ],
    },
  },
};

/** The control of the suite, which must be injected. */
export const plainPod: TortureCase = {
  name: 'a plain pod',
  about: 'the control: it must be injected',
  pod: podWith({}),
};

/** Returns the pods of the suite. @param sidecar the name of a container that the injector adds */
export function tortureCases(sidecar: string): TortureCase[] {
  const list = (name: string, about: string, parts: PodParts): TortureCase => ({ name, about, pod: podWith(parts) });
  return [
    plainPod,
    list('the longest name', 'a label or host name that is made of it is too long', {
      metadata: { name: longest(253) },
    }),
    list('the longest generated name', 'its name does not exist yet', { metadata: { generateName: longest(57) } }),
    list('odd labels and annotations', 'texts that end up in YAML, JSON or a command', {
      metadata: {
        labels: { app: longest(63), 'example.com/number': '1e3', 'example.com/empty': '' },
        annotations: {
          'example.com/odd': 'ü "quoted" \\ {{ .Values }} $(VAR) %s\n- second: [line',
          'example.com/yes': 'yes',
        },
      },
    }),
    list('empty and absent values', 'an absent value is read', {
      metadata: { labels: {}, annotations: {} },
      spec: { volumes: [], tolerations: [], affinity: {}, securityContext: {}, initContainers: [] },
      container: emptyFields,
    }),
    list('probes of all kinds', 'a probe is lost, or leads to the wrong port', {
      container: {
        ports: [{ name: 'http', containerPort: 8080 }],
        livenessProbe: { httpGet: { ...httpGet, scheme: 'HTTPS' }, ...probe },
        readinessProbe: { grpc: { port: 9000, service: 'health' }, ...probe },
        startupProbe: { tcpSocket: { port: 'http' }, ...probe },
        lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
      },
    }),
    list("the author's own native sidecar", 'its order among init containers, or its restartPolicy, is lost', {
      spec: {
        initContainers: [
          { name: 'first', image: 'registry.example.com/first:1' },
          {
            name: 'proxy',
            image: 'registry.example.com/proxy:1',
            restartPolicy: 'Always',
            startupProbe: { tcpSocket: { port: 1 } },
          },
          { name: 'last', image: 'registry.example.com/last:1' },
        ],
      },
    }),
    list('a container named as the sidecar', "the author's container is lost, or there are two", {
      spec: {
        containers: [main, { name: sidecar, image: 'registry.example.com/own:1', env: [{ name: 'OWN', value: '1' }] }],
      },
    }),
    list('an owner of an unknown kind', 'only known kinds of workloads are handled', {
      metadata: {
        ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Unheard', name: 'one', uid: '1', controller: true }],
      },
    }),
    list('the network of the host', 'a sidecar takes a port of the node', { spec: { hostNetwork: true } }),
    list('a pod that ends', 'a sidecar keeps it from ending', { spec: { restartPolicy: 'Never' } }),
    list('a locked-down pod', 'an added container violates the security context', {
      spec: {
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 1000,
          fsGroup: 2000,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      },
      container: { securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } },
    }),
    list('references to its own fields', 'a downward path is changed', {
      container: {
        env: [
          { name: 'NODE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '0' } } },
          { name: 'TWICE', value: '$(NODE)-$(NODE)' },
          { name: 'LATE', value: '$$(NODE)' },
        ],
      },
    }),
    list('200 containers', 'the webhook is too slow, or its answer too large', {
      spec: {
        containers: Array.from({ length: 200 }, (_, index) => ({
          ...main,
          name: `main-${index}`,
          env: Array.from({ length: 20 }, (__, each) => ({ name: `VARIABLE_${each}`, value: longest(60) })),
        })),
      },
    }),
    list('the largest annotations', 'the size of the request is limited too low', {
      metadata: { annotations: { 'example.com/large': longest(230_000) } },
    }),
    ...Object.entries(newFields).map(([field, parts]) =>
      list(`new field: ${field}`, 'a library that does not know a field drops it', parts),
    ),
  ];
}
