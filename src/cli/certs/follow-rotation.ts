import type { ReadConfig } from './read-certificates.ts';

export interface FollowOptions {
  readonly nonce: string;
  /** Reads the InjectorConfig as it is now; undefined when it is gone. */
  readonly read: () => Promise<ReadConfig | undefined>;
  /** Told each time that the phase or the answer has changed. */
  readonly onProgress: (line: string) => void;
  /** Waits before the next look; false when there is no time left. */
  readonly pause: () => Promise<boolean>;
}

/**
 * Follows a request for a renewal to its end, by `status.certificate.rotateRequest` alone.
 * @returns why it was not done; undefined when it was
 */
export async function followRotation({ nonce, read, onProgress, pause }: FollowOptions): Promise<string | undefined> {
  let before = '';
  for (;;) {
    const config = await read();
    if (config === undefined) return 'the InjectorConfig was deleted';
    const { phase = 'None', rotateRequest } = config.status?.certificate ?? {};
    const answer = rotateRequest?.nonce === nonce ? rotateRequest : undefined;
    const line = `${answer === undefined ? 'waiting for the operator' : answer.state.toLowerCase()}, phase ${phase}`;
    if (line !== before) onProgress(line);
    before = line;
    if (answer?.state === 'Done') return undefined;
    if (answer?.state === 'Refused') return answer.message ?? 'the operator refused';
    if (await pause()) continue;
    return answer === undefined
      ? 'no operator has answered in time: is one of its operatorClass running, and not paused? The request stays and is carried out when there is one'
      : `still in phase ${phase}; the rotation goes on without this command, injector certs status shows it`;
  }
}
