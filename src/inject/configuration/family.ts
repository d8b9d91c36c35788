import { istioKeys, type WebhookKeys } from '../../api/injector-config/webhook-keys.ts';
import { proxyContainer } from '../pod/proxy-container.ts';

/** A container of the proxy's name, not a mention of it. */
const namesProxy = new RegExp(`\\bname:\\s*["']?${proxyContainer}\\b`);

/** The names by which a family of injectors and its pods talk, and whether it brings a proxy. Families work on the same pod without meeting. */
export type Family = Readonly<ReturnType<typeof familyOf>>;

/** Istio's names for Istio's keys; other families derive theirs from their own keys. */
export function familyOf(keys: WebhookKeys, templates: Iterable<string>) {
  return {
    keys,
    /** Pod annotation that chooses templates. */
    templatesKey: keys.inject === istioKeys.inject ? 'inject.istio.io/templates' : `${keys.inject}-templates`,
    /** Annotation in which the user's own containers are kept for the next injection. */
    overridesKey: keys.status === istioKeys.status ? 'proxy.istio.io/overrides' : `${keys.status}-overrides`,
    /** Whether a template brings Istio's proxy: only then annotations for it are checked, probes and metrics rerouted, its network written down. */
    proxy: [...templates].some((text) => namesProxy.test(text)),
  };
}
