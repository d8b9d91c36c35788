import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames } from '../../api/names.ts';
import { isWaiting } from '../tags/tag-plan.ts';
import { claimOfConfig, isTagged as hasTagDefault } from '../../selection/pod-claims.ts';
import { servingObjects } from '../../manifests/desired-objects.ts';
import {
  type CompiledConfiguration,
  type ConfigurationCompiler,
  RefusedConfigurationError,
  tooCostlyReason,
} from '../configurations/compile-configuration.ts';
import type { FailureReason } from '../../inject/injection-result.ts';
import { describeConfiguration, offeredMode, usedMode } from '../configurations/native-mode.ts';
import type { ConditionReason } from '../reasons.ts';
import { manifestContext, resyncMs } from '../settings.ts';
import type { PassResult, RevisionPass } from './pass-context.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { foreignFinding } from '../webhooks/foreign-finding.ts';
import type { HoldPolicies } from '../holding/hold-policies.ts';
import { hostClaimOf } from '../certificates/host-claims.ts';
import { publish, type PublicationInput, type PublicationParts } from '../webhooks/publication.ts';
import { type CertificateParts, certify, releaseCertificates } from '../certificates/revision-certificates.ts';
import { type Finding, no, type RevisionFindings, yes } from './revision-status.ts';
import { servingPairOf } from '../certificates/secret-text.ts';
import type { ServingRoleKeeper } from '../replicas/serving-role.ts';
import type { ClusterRehearsal } from '../configurations/cluster-rehearsal.ts';
import type { KnownRevisions } from '../webhooks/revision-facts.ts';
import type { WebhookWriter } from '../webhooks/webhook-writer.ts';

export interface ProducingParts extends CertificateParts, PublicationParts {
  readonly webhooks: WebhookWriter;
  readonly compiler: ConfigurationCompiler;
  readonly rehearsal: ClusterRehearsal;
  readonly servingRole: Pick<ServingRoleKeeper, 'admit'>;
  readonly known: KnownRevisions;
  readonly holds: Pick<HoldPolicies, 'finding'>;
}

/** The longest time until the next check of the replicas' reports, in milliseconds. */
const pendingMs = 1000;
/** How often to retry a host that another InjectorConfig has, in ms; no event reports a release. */
const takenRetryMs = 30_000;

/** Reasons of WebhookReady that need an action by a user and are therefore reported in an Event. */
const actionable: readonly string[] = [
  'ConfigurationLost',
  'ForeignOverlap',
  'HostTaken',
  'Invalid',
  'NoReplica',
  'NotReachable',
  'OtherOperatorClass',
  'ProbeRefused',
];

export type RevisionResult = PassResult<RevisionFindings>;

/**
 * Writes everything except the status, in an order that publishes no webhook before replicas can
 * answer. Yields the result of each step, so that a failure loses none of the earlier results.
 */
export async function* produce(parts: ProducingParts, pass: RevisionPass): AsyncGenerator<RevisionResult, void> {
  const { config, signal } = pass;
  const { configurations, servingRole, settings, known, owned } = parts;
  const { name } = config.metadata;
  await servingRole.admit(name, signal);
  const certified = await certify(parts, pass);
  const { rotation, CertificateReady } = certified.findings;
  // An invalid policy stops the rotation; keep the CA bundle of the served certificate.
  const caBundlePem = rotation?.caBundlePem ?? servedBundle(parts, name);
  // Store the bundle before any await, so that no pass over a tag writes the previous bundle.
  if (caBundlePem !== undefined && caBundlePem !== '') known.set(name, { ...known.get(name), caBundlePem });
  yield certified;
  for (const each of servingObjects(config, rotation?.serving, settings.context)) {
    yield { writes: [await owned.apply(each, signal)] };
  }
  const { compiled, ...compilation } = await compile(parts, pass);
  yield compilation;
  for (const each of configurations.desired(config, compiled)) yield { writes: [await owned.apply(each, signal)] };
  // Without a certificate every call would fail TLS verification.
  if (caBundlePem === undefined || caBundlePem === '') return;
  const fingerprint = rotation?.serving?.fingerprint;
  const hash = yield* publishCompiled(parts, pass, { compiled, caBundlePem, fingerprint });
  await configurations.prune(config, [hash, compiled?.hash], signal);
  const isServed = CertificateReady?.status === 'True' && rotation?.serving !== undefined;
  if (isServed && ['Stable', 'Retiring'].includes(rotation.phase))
    await releaseCertificates(parts, name, signal, config);
}

