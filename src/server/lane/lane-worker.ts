import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import { ConfigurationError } from '../../api/errors.ts';
import { readConfigurationAtOnce } from '../../inject/configuration/read-configuration.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import type { AdmissionRequest } from '../admission-request.ts';
import { decodeAdmissionReview } from '../decode-admission-review.ts';
import { encodeDecision } from '../encode-admission-review.ts';
import { decideInjection, type InjectionTarget } from '../inject-handler.ts';
import { nameForPeople } from '../pod-name.ts';
import type { FromLane, LaneSurroundings, ToLane } from './lane-messages.ts';

/** What the lane's thread does: the same functions as the main thread, with nobody waiting beside it. */
export class LaneWorker {
  readonly #post: (message: FromLane) => void;
  readonly #files = new Map<number, ConfigurationFiles>();
  readonly #injectors = new Map<number, Injector>();
  /** The review that waits for its surroundings. */
  #decoded: { readonly request: AdmissionRequest; readonly target: InjectionTarget } | undefined;
  /** As they were sent last. */
  #lists: Pick<LaneSurroundings, 'nodes' | 'proxyConfigs'> = {};

  constructor(post: (message: FromLane) => void) {
    this.#post = post;
  }

  /** Does what a message asks for. Never throws. */
  receive(message: ToLane): void {
    try {
      this.#handle(message);
    } catch (error) {
      if (error instanceof ConfigurationError) {
        this.#post({ kind: 'refused', field: error.field, message: error.message });
      } else this.#post({ kind: 'defect', error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' });
    }
  }

  #handle(message: ToLane): void {
    switch (message.kind) {
      case 'learn':
        this.#files.set(message.injector, message.files);
        return;
      case 'forget':
        this.#files.delete(message.injector);
        this.#injectors.delete(message.injector);
        return;
      case 'review':
        this.#decode(message);
        return;
      case 'surroundings':
        this.#decide(message.surroundings);
        return;
      case 'read':
        this.#read(message.files);
    }
  }

  #decode({ body, maxDepth, injector: number, target }: Extract<ToLane, { kind: 'review' }>): void {
    const injector = this.#injector(number);
    const review = decodeAdmissionReview(Buffer.from(body.buffer, body.byteOffset, body.byteLength), maxDepth);
    if ('problem' in review) {
      this.#post({ kind: 'malformed', review });
      return;
    }
    const { version, request } = review;
    this.#decoded = { request, target: { ...target, injector } };
    const bare = { ...request, name: nameForPeople(request), object: null, oldObject: null };
    this.#post({ kind: 'decoded', version, request: bare });
  }

  #injector(number: number): Injector {
    const known = this.#injectors.get(number);
    if (known !== undefined) return known;
    const files = this.#files.get(number);
    if (files === undefined) throw new Error(`the lane does not know injector ${number}`);
    const injector = loadInjector(files);
    this.#injectors.set(number, injector);
    return injector;
  }

  #decide({ namespaceMetadata, ...changed }: LaneSurroundings): void {
    this.#lists = { ...this.#lists, ...changed };
    const decoded = this.#decoded;
    if (decoded === undefined) throw new Error('there are surroundings of no review');
    this.#decoded = undefined;
    const { nodes, proxyConfigs } = this.#lists;
    const decision = decideInjection(decoded.target, decoded.request, {
      ...(nodes === undefined ? {} : { nodes: () => nodes }),
      ...(proxyConfigs === undefined ? {} : { proxyConfigs: () => proxyConfigs }),
      namespaceMetadata: () => namespaceMetadata,
    });
    this.#post({ kind: 'decided', decision: { ...decision, patch: [] }, encoded: encodeDecision(decision) });
  }

  /** Compiles too: what takes for ever there, or fails, is not for the main thread to find out. */
  #read(files: ConfigurationFiles): void {
    const configuration = readConfigurationAtOnce(files);
    loadInjector(files, { read: configuration });
    this.#post({ kind: 'read', configuration });
  }
}
