import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import type { InjectorSource } from '../admission/pod-routes.ts';

/** A small injector that adds one container. */
export const someInjector: Injector = loadInjector({
  config: [
    'policy: enabled',
    'defaultTemplates: [hello]',
    'templates:',
    '  hello: |',
    '    spec:',
    '      containers:',
    '      - name: hello',
    '        image: hello:1',
  ].join('\n'),
  values: '{}',
  mesh: '',
  settings: JSON.stringify({
    revision: 'default',
    delimiters: ['{{', '}}'],
    nativeSidecars: 'Disabled',
    keys: istioKeys,
    pathEnvironment: {},
  }),
});

/** Serves {@link someInjector} as configuration `0a1b2c3d` of `default`. */
export const someSource: InjectorSource = {
  get: (name, hash8) => (name === 'default' && hash8 === '0a1b2c3d' ? someInjector : undefined),
};
