import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Logger } from '../../kube/ports.ts';
import type { EventReason } from '../reasons.ts';
import type { RevisionEvents } from './revision-events.ts';

/** What can be refused by itself. */
export type RefusalTopic =
  | 'Object'
  | 'Overlap'
  | 'Certificate'
  | 'RotateRequest'
  | 'Configuration'
  | 'Injection'
  | 'Foreign'
  | 'Webhook'
  | 'Installation'
  | 'Removal';

/** Tells of each refusal once, in an Event and in the log, however many passes find it again. */
export class Refusals {
  readonly #events: RevisionEvents;
  readonly #logger: Logger;
  readonly #kind: 'injectorConfig' | 'revisionTag';
  readonly #told = new Map<string, Map<RefusalTopic, string>>();

  /** @param kind whose refusals these are: the two kinds may have objects of one name */
  constructor(events: RevisionEvents, logger: Logger, kind: 'injectorConfig' | 'revisionTag' = 'injectorConfig') {
    this.#kind = kind;
    this.#events = events;
    this.#logger = logger;
  }

  /** Whether it was news. */
  refuse(object: KubernetesObject, topic: RefusalTopic, reason: EventReason, message: string): boolean {
    const { name = '' } = object.metadata;
    const topics = this.#told.get(name) ?? new Map<RefusalTopic, string>();
    this.#told.set(name, topics);
    if (topics.get(topic) === message) return false;
    topics.set(topic, message);
    this.#events.refused(object, reason, message);
    this.#logger.warn(`refused: ${message}`, { [this.#kind]: name, reason });
    return true;
  }

  /** It is right now: the same mistake later is news again. */
  settled(name: string, topic: RefusalTopic): void {
    this.#told.get(name)?.delete(topic);
  }

  forget(name: string): void {
    this.#told.delete(name);
  }
}
