import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Logger } from '../../kube/ports.ts';
import type { EventReason } from '../reasons.ts';
import type { RevisionEvents } from './revision-events.ts';

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

/** Reports each refusal once, in an Event and in the log, even if every pass finds it again. */
export class Refusals {
  readonly #events: RevisionEvents;
  readonly #logger: Logger;
  readonly #kind: 'injectorConfig' | 'revisionTag';
  readonly #reported = new Map<string, Map<RefusalTopic, string>>();

  /** @param kind the kind of the refused objects; each kind needs a separate instance */
  constructor(events: RevisionEvents, logger: Logger, kind: 'injectorConfig' | 'revisionTag' = 'injectorConfig') {
    this.#kind = kind;
    this.#events = events;
    this.#logger = logger;
  }

  /** Reports a refusal if it is new. @returns whether it is new */
  refuse(object: KubernetesObject, topic: RefusalTopic, reason: EventReason, message: string): boolean {
    const { name = '' } = object.metadata;
    const topics = this.#reported.get(name) ?? new Map<RefusalTopic, string>();
    this.#reported.set(name, topics);
    if (topics.get(topic) === message) return false;
    topics.set(topic, message);
    this.#events.refused(object, reason, message);
    this.#logger.warn(`refused: ${message}`, { [this.#kind]: name, reason });
    return true;
  }

  /** Records that a topic has no refusal now, so that the next refusal counts as new. */
  settled(name: string, topic: RefusalTopic): void {
    this.#reported.get(name)?.delete(topic);
  }

  forget(name: string): void {
    this.#reported.delete(name);
  }
}
