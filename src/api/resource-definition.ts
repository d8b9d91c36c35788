import { z } from 'zod';
import { group, version } from './injector-config/injector-config.ts';
import type { KubernetesObject } from './kubernetes/kubernetes.ts';
import type { ValidationRule } from './validation-rules.ts';

/** The parts of a CustomResourceDefinition that differ between our resources. */
interface ResourceDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly description: string;
  readonly specDescription: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  /** The rules whose `self` is the whole object. */
  readonly objectRules: readonly ValidationRule[];
  /** The rules whose `self` is the spec. */
  readonly specRules: readonly ValidationRule[];
  readonly printerColumns: readonly PrinterColumn[];
}

/** A column of `kubectl get`. */
interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly description: string;
  readonly jsonPath: string;
  /** Priority 1 shows the column only with `-o wide`. */
  readonly priority?: number;
}

/** Returns a cluster-scoped CustomResourceDefinition with one version and a status subresource. */
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

/** Returns a column, of type string by default. @param path the field's path from the root */
export function column(name: string, path: string, description: string, more?: Partial<PrinterColumn>): PrinterColumn {
  return { name, type: 'string', description, jsonPath: `.${path}`, ...more };
}

const date = { type: 'date' } as const;
const ready = 'status.conditions[?(@.type=="Ready")]';

export const ageColumn = column('Age', 'metadata.creationTimestamp', 'Time since creation.', date);

const since = 'Time since the status of Ready last changed. Its reason may be newer.';
export const sinceColumn = column('Since', `${ready}.lastTransitionTime`, since, date);

/** Returns a column with the status or reason of the condition Ready. */
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
        description: 'The observed state. Populated by the operator. Read-only.',
      },
    },
    'x-kubernetes-validations': resource.objectRules.map((rule) => celRule('', rule)),
  };
}

/** Converts a rule to the API server's form: fieldPath is relative to the schema with the rule. */
function celRule(at: string, { field, rule, message }: ValidationRule): JsonSchema {
  return { rule, message, fieldPath: field.slice(at.length).replace(/^\.?/, '.') };
}

const largestInt32 = 2 ** 31 - 1;

/** A JSON Schema in the dialect of OpenAPI 3.0. */
type JsonSchema = Record<string, unknown>;

/**
 * Converts a schema in place to a structural schema of apiextensions.k8s.io/v1: removes
 * `additionalProperties: false` (the API server drops unknown fields) and `propertyNames`, and adds
 * formats to integers. Use it as the `override` of z.toJSONSchema.
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
