import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Logger } from '../../kube/ports.ts';
import type { EventReason } from '../reasons.ts';
import type { PassMemory } from './pass-context.ts';
import type { RevisionEvents } from './revision-events.ts';
import { tagKey } from './wake-ups.ts';

/** The topics of refusals. Each topic has at most one current refusal per object. */
export type RefusalTopic =
  | 'Object'
  | 'Overlap'
  | 'Certificate'
  | 'RotateRequest'
  | 'Configuration'
  | 'Injection'
  | 'Foreign'
  | 'Webhook'
  | 'Hold'
  | 'HeldPods'
  | 'Installation'
  | 'Status'
  | 'Removal';

export interface RefusalMemory {
  /** The messages of the current refusals. */
  refusals?: Map<RefusalTopic, string>;
}

/** Reports each refusal once, in an Event and in the log, even if every pass finds it again. */
export class Refusals {
  readonly #events: RevisionEvents;
  readonly #logger: Logger;
  readonly #memory: PassMemory<RefusalMemory>;

  constructor(events: RevisionEvents, logger: Logger, memory: PassMemory<RefusalMemory>) {
    this.#events = events;
    this.#logger = logger;
    this.#memory = memory;
  }

  /**
   * Reports a refusal if it is new. Without a refusal, the next refusal of the topic counts as new.
   * @returns whether the refusal is new
   */
  report(
    object: KubernetesObject,
    topic: RefusalTopic,
    refusal?: { readonly reason: EventReason; readonly message: string },
  ): boolean {
    const { name = '' } = object.metadata;
    const [kind, key] = object.kind === 'RevisionTag' ? ['revisionTag', tagKey(name)] : ['injectorConfig', name];
    if (refusal === undefined) {
      this.#memory.read(key).refusals?.delete(topic);
      return false;
    }
    const { reason, message } = refusal;
    const reported = (this.#memory.of(key).refusals ??= new Map<RefusalTopic, string>());
    if (reported.get(topic) === message) return false;
    reported.set(topic, message);
    this.#events.refused(object, reason, message);
    this.#logger.warn(`refused: ${message}`, { [kind]: name, reason });
    return true;
  }
}