/** Publishes a configuration, and reports what prevents this. Returns the published hash. */
async function* publishCompiled(
  parts: ProducingParts,
  { config, object, signal }: RevisionPass,
  produced: Pick<PublicationInput, 'compiled' | 'caBundlePem' | 'fingerprint'>,
): AsyncGenerator<RevisionResult, string | undefined> {
  const { settings, view, targets, events, logger, known, refusals } = parts;
  const { name } = config.metadata;
  // A tag that waits for its revision replaces nothing, so pods of the default keep their sidecar.
  const isTagged = hasTagDefault(config, targets.tags()) && !isWaiting(name, targets);
  const claim = isTagged ? undefined : foreignOverlap(claimOfConfig(config), view.mutatingWebhooks.list());
  const { foreign, finding: ForeignOverlap } = foreignFinding(claim, config);
  yield { findings: { ForeignOverlap } };
  const { taken } = hostClaimOf(config, parts);
  const context = manifestContext(settings, view);
  const input = { ...produced, config, context, isTagged, taken, foreign };
  const outcome = await publish(parts, input, signal);
  const { finding, narrowed, hash, before, isPending, writes = [], retryAfter } = outcome;
  const isLive = isTagged || view.ownWebhook(name) !== undefined;
  known.set(name, { caBundlePem: produced.caBundlePem, hash: isLive ? hash : undefined });
  if (finding !== undefined) {
    refusals.report(object, 'Webhook', actionable.includes(finding.reason) ? finding : undefined);
  }
  const isLate = ForeignOverlap.status === 'True' && finding?.reason !== 'ForeignOverlap';
  refusals.report(object, 'Foreign', isLate ? { ...ForeignOverlap, reason: 'ForeignOverlap' } : undefined);
  const findings: RevisionFindings = {
    InjectionFailing: failing(parts, object, hash),
    HoldUnavailable: holding(parts, object, config),
    WebhookReady: finding,
    Narrowed: narrowed,
    publishedHash: hash,
    ...(hash === undefined ? {} : nativeMode(parts, config, hash, produced.compiled?.requestedMode)),
    ...servedBy(parts, name, hash, finding),
  };
  if (hash !== undefined && hash !== before) {
    events.published(object, hash, before);
    logger.info('published', { injectorConfig: name, hash, before });
  }
  const again = isPending ? pendingMs : taken === undefined ? resyncMs : takenRetryMs;
  yield { findings, writes, retryAfter: Math.min(again, retryAfter ?? resyncMs) };
  return hash;
}

/**
 * Returns the condition that offers native sidecars to InjectorConfigs in mode Auto whose templates
 * depend on the mode.
 */
function nativeMode(
  { configurations, view }: ProducingParts,
  config: InjectorConfig,
  hash: string,
  requested = config.spec.injection.nativeSidecars ?? 'Auto',
): RevisionFindings {
  const stored = configurations.find(config, hash);
  if (stored === undefined) return {};
  const nodes = view.kubelets();
  const mode = usedMode(config, { ...stored, recorded: configurations.recordedMode(config, hash) }, nodes);
  const isOffered = requested === 'Auto' && offeredMode(nodes) === 'Enabled';
  const isNew = isOffered && mode === 'Disabled' && /NativeSidecars|istio-proxy/.test(stored.files.config);
  const NativeSidecarsAvailable = isNew
    ? yes(
        'KubeletsReady',
        'every kubelet is 1.33 or newer: the next change of the configuration uses native sidecars, or set spec.injection.nativeSidecars to Enabled',
      )
    : no('NotOffered', 'native sidecars are in use, or a setting, a kubelet or the templates prevent them');
  return { NativeSidecarsAvailable };
}

