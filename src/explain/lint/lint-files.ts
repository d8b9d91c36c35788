import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError } from '../../api/errors.ts';
import {
  group,
  injectorConfigKind,
  type InjectorConfig,
  revisionOf,
} from '../../api/injector-config/injector-config.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Mistake } from '../../api/mistake.ts';
import { unknownFields } from '../../api/parse-resource.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';
import { revisionTagKind, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { isEmpty, lintConfiguration } from './lint-configuration.ts';
import { conditionProblems } from './lint-conditions.ts';
import { type Level, type LintFinding, lintRules, type RuleName } from './rules.ts';
import { listItems } from '../../inject/objects/workload-kinds.ts';
import { FileError } from '../../inject/objects/file-error.ts';
import { mapParts, valueWith } from '../../inject/objects/parts-of-file.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import {
  configurationFiles,
  type ConfigurationReference,
  configurationReferences,
} from '../../manifests/configuration-files.ts';
import { nameOf, podClaims, winningClaim } from '../../selection/pod-claims.ts';
import { fieldPath, type SourcePath, type Position, SourcePlaces } from './positions.ts';
import { referencedTexts } from '../files/read-file-facts.ts';

/** A file and its content. */
interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** A finding with its place in a file. */
export interface PlacedFinding extends Position {
  readonly level: Level;
  readonly rule: RuleName;
  /** The object with the problem, e.g. `InjectorConfig 1-25`; empty if a file is not YAML. */
  readonly object: string;
  readonly message: string;
}

/** An object of a file. */
interface SourceObject {
  readonly object: KubernetesObject;
  /** Its name in messages. */
  readonly named: string;
  readonly places: SourcePlaces;
  /** The fields that lead to the object, if it is an item of a List. */
  readonly path: SourcePath;
}

/** A configuration that was checked. */
export interface LintedConfiguration {
  readonly files: ConfigurationFiles;
  /** Adds the place to a finding in the configuration. */
  readonly placed: (finding: LintFinding) => PlacedFinding;
}

/** The result of checking files. */
export interface LintResult {
  readonly findings: readonly PlacedFinding[];
  /** The number of InjectorConfigs and RevisionTags in the files. */
  readonly objects: number;
  readonly configurations: readonly LintedConfiguration[];
}

/** Checks the InjectorConfigs and RevisionTags of files. ConfigMaps supply the referenced texts. */
export function lintFiles(files: readonly NamedText[]): LintResult {
  const findings: PlacedFinding[] = [];
  const configurations: LintedConfiguration[] = [];
  const sources = files.flatMap((file) => readObjects(file, findings));
  lintObjects(sources, findings, configurations);
  const ours = sources.filter(({ object: { kind } }) => kind === injectorConfigKind || kind === revisionTagKind);
  return { findings: inOrder(findings), objects: ours.length, configurations };
}

/** Checks a configuration in Istio's format. @param directory contains `config` and other files */
export function lintDirectory(files: ConfigurationFiles, directory: string): LintResult {
  const file = `${directory}/config`;
  const places = SourcePlaces.of(files.config, SourcePlaces.inFile(file, files.config));
  const placed = (finding: LintFinding): PlacedFinding => ({
    ...placeInConfig(places, finding),
    ...described('configuration', finding),
  });
  const findings = lintConfiguration(files).map(placed);
  return { findings: inOrder(findings), objects: 1, configurations: [{ files, placed }] };
}

/** Sorts findings by file and place, and removes equal ones. */
export function inOrder(findings: readonly PlacedFinding[]): PlacedFinding[] {
  const unique = [...new Map(findings.map((each) => [JSON.stringify(each), each])).values()];
  return unique.sort(
    (one, other) =>
      one.file.localeCompare(other.file) ||
      one.line - other.line ||
      one.column - other.column ||
      one.message.localeCompare(other.message),
  );
}

function described(object: string, { rule, level, message, template }: LintFinding) {
  const prefix = `${object}: `;
  const own = message.startsWith(prefix) ? message.slice(prefix.length) : message;
  const text = template === undefined ? own : `template ${template}: ${own}`;
  return { level: level ?? lintRules[rule].level, rule, object, message: text };
}

