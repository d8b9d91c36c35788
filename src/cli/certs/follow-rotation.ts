import type { ReadConfig } from './read-certificates.ts';

/** What the operator has answered to a request, `status.certificate.rotateRequest`. */
export interface RotateAnswer {
  readonly nonce: string;
  readonly state: 'Accepted' | 'Done' | 'Refused';
  readonly message?: string;
}

export interface FollowOptions {
  readonly nonce: string;
  /** Reads the InjectorConfig as it is now; undefined when it is gone. */
  readonly read: () => Promise<ReadConfig | undefined>;
  /** Told each time that the phase or the answer has changed. */
  readonly onProgress: (line: string) => void;
  /** Waits before the next look; false when there is no time left. */
  readonly pause: () => Promise<boolean>;
}

/** How a followed request ended. */
export type FollowResult = { readonly outcome: 'Done' } | { readonly outcome: 'Failed'; readonly message: string };

/** Follows a request for a renewal to its end, by the status alone. */
export async function followRotation({ nonce, read, onProgress, pause }: FollowOptions): Promise<FollowResult> {
  let before = '';

  for (;;) {
    const config = await read();
    if (config === undefined) return { outcome: 'Failed', message: 'the InjectorConfig was deleted' };
    const { certificate } = config.status ?? {};
    const answer = answerTo(nonce, certificate?.rotateRequest);
    const phase = certificate?.phase ?? 'None';
    const line = `${answer === undefined ? 'waiting for the operator' : answer.state.toLowerCase()}, phase ${phase}`;
    if (line !== before) onProgress(line);
    before = line;
    if (answer?.state === 'Done') return { outcome: 'Done' };
    if (answer?.state === 'Refused') return { outcome: 'Failed', message: answer.message ?? 'the operator refused' };
    if (!(await pause())) return { outcome: 'Failed', message: timeOut(answer, phase) };
  }
}

function answerTo(nonce: string, answer: RotateAnswer | undefined): RotateAnswer | undefined {
  return answer?.nonce === nonce ? answer : undefined;
}

function timeOut(answer: RotateAnswer | undefined, phase: string): string {
  return answer === undefined
    ? 'no operator has answered in time: is one of its operatorClass running, and not paused? The request stays and is carried out when there is one'
    : `still in phase ${phase}; the rotation goes on without this command, injector certs status shows it`;
}
