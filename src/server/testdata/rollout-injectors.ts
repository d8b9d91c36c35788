import { loadInjector, type Injector } from '../../inject/injector.ts';
import type { InjectorSource } from '../admission/pod-routes.ts';
import { configOf, someInjector } from './some-injector.ts';

const injectorOf = (template: string): Injector => loadInjector({ ...someInjector.files, config: configOf(template) });

const container = (image: string): string => `spec:\n  containers:\n  - name: hello\n    image: ${image}`;

export const stableInjector = injectorOf(container('hello:1'));
export const canaryInjector = injectorOf(container('hello:2'));
/** Fails for all workloads except `web`. */
export const brokenInjector = injectorOf(
  `{{ if ne .DeploymentMeta.Name "web" }}{{ fail "no such mesh" }}{{ end }}\n${container('hello:2')}`,
);

/** Three injectors: `old.11111111`, `new.22222222` and `broken.33333333`. */
export const rolloutSource: InjectorSource = new Map([
  ['old.11111111', stableInjector],
  ['new.22222222', canaryInjector],
  ['broken.33333333', brokenInjector],
]);

/** Returns a path of tag `prod` with stable `old` and another injector of {@link rolloutSource}. */
export function rolloutPath(
  threshold: string,
  way: 'inject' | 'shadow' = 'inject',
  canary: 'new/22222222' | 'broken/33333333' = 'new/22222222',
): string {
  return `/tags/prod/old/11111111/${canary}/${threshold}/${way}`;
}
