import { serialize } from 'node:v8';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError, tooCostly, TooCostlyError } from '../../api/errors.ts';
import { readConfigurationAtOnce } from '../../inject/configuration/read-configuration.ts';
import type { Rehearsal } from '../../inject/injection-result.ts';
import { inject } from '../../inject/inject.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { rehearse } from '../../inject/rehearsal/rehearse.ts';
import { typicalPod, type TypicalPod } from '../../inject/rehearsal/typical-pods.ts';
import { workerLimits } from '../worker/limits.ts';

/** A message to the trial process, sent one at a time. */
export interface ToTrial {
  readonly files: ConfigurationFiles;
  /** Pods of the cluster to render instead of typical pods. */
  readonly pods?: readonly TypicalPod[] | undefined;
  /** Whether the leader has tried the configuration before. The answer then has no typical pods. */
  readonly isBrief: boolean;
  readonly maxAnswerBytes: number;
}

/** A message from the trial process; `ready` is the first, after the start. */
export type FromTrial = { readonly kind: 'ready' } | TrialAnswer;

export type TrialAnswer =
  /** A `ReadConfiguration`, serialized so that its size can be checked. */
  | { readonly kind: 'fine'; readonly configuration: Uint8Array }
  /** A ConfigurationError; `isCostly` is true for a TooCostlyError. */
  | { readonly kind: 'refused'; readonly field: string; readonly message: string; readonly isCostly: boolean };

/**
 * Parses, compiles and renders a configuration in the trial process. Returns any error as a
 * refusal, because the error would also occur on the main thread. Never throws.
 */
export function tryConfiguration({ files, pods, isBrief, maxAnswerBytes }: ToTrial): TrialAnswer {
  try {
    const read = readConfigurationAtOnce(files);
    const injector = loadInjector(files, { read, limits: workerLimits });
    const rehearsal =
      pods === undefined ? rehearseAll(injector, isBrief) : rehearse(injector, () => performance.now(), pods);
    const { injected, ...findings } = rehearsal;
    const isWhole = pods !== undefined || !isBrief;
    let configuration = serialize({ ...read, rehearsal: isWhole ? { ...findings, injected } : findings });
    // Typical pods that are too large are omitted.
    if (pods === undefined && configuration.byteLength > maxAnswerBytes)
      configuration = serialize({ ...read, rehearsal: findings });
    if (configuration.byteLength > maxAnswerBytes)
      throw new TooCostlyError(tooCostly(`is larger than the limit of ${maxAnswerBytes >> 20} MiB after parsing`));
    return { kind: 'fine', configuration };
  } catch (error) {
    const refusal = asRefusal(error);
    const { field, message } = refusal;
    return { kind: 'refused', field, message, isCostly: refusal instanceof TooCostlyError };
  }
}

/**
 * Tries the default templates together, and each other template alone, even if no pod uses it. A
 * template that fails for typical pods is not refused, because it may work for other pods. A
 * template that exceeds the limits for every typical pod is refused: it would use up the
 * whole time of each review, and the pod would still be refused.
 * @param isBrief whether to end the trial of an additional template at the first pod within limits
 */
function rehearseAll(injector: Injector, isBrief: boolean): Rehearsal {
  const others = injector.templateNames.filter((name) => !injector.defaultTemplates.includes(name));
  const tried = rehearse(injector, now);
  const failures = [
    tried.failure,
    ...others.map((name) => failureOf({ ...injector, defaultTemplates: [name] }, isBrief)),
  ];
  const excess = failures.find((failure) => failure?.reason === 'TemplateLimit');
  if (excess !== undefined) throw new TooCostlyError(tooCostly(`cannot inject any pod: ${excess.message}`));
  return tried;
}

const now = (): number => performance.now();

/** Returns why no typical pod can be injected. A brief trial ends at a first pod within limits. */
function failureOf(injector: Injector, isBrief: boolean): Rehearsal['failure'] {
  const { pod } = typicalPod(injector.settings.keys.inject, 0);
  const first = isBrief ? inject(injector, { pod, namespace: 'default', path: '/inject' }) : undefined;
  const isWithinLimits =
    first?.outcome === 'injected' || (first?.outcome === 'failed' && first.reason !== 'TemplateLimit');
  return isWithinLimits ? undefined : rehearse(injector, now).failure;
}

function asRefusal(error: unknown): ConfigurationError {
  if (error instanceof ConfigurationError) return error;
  if (error instanceof RangeError)
    return new TooCostlyError(tooCostly(`nests too deeply or is too large (${error.message})`));
  const problem = error instanceof Error ? error.message : String(error);
  const advice = `the configuration cannot be parsed because of a bug in the injector: ${problem}`;
  return new ConfigurationError('spec.injection', advice);
}
