import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import type { InjectorSource } from '../admission/pod-routes.ts';

/** Returns a configuration with one template. */
export function configOf(template: string): string {
  const lines = template.split('\n').map((line) => `    ${line}`);
  return ['policy: enabled', 'defaultTemplates: [hello]', 'templates:', '  hello: |', ...lines].join('\n');
}

/** An injector that adds one container. */
export const someInjector: Injector = loadInjector({
  config: configOf('spec:\n  containers:\n  - name: hello\n    image: hello:1'),
  values: '{}',
  mesh: '',
  settings: JSON.stringify({ revision: 'default', delimiters: ['{{', '}}'], nativeSidecars: 'Disabled', keys: istioKeys, pathEnvironment: {} }),
});

/** Serves {@link someInjector} as configuration `0a1b2c3d` of `default`. */
export const someSource: InjectorSource = new Map([['default.0a1b2c3d', someInjector]]);