/** Finds the place of a finding in a text of Istio's format. */
function placeInConfig(places: SourcePlaces, { template, line, column, field = '' }: LintFinding): Position {
  if (template === undefined) return places.find(fieldPath(field).slice(1));
  const path = ['templates', template];
  // Istio 1.x has a single template.
  const at = places.has(path) ? path : ['template'];
  return line === undefined ? places.find(at) : places.inside(at)(line, column ?? 1);
}

/**
 * Reads the Kubernetes objects of a file. Adds a finding for each document that is not YAML if the
 * file names our API group.
 */
function readObjects({ name, text }: NamedText, findings: PlacedFinding[]): SourceObject[] {
  const placeIn = SourcePlaces.inFile(name, text);
  // A folder may contain other files, such as the templates of a Helm chart.
  const isOurs = text.includes(`${group}/`);
  const invalid = (place: Position, message: string): void => {
    if (isOurs) findings.push({ ...place, level: 'error', rule: 'invalid-yaml', object: '', message });
  };
  return mapParts(text, (part) => {
    try {
      const value = part.read();
      const placesOf = (): SourcePlaces =>
        new SourcePlaces(part.text, valueWith(part, value), (line, column) => placeIn(part.line - 1 + line, column));
      for (const { key, position } of isOurs ? placesOf().repeatedKeys() : [])
        invalid(position, `the key ${JSON.stringify(key)} occurs twice in one map; keep one`);
      return objectsIn(value, placesOf(), part.isItem ? [0] : []);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      invalid(placeIn(error.line, error.column || 1), error.reason);
      return [];
    }
  });
}

function objectsIn(value: unknown, places: SourcePlaces, path: SourcePath): SourceObject[] {
  if (!isJsonObject(value) || typeof value.apiVersion !== 'string' || typeof value.kind !== 'string') return [];
  const items = listItems(value);
  if (items !== undefined) return items.flatMap((item, index) => objectsIn(item, places, [...path, 'items', index]));
  const { apiVersion, kind } = value;
  // Others, such as workloads, would need memory.
  if (![injectorConfigKind, revisionTagKind, 'ConfigMap'].includes(kind)) return [];
  const metadata = isJsonObject(value.metadata) ? value.metadata : {};
  return [
    {
      object: { ...value, apiVersion, kind, metadata },
      named: `${kind} ${typeof metadata.name === 'string' ? metadata.name : '(without a name)'}`,
      places,
      path,
    },
  ];
}

