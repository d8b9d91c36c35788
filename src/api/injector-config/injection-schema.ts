import { z } from 'zod';
import { containerFields } from './annotation-overrides.ts';
import {
  boundedRecord,
  choice,
  configMapReference,
  flag,
  freeForm,
  labelSelector,
  list,
  optional,
} from '../kubernetes/field-types.ts';

/** The maximum length in characters. A ConfigMap (1 MiB) must hold all texts together. */
const maximumTemplateLength = 600_000;
const templateName = z.string().min(1).max(63);

export const annotationOverridesSchema = z.object({
  preset: optional(
    z.enum(['Safe', 'Istio']),
    "The set of annotations and labels that pod authors may use. Safe: annotations and labels may change values, but not which images and commands run, with which privileges, or what the sidecar can access; pods with other annotations are refused. Istio: every annotation and label is allowed without a check, as in Istio's injector. Defaults to Istio with configFrom, otherwise to Safe.",
  ),
  allow: list(z.string().min(1).max(317), 64)
    .default([])
    .describe(
      'Names of annotations and labels that preset Safe allows in addition. A name that ends with * is a prefix.',
    ),
  sameName: optional(
    z.enum(['Refuse', 'Warn']),
    'With preset Safe: what happens to a pod whose own containers, volumes or other elements change what the templates add under the same names. Refuse: the pod is refused. Warn: the pod is injected, with a warning. Defaults to Refuse.',
  ),
  sameNameFields: optional(
    list(z.enum(containerFields), containerFields.length),
    'With preset Safe: fields that a container of the pod may change in a container of the templates with the same name, for example resources.',
  ),
});

export const injectionSchema = z.object({
  // No schema default, so that the rule for configFrom can tell whether the user set the field.
  policy: optional(
    z.enum(['enabled', 'disabled']),
    'Whether the webhook injects selected pods that neither opt in nor opt out: enabled or disabled. Defaults to enabled.',
  ),
  enableNamespacesByDefault: flag(
    'Whether the default revision also selects pods and namespaces that carry no injection label.',
  ),
  templates: optional(
    boundedRecord(z.string().max(maximumTemplateLength), 32),
    'Go templates by name. Each template renders a partial Pod, which the webhook merges into the pod.',
  ),
  template: optional(
    z.string().max(maximumTemplateLength),
    'A single template in the format of Istio 1.x, which renders initContainers, containers, volumes and imagePullSecrets at the top level. Mutually exclusive with templates.',
  ),
  configFrom: optional(
    configMapReference(),
    "The key of a ConfigMap that contains a whole configuration in Istio's format (policy, templates, selectors and so on), for example key config of Istio's istio-sidecar-injector[-REVISION]. Values come from key values of the same ConfigMap, unless values or valuesFrom is set. Mutually exclusive with templates and template.",
  ),
  delimiters: list(z.string().min(1).max(16), 2)
    .length(2)
    .default(['{{', '}}'])
    .describe('The left and right delimiters of template actions. Templates of Istio 1.x use [[ and ]].'),
  defaultTemplates: optional(
    list(templateName, 32),
    'The templates or aliases, in order, for pods that do not choose templates. Defaults to the only template, or else to ["sidecar"].',
  ),
  aliases: boundedRecord(list(templateName, 32), 32)
    .default({})
    .describe('Names that each stand for a list of templates. An alias cannot contain another alias.'),
  values: optional(freeForm(), 'The values that templates read as .Values.'),
  valuesFrom: optional(
    configMapReference(),
    'The key of a ConfigMap that contains the values as JSON or YAML. Mutually exclusive with values.',
  ),
  meshConfig: optional(freeForm(), "Istio's MeshConfig, which templates read as .MeshConfig and .ProxyConfig."),
  meshConfigFrom: optional(
    configMapReference(),
    "The key of a ConfigMap that contains the MeshConfig as YAML, for example key mesh of Istio's istio[-REVISION]. Mutually exclusive with meshConfig.",
  ),
  injectedAnnotations: boundedRecord(z.string().max(4096), 64)
    .default({})
    .describe('Annotations that the webhook adds to every injected pod.'),
  alwaysInjectSelector: list(labelSelector(), 16)
    .default([])
    .describe('Label selectors. A pod that matches one of them is injected regardless of policy, unless it opts out.'),
  neverInjectSelector: list(labelSelector(), 16)
    .default([])
    .describe(
      'Label selectors. A pod that matches one of them is not injected, unless it opts in. Takes precedence over alwaysInjectSelector.',
    ),
  annotationOverrides: optional(
    annotationOverridesSchema,
    'The annotations and labels with which pod authors may influence the templates.',
  ),
  // No schema default, so that istiod's setting in the values of configFrom can apply.
  nativeSidecars: optional(
    z.enum(['Auto', 'Enabled', 'Disabled']),
    'Whether the proxy is injected as a native sidecar, an init container with restartPolicy Always. Auto decides by the kubelet versions of the nodes. Defaults to pilot.env.ENABLE_NATIVE_SIDECARS in the values with configFrom, otherwise to Auto.',
  ),
  platform: optional(
    z.enum(['Kubernetes', 'OpenShift']),
    'The platform of the pods. On OpenShift, the proxy gets the highest user and group of the ranges in the annotations of the namespace, as in Istio; this requires value operator.openShift of the chart. Defaults to global.platform in the values with configFrom, otherwise to Kubernetes.',
  ),
  compliancePolicy: optional(
    z.string().max(63),
    "The policy that templates read as .CompliancePolicy, for example fips-140-3. Istio's templates write it to variable COMPLIANCE_POLICY of the proxy. Defaults to pilot.env.COMPLIANCE_POLICY in the values with configFrom, otherwise to an empty text.",
  ),
  podResources: choice(
    ['Keep', 'Add'],
    'Keep',
    'What happens to the resources of a pod itself (spec.resources, Kubernetes 1.34), which limit all its containers together. Keep: they stay; the API server refuses a pod whose sidecar does not fit. Add: the webhook adds what the sidecar needs to the amounts that are set.',
  ),
  windowsPods: optional(
    z.enum(['Skip', 'Inject']),
    'Whether pods with spec.os.name windows are injected. Set Inject only if the templates have containers for Windows. Defaults to Inject if the preset of annotationOverrides is Istio, otherwise to Skip.',
  ),
});
