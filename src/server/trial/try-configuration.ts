import { serialize } from 'node:v8';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError, tooCostly, TooCostlyError } from '../../api/errors.ts';
import { readConfigurationAtOnce } from '../../inject/configuration/read-configuration.ts';
import type { Rehearsal } from '../../inject/injection-result.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { rehearse } from '../../inject/rehearsal/rehearse.ts';
import type { TypicalPod } from '../../inject/rehearsal/typical-pods.ts';
import { workerLimits } from '../worker/limits.ts';

/** To the process that tries configurations: one at a time. */
export interface ToTrial {
  readonly files: ConfigurationFiles;
  /** Pods of the cluster to render for, instead of our own. */
  readonly pods?: readonly TypicalPod[] | undefined;
  readonly maxAnswerBytes: number;
}

/** From the process that tries configurations. */
export type FromTrial =
  /** It has started; sent once, before anything else. */
  | { readonly kind: 'ready' }
  /** A `ReadConfiguration`, serialized: its size is known before it is read. */
  | { readonly kind: 'fine'; readonly configuration: Uint8Array }
  /** A ConfigurationError; `isCostly` when it is a TooCostlyError. */
  | { readonly kind: 'refused'; readonly field: string; readonly message: string; readonly isCostly: boolean };

/**
 * What the process does that tries configurations: it reads, compiles and renders, with nobody waiting beside it. Whatever goes wrong here would go wrong on the main
 * thread, so it is a refusal. Never throws.
 */
export function tryConfiguration({ files, pods, maxAnswerBytes }: ToTrial): FromTrial {
  try {
    const read = readConfigurationAtOnce(files);
    const injector = loadInjector(files, { read, limits: workerLimits });
    const rehearsal = pods === undefined ? rehearseAll(injector) : rehearse(injector, () => performance.now(), pods);
    const configuration = serialize({ ...read, rehearsal });
    if (configuration.byteLength > maxAnswerBytes)
      throw new TooCostlyError(tooCostly(`is larger than the limit of ${maxAnswerBytes >> 20} MiB once it is read`));
    return { kind: 'fine', configuration };
  } catch (error) {
    const refusal = asRefusal(error);
    const { field, message } = refusal;
    return { kind: 'refused', field, message, isCostly: refusal instanceof TooCostlyError };
  }
}

/**
 * Each template is tried: the default ones as pods without a wish get them, and each of the others alone, also where a policy lets no pod ask for it. One that fails at our pods may
 * be right for others, so that is for others to judge. One that exceeds the bounds of an execution at every one of them costs each review all the time that a review may take, and
 * then refuses the pod.
 */
function rehearseAll(injector: Injector): Rehearsal {
  const others = injector.templateNames.filter((name) => !injector.defaultTemplates.includes(name));
  const rehearsals = [injector.defaultTemplates, ...others.map((name) => [name])].map((defaultTemplates) =>
    rehearse({ ...injector, defaultTemplates }, () => performance.now()),
  );
  const hopeless = rehearsals.find(({ failure }) => failure?.reason === 'TemplateLimit')?.failure;
  if (hopeless !== undefined) throw new TooCostlyError(tooCostly(`injects no pod at all: ${hopeless.message}`));
  return rehearsals[0] ?? { warnings: [] };
}

function asRefusal(error: unknown): ConfigurationError {
  if (error instanceof ConfigurationError) return error;
  if (error instanceof RangeError)
    return new TooCostlyError(tooCostly(`nests too deeply or is too large (${error.message})`));
  const problem = error instanceof Error ? error.message : String(error);
  const advice = `the configuration cannot be read, by a defect of the injector: ${problem}`;
  return new ConfigurationError('spec.injection', advice);
}