/** Returns the number of replicas that serve a configuration; unknown while no replica reports. */
function servedBy(
  { reports }: ProducingParts,
  name: string,
  hash: string | undefined,
  finding: Finding | undefined,
): Pick<RevisionFindings, 'servedBy'> {
  const live = reports.replicas(name);
  // There are no reports until the Leases are listed, for example.
  if (live.length === 0 && finding?.reason !== 'NoReplica') return {};
  return { servedBy: live.filter(({ hashes }) => hashes.some((each) => each === hash)).length };
}

/** Returns the condition InjectionFailing for the published configuration. */
function failing({ reports, refusals }: ProducingParts, object: KubernetesObject, hash: string | undefined): Finding {
  const { name = '' } = object.metadata;
  const failures = hash === undefined ? undefined : reports.failures(name, hash);
  if (failures === undefined) {
    refusals.report(object, 'Injection');
    return no('NoFailure', 'no pod was refused by a failure of this configuration in the last five minutes');
  }
  const { count, first, last, reason, message, pod } = failures;
  const [since, latest] = [first, last].map((time) => `${new Date(time).toISOString().slice(0, 19)}Z`);
  const refusal = `configuration ${hash ?? ''} cannot inject pods`;
  refusals.report(object, 'Injection', { reason: 'InjectionFailing', message: refusal });
  const pods = count === 1 ? '1 pod was' : `${count} pods were`;
  const problem = `${pods} refused since ${since ?? ''}, most recently at ${latest ?? ''}: ${pod}: ${message}`;
  return yes(reason as FailureReason, problem);
}

/** Returns the condition HoldUnavailable. An Event reports what an administrator must do. */
function holding({ holds, refusals }: ProducingParts, object: KubernetesObject, config: InjectorConfig): Finding {
  const finding = holds.finding(config);
  const isActionable = finding.status === 'True' && finding.reason !== 'HoldSwitching';
  refusals.report(object, 'Hold', isActionable ? { ...finding, reason: 'HoldUnavailable' } : undefined);
  return finding;
}

function servedBundle({ view, settings }: ProducingParts, name: string): string | undefined {
  const secret = view.secrets.get(objectNames(name).servingSecret, settings.context.namespace);
  return secret && servingPairOf(secret).caPem;
}

async function compile(
  { compiler, refusals, rehearsal, configurations, view }: ProducingParts,
  pass: RevisionPass,
): Promise<RevisionResult & { readonly compiled?: CompiledConfiguration }> {
  const { config, object, signal } = pass;
  try {
    const before = configurations.published(config, view.ownWebhook(config.metadata.name));
    const withMode = (hash: string, stored = configurations.find(config, hash)) =>
      stored && { ...stored, recorded: configurations.recordedMode(config, hash) };
    const [published, nodes] = [before === undefined ? undefined : withMode(before), view.kubelets()];
    const compiled = await compiler.compile(config, signal, { published, nodes });
    const { templates, hash } = compiled;
    const count = templates === 1 ? '1 template compiles' : `${templates} templates compile`;
    refusals.report(object, 'Configuration');
    const mode = usedMode(config, withMode(hash, compiled), nodes);
    const TemplatesValid = yes('Compiled', `${count}; ${describeConfiguration(hash, mode)}`);
    const findings = { TemplatesValid, ...rehearsal.findings(pass, compiled), refusedHash: undefined };
    return { compiled, findings };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const TemplatesValid = no(reasonOf(error), error.message);
    refusals.report(object, 'Configuration', TemplatesValid);
    const refusedHash = error instanceof RefusedConfigurationError ? error.hash : undefined;
    return { findings: { TemplatesValid, refusedHash } };
  }
}

/** Records that the webhook was withdrawn. The next webhook needs a reachability check. */
export function withdrawn({ known, webhooks }: ProducingParts, name: string): void {
  known.set(name, undefined);
  webhooks.forget(name);
}

/** Returns the reason of TemplatesValid for an error. */
function reasonOf(error: ConfigurationError): ConditionReason {
  if (error instanceof RefusedConfigurationError) return tooCostlyReason;
  return /^spec\.injection\.\w+From/.test(error.field) ? 'ReferenceInvalid' : 'ConfigurationInvalid';
}
