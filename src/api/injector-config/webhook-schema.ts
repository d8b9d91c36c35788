import { z } from 'zod';
import {
  boundedRecord,
  choice,
  dnsLabel,
  flag,
  labelSelector,
  list,
  optional,
  qualifiedName,
  text,
} from '../kubernetes/field-types.ts';
import { istioKeys } from './webhook-keys.ts';

/** Kubernetes allows 64 matchConditions per webhook; the generated conditions need some of them. */
const maximumMatchConditions = 56;

const conditionName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

const matchCondition = z.object({
  name: text(317, conditionName, 'must be a qualified name').describe('The name of the condition, unique in the list.'),
  expression: z
    .string()
    .min(1)
    .max(4096)
    .describe(
      'A CEL expression over object, request and authorizer. The webhook receives a pod only if the expression is true.',
    ),
});

const webhookKeys = z.object({
  injection: qualifiedName()
    .default(istioKeys.injection)
    .describe(
      'The namespace label for the default revision: enabled turns injection on, any other value turns it off.',
    ),
  revision: qualifiedName()
    .default(istioKeys.revision)
    .describe('The namespace and pod label that names a revision or tag.'),
  inject: qualifiedName()
    .default(istioKeys.inject)
    .describe('The pod label and annotation with which a pod opts in ("true") or opts out ("false").'),
  status: qualifiedName().default(istioKeys.status).describe('The pod annotation that records the injected content.'),
});

export const webhookSchema = z.object({
  failurePolicy: choice(
    ['Fail', 'Ignore', 'Hold'],
    'Fail',
    'What happens to a selected pod when the call fails. Fail: the pod is refused. Ignore: it starts without a sidecar. Hold: a replaceable pod is created but not scheduled, and replaced by an injected pod later; fallback applies to other pods.',
  ),
  fallback: choice(
    ['Fail', 'Ignore'],
    'Fail',
    'For failurePolicy Hold: what happens to pods that cannot be held, and to all pods while Hold is not available.',
  ),
  timeoutSeconds: optional(
    z.int32().min(1).max(30),
    'The timeout of a call to the webhook, in seconds. The default is 10, with failurePolicy Hold 3.',
  ),
  reinvocationPolicy: choice(
    ['Never', 'IfNeeded'],
    'Never',
    'Whether the API server calls the webhook again after a later webhook changed the pod.',
  ),
  matchPolicy: choice(
    ['Exact', 'Equivalent'],
    'Equivalent',
    'Whether the webhook also receives requests through an equivalent API version.',
  ),
  matchConditions: z
    .array(matchCondition)
    .max(maximumMatchConditions)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .default([])
    .describe(
      'Additional conditions. Every webhook already excludes host-network pods, opted-out pods and mirror pods.',
    ),
  excludedNamespaces: list(dnsLabel(), 256, 'set')
    .default([])
    .describe("Additional namespaces to exclude. System namespaces and the operator's namespace are always excluded."),
  selection: choice(
    ['Revision', 'Custom'],
    'Revision',
    'How the webhook selects pods. Revision: by the labels in keys. Custom: by namespaceSelector and objectSelector.',
  ),
  namespaceSelector: optional(labelSelector(), 'For selection Custom: selects the namespaces of the pods.'),
  objectSelector: optional(labelSelector(), 'For selection Custom: selects the pods.'),
  url: z
    .string()
    .max(2048)
    .regex(
      /^https:\/\/([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(\/[^\s?#]*)?$/,
      'must be https://HOST[:PORT][/PATH] without user, query and fragment',
    )
    .exactOptional()
    .describe(
      'The URL at which the API server calls the webhook instead of the Service, as https://HOST[:PORT][/PATH]. The operator appends the path of the configuration.',
    ),
  takeover: flag(
    "Whether to publish even if another injector's webhook selects the same pods by the same labels. When false, the operator does not publish in that case.",
  ),
  toleratedManagers: list(z.string().min(1).max(128), 16, 'set')
    .default(['admissionsenforcer'])
    .describe(
      'Field managers that may add expressions to the namespaceSelectors of the webhooks; condition Narrowed reports them. The operator reverts such changes by other managers. The default is the admissions enforcer of AKS.',
    ),
  pathEnvironment: boundedRecord(z.string().max(1024), 32)
    .default({})
    .describe(
      "Environment variables of the proxy. The keys are those of Istio's injection paths: cluster, net, or the name of a variable.",
    ),
  keys: webhookKeys
    .prefault({})
    .describe('The label and annotation names of the family. Injectors of one family inject a pod at most once.'),
});
