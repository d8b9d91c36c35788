import { filesOf } from '../../api/injector-config/configuration-files.ts';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import { injectorConfigKind, revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { hashedConfigMapName } from '../../api/names.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { revisionTagKind, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';
import { podClaims, winningClaim, nameOf } from '../../selection/pod-claims.ts';
import { loadInjector } from '../../inject/injector.ts';
import { configurationFiles, configurationReferences } from '../../manifests/configuration-files.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import type { FileFacts } from './facts.ts';
import { inFile, readConfig, refuse } from './read-config.ts';

const webhookKind = 'MutatingWebhookConfiguration';

/** Reports whether files contain webhooks or their sources; if so, no cluster is needed. */
export function bringWebhooks(objects: readonly KubernetesObject[]): boolean {
  return objects.some(({ kind }) => kind === webhookKind || kind === injectorConfigKind || kind === revisionTagKind);
}

/** Returns the Namespaces among `objects`, by name. */
export function namespacesIn(objects: readonly KubernetesObject[]): Map<string, KubernetesObject> {
  const namespaces = objects.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace');
  return new Map(namespaces.map((namespace) => [namespace.metadata.name ?? '', namespace]));
}

/**
 * Reads facts from files alone: their webhook configurations, and those that the operator
 * would generate for the other InjectorConfigs and RevisionTags.
 * @param operatorNamespace the namespace of the operator; pods in it are never injected
 * @throws ConfigurationError naming the object and the field
 */
export function readFileFacts(objects: readonly KubernetesObject[], operatorNamespace: string): FileFacts {
  const context: ManifestContext = {
    namespace: operatorNamespace,
    operatorClass: 'default',
    podSelector: {},
    targetPort: 15017,
  };
  const configs = objects.filter(({ kind }) => kind === injectorConfigKind).map(readConfig);
  const tags = objects.filter(({ kind }) => kind === revisionTagKind).map(readTag);
  const existing = objects.filter(({ kind }) => kind === webhookKind);
  const compiled = new Map(
    configs.map((config) => {
      const files = configurationFiles(config, referencedTexts(config, objects));
      inFile(`InjectorConfig ${config.metadata.name}`, () => loadInjector(files));
      return [config.metadata.name, { files, hash: configurationHash(files) }];
    }),
  );
  const targetOf = (tag: RevisionTag): InjectorConfig | undefined =>
    configs.find((config) => revisionOf(config) === tag.spec.revision);
  const notes: string[] = [];
  const generated: KubernetesObject[] = [];
  const all = podClaims({ configs, tags, targetOf });
  for (const claim of all) {
    const { config, tag } = claim;
    const published = compiled.get(config.metadata.name);
    if (published === undefined) continue;
    const winner = winningClaim(claim, all);
    const why = config.spec.paused
      ? `InjectorConfig ${config.metadata.name} is paused`
      : winner && `it yields to ${nameOf(winner)}, which selects the same pods`;
    if (why !== undefined) {
      notes.push(`${nameOf(claim)} has no webhook: ${why}`);
      continue;
    }
    const webhook = webhookConfiguration({ config, hash: published.hash, caBundlePem: '', tag }, context);
    if (existing.every(({ metadata }) => metadata.name !== webhook.metadata.name)) generated.push(webhook);
  }
  for (const { metadata, spec } of tags.filter((tag) => targetOf(tag) === undefined)) {
    const target = `RevisionTag ${metadata.name} points to revision ${spec.revision}`;
    notes.push(`${target}, which no InjectorConfig in the files has`);
  }
  return {
    configurations: [...existing, ...generated],
    namespaces: namespacesIn(objects),
    filesOf: ({ injectorConfig, hash }) => {
      const own = compiled.get(injectorConfig);
      if (own?.hash === hash) return own.files;
      const name = hashedConfigMapName(injectorConfig, hash);
      const unavailable = `neither the ConfigMap ${name} nor an InjectorConfig ${injectorConfig} with this hash is in the files`;
      return filesOf(configMapIn(objects, undefined, name)) ?? { unavailable };
    },
    injectorConfigs: configs,
    revisionTags: tags,
    notes,
  };
}

function readTag(object: KubernetesObject): RevisionTag {
  const tag = parseRevisionTag(object, { unknownFields: 'refuse' });
  refuse(validateRevisionTag(tag));
  return tag;
}

/** Returns the referenced texts in the files. Compilation reports missing texts. */
export function referencedTexts(config: InjectorConfig, objects: readonly KubernetesObject[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [part, { namespace, name, key }] of Object.entries({
    ...configurationReferences(config.spec.injection),
  })) {
    const data = configMapIn(objects, namespace, name)?.data as Record<string, string> | undefined;
    const text = data?.[key];
    if (text !== undefined) texts[part] = text;
  }
  return texts;
}

function configMapIn(objects: readonly KubernetesObject[], namespace: string | undefined, name: string) {
  return objects.find(
    ({ kind, metadata }) =>
      kind === 'ConfigMap' &&
      metadata.name === name &&
      (namespace === undefined || (metadata.namespace ?? 'default') === namespace),
  );
}
