import { statedMode } from '../../operator/configurations/native-mode.ts';
import type { Command } from 'commander';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy } from '../../api/names.ts';
import { defaultRevision } from '../../api/revision-tag/revision-tag.ts';
import { isIstioInjector, isIstiosNamespace, istioSelectors } from '../../selection/foreign-overlap.ts';
import type { PodCounts } from '../../operator/usage/judge-pod.ts';
import { clusterCommand, type ClusterOptions } from '../cluster-options.ts';
import {
  formatNames,
  formatPodCounts,
  formatUntil,
  type OutputFormat,
  outputOption,
  writeReport,
} from '../report/write-report.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import type { Terminal } from '../terminal.ts';
import { configOfTag, type Installation } from '../usage/installation.ts';
import { formatReadiness, type Readiness, readinessOf, staleSince, tellHealth } from '../usage/operator-health.ts';
import { noCounts, readClusterUsage, type UsageReport } from '../usage/read-usage.ts';

/** `injector revisions`: lists all injectors of the cluster and their users. */
export function revisionsCommand(terminal: Terminal): Command {
  return clusterCommand('revisions', 'list the injectors of the cluster and their tags, namespaces and pods')
    .addOption(outputOption())
    .action(async (options: ClusterOptions & { readonly output: OutputFormat }) => {
      const { installation, usage } = await readClusterUsage(options);
      tellHealth(terminal, options.output, installation.health);
      const reports = revisionReports(installation, usage);
      // An operator of an earlier release does not report the mode.
      const native = reports.some(({ nativeSidecars }) => nativeSidecars !== undefined) ? ['NATIVE'] : [];
      writeReport(terminal, options.output, reports, {
        columns: ['REVISION', 'NAME', 'READY', 'HASH', ...native, 'TAGS', 'NAMESPACES', 'PODS', 'CERT'],
        row: (report) => rowOf(report, native.length > 0, Date.now()),
        notes: ({ name, foreign, ready, reason = '', message = '', unknownSince }) => {
          if (foreign) return [`MutatingWebhookConfiguration ${name} of another injector`];
          return ready === true || unknownSince !== undefined ? [] : [`${reason}: ${message}`];
        },
        empty: 'there is no InjectorConfig and no other injector',
      });
      for (const note of usage.notes) terminal.error(note);
    });
}

/** Formats a row; CERT is the time until the certificate expires. */
function rowOf(report: RevisionReport, withMode: boolean, now: number): string[] {
  const { revision, name, foreign, ready, hash, nativeSidecars, tags, namespaces, pods } = report;
  return [
    revision,
    foreign ? '(not ours)' : name,
    ready === undefined ? '-' : formatReadiness({ ...report, ready, reason: '' }),
    hash ?? '-',
    ...(withMode ? [{ Enabled: 'yes', Disabled: 'no', unknown: '-' }[nativeSidecars ?? 'unknown']] : []),
    formatNames(tags),
    formatNames(namespaces),
    pods === undefined ? '-' : formatPodCounts(pods),
    formatUntil(report.certificateExpires, now),
  ];
}

/** An injector of the cluster, as `injector revisions` lists it. */
export interface RevisionReport extends Partial<Readiness> {
  readonly revision: string;
  /** The InjectorConfig, or another product's MutatingWebhookConfiguration. */
  readonly name: string;
  /** Whether this is another product's injector, which was found by its webhooks. */
  readonly foreign: boolean;
  /** The hash of the published configuration, 8 hex digits. */
  readonly hash?: string;
  /** Whether the published configuration injects native sidecars. */
  readonly nativeSidecars?: 'Enabled' | 'Disabled';
  /** The tags that point to the revision. */
  readonly tags: readonly string[];
  /** The namespaces whose labels name the revision or one of these tags. */
  readonly namespaces: readonly string[];
  readonly pods?: PodCounts;
  /** RFC 3339 in UTC. */
  readonly certificateExpires?: string;
}

/** Returns our revisions sorted by name, then the revisions of other products. */
export function revisionReports(installation: Installation, usage: UsageReport): RevisionReport[] {
  const byName = [...installation.configs].sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  return [...byName.map((config) => ownRevision(config, installation, usage)), ...foreignRevisions(installation)];
}

function ownRevision(config: InjectorConfig, installation: Installation, usage: UsageReport): RevisionReport {
  const { name } = config.metadata;
  const revision = revisionOf(config);
  const tags = installation.tags
    .filter((tag) => configOfTag(installation, tag) === config || rolloutUnderWay(tag)?.canary.injectorConfig === name)
    .map(({ metadata }) => metadata.name)
    .sort();
  const { hash } = config.status?.config ?? {};
  const nativeSidecars = statedMode(config);
  const { notAfter } = config.status?.certificate ?? {};
  return {
    revision,
    name,
    foreign: false,
    ...readinessOf(config, staleSince(installation.health, config.spec.operatorClass)),
    ...(hash === undefined ? {} : { hash }),
    ...(nativeSidecars === undefined ? {} : { nativeSidecars }),
    tags,
    namespaces: usage.following(config),
    pods: usage.injectorConfigs.get(name) ?? noCounts,
    ...(notAfter === undefined ? {} : { certificateExpires: notAfter }),
  };
}

/** Returns Istio's injectors. Their tags are separate webhook configurations. */
function foreignRevisions(installation: Installation): RevisionReport[] {
  const istios = installation.configurations.filter(isIstios);
  const labelOf = ({ metadata }: KubernetesObject, label: string): string | undefined => metadata.labels?.[label];
  return istios
    .filter((each) => labelOf(each, 'istio.io/tag') === undefined)
    .map((each) => {
      const revision = labelOf(each, 'istio.io/rev') ?? defaultRevision;
      const tags = istios.flatMap((other) =>
        labelOf(other, 'istio.io/rev') === revision ? (labelOf(other, 'istio.io/tag') ?? []) : [],
      );
      return {
        revision,
        name: each.metadata.name ?? '',
        foreign: true,
        tags: tags.sort(),
        namespaces: namespacesOf(installation, istios, revision),
      };
    });
}

/** Returns the sorted namespaces that the webhooks of a revision and of its tags select. */
function namespacesOf({ namespaces }: Installation, istios: readonly KubernetesObject[], revision: string): string[] {
  const own = istios.filter(({ metadata }) => (metadata.labels?.['istio.io/rev'] ?? defaultRevision) === revision);
  const selectors = istioSelectors(own, false);
  return [...namespaces].flatMap(([name, labels]) => (isIstiosNamespace(labels, selectors) ? [name] : [])).sort();
}

function isIstios({ metadata, webhooks }: KubernetesObject): boolean {
  const all = Array.isArray(webhooks) ? (webhooks as { name?: string }[]) : [];
  const isOurs = metadata.labels?.[labelNames.managedBy] === managedBy;
  return !isOurs && all.some(({ name }) => name !== undefined && isIstioInjector(name));
}
