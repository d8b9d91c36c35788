import { istioKeys } from '../../api/injector-config/webhook-keys.ts';

/**
 * The matchCondition of an InjectorConfig that stands by: its webhook gets only pods that Istio's
 * injector has not injected, because the API server calls Istio's webhook first.
 */
export const standbyCondition = {
  name: 'not-injected-by-istio',
  expression: `!(has(object.metadata.annotations) && '${istioKeys.status}' in object.metadata.annotations)`,
} as const;
