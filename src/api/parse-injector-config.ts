import type { z } from 'zod';
import { ConfigurationError } from './errors.ts';
import { unknownFields } from './unknown-fields.ts';
import {
  apiVersion,
  injectorConfigKind,
  injectorConfigSpecSchema,
  type InjectorConfig,
  type InjectorConfigStatus,
} from './injector-config.ts';
import { injectorConfigStatusSchema } from './injector-config-status.ts';
import type { ObjectMeta } from './kubernetes.ts';

export interface ParseOptions {
  /**
   * What becomes of fields that the schema does not know. `drop` suits objects from the API server, which may have been written for a newer
   * version; `refuse` suits files of a person, where such a field is a typing mistake.
   */
  readonly unknownFields?: 'drop' | 'refuse';
}

/**
 * Reads an InjectorConfig as the API server would: checks the schema and fills in the defaults. Rules between fields are checked by
 * {@link import('./validate-injector-config.ts').validateInjectorConfig}.
 * @throws ConfigurationError that names the object, the field and the value.
 */
export function parseInjectorConfig(object: unknown, options: ParseOptions = {}): InjectorConfig {
  const source = record(object, 'the document');
  if (source.apiVersion !== apiVersion || source.kind !== injectorConfigKind) {
    throw new ConfigurationError(
      'kind',
      `expected apiVersion ${apiVersion} and kind ${injectorConfigKind}, found ${show(source.apiVersion)} and ${show(source.kind)}`,
    );
  }
  const metadata = record(source.metadata, 'metadata') as ObjectMeta;
  const name: unknown = metadata.name;
  if (typeof name !== 'string' || name === '') {
    throw new ConfigurationError('metadata.name', `InjectorConfig: metadata.name: must be a name, found ${show(name)}`);
  }
  const sourceSpec = source.spec;
  const parsed = injectorConfigSpecSchema.safeParse(sourceSpec);
  if (!parsed.success) throw mistake(name, sourceSpec, parsed.error);
  if (options.unknownFields === 'refuse') {
    const [first] = unknownFields(sourceSpec, parsed.data, 'spec');
    if (first !== undefined) {
      throw new ConfigurationError(
        first,
        `InjectorConfig ${name}: ${first}: no such field; remove it or correct its name`,
      );
    }
  }
  const { status: sourceStatus, ...rest } = source;
  const status = readStatus(sourceStatus);
  return {
    ...rest,
    apiVersion,
    kind: injectorConfigKind,
    metadata: { ...metadata, name },
    spec: parsed.data,
    ...(status === undefined ? {} : { status }),
  };
}

/** A status is ours; one that somebody broke is treated as lost, never as a reason to stop. */
function readStatus(status: unknown): InjectorConfigStatus | undefined {
  const parsed = injectorConfigStatusSchema.safeParse(status);
  return parsed.success ? parsed.data : undefined;
}

function record(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigurationError(field, `InjectorConfig: ${field} must be an object, found ${show(value)}`);
  }
  return value as Record<string, unknown>;
}

function mistake(name: string, spec: unknown, error: z.ZodError): ConfigurationError {
  const fields = error.issues.map(({ path }) => fieldName(['spec', ...path]));
  const lines = error.issues.map(({ path, message }, index) => {
    const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], spec);
    return `${String(fields[index])}: ${lowerFirst(message)} (found ${show(value)})`;
  });
  return new ConfigurationError(String(fields[0]), `InjectorConfig ${name}: ${lines.join('; ')}`, { cause: error });
}

/** `["spec", "matchConditions", 0, "name"]` → `spec.matchConditions[0].name`. */
function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** A value short enough for one line. */
function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
