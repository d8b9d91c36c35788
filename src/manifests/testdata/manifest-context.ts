import type { ManifestContext } from '../manifest-context.ts';

export const context: ManifestContext = {
  namespace: 'injection',
  operatorClass: 'default',
  podSelector: { 'app.kubernetes.io/name': 'injector-operator' },
  targetPort: 15017,
};
