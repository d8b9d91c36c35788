import type { StatusCause } from '../../kube/api-error.ts';

interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly workingDir?: string;
  readonly ports?: readonly { readonly containerPort?: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodBody {
  readonly spec?: {
    readonly restartPolicy?: string;
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly volumes?: readonly { readonly name: string }[];
  };
}

/**
 * Returns the errors of a pod, by some of the rules of the API server, with its messages
 * (k8s.io/kubernetes/pkg/apis/core/validation). A pod without errors may break other rules.
 */
export function podErrors(pod: object): StatusCause[] {
  const { spec = {} } = pod as PodBody;
  const found: StatusCause[] = [];
  const add = (field: string, reason: string, message: string): number => found.push({ reason: `FieldValue${reason}`, message, field });
  const { containers = [], initContainers = [], volumes = [], restartPolicy = 'Always' } = spec;
  const names = new Set<string>();
  for (const [list, items] of Object.entries({ containers, initContainers })) {
    for (const [index, { name = '', image = '', workingDir, ports = [], volumeMounts = [] }] of items.entries()) {
      const path = `spec.${list}[${index}]`;
      const isLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);
      if (name === '') add(`${path}.name`, 'Required', 'Required value');
      else if (!isLabel) add(`${path}.name`, 'Invalid', `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 label must consist of …`);
      else if (names.has(name)) add(`${path}.name`, 'Duplicate', `Duplicate value: ${JSON.stringify(name)}`);
      names.add(name);
      if (image === '') add(`${path}.image`, 'Required', 'Required value');
      // Stands for the rules that are not known offline.
      if (workingDir === '/unknown') add(`${path}.workingDir`, 'Invalid', 'Invalid value: "/unknown": not allowed');
      for (const [at, { containerPort = 0 }] of ports.entries()) {
        const message = `Invalid value: ${containerPort}: must be between 1 and 65535, inclusive`;
        if (containerPort < 1 || containerPort > 65535) add(`${path}.ports[${at}].containerPort`, 'Invalid', message);
      }
      for (const [at, mount] of volumeMounts.entries()) {
        const isThere = volumes.some((volume) => volume.name === mount.name);
        if (!isThere) add(`${path}.volumeMounts[${at}].name`, 'NotFound', `Not found: ${JSON.stringify(mount.name)}`);
      }
    }
  }
  const policies = ['Always', 'OnFailure', 'Never'];
  const supported = policies.map((each) => JSON.stringify(each)).join(', ');
  if (!policies.includes(restartPolicy))
    add('spec.restartPolicy', 'NotSupported', `Unsupported value: ${JSON.stringify(restartPolicy)}: supported values: ${supported}`);
  return found;
}
