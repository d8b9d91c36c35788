import { defaultProxyConfig } from '../mesh/proxy-config.ts';
import { jsonEqual } from '../patch/json-equal.ts';
import { isJsonObject } from '../patch/json-value.ts';

/** A ProxyConfig without what the proxy assumes anyway, so that most pods carry `{}`. */
export function withoutProxyDefaults(config: unknown): unknown {
  if (!isJsonObject(config)) return config;
  return Object.fromEntries(
    Object.entries(config).filter(([name, value]) => !jsonEqual(value, defaultProxyConfig[name])),
  );
}
