import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';

/** The rule of webhooks and policies for new pods (admissionregistration.k8s.io/v1). */
export const podCreations = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods'],
  scope: 'Namespaced',
} as const;

/** The prefix of the names of webhooks that ignore failed calls, because their pods are held. */
export const heldPrefix = 'hold.';

/** The labels with which a Job selects its pods (k8s.io/api/batch/v1): the new and the old name. */
export const jobLabels = ['batch.kubernetes.io/controller-uid', 'controller-uid'] as const;

const [jobLabel] = jobLabels;
const jobFinalizer = 'batch.kubernetes.io/job-tracking';
/** The label with which Kueue manages a pod; Kueue counts a deleted pod as failed. */
const queueLabel = 'kueue.x-k8s.io/queue-name';

/**
 * A CEL expression that is true for pods that their controller replaces without harm after they are
 * deleted. The Job controller sets the label and the finalizer, but not if the Job has
 * `manualSelector`, or if `managedBy` names another controller. A pod on a node may not have gates.
 * Guard each field with has(): an error would refuse the pod.
 */
const expression = [
  "(!has(object.spec.nodeName) || object.spec.nodeName == '')",
  `!(has(object.metadata.labels) && '${queueLabel}' in object.metadata.labels)`,
  'has(object.metadata.ownerReferences)',
  'object.metadata.ownerReferences.exists(owner, has(owner.controller) && owner.controller == true && (' +
    "owner.apiVersion == 'apps/v1' && owner.kind in ['ReplicaSet', 'StatefulSet', 'DaemonSet'] || " +
    "owner.apiVersion == 'batch/v1' && owner.kind == 'Job'" +
    ` && has(object.metadata.labels) && '${jobLabel}' in object.metadata.labels` +
    ` && has(object.metadata.finalizers) && '${jobFinalizer}' in object.metadata.finalizers))`,
].join(' && ');

/** The two complementary conditions: each pod fulfills exactly one of them. */
export const replaceable = { name: matchConditionNames.replaceable, expression };
export const irreplaceable = { name: matchConditionNames.irreplaceable, expression: `!(${expression})` };
