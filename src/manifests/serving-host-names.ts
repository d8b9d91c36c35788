import type { InjectorConfig } from '../api/injector-config.ts';
import { objectNames, serviceHostName } from '../api/names.ts';

/**
 * The names and addresses that the serving certificate of an InjectorConfig must carry: what the API server verifies when it calls the Service,
 * and the host of `spec.webhook.url`. An IPv6 address comes without its brackets.
 */
export function servingHostNames(config: InjectorConfig, namespace: string): string[] {
  const service = serviceHostName(objectNames(config.metadata.name).service, namespace);
  const { url } = config.spec.webhook;
  if (url === undefined) return [service];
  return [service, new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')];
}
