import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError } from '../../api/errors.ts';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import type { ClaimingObjects } from '../../selection/pod-claims.ts';
import { parsedConfig, parsedTag } from '../controller/parsed-configs.ts';

/** The objects that determine the targets of tags. */
export interface TagSources {
  readonly configs: Pick<ObjectStore, 'list'>;
  readonly tags: Pick<ObjectStore, 'list'>;
  /** Returns the name of the InjectorConfig that the tag's live webhook names, if any. */
  readonly targetOf: (tag: string) => string | undefined;
}

/** Finds the InjectorConfigs to which tags point now, and to which they should point. */
export class TagTargets {
  readonly #sources: TagSources;
  readonly #operatorClass: string;

  constructor(sources: TagSources, operatorClass: string) {
    this.#sources = sources;
    this.#operatorClass = operatorClass;
  }

  /** Returns the InjectorConfigs of our operator class that parse. */
  configs(): InjectorConfig[] {
    return this.#ofOurClass(this.#sources.configs.list().map(parsedConfig));
  }

  /** Returns the tags of our operator class that parse. */
  tags(): RevisionTag[] {
    return this.#ofOurClass(this.#sources.tags.list().map(parsedTag));
  }

  /** Returns all objects whose webhooks select pods; see `selection/pod-claims.ts`. */
  claims(): ClaimingObjects {
    const configs = this.configs();
    return {
      configs,
      tags: this.tags(),
      targetOf: (tag) => this.#among(configs, tag) ?? this.current(tag.metadata.name),
    };
  }

  /** Returns the current target of a tag; undefined if it does not exist or is being deleted. */
  current(tag: string): InjectorConfig | undefined {
    const name = this.#sources.targetOf(tag);
    return this.configs().find(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined);
  }

  /** Returns the InjectorConfig of the revision that the spec names. */
  desired(tag: RevisionTag): InjectorConfig | undefined {
    return this.#among(this.configs(), tag);
  }

  /** Returns the sorted names of the tags that point, or should point, to an InjectorConfig. */
  tagsOf(object: Pick<KubernetesObject, 'metadata'>): string[] {
    const { name = '' } = object.metadata;
    const { spec } = object as { spec?: { revision?: unknown } };
    const revision = typeof spec?.revision === 'string' ? spec.revision : name;
    const targetOf = ({ metadata }: RevisionTag): boolean => this.#sources.targetOf(metadata.name) === name;
    const tags = this.tags().filter((tag) => tag.spec.revision === revision || targetOf(tag));
    return tags.map(({ metadata }) => metadata.name).sort();
  }

  /**
   * Returns the InjectorConfig of a tag's revision. Of several, prefers those in the tag's family,
   * then the one with the name of the revision, and then the oldest, which wins in its family.
   */
  #among(configs: readonly InjectorConfig[], tag: RevisionTag): InjectorConfig | undefined {
    const { revision } = tag.spec;
    const named = configs.filter(
      (config) => revisionOf(config) === revision && config.metadata.deletionTimestamp === undefined,
    );
    if (named.length < 2) return named[0];
    const keys = this.current(tag.metadata.name)?.spec.webhook.keys;
    const rank = ({ metadata, spec }: InjectorConfig): string => {
      const isOfFamily = keys !== undefined && isDeepStrictEqual(spec.webhook.keys, keys);
      const { creationTimestamp = '', name } = metadata;
      return [isOfFamily ? 0 : 1, name === revision ? 0 : 1, creationTimestamp, name].join(' ');
    };
    return [...named].sort((one, other) => (rank(one) < rank(other) ? -1 : 1))[0];
  }

  #ofOurClass<T extends InjectorConfig | RevisionTag>(parsed: readonly (T | ConfigurationError)[]): T[] {
    return parsed.flatMap((each) => {
      const isOurs = !(each instanceof ConfigurationError) && each.spec.operatorClass === this.#operatorClass;
      return isOurs ? [each] : [];
    });
  }
}
