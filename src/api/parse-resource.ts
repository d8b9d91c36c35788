import type { z } from 'zod';
import { ConfigurationError } from './errors.ts';
import { apiVersion, type Resource } from './injector-config/injector-config.ts';
import type { ObjectMeta } from './kubernetes/kubernetes.ts';

export interface ParseOptions {
  /**
   * How to treat fields that the schema does not define. Use `drop` for objects from the API
   * server, which a newer version may have written. Use `refuse` for a user's files, where such
   * fields are typos.
   */
  readonly unknownFields?: 'drop' | 'refuse';
}

/** Parses a resource. @throws ConfigurationError that names the object, the field and the value */
export function parseResource<Kind extends string, Spec, Status>(
  kind: Kind,
  specSchema: z.ZodType<Spec>,
  statusSchema: z.ZodType<Status>,
  object: unknown,
  options: ParseOptions,
): Resource<Kind, Spec, Status> {
  const source = record(kind, object, 'the document');
  if (source.apiVersion !== apiVersion || source.kind !== kind) {
    const message = `expected apiVersion ${apiVersion} and kind ${kind}, found ${show(source.apiVersion)} and ${show(source.kind)}`;
    throw new ConfigurationError('kind', message);
  }
  const metadata = record(kind, source.metadata, 'metadata') as ObjectMeta;
  const name: unknown = metadata.name;
  if (typeof name !== 'string' || name === '')
    throw new ConfigurationError('metadata.name', `${kind}: metadata.name must be a name, found ${show(name)}`);
  const sourceSpec = source.spec;
  const parsed = specSchema.safeParse(sourceSpec);
  if (!parsed.success) throw mistake(`${kind} ${name}`, sourceSpec, parsed.error);
  if (options.unknownFields === 'refuse') {
    const [first] = unknownFields(sourceSpec, parsed.data, 'spec');
    if (first !== undefined)
      throw new ConfigurationError(first, `${kind} ${name}: ${first}: unknown field; remove it or correct its name`);
  }
  const { status: sourceStatus, ...rest } = source;
  // The operator owns the status and writes it again; an invalid status must not block the object.
  const status = statusSchema.safeParse(sourceStatus);
  return {
    ...rest,
    apiVersion,
    kind,
    metadata: { ...metadata, name },
    spec: parsed.data,
    ...(status.success ? { status: status.data } : {}),
  };
}

function record(kind: string, value: unknown, field: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw new ConfigurationError(field, `${kind}: ${field} must be an object, found ${show(value)}`);
}

function mistake(named: string, spec: unknown, error: z.ZodError): ConfigurationError {
  const fields = error.issues.map(({ path }) => fieldName(['spec', ...path]));
  const lines = error.issues.map(({ path, message }, index) => {
    const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], spec);
    return `${String(fields[index])}: ${message.charAt(0).toLowerCase()}${message.slice(1)} (found ${show(value)})`;
  });
  return new ConfigurationError(String(fields[0]), `${named}: ${lines.join('; ')}`, { cause: error });
}

/** Formats `["spec", "matchConditions", 0, "name"]` as `spec.matchConditions[0].name`. */
function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1);
}

/** Formats a value as JSON of at most 80 characters. */
function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** Returns the paths below `at` of the fields in `source` that the schema dropped from `parsed`. */
export function unknownFields(source: unknown, parsed: unknown, at: string): string[] {
  if (Array.isArray(source) && Array.isArray(parsed))
    return source.flatMap((item: unknown, index) => unknownFields(item, parsed[index], `${at}[${index}]`));
  if (!isRecord(source) || !isRecord(parsed)) return [];
  return Object.entries(source).flatMap(([key, value]) =>
    Object.hasOwn(parsed, key) ? unknownFields(value, parsed[key], `${at}.${key}`) : [`${at}.${key}`],
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
