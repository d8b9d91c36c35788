import { isMap, isScalar, isSeq, parseAllDocuments, type Document, type Node, type YAMLMap } from 'yaml';
import { joinBundle, parseBundle } from '../../certs/read-certificate.ts';
import { UsageError } from '../terminal.ts';

/** A replacement of a range of the text. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

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
  const clientConfigs = parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new UsageError(`standard input: not YAML: ${error.message}`, { cause: error });
    return clientConfigsOf(document);
  });
  if (clientConfigs.length === 0)
    throw new UsageError(`standard input: contains no webhook; provide a ${kinds.join(' or ')} with webhooks`);
  const edits = clientConfigs.map((clientConfig) => editOf(clientConfig, text, caBundle));
  const edited = edits.reduceRight((result, { from, to, text: written }) => {
    return result.slice(0, from) + written + result.slice(to);
  }, text);
  return { text: edited, webhooks: edits.length };
}

function clientConfigsOf({ contents }: Document): YAMLMap[] {
  const configurations = isMap(contents) ? [contents, ...elements(contents.get('items', true))] : [];
  return configurations
    .filter((configuration) => kinds.includes(String(configuration.get('kind'))))
    .flatMap((configuration) => {
      const name = String(configuration.getIn(['metadata', 'name']));
      return elements(configuration.get('webhooks', true)).map((webhook, index) => {
        const clientConfig = webhook.get('clientConfig', true);
        if (isMap(clientConfig)) return clientConfig;
        const message = `standard input: webhooks[${index}] of ${name} has no clientConfig with url or service; add one`;
        throw new UsageError(message);
      });
    });
}

function elements(node: unknown): YAMLMap[] {
  return isSeq(node) ? node.items.filter((item) => isMap(item)) : [];
}

function editOf(clientConfig: YAMLMap, text: string, caBundle: string): Edit {
  const value = clientConfig.get('caBundle', true) as Node | undefined;
  const isFlow = clientConfig.flow === true;
  const written = isFlow ? `"${caBundle}"` : caBundle;
  const pair = clientConfig.items.find(({ key }) => isScalar(key) && key.value === 'caBundle');
  if (value?.range && value.range[1] > value.range[0])
    return { from: value.range[0], to: value.range[1], text: written };
  if (pair !== undefined) {
    // `caBundle:` without a value: insert the value after the colon.
    const end = rangeOf(pair.key)[1];
    const colon = text.indexOf(':', end) + 1;
    return { from: colon, to: colon, text: ` ${written}` };
  }
  const [first] = clientConfig.items;
  if (first === undefined) {
    const [from, to] = rangeOf(clientConfig);
    return { from, to, text: `{"caBundle": "${caBundle}"}` };
  }
  const [from] = rangeOf(first.key);
  const indentation = ' '.repeat(from - (text.lastIndexOf('\n', from - 1) + 1));
  return { from, to: from, text: isFlow ? `"caBundle": "${caBundle}", ` : `caBundle: ${caBundle}\n${indentation}` };
}

function rangeOf(node: unknown): readonly [number, number] {
  const { range } = node as Node;
  return [range?.[0] ?? 0, range?.[1] ?? 0];
}