/** Checks the objects of all files together. */
function lintObjects(
  sources: readonly SourceObject[],
  findings: PlacedFinding[],
  configurations: LintedConfiguration[],
): void {
  const configSources = new Map<InjectorConfig, SourceObject>();
  const tagSources = new Map<RevisionTag, SourceObject>();
  for (const source of sources) {
    if (source.object.kind === injectorConfigKind)
      read(source, parseInjectorConfig, validateInjectorConfig, configSources);
    if (source.object.kind === revisionTagKind) read(source, parseRevisionTag, validateRevisionTag, tagSources);
  }
  for (const [config, source] of configSources) {
    lintConfig(config, source);
    lintConditions(config, source);
  }
  lintSelection();

  /** Parses and validates an object. Keeps it if no mistake was found. */
  function read<Parsed extends { readonly spec: object }>(
    source: SourceObject,
    parse: (object: unknown) => Parsed,
    validate: (parsed: Parsed) => Mistake[],
    kept: Map<Parsed, SourceObject>,
  ): void {
    try {
      const parsed = parse(source.object);
      // Each search for a place takes time for each field.
      for (const field of unknownFields(source.object.spec, parsed.spec, 'spec').slice(0, 1000))
        add(source, {
          rule: 'unknown-field',
          message: `${field}: unknown field; remove it or correct its name`,
          field,
        });
      const mistakes = validate(parsed);
      for (const { field, message } of mistakes) add(source, { rule: 'invalid-object', message, field });
      if (mistakes.length === 0) kept.set(parsed, source);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      add(source, { rule: 'invalid-object', message: error.message, field: error.field });
    }
  }

  function add(source: SourceObject, finding: LintFinding): void {
    const place = source.places.find([...source.path, ...fieldPath(finding.field ?? '')]);
    findings.push({ ...place, ...described(source.named, finding) });
  }

  function lintConfig(config: InjectorConfig, source: SourceObject): void {
    const objects = sources.map(({ object }) => object);
    const texts = referencedTexts(config, objects);
    const references = configurationReferences(config.spec.injection);
    const missing = Object.entries<ConfigurationReference>({ ...references }).filter(
      ([part]) => !Object.hasOwn(texts, part),
    );
    const byField = new Map(missing.reverse().map(([, reference]) => [reference.field, reference]));
    for (const { field, namespace, name, key } of byField.values()) {
      const message = `${field}: key ${key} of ConfigMap ${namespace}/${name} is not in the files; the templates were not checked`;
      add(source, { rule: 'missing-reference', message, field });
    }
    if (missing.length > 0) return;
    try {
      const files = configurationFiles(config, texts);
      const placed = (finding: LintFinding): PlacedFinding => ({
        ...placeOf(config, source, finding),
        ...described(source.named, finding),
      });
      configurations.push({ files, placed });
      findings.push(...lintConfiguration(files).map(placed));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      add(source, { rule: 'invalid-object', message: error.message, field: error.field });
    }
  }

  function lintConditions({ spec: { webhook } }: InjectorConfig, source: SourceObject): void {
    const { matchConditions, fallback } = webhook;
    const failurePolicy = webhook.failurePolicy === 'Hold' ? fallback : webhook.failurePolicy;
    // A revision also selects pods without labels.
    const objectSelector = (webhook.selection === 'Custom' ? webhook.objectSelector : undefined) ?? {};
    const problems = conditionProblems({ name: '', matchConditions, failurePolicy, objectSelector });
    for (const { name, message, isFatal } of problems) {
      const field = `spec.webhook.matchConditions[${matchConditions.findIndex((each) => each.name === name)}].expression`;
      add(source, {
        rule: 'match-condition',
        level: isFatal ? 'error' : 'warning',
        message: `${field}: ${message}`,
        field,
      });
    }
  }

  function placeOf({ spec }: InjectorConfig, source: SourceObject, finding: LintFinding): Position {
    const { template, line, column, field = '' } = finding;
    const reference = configurationReferences(spec.injection).config;
    if (reference !== undefined) {
      const { namespace, name, key } = reference;
      const isReferenced = ({ object: { kind, metadata } }: SourceObject): boolean =>
        kind === 'ConfigMap' && metadata.name === name && (metadata.namespace ?? 'default') === namespace;
      const map = sources.find(isReferenced);
      if (map !== undefined) return placeInConfig(map.places.document([...map.path, 'data', key]), finding);
    }
    const injection = [...source.path, 'spec', 'injection'];
    if (template === undefined) return source.places.find([...injection, ...fieldPath(field).slice(1)]);
    const path = [...injection, ...(spec.injection.template === undefined ? ['templates', template] : ['template'])];
    return line === undefined ? source.places.find(path) : source.places.inside(path)(line, column ?? 1);
  }

  /** Finds selectors that overlap or select nothing, and tags without a target. */
  function lintSelection(): void {
    const configs = [...configSources.keys()];
    const tags = [...tagSources.keys()];
    const targetOf = (tag: RevisionTag) => configs.find((config) => revisionOf(config) === tag.spec.revision);
    for (const [tag, source] of tagSources) {
      const message = `spec.revision: no InjectorConfig in the files has the revision ${tag.spec.revision}`;
      if (targetOf(tag) === undefined) add(source, { rule: 'missing-reference', message, field: 'spec.revision' });
    }
    const claims = podClaims({ configs, tags, targetOf });
    for (const claim of claims) {
      const source = [...configSources.values(), ...tagSources.values()].find(({ named }) => named === nameOf(claim));
      if (source === undefined) continue;
      const winner = winningClaim(claim, claims);
      if (winner !== undefined) {
        const message = `selects the same pods as ${nameOf(winner)}; only the older of the two gets a webhook`;
        const field = claim.isCustom ? 'spec.webhook' : 'metadata.name';
        add(source, { rule: 'overlapping-selectors', message, field });
      }
      for (const name of claim.isCustom ? (['namespaceSelector', 'objectSelector'] as const) : []) {
        const field = `spec.webhook.${name}`;
        if (claim.selectors.every((each) => isEmpty(each[name])))
          add(source, { rule: 'selects-nothing', message: `${field}: no labels match this selector`, field });
      }
    }
  }
}
