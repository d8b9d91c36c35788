import { z } from 'zod';
import { group, version } from './injector-config/injector-config.ts';
import type { ValidationRule } from './injector-config/injector-config-rules.ts';
import type { KubernetesObject } from './kubernetes/kubernetes.ts';

/** A rule of CEL with its field, from the root of the object. */
type CelRule = Pick<ValidationRule<never>, 'field' | 'rule' | 'message'>;

/** What tells the definition of one of our resources from that of another. */
interface ResourceDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly description: string;
  readonly specDescription: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  /** Over the whole object. */
  readonly objectRules: readonly CelRule[];
  /** Over the spec. */
  readonly specRules: readonly CelRule[];
  readonly printerColumns: readonly PrinterColumn[];
}

/** One column of `kubectl get`. */
interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly description: string;
  readonly jsonPath: string;
  /** 1: only with `-o wide`. */
  readonly priority?: number;
}

/** A CustomResourceDefinition of our group: cluster-scoped, one version, with the status apart. */
export function customResourceDefinition(resource: ResourceDefinition): KubernetesObject {
  const { kind, plural, shortName } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: ['sidecar-injector'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [...resource.printerColumns],
          schema: { openAPIV3Schema: openAPIV3Schema(resource) },
        },
      ],
    },
  };
}

/** One column of `kubectl get`: a field by its path from the root of the object; a text unless `more` says otherwise. */
export function column(name: string, path: string, description: string, more?: Partial<PrinterColumn>): PrinterColumn {
  return { name, type: 'string', description, jsonPath: `.${path}`, ...more };
}

const date = { type: 'date' } as const;
const ready = 'status.conditions[?(@.type=="Ready")]';

/** How old an object is, as a column. */
export const ageColumn = column('Age', 'metadata.creationTimestamp', 'Time since creation.', date);

/** For how long the condition Ready has been what it is, as a column. */
export const sinceColumn = column(
  'Since',
  `${ready}.lastTransitionTime`,
  'For how long it has been ready or not.',
  date,
);

/** The status or reason of the condition Ready, as a column. */
export function readyColumn(name: string, field: 'status' | 'reason', description: string): PrinterColumn {
  return column(name, `${ready}.${field}`, description);
}

function openAPIV3Schema(resource: ResourceDefinition): JsonSchema {
  const options = { target: 'openapi-3.0', io: 'input', override: structuralSchema } as const;
  return {
    type: 'object',
    description: resource.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'Version of the schema of this object.' },
      kind: { type: 'string', description: 'Kind of this object.' },
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 253 } } },
      spec: {
        ...z.toJSONSchema(resource.spec, options),
        description: resource.specDescription,
        'x-kubernetes-validations': resource.specRules.map((rule) => celRule('spec', rule)),
      },
      status: {
        ...z.toJSONSchema(resource.status, options),
        description: 'What the operator observed; written by the operator alone.',
      },
    },
    'x-kubernetes-validations': resource.objectRules.map((rule) => celRule('', rule)),
  };
}

/** A rule with its field as the API server wants it: relative to the schema that carries the rule. */
function celRule(at: string, { field, rule, message }: CelRule): JsonSchema {
  return { rule, message, fieldPath: field.slice(at.length).replace(/^\.?/, '.') };
}

const largestInt32 = 2 ** 31 - 1;

/** JSON Schema as OpenAPI 3.0 has it. */
type JsonSchema = Record<string, unknown>;

/**
 * Turns what zod says into what apiextensions.k8s.io/v1 accepts as a structural schema: no `additionalProperties: false` (the API server
 * drops unknown fields instead), no rule about a map's keys, integers with a format. To be used as `override` of z.toJSONSchema.
 */
function structuralSchema({ jsonSchema }: { jsonSchema: object }): void {
  const schema = jsonSchema as JsonSchema;
  const { additionalProperties } = schema;
  if (additionalProperties === false || schema['x-kubernetes-preserve-unknown-fields'] === true) {
    delete schema.additionalProperties;
  }
  delete schema.propertyNames;
  if (schema.type === 'number' && Array.isArray(schema.enum)) schema.type = 'integer';
  if (schema.type === 'integer') {
    const short = Array.isArray(schema.enum) || Number(schema.maximum) <= largestInt32;
    schema.format = short ? 'int32' : 'int64';
  }
}
