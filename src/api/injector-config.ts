import { z } from 'zod';
import { certificateSchema } from './certificate-schema.ts';
import { dnsLabel } from './field-types.ts';
import { injectionSchema } from './injection-schema.ts';
import type { injectorConfigStatusSchema } from './injector-config-status.ts';
import type { KubernetesObject, ObjectMeta } from './kubernetes.ts';
import { webhookSchema } from './webhook-schema.ts';

export const group = 'sidecar-injector.io';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
export const injectorConfigKind = 'InjectorConfig';
export const injectorConfigPlural = 'injectorconfigs';
/** The class of operators and objects that name none. */
export const defaultOperatorClass = 'default';

/** `spec`: one injector, which is one revision. */
export const injectorConfigSpecSchema = z.object({
  revision: dnsLabel()
    .exactOptional()
    .describe('The revision that namespaces and pods name; the name of the object when omitted. It cannot be changed.'),
  paused: z
    .boolean()
    .default(false)
    .describe(
      'The kill switch: the webhooks are withdrawn, so pods start without this injector, and nothing is repaired.',
    ),
  operatorClass: dnsLabel(40)
    .default(defaultOperatorClass)
    .describe('Which operator looks after this object; an operator ignores the objects of other classes.'),
  injection: injectionSchema
    .prefault({})
    .describe('What is injected, and into which of the pods that reach the webhook.'),
  webhook: webhookSchema.prefault({}).describe('Which pods reach the webhook, and how the API server calls it.'),
  certificate: certificateSchema.prefault({}).describe('The authority and the serving certificate of the webhook.'),
});

/** `spec` with every default filled in. */
export type InjectorConfigSpec = z.output<typeof injectorConfigSpecSchema>;
/** `status`; every field is absent until the operator has written it. */
export type InjectorConfigStatus = z.output<typeof injectorConfigStatusSchema>;

/** An injector: cluster-scoped, named after its revision or for itself. */
export interface InjectorConfig extends KubernetesObject {
  apiVersion: typeof apiVersion;
  kind: typeof injectorConfigKind;
  metadata: ObjectMeta & { name: string };
  spec: InjectorConfigSpec;
  status?: InjectorConfigStatus;
}

/** The revision of an InjectorConfig: spec.revision, or its name. */
export function revisionOf(config: Pick<InjectorConfig, 'metadata' | 'spec'>): string {
  return config.spec.revision ?? config.metadata.name;
}
