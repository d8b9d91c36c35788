import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpAnswer, jsonHeaders } from './http-answer.ts';

/** Sends an answer to a request whose body has been read. */
export function writeAnswer(response: ServerResponse, answer: HttpAnswer, close: boolean): void {
  writeHead(response, answer, close);
  response.end(answer.body);
}

/**
 * Sends an answer to a request whose body is not wanted, and goes on reading it for a while: closing a socket with unread bytes resets the connection, and
 * the client may never see why. The answer itself is complete at once.
 */
export function refuseBody(
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpAnswer,
  linger: { readonly timeout: number; readonly bytes: number },
): void {
  writeHead(response, answer, true);
  response.write(answer.body);
  let left = linger.bytes;
  const stop = (): void => {
    clearTimeout(timer);
    request.off('data', onData).off('end', stop).off('close', stop);
    response.end();
  };
  const onData = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) stop();
  };
  const timer = setTimeout(stop, linger.timeout);
  request.on('data', onData).on('end', stop).on('close', stop);
}

function writeHead(response: ServerResponse, answer: HttpAnswer, close: boolean): void {
  const length = Buffer.byteLength(answer.body);
  if (answer.headers === jsonHeaders && !close) {
    // Every answered review: an object written out is cheaper than one put together.
    response.writeHead(answer.status, { 'Content-Type': 'application/json', 'Content-Length': length });
    return;
  }
  const headers: Record<string, string | number> = { ...answer.headers, 'Content-Length': length };
  if (close) headers.Connection = 'close';
  response.writeHead(answer.status, headers);
}
