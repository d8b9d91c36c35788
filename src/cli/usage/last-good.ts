import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';

/** Returns what new pods get while the spec is broken; undefined if it is not broken. */
export function lastGoodOf({ spec, status }: InjectorConfig): { why: string; instead: string } | undefined {
  const broken = status?.conditions?.find((each) => each.type === 'TemplatesValid' && each.status === 'False');
  const hash = status?.config?.hash;
  if (broken === undefined || hash === undefined || spec.paused) return undefined;
  return { why: broken.message, instead: `new pods still get the last good configuration, ${hash}` };
}

/** Says this of an InjectorConfig, as a line for users. */
export function lastGoodNotes(config: InjectorConfig): string[] {
  const found = lastGoodOf(config);
  if (found === undefined) return [];
  return [`InjectorConfig ${config.metadata.name}: its spec is not in effect: ${found.why}; ${found.instead}`];
}
