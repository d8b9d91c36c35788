const prefix = 'tag/';

/** The key of a tag in the queue: InjectorConfigs, which may be called the same, have no `/` in their names. */
export function tagKey(name: string): string {
  return prefix + name;
}

/** The tag of a key; undefined when it is the key of something else. */
export function tagIn(key: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}
