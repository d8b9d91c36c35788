import type { IncomingMessage } from 'node:http';
import type { BodyBudget, BodyHolder } from './body-budget.ts';
import { type HttpAnswer, textAnswer, unavailable } from './http-answer.ts';

/** The whole body; or why it will not be read to its end; or neither, because the client has gone. */
export type ReceivedBody = Buffer | HttpAnswer | undefined;

export interface BodyBounds {
  /** As the client declares it, if it does. */
  readonly declaredBytes: number | undefined;
  readonly maxBytes: number;
  readonly budget: BodyBudget;
  /** See {@link BodyHolder.expendable}. */
  readonly expendable: boolean;
  /** Looks at each piece: the answer, when there is no need for the rest. */
  readonly inspect: (piece: Buffer) => HttpAnswer | undefined;
}

/** What a chunk costs beside its bytes, so that bodies sent one byte at a time are no cheaper to us than they are. */
const chunkOverhead = 256;

/**
 * Receives a request's body within bounds. Reports once; after a refusal the rest of the body is for the caller to discard.
 * @returns a function that ends it because the time is over; undefined when it has ended already
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

  /** The listeners stay: taking them away costs more than ignoring what comes. */
  let settled = false;
  function settle(body: ReceivedBody): void {
    if (settled) return;
    settled = true;
    budget.release(holder);
    // The request may live on for a while, and with it what it holds.
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
