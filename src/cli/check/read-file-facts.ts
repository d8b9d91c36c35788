import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError } from '../../api/errors.ts';
import { injectorConfigKind, revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { hashedConfigMapName } from '../../api/names.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { revisionTagKind, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
import { validateRevisionTag } from '../../api/revision-tag/validate-revision-tag.ts';
import type { Mistake } from '../../api/mistake.ts';
import { podClaims, winningClaim, nameOf } from '../../selection/pod-claims.ts';
import { ownerOf } from '../../selection/webhook-owners.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { configurationReferences, type ConfigurationReference } from '../../manifests/configuration-references.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { filesOf } from '../../operator/configurations/last-good.ts';
import type { Facts } from './facts.ts';

const webhookKind = 'MutatingWebhookConfiguration';

/** Whether files bring webhooks of their own, so that no cluster is asked. */
export function bringWebhooks(objects: readonly KubernetesObject[]): boolean {
  return objects.some(({ kind }) => kind === webhookKind || kind === injectorConfigKind || kind === revisionTagKind);
}

/** The namespaces among objects, by name. */
export function namespacesIn(objects: readonly KubernetesObject[]): Map<string, KubernetesObject> {
  const namespaces = objects.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace');
  return new Map(namespaces.map((namespace) => [namespace.metadata.name ?? '', namespace]));
}

/**
 * The facts of files alone: webhook configurations as they stand there, and for each InjectorConfig and RevisionTag without one what the operator
 * would make of it.
 * @param operatorNamespace where the operator would live: it is never injected
 * @throws ConfigurationError naming the object and the field
 */
export function readFileFacts(objects: readonly KubernetesObject[], operatorNamespace: string): Facts {
  const context: ManifestContext = {
    namespace: operatorNamespace,
    operatorClass: 'default',
    podSelector: {},
    targetPort: 15017,
  };
  const configs = objects.filter(({ kind }) => kind === injectorConfigKind).map(readConfig);
  const tags = objects.filter(({ kind }) => kind === revisionTagKind).map(readTag);
  const given = objects.filter(({ kind }) => kind === webhookKind);
  const compiled = new Map(configs.map((config) => [config.metadata.name, compile(config, objects)]));
  const targetOf = (tag: RevisionTag): InjectorConfig | undefined =>
    configs.find((config) => revisionOf(config) === tag.spec.revision);
  const notes: string[] = [];
  const made: KubernetesObject[] = [];
  const all = podClaims({ configs, tags, targetOf });
  for (const claim of all) {
    const { config, tag } = ownerOf(claim, { configs, tags, targetOf }) ?? {};
    const published = config && compiled.get(config.metadata.name);
    if (config === undefined || published === undefined) continue;
    const winner = winningClaim(claim, all);
    const why = config.spec.paused
      ? `InjectorConfig ${config.metadata.name} is paused`
      : winner && `it yields to ${nameOf(winner)}, which would take the same pods`;
    if (why !== undefined) {
      notes.push(`${nameOf(claim)} has no webhook: ${why}`);
      continue;
    }
    const input = { config, hash: published.hash, caBundlePem: '' };
    const webhook = webhookConfiguration({ ...input, tag }, context);
    if (given.every(({ metadata }) => metadata.name !== webhook.metadata.name)) made.push(webhook);
  }
  for (const tag of tags.filter((each) => targetOf(each) === undefined)) {
    const { metadata, spec } = tag;
    notes.push(
      `RevisionTag ${metadata.name} leads to revision ${spec.revision}, which no InjectorConfig of the files has`,
    );
  }
  return {
    configurations: [...given, ...made],
    namespaces: namespacesIn(objects),
    filesOf: ({ injectorConfig, hash }) => {
      const own = compiled.get(injectorConfig);
      if (own?.hash === hash) return own.files;
      const name = hashedConfigMapName(injectorConfig, hash);
      const stored = filesOf(configMapIn(objects, undefined, name));
      return (
        stored ?? {
          unavailable: `neither the ConfigMap ${name} nor an InjectorConfig ${injectorConfig} that makes it is in the files`,
        }
      );
    },
    injectorConfigs: configs,
    revisionTags: tags,
    notes,
  };
}

function compile(
  config: InjectorConfig,
  objects: readonly KubernetesObject[],
): { files: ConfigurationFiles; hash: string } {
  const files = configurationFiles(config, referencedTexts(config, objects));
  return { files, hash: configurationHash(files) };
}

function readConfig(object: KubernetesObject): InjectorConfig {
  const config = parseInjectorConfig(object, { unknownFields: 'refuse' });
  refuse(validateInjectorConfig(config));
  return config;
}

function readTag(object: KubernetesObject): RevisionTag {
  const tag = parseRevisionTag(object, { unknownFields: 'refuse' });
  refuse(validateRevisionTag(tag));
  return tag;
}

function refuse(mistakes: readonly Mistake[]): void {
  const [first] = mistakes;
  if (first !== undefined) throw new ConfigurationError(first.field, mistakes.map(({ message }) => message).join('; '));
}

/** The texts that an InjectorConfig refers to, as far as the files hold them; what is missing is said by who needs it. */
function referencedTexts(config: InjectorConfig, objects: readonly KubernetesObject[]): Record<string, string> {
  const references = Object.entries(configurationReferences(config.spec.injection)) as [
    string,
    ConfigurationReference,
  ][];
  return Object.fromEntries(
    references.flatMap(([part, { namespace, name, key }]): [string, string][] => {
      const data = configMapIn(objects, namespace, name)?.data as Record<string, string> | undefined;
      const text = data?.[key];
      return text === undefined ? [] : [[part, text]];
    }),
  );
}

function configMapIn(
  objects: readonly KubernetesObject[],
  namespace: string | undefined,
  name: string,
): KubernetesObject | undefined {
  return objects.find(
    ({ kind, metadata }) =>
      kind === 'ConfigMap' &&
      metadata.name === name &&
      (namespace === undefined || (metadata.namespace ?? 'default') === namespace),
  );
}
