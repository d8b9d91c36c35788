import { joinBundle, parseBundle } from '../../certs/read-certificate.ts';
import { editFile } from '../../inject/kube-inject.ts';
import { describeObject } from '../../inject/objects/inject-object.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { UsageError } from '../terminal.ts';

const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

/**
 * Writes PEM authorities into every webhook's `clientConfig.caBundle` and keeps all other bytes. A
 * placeholder such as `${CA_BUNDLE}` is replaced like any other value.
 * @returns the text and the number of changed webhooks
 * @throws UsageError when the text is not YAML or has no webhook, or when the PEM has no
 *   certificate
 */
export function patchCaBundle(text: string, caPem: string): { text: string; webhooks: number } {
  if (parseBundle(caPem).length === 0)
    throw new UsageError('--ca: the file contains no PEM certificate; name the certificate of the authority');
  const caBundle = Buffer.from(joinBundle([caPem])).toString('base64');
  let count = 0;
  const result = editFile(text, (object) => {
    if (!kinds.includes(String(object.kind)) || !Array.isArray(object.webhooks)) return { object, warnings: [] };
    const webhooks = object.webhooks.map((webhook: unknown, index) => {
      if (!isJsonObject(webhook) || !isJsonObject(webhook.clientConfig)) {
        const message = `webhooks[${index}] of ${describeObject(object)} has no clientConfig with url or service; add one`;
        throw new UsageError(`standard input: ${message}`);
      }
      count += 1;
      return { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } };
    });
    return { object: { ...object, webhooks }, warnings: [] };
  });
  if (result.outcome === 'failed') throw new UsageError(`standard input: not YAML: ${result.message}`);
  if (count === 0)
    throw new UsageError(`standard input: contains no webhook; provide a ${kinds.join(' or ')} with webhooks`);
  return { text: result.text, webhooks: count };
}
