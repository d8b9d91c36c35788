import { istioKeys, type WebhookKeys } from '../../api/injector-config/webhook-keys.ts';
import { proxyContainer } from '../pod/proxy-container.ts';

/** Matches a container with the proxy's name, not a mere mention of the name. */
const namesProxy = new RegExp(`\\bname:\\s*["']?${proxyContainer}\\b`);

/** The keys that a family and its pods use. Families inject a pod independently of each other. */
export type Family = Readonly<ReturnType<typeof familyOf>>;

/** Derives a family's annotation names from its keys. Istio's keys give Istio's names. */
export function familyOf(keys: WebhookKeys, templates: Iterable<string>) {
  return {
    keys,
    /** The pod annotation that selects templates. */
    templatesKey: keys.inject === istioKeys.inject ? 'inject.istio.io/templates' : `${keys.inject}-templates`,
    /** The annotation that saves the user's own containers for the next injection. */
    overridesKey: keys.status === istioKeys.status ? 'proxy.istio.io/overrides' : `${keys.status}-overrides`,
    /** Whether a template adds a proxy, which needs checks, probes, metrics and a network label. */
    proxy: [...templates].some((text) => namesProxy.test(text)),
  };
}
