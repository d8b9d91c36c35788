import { createServer } from 'node:https';
import { bytesToAnswer, type BenchmarkedServer, certificatePair } from './benchmarked.ts';

/**
 * Starts a minimal webhook in Node, which receives, parses and answers over TLS. Results are
 * multiples of this webhook's cost, so that figures from different machines are comparable.
 */
export async function startBareServer(): Promise<BenchmarkedServer> {
  const { certificatePem, privateKeyPem } = await certificatePair();
  const server = createServer(
    { cert: certificatePem, key: privateKeyPem, keepAliveTimeout: 150_000 },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { request: { uid: string } };
        const text = JSON.stringify({ uid: review.request.uid, padding: padding(bytesToAnswer(request)) });
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
        response.end(text);
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, reused: () => Promise.resolve(0) };
}

const paddings = new Map<number, string>();

function padding(length: number): string {
  const known = paddings.get(length);
  if (known !== undefined) return known;
  const made = 'x'.repeat(length);
  paddings.set(length, made);
  return made;
}
