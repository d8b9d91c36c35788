import operatorModule, { type ResourceEvent } from '@dot-i/k8s-operator';
import { group, injectorConfigPlural, version } from '../../api/injector-config/injector-config.ts';
import { revisionTagPlural } from '../../api/revision-tag/revision-tag.ts';
import type { KubeConfig } from '../../kube/kube-config.ts';
import { apiVersionOf, kindServedAs, resourcePath } from '../../kube/resource-kinds.ts';
import { type ControllerOptions, InjectorController } from './injector-controller.ts';
import type { ObjectChange } from './wake-ups.ts';

/** An event of the library, with the change of the cache that caused it. */
type CacheEvent = ResourceEvent & { readonly change: ObjectChange };

/** The delay before an event whose handler threw is delivered again, in milliseconds. */
const redeliveryMs = 1000;
const { default: Operator, ResourceEventType, ResourceMetaImpl } = operatorModule;

/** Runs {@link InjectorController} as an Operator of the library. ADR 24 explains each override. */
export class InjectorOperator extends Operator {
  readonly controller: InjectorController;
  readonly #options: ControllerOptions;

  constructor(options: ControllerOptions & { readonly kubeConfig: KubeConfig }) {
    // The library's constructor loads the default kubeconfig. This file may be broken or missing.
    const env = process.env;
    process.env = { ...env, KUBECONFIG: undefined, HOME: undefined };
    super(options.logger);
    process.env = env;
    this.kubeConfig = options.kubeConfig;
    this.#options = options;
    this.controller = new InjectorController(options);
  }

  override stop(): void {
    this.controller.stop();
  }

  protected override async init(): Promise<void> {
    const { wakeUps } = this.controller;
    this.controller.start();
    await this.watchResource(group, version, injectorConfigPlural, ({ change }) => wakeUps.config(change));
    await this.watchResource(group, version, revisionTagPlural, ({ change }) => wakeUps.tag(change));
  }

  /** Returns the complete URI of a collection in the chosen cluster. */
  protected override getCustomResourceApiUri(
    group: string,
    version: string,
    plural: string,
    namespace?: string,
  ): string {
    return this.#options.client.server + resourcePath({ group, version, plural }, { namespace });
  }

  /** Watches a collection until the operator stops. Repeats each event until `onEvent` succeeds. */
  protected override watchResource(
    group: string,
    version: string,
    plural: string,
    onEvent: (event: CacheEvent) => unknown,
    namespace?: string,
  ): Promise<void> {
    const resource = kindServedAs(group, version, plural) ?? { group, version, plural, kind: plural, namespaced: true };
    const deliver = async (event: CacheEvent): Promise<void> => {
      try {
        await onEvent(event);
      } catch (error) {
        const fields = { id: event.meta.id, error: String(error) };
        this.#options.logger.error('the handler of an event failed; delivering the event again', fields);
        this.#options.clock.after(redeliveryMs, () => void deliver(event));
      }
    };
    this.controller.watch(resource, namespace, (change) => {
      // The library declares times in metadata as Dates, but its own watches deliver JSON as well.
      const object = change.object as unknown as ResourceEvent['object'];
      const meta = ResourceMetaImpl.createWithPlural(plural, object);
      void deliver({ meta, object, type: ResourceEventType[change.type], change });
    });
    this.#options.logger.debug(`watching ${plural}.${apiVersionOf(resource)}`);
    return Promise.resolve();
  }
}
