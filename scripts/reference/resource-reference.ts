import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** A Markdown page with every field of a resource, from its CustomResourceDefinition: what the API server checks is what the page says. */
export function resourceReference(definition: KubernetesObject): string {
  const { names, versions } = definition.spec as {
    names: { kind: string; shortNames?: string[] };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
  const [version] = versions;
  if (version === undefined) throw new Error(`${String(definition.metadata.name)} has no version`);
  const { spec, status } = version.schema.openAPIV3Schema.properties ?? {};
  return [
    `# ${names.kind}: fields`,
    '',
    'Generated from the CustomResourceDefinition by `make generate`.',
    '',
    '## spec',
    '',
    ...table(spec),
    '',
    '## status',
    '',
    ...table(status),
    '',
  ].join('\n');
}

function table(schema: Schema | undefined): string[] {
  return ['| field | type | default | |', '|---|---|---|---|', ...rows('', schema ?? {})];
}

function rows(prefix: string, schema: Schema): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const inner = field.items?.properties === undefined ? field : field.items;
    const below = inner.properties === undefined ? [] : rows(`${path}${inner === field ? '.' : '[].'}`, inner);
    return [`| \`${path}\` | ${typeOf(field)} | ${defaultOf(field)} | ${escape(field.description ?? '')} |`, ...below];
  });
}

function typeOf(field: Schema): string {
  if (field.enum !== undefined) return field.enum.map(String).join(' \\| ');
  if (field.type === 'array') return `list of ${field.items?.type ?? 'any'}`;
  if (field.type === 'object' && typeof field.additionalProperties === 'object') {
    return `map of ${field.additionalProperties.type ?? 'any'}`;
  }
  return field.type ?? 'any';
}

/** A default that is a whole object only says that the fields below have theirs. */
function defaultOf(field: Schema): string {
  if (field.default === undefined || (field.properties !== undefined && typeof field.default === 'object')) return '';
  return `\`${JSON.stringify(field.default)}\``;
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
