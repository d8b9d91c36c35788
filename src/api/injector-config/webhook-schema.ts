import { z } from 'zod';
import {
  boundedRecord,
  choice,
  dnsLabel,
  flag,
  labelSelector,
  list,
  qualifiedName,
  text,
} from '../kubernetes/field-types.ts';
import { istioKeys } from './webhook-keys.ts';

/** Kubernetes allows 64 matchConditions a webhook; the generated ones need some of them. */
const maximumMatchConditions = 56;

const conditionName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

const matchCondition = z.object({
  name: text(317, conditionName, 'must be a qualified name').describe('Name of the condition, unique in the list.'),
  expression: z
    .string()
    .min(1)
    .max(4096)
    .describe('CEL over object, request and authorizer that must be true for the pod to reach the webhook.'),
});

const webhookKeys = z.object({
  injection: qualifiedName()
    .default(istioKeys.injection)
    .describe('Namespace label that switches the default revision: enabled, or anything else for never.'),
  revision: qualifiedName().default(istioKeys.revision).describe('Namespace and pod label that names a revision.'),
  inject: qualifiedName()
    .default(istioKeys.inject)
    .describe('Pod label, and annotation, with which a pod opts in ("true") or out ("false").'),
  status: qualifiedName().default(istioKeys.status).describe('Pod annotation that records what was injected.'),
});

/** `spec.webhook`: which pods reach the webhook, and how the API server calls it. */
export const webhookSchema = z.object({
  failurePolicy: choice(
    ['Fail', 'Ignore'],
    'Fail',
    'What the API server does with a selected pod when the webhook does not answer: Fail refuses it, Ignore creates it plain.',
  ),
  timeoutSeconds: z
    .int32()
    .min(1)
    .max(30)
    .default(10)
    .describe('How long the API server waits for the webhook, in seconds.'),
  reinvocationPolicy: choice(
    ['Never', 'IfNeeded'],
    'Never',
    'Whether the webhook is called again when a later webhook changed the pod.',
  ),
  matchPolicy: choice(
    ['Exact', 'Equivalent'],
    'Equivalent',
    'Whether the rules also match pods that arrive through an equivalent API version.',
  ),
  matchConditions: z
    .array(matchCondition)
    .max(maximumMatchConditions)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .default([])
    .describe('Further conditions; those for host-network pods, opted-out pods and mirror pods are always there.'),
  excludedNamespaces: list(dnsLabel(), 256, 'set')
    .default([])
    .describe("Namespaces whose pods never reach the webhook, beside the system's and the operator's own."),
  selection: choice(
    ['Revision', 'Custom'],
    'Revision',
    'Revision selects by the labels named in keys; Custom makes one webhook with the selectors given here.',
  ),
  namespaceSelector: labelSelector()
    .exactOptional()
    .describe('With selection Custom: the namespaces whose pods reach the webhook.'),
  objectSelector: labelSelector().exactOptional().describe('With selection Custom: the pods that reach the webhook.'),
  url: z
    .string()
    .max(2048)
    .regex(
      /^https:\/\/([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(\/[^\s?#]*)?$/,
      'must be https://HOST[:PORT][/PATH] without user, query and fragment',
    )
    .exactOptional()
    .describe(
      'Where the API server reaches the webhook, instead of the Service: https://HOST[:PORT][/PATH]; the path of the revision is appended.',
    ),
  takeover: flag(
    "Publish although somebody else's webhook takes the same pods by the same labels; without it nothing is published then.",
  ),
  toleratedManagers: list(z.string().min(1).max(128), 16, 'set')
    .default(['admissionsenforcer'])
    .describe(
      'Field managers that may add expressions to the namespaceSelectors, which is then said in the condition Narrowed; of all others it is taken back. The default is that of AKS.',
    ),
  pathEnvironment: boundedRecord(z.string().max(1024), 32)
    .default({})
    .describe('Proxy environment by the names of the injection path: cluster, net, and others in upper case.'),
  keys: webhookKeys
    .prefault({})
    .describe("Label and annotation names: the injector's family. Within a family no pod is injected twice."),
});
