import { z } from 'zod';
import {
  boundedRecord,
  choice,
  configMapReference,
  flag,
  freeForm,
  labelSelector,
  list,
} from '../kubernetes/field-types.ts';

/** Longer texts would not fit beside the rest in a ConfigMap (1 MiB for the whole object). */
const maximumTemplateLength = 600_000;
const templateName = z.string().min(1).max(63);

/** `spec.injection.annotationOverrides`. */
export const annotationOverridesSchema = z.object({
  preset: z
    .enum(['Safe', 'Istio'])
    .exactOptional()
    .describe(
      "Safe (when omitted, but with configFrom it is Istio): annotations and labels may change values, but not what runs, as whom and what it reaches; others are refused. Istio: everything that the templates make of them, as Istio's injector does; nothing is checked.",
    ),
  allow: list(z.string().min(1).max(317), 64)
    .default([])
    .describe(
      'With preset Safe: annotations and labels that may change more than values, by name; a name that ends in * stands for all that begin so.',
    ),
});

/** `spec.injection`: what is injected, and into which of the pods that reach the webhook. */
export const injectionSchema = z.object({
  policy: z
    .enum(['enabled', 'disabled'])
    // No default of the schema: configFrom must be able to tell what was written down.
    .exactOptional()
    .describe(
      'What happens to a selected pod that says nothing of its own: enabled (when omitted) injects it, disabled leaves it alone.',
    ),
  enableNamespacesByDefault: flag(
    'Whether the default revision also takes namespaces and pods that carry none of the labels.',
  ),
  templates: boundedRecord(z.string().max(maximumTemplateLength), 32)
    .exactOptional()
    .describe('Go templates by name; each renders to a part of a Pod that is merged onto the pod.'),
  template: z
    .string()
    .max(maximumTemplateLength)
    .exactOptional()
    .describe(
      'A single template of the 1.x kind, instead of templates: it renders to initContainers, containers, volumes and imagePullSecrets at the top level.',
    ),
  configFrom: configMapReference()
    .exactOptional()
    .describe(
      "A ConfigMap whose key holds a whole configuration in Istio's format (policy, templates, selectors …), instead of templates and template and what goes with them: Istio's own is istio-sidecar-injector[-REVISION], key config. The values are read from its key values, unless values or valuesFrom is given.",
    ),
  delimiters: list(z.string().min(1).max(16), 2)
    .length(2)
    .default(['{{', '}}'])
    .describe('Left and right delimiter of template actions; templates of the 1.x kind use [[ and ]].'),
  defaultTemplates: list(templateName, 32)
    .exactOptional()
    .describe('Templates (or aliases) for pods that choose none, in order; "sidecar" when omitted.'),
  aliases: boundedRecord(list(templateName, 32), 32)
    .default({})
    .describe('Names that stand for several templates; an alias is expanded once.'),
  values: freeForm().exactOptional().describe('.Values of the templates.'),
  valuesFrom: configMapReference()
    .exactOptional()
    .describe('A ConfigMap whose key holds the values as JSON or YAML, instead of values.'),
  meshConfig: freeForm().exactOptional().describe("Istio's MeshConfig: .MeshConfig and .ProxyConfig of the templates."),
  meshConfigFrom: configMapReference()
    .exactOptional()
    .describe(
      "A ConfigMap whose key holds the MeshConfig as YAML, instead of meshConfig: Istio's own is istio[-REVISION], key mesh.",
    ),
  injectedAnnotations: boundedRecord(z.string().max(4096), 64)
    .default({})
    .describe('Annotations that every injected pod receives.'),
  alwaysInjectSelector: list(labelSelector(), 16)
    .default([])
    .describe('Pods matched by one of these are injected whatever the policy, unless they opt out themselves.'),
  neverInjectSelector: list(labelSelector(), 16)
    .default([])
    .describe(
      'Pods matched by one of these are never injected, unless they opt in themselves; wins over alwaysInjectSelector.',
    ),
  annotationOverrides: annotationOverridesSchema
    .exactOptional()
    .describe("Which annotations and labels a pod's author may use to steer the templates."),
  nativeSidecars: choice(
    ['Auto', 'Enabled', 'Disabled'],
    'Auto',
    'Whether the proxy becomes an init container with restartPolicy Always; Auto decides by the versions of the kubelets.',
  ),
});
