import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError } from '../../api/errors.ts';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import type { ClaimingObjects } from '../../selection/pod-claims.ts';
import { parsedConfig, parsedTag } from '../controller/parsed-configs.ts';

/** What is looked at to know where tags lead. */
export interface TagSources {
  readonly configs: Pick<ObjectStore, 'list'>;
  readonly tags: Pick<ObjectStore, 'list'>;
  /** metadata.name of the InjectorConfig to which a tag leads now; undefined when it leads nowhere. */
  readonly targetOf: (tag: string) => string | undefined;
}

/** Where tags lead, now and by their specs. */
export class TagTargets {
  readonly #sources: TagSources;
  readonly #operatorClass: string;

  constructor(sources: TagSources, operatorClass: string) {
    this.#sources = sources;
    this.#operatorClass = operatorClass;
  }

  /** The InjectorConfigs of our class that can be read. */
  configs(): InjectorConfig[] {
    return this.#ofOurClass(this.#sources.configs.list().map(parsedConfig));
  }

  /** The tags of our class that can be read. */
  tags(): RevisionTag[] {
    return this.#ofOurClass(this.#sources.tags.list().map(parsedTag));
  }

  /** Everybody who wants pods; see `selection/pod-claims.ts`. */
  claims(): ClaimingObjects {
    const configs = this.configs();
    return {
      configs,
      tags: this.tags(),
      targetOf: (tag) => this.#among(configs, tag) ?? this.current(tag.metadata.name),
    };
  }

  /** Where a tag leads now; undefined when it leads nowhere, and when that InjectorConfig is gone. */
  current(tag: string): InjectorConfig | undefined {
    const name = this.#sources.targetOf(tag);
    return this.configs().find(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined);
  }

  /** The InjectorConfig of the revision that the spec names. */
  wanted(tag: RevisionTag): InjectorConfig | undefined {
    return this.#among(this.configs(), tag);
  }

  /** The tags that are to lead to an InjectorConfig, or do. */
  tagsOf(object: Pick<KubernetesObject, 'metadata'>): string[] {
    const { name = '' } = object.metadata;
    const { spec } = object as { spec?: { revision?: unknown } };
    const revision = typeof spec?.revision === 'string' ? spec.revision : name;
    const targetOf = ({ metadata }: RevisionTag): boolean => this.#sources.targetOf(metadata.name) === name;
    const tags = this.tags().filter((tag) => tag.spec.revision === revision || targetOf(tag));
    return tags.map(({ metadata }) => metadata.name).sort();
  }

  /**
   * Of several families that have a revision of this name: the one the tag is of already, then the one that is called like the revision, then the
   * oldest. Within a family the younger of two is not published, so it comes last.
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
