import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpAnswer, jsonHeaders } from './http-answer.ts';

/** Sends the answer to a request whose body has been read. */
export function writeAnswer(response: ServerResponse, answer: HttpAnswer, close: boolean): void {
  writeHead(response, answer, close);
  response.end(answer.body);
}

/**
 * Sends a complete answer immediately, and keeps reading the request's body for a while: closing a
 * socket with unread bytes would reset the connection, and the client might miss the answer.
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
    // Every answered review takes this path. An object literal is cheaper than a composed object.
    response.writeHead(answer.status, { 'Content-Type': 'application/json', 'Content-Length': length });
    return;
  }
  const headers: Record<string, string | number> = { ...answer.headers, 'Content-Length': length };
  if (close) headers.Connection = 'close';
  response.writeHead(answer.status, headers);
}
