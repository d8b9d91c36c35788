import type { Texts } from './engine/evaluate.ts';

/** The first part of a fragment: the version of its format. */
const version = '1.';
/** A link comes from anybody; a small text can expand to gigabytes. */
const mostBytes = 4 * 2 ** 20;

/** Returns texts as the fragment of a link: compressed JSON as base64url. */
export async function fragmentOf({ config, pod, other }: Texts): Promise<string> {
  const packed = new Blob([JSON.stringify(other === undefined ? [config, pod] : [config, pod, other])])
    .stream()
    .pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return (
    version +
    btoa(text)
      .replace(/[+/]/g, (symbol) => (symbol === '+' ? '-' : '_'))
      .replaceAll('=', '')
  );
}

/** Returns the texts of a fragment; undefined if it is not one of ours, or is too large. */
export async function textsOf(fragment: string): Promise<Texts | undefined> {
  if (!fragment.startsWith(version)) return undefined;
  try {
    const base64 = fragment.slice(version.length).replace(/[-_]/g, (symbol) => (symbol === '-' ? '+' : '/'));
    const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const texts: unknown = JSON.parse(await boundedText(stream));
    const [config, pod, other] = Array.isArray(texts) ? (texts as unknown[]) : [];
    if (typeof config !== 'string' || typeof pod !== 'string') return undefined;
    return { config, pod, ...(typeof other === 'string' && { other }) };
  } catch {
    return undefined;
  }
}

async function boundedText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const reader = stream.getReader();
  let text = '';
  let bytes = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    bytes += next.value.length;
    if (bytes > mostBytes) {
      await reader.cancel();
      throw new RangeError(`the link contains more than ${mostBytes} bytes`);
    }
    text += decoder.decode(next.value, { stream: true });
  }
  return text + decoder.decode();
}
