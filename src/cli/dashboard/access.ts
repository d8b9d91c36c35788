import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Decides who may read the data: the page of the first browser that shows the token of the printed
 * address. A token in the fragment of an address is not sent to servers. The session in the page's
 * storage belongs to one port, which a cookie does not.
 */
export class Access {
  readonly token = secret();
  #session: string | undefined;

  /** Exchanges the token for a session; undefined for a wrong token, or after the first use. */
  open(token: string | undefined): string | undefined {
    if (this.#session !== undefined || !isEqual(token, this.token)) return undefined;
    this.#session = secret();
    return this.#session;
  }

  /** Reports whether this is the session. */
  allows(session: string | undefined): boolean {
    return this.#session !== undefined && isEqual(session, this.#session);
  }
}

const secret = (): string => randomBytes(32).toString('base64url');

function isEqual(text: string | undefined, expected: string): boolean {
  const digest = (each: string): Buffer => createHash('sha256').update(each).digest();
  return text !== undefined && timingSafeEqual(digest(text), digest(expected));
}
