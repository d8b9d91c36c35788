import type { InjectorConfig } from '../api/injector-config.ts';
import { systemNamespaces } from '../api/system-namespaces.ts';

/**
 * The namespaces whose pods no webhook of an InjectorConfig takes, and no tag that leads to it.
 * @param ownNamespace the operator's
 */
export function excludedNamespaces({ spec }: Pick<InjectorConfig, 'spec'>, ownNamespace: string): string[] {
  return [...new Set([...systemNamespaces, ownNamespace, ...spec.webhook.excludedNamespaces])].sort();
}
