import { X509Certificate } from 'node:crypto';
import { applyObject, objectOf } from '../../harness/apply.ts';
import { injectorConfigs, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import { encoded, type RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import type { SeenLeaf } from '../../harness/tls-observer/tls-observer.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** The user's Secret, in the operator's namespace. */
export class GivenSecret {
  readonly name = 'company-tls';
  readonly cluster: RotatingCluster;
  readonly #terms: Record<string, unknown>;

  /** @param terms the rest of `spec.certificate` */
  constructor(cluster: RotatingCluster, terms: Record<string, unknown>) {
    this.cluster = cluster;
    this.#terms = terms;
  }

  /** Writes the whole of it: keys that are not given are not there. */
  async write(text: Partial<Record<'tls.crt' | 'tls.key' | 'ca.crt', string>>): Promise<void> {
    const { context, namespace } = this.cluster;
    const secret = objectOf('v1', 'Secret', this.name, namespace);
    await applyObject(context.client, { ...secret, data: encoded(text) });
  }

  async delete(): Promise<void> {
    const { context, namespace } = this.cluster;
    await context.client.delete(objectOf('v1', 'Secret', this.name, namespace));
  }

  /** Makes the InjectorConfig take its certificates from here, or issue them itself. */
  async choose(provider: 'Secret' | 'SelfSigned'): Promise<void> {
    const secretRef = provider === 'Secret' ? { secretRef: { name: this.name } } : {};
    const { context, name } = this.cluster;
    const certificate = { ...this.#terms, provider, ...secretRef };
    await applyObject(context.client, markedConfig(name, 'one', { certificate }));
  }

  /** Waits until every replica serves the first certificate of a text, as the observer sees it; when each was first seen with it. */
  async waitUntilServed(text: { 'tls.crt': string }): Promise<SeenLeaf> {
    const { fingerprint256 } = new X509Certificate(text['tls.crt']);
    return waitFor(
      'every replica to serve the certificate of the Secret',
      () => {
        const leaf = this.cluster.observer.common();
        return leaf?.fingerprint === fingerprint256 && leaf;
      },
      { timeout: 40_000 },
    );
  }

  /** `CertificateReady`, as `False (Expired)` and its message. */
  async condition(): Promise<{ says: string; message: string }> {
    const { context, name } = this.cluster;
    const { status } = await context.client.get<InjectorConfigObject>(injectorConfigs, name);
    const found = status?.conditions?.find(({ type }) => type === 'CertificateReady');
    return { says: `${found?.status ?? 'none'} (${found?.reason ?? ''})`, message: found?.message ?? '' };
  }
}
