import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { customResourceDefinitions } from './crd.ts';

interface Schema {
  type?: string;
  description?: string;
  default?: unknown;
  format?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-validations'?: { rule: string; message: string; fieldPath: string }[];
  [keyword: string]: unknown;
}

interface Definition {
  metadata: { name: string };
  spec: {
    scope: string;
    names: { kind: string; plural: string; shortNames: string[] };
    versions: {
      subresources: object;
      additionalPrinterColumns: { name: string; jsonPath: string; priority?: number }[];
      schema: { openAPIV3Schema: Schema };
    }[];
  };
}

const definitions = customResourceDefinitions() as unknown as Definition[];

/** Yields `schema` and every schema below it with its path; `named` is true for object fields. */
function* walk(schema: Schema, path = '', named = true): Generator<{ path: string; schema: Schema; named: boolean }> {
  yield { path, schema, named };
  for (const [key, child] of Object.entries(schema.properties ?? {})) yield* walk(child, `${path}.${key}`);
  if (schema.items) yield* walk(schema.items, `${path}[]`, false);
  if (schema.additionalProperties) yield* walk(schema.additionalProperties, `${path}.*`, false);
}
function partsOf(definition: Definition) {
  const [version] = definition.spec.versions;
  const root = version!.schema.openAPIV3Schema;
  const all = [...walk(root.properties!.spec!, 'spec'), ...walk(root.properties!.status!, 'status')];
  return { version: version!, root, all };
}

/** The keywords of a structural schema. The API server refuses or ignores all other keywords. */
const keywords = new Set(
  'type description default format enum properties required items additionalProperties minLength maxLength minItems maxItems maxProperties minimum maximum pattern x-kubernetes-preserve-unknown-fields x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type x-kubernetes-validations'.split(
    ' ',
  ),
);

for (const definition of definitions) {
  const { root, all } = partsOf(definition);
  describe(`the CustomResourceDefinition ${definition.metadata.name}`, () => {
    it('is cluster-scoped and has a status subresource', () => {
      assert.equal(definition.spec.scope, 'Cluster');
      assert.deepEqual(partsOf(definition).version.subresources, { status: {} });
    });

    it('is structural: every schema has a type and only keywords that the API server knows', () => {
      for (const { path, schema } of all) {
        const free = path.endsWith('.*') && schema.type === undefined;
        assert.ok(schema.type !== undefined || free, `${path} has no type`);
        for (const keyword of Object.keys(schema)) assert.ok(keywords.has(keyword), `${path}: ${keyword}`);
        assert.notEqual(schema.additionalProperties, false, path);
        const { properties, additionalProperties } = schema;
        assert.ok(properties === undefined || additionalProperties === undefined, `${path} is object and map`);
      }
    });

    it('describes every field', () => {
      for (const { path, schema, named } of all) {
        if (named)
          assert.ok((schema.description ?? '').endsWith('.'), `${path}: ${schema.description ?? 'no description'}`);
      }
    });

    it('bounds every string, list and map, so that the cost of rules is bounded', () => {
      for (const { path, schema } of all) {
        if (schema.type === 'string' && schema.enum === undefined && schema.format === undefined) {
          assert.ok(schema.maxLength !== undefined, `${path} has no maxLength`);
        }
        if (schema.type === 'array') assert.ok(schema.maxItems !== undefined, `${path} has no maxItems`);
        if (schema.additionalProperties) assert.ok(schema.maxProperties !== undefined, `${path} has no maxProperties`);
      }
    });

    it('has only rules whose fieldPath is in the schema and whose message begins with that field', () => {
      const check = (schema: Schema, at: string): void => {
        for (const { fieldPath, message } of schema['x-kubernetes-validations']!) {
          const keys = fieldPath.slice(1).split('.');
          const found = keys.reduce<Schema | undefined>((node, key) => node?.properties?.[key], schema);
          assert.ok(found, `${at}${fieldPath} is not in the schema`);
          assert.ok(message.startsWith(`${at}${fieldPath}`.replace(/^\./, '')), message);
        }
      };
      check(root, '');
      check(root.properties!.spec!, 'spec');
    });
  });
}

const configColumns = 'Revision, Ready, Reason, Since, Expires, Renews, Authority Expires, Phase, Age';
const tagColumns = 'Revision, Stable, Ready, Reason, Since, Rollout, Weight, Pods, Stale, Age';
for (const [index, resource, plural, shortName, immutableFields, columns] of [
  [0, 'InjectorConfig', 'injectorconfigs', 'icfg', ['.revision', '.operatorClass'], configColumns],
  [1, 'RevisionTag', 'revisiontags', 'rtag', ['.operatorClass'], tagColumns],
] as const) {
  describe(`the CustomResourceDefinition of ${resource}`, () => {
    const definition = definitions[index]!;
    const { version, root } = partsOf(definition);

    it('names the resource', () => {
      assert.equal(definition.metadata.name, `${plural}.sidecar-injector.io`);
      assert.deepEqual(definition.spec.names.shortNames, [shortName]);
    });

    it(`has transition rules only for ${immutableFields.join(' and ')}`, () => {
      const rules = root.properties!.spec!['x-kubernetes-validations']!;
      const ofChanges = rules.filter(({ rule }) => rule.includes('oldSelf')).map(({ fieldPath }) => fieldPath);
      assert.deepEqual(ofChanges, immutableFields);
    });

    it('has the printer columns that the documentation shows', () => {
      const printed = version.additionalPrinterColumns;
      assert.equal(printed.map((column) => column.name).join(', '), columns);
      const file = index === 0 ? 'injector-config.md' : 'revisions-and-tags.md';
      const page = new URL(`../../docs/${file}`, import.meta.url);
      const [, sample] = /\n\$ kubectl get (?:icfg|rtag)\n(NAME .*)\n/.exec(readFileSync(page, 'utf8')) ?? [];
      const shown = printed.filter(({ priority }) => priority === undefined).map(({ name }) => name.toUpperCase());
      assert.deepEqual(sample?.split(/ {2,}/), ['NAME', ...shown]);
    });
  });
}

describe('the CustomResourceDefinition of InjectorConfig', () => {
  const { all } = partsOf(definitions[0]!);

  it('gives integers a format', () => {
    const at = (path: string) => all.find((entry) => entry.path === path)?.schema;
    const integers = ['spec.webhook.timeoutSeconds', 'spec.certificate.keySize', 'status.observedGeneration'];
    const formats = integers.map((path) => at(path)?.format);
    assert.deepEqual(formats, ['int32', 'int32', 'int64']);
    assert.equal(at('spec.certificate.keySize')?.type, 'integer');
  });

  it('accepts arbitrary JSON only in values and meshConfig', () => {
    const free = all.filter(({ schema }) => schema['x-kubernetes-preserve-unknown-fields']).map(({ path }) => path);
    assert.deepEqual(free, ['spec.injection.values', 'spec.injection.meshConfig']);
  });
});
