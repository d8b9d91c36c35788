import type { Readable } from 'node:stream';

/**
 * The JSON documents of a stream, one per line, as the API server sends watch events.
 * A last line without its newline is an event cut in the middle and is dropped: the watch resumes before it.
 */
export async function* jsonLines(stream: Readable): AsyncGenerator {
  let pending: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pending.push(chunk.subarray(start, end));
      const line = Buffer.concat(pending).toString('utf8');
      pending = [];
      start = end + 1;
      if (line.trim() !== '') yield JSON.parse(line) as unknown;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
}
