import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import type { InjectionSettings } from '../../src/api/injector-config/injection-settings.ts';
import { istioKeys } from '../../src/api/injector-config/webhook-keys.ts';
import type { NamespaceMetadata, NodeFacts } from '../../src/inject/injection-request.ts';
import { loadInjector, type Injector, type InjectionSemantics } from '../../src/inject/injector.ts';
import { mainThreadLimits } from '../../src/server/worker/limits.ts';

/** The configuration of Istio's injector in a recorded case or set-up. */
export interface Setting {
  readonly config: string;
  readonly values: string;
  readonly mesh: string;
  readonly features: {
    readonly COMPLIANCE_POLICY: string;
    readonly ENABLE_NATIVE_SIDECARS: string;
    readonly PLATFORM: string;
  };
  readonly cluster: {
    readonly namespaces: readonly (NamespaceMetadata & { readonly name: string })[] | null;
    readonly nodes: readonly NodeFacts[] | null;
  };
}

const nativeSidecars: Readonly<Record<string, InjectionSettings['nativeSidecars']>> = {
  auto: 'Auto',
  true: 'Enabled',
  false: 'Disabled',
};

/** The recorded data, read on demand. */
export class Golden {
  readonly directory: string;
  readonly #injectors = new Map<string, Injector>();

  constructor(directory: string) {
    this.directory = directory;
  }

  exists(path: string): boolean {
    return existsSync(join(this.directory, path));
  }

  text(path: string): string {
    return readFileSync(join(this.directory, path), 'utf8');
  }

  /** Reads a JSON file. The caller knows the type. */
  json(path: string): unknown {
    return JSON.parse(this.text(path));
  }

  /** Reads a gzipped file with one JSON value per line. */
  lines(path: string): unknown[] {
    const text = gunzipSync(readFileSync(join(this.directory, path))).toString('utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line));
  }

  /** Returns the injector of a setting. Loads each injector only once. */
  injector(setting: Setting, revision: string, semantics: InjectionSemantics): Injector {
    const { config, values, mesh, features } = setting;
    const key = JSON.stringify([config, values, mesh, features, revision, semantics]);
    const known = this.#injectors.get(key);
    if (known !== undefined) return known;
    const injector = loadInjector(this.files(setting, revision), { semantics, limits: mainThreadLimits });
    this.#injectors.set(key, injector);
    return injector;
  }

  /** Returns the configuration of a setting, with preset Istio. */
  files({ config, values, mesh, features }: Setting, revision: string): ConfigurationFiles {
    const settings: InjectionSettings = {
      revision,
      delimiters: ['{{', '}}'],
      nativeSidecars: nativeSidecars[features.ENABLE_NATIVE_SIDECARS] ?? 'Auto',
      keys: istioKeys,
      pathEnvironment: {},
      platform: features.PLATFORM === 'openshift' ? 'OpenShift' : 'Kubernetes',
      compliancePolicy: features.COMPLIANCE_POLICY,
    };
    return {
      config: this.text(config),
      values: values === '' ? '' : this.text(values),
      mesh: mesh === '' ? '' : this.text(mesh),
      settings: JSON.stringify(settings),
    };
  }
}
