import { commandLine, inSequence } from '../../api/command-line.ts';
import type { KubernetesObject, LabelSelector } from '../../api/kubernetes/kubernetes.ts';
import { impossible } from '../../api/kubernetes/workload-behind.ts';
import { recordOfWorkload } from '../../operator/restarts/workload-record.ts';
import { recordOf } from '../../routing/workload-key.ts';
import { requirementsOf } from '../../selection/label-selector.ts';

/** How the pods of an object are replaced by new ones. */
export interface Recreation {
  /** A command; a comment for the shell if there is none. */
  readonly command: string;
  /** What the user must know before, as a clause. */
  readonly cost?: string;
  /** The command after a change of the pod template, if it is another one. */
  readonly afterEdit?: string;
  /** Whether a change of the pod template is enough. */
  readonly followsTemplate: boolean;
}

/**
 * Returns how the pods of a workload are replaced, or a pod without a controller.
 * @param object the object as stored; only kind and name if no more is known
 */
export function recreationOf(object: KubernetesObject, namespace: string): Recreation {
  const { kind, metadata, spec } = object;
  // The name in a file may have any type.
  const name = typeof metadata.name === 'string' ? metadata.name : '';
  const { paused, updateType, partition } = recordOfWorkload(object);
  const restart = commandLine`kubectl rollout restart ${kind.toLowerCase()}/${name} -n ${namespace}`;
  const deletion = (cost: string): Recreation => {
    const { selector = {} } = recordOf(spec) as { readonly selector?: Readonly<Record<string, unknown>> };
    const pods = selectorText(kind === 'ReplicationController' ? { matchLabels: selector as never } : selector);
    if (pods === '') return { command: `# delete the pods of this ${kind} one by one`, followsTemplate: false };
    // A controller may create a pod of the same name before kubectl sees that the old one is gone.
    const command = commandLine`kubectl delete pod --wait=false -n ${namespace} -l ${pods}`;
    return {
      command,
      cost: `${cost}, so the command deletes all pods that its selector matches at once`,
      followsTemplate: false,
    };
  };
  switch (name === impossible ? impossible : kind) {
    case 'Pod':
      return { command: replacePod(name, namespace), cost: replacesPod, followsTemplate: false };
    case 'Deployment': {
      if (!paused) return { command: restart, followsTemplate: true };
      const resume = commandLine`kubectl rollout resume ${kind.toLowerCase()}/${name} -n ${namespace}`;
      const cost = 'it is paused, and the command also rolls out the changes that wait';
      return { command: inSequence([resume, restart]), cost, followsTemplate: false };
    }
    case 'StatefulSet':
    case 'DaemonSet':
      if (updateType === 'OnDelete') return deletion('its pods are replaced only when they are deleted (OnDelete)');
      // Kubernetes creates pods below the partition again from the old template.
      if (partition > 0)
        return {
          ...deletion(`a restart does not replace its pods below ordinal ${partition} (partition)`),
          afterEdit: `# lower spec.updateStrategy.rollingUpdate.partition, because pods below ordinal ${partition} keep the old template`,
        };
      return { command: restart, followsTemplate: true };
    case 'ReplicaSet':
    case 'ReplicationController':
      return deletion(`a ${kind} replaces its pods only when they are deleted`);
    case 'Job':
    case 'CronJob':
      return {
        command: '# wait: its pods run to their end, and its next pods are as they should be',
        followsTemplate: true,
      };
    default:
      return { command: `# recreate its pods with the tools of its ${kind}`, followsTemplate: true };
  }
}

const replacesPod =
  'no controller replaces the pod, so the command deletes it and creates it again, which cannot be undone';

/** Returns a command that creates a pod again, without its sidecar. @param patch a merge patch */
export function replacePod(name: string, namespace: string, patch?: string): string {
  if (patch === undefined)
    return commandLine`kubectl get pod ${name} -n ${namespace} -o yaml | injector uninject -f - | kubectl replace --force -f -`;
  return commandLine`kubectl get pod ${name} -n ${namespace} -o yaml | injector uninject -f - | kubectl patch --local -f - --type merge -p ${patch} -o yaml | kubectl replace --force -f -`;
}

/** Formats a selector for kubectl. */
function selectorText(selector: LabelSelector): string {
  const texts = requirementsOf(selector).map(({ key, operator, values = [] }) => {
    if (operator === 'In' && values.length === 1) return `${key}=${values[0] ?? ''}`;
    if (operator === 'In' || operator === 'NotIn') return `${key} ${operator.toLowerCase()} (${values.join(',')})`;
    return operator === 'Exists' ? key : `!${key}`;
  });
  return texts.join(',');
}
