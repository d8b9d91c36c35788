import type { IncomingMessage } from 'node:http';
import type { BodyBudget, BodyHolder } from './body-budget.ts';
import { type HttpAnswer, textAnswer, unavailable } from './http-answer.ts';

/** The whole body, an answer that refuses it, or undefined if the client has disconnected. */
export type ReceivedBody = Buffer | HttpAnswer | undefined;

export interface BodyBounds {
  /** The Content-Length, if the client sent one. */
  readonly declaredBytes: number | undefined;
  readonly maxBytes: number;
  readonly budget: BodyBudget;
  /** See {@link BodyHolder.expendable}. */
  readonly expendable: boolean;
  /** Inspects each piece. Returns an answer to refuse the body early. */
  readonly inspect: (piece: Buffer) => HttpAnswer | undefined;
}

/** Added to the bytes of each chunk, so that the budget also limits bodies of tiny chunks. */
const chunkOverhead = 256;

/**
 * Receives a body within bounds, and calls `done` once. After a refusal, the caller discards the
 * rest of the body.
 * @returns a function that refuses the body as late; undefined if the body is already refused
 */
export function receiveBody(
  request: IncomingMessage,
  bounds: BodyBounds,
  done: (body: ReceivedBody) => void,
): (() => void) | undefined {
  const { maxBytes, declaredBytes = maxBytes, budget, expendable } = bounds;
  const tooLarge = (): HttpAnswer => textAnswer(413, `Request entity too large: limit is ${maxBytes}`);
  if (declaredBytes > maxBytes) {
    done(tooLarge());
    return undefined;
  }
  let pieces: Buffer[] = [];
  let length = 0;
  const holder: BodyHolder = {
    bytes: 0,
    expendable,
    giveUp: () => settle(overBudget()),
  };

  /** Whether to ignore events. Listeners stay registered, because removing them costs more. */
  let settled = false;
  function settle(body: ReceivedBody): void {
    if (settled) return;
    settled = true;
    budget.release(holder);
    // The request may outlive its body; release the memory now.
    pieces = [];
    done(body);
  }
  function onData(chunk: Buffer): void {
    if (settled) return;
    if (length + chunk.length > maxBytes) {
      settle(tooLarge());
    } else if (!budget.take(holder, chunk.length + chunkOverhead)) {
      settle(overBudget());
    } else {
      pieces.push(chunk);
      length += chunk.length;
      const answer = bounds.inspect(chunk);
      if (answer !== undefined) settle(answer);
    }
  }
  request.on('data', onData);
  request.on('end', () => {
    if (settled) return;
    const [only] = pieces;
    settle(only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces, length));
  });
  request.on('close', () => settle(undefined));
  budget.enter(holder);
  return () => settle(textAnswer(408, 'the body did not arrive in time'));
}

function overBudget(): HttpAnswer {
  return unavailable('too many bodies at once');
}
