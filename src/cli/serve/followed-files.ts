import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../files.ts';

/** What follows the text of files, read again every so often. */
export interface FollowedFilesOptions<Text, Value> {
  /** Reads the files; throws when one is missing or unreadable. */
  readonly read: () => Text;
  /** Makes of them what is served; throws when they are wrong. */
  readonly load: (text: Text) => Value | Promise<Value>;
  /** Told when something new is served, and when something that changed cannot be. */
  readonly onLoaded: (value: Value) => void;
  readonly onProblem: (problem: string) => void;
}

/**
 * A value made from files that may be exchanged at any time, as the kubelet exchanges a projected volume. What fails to load never replaces what works, and is not tried again
 * before the files change. The content is compared, not times or inodes: a volume is exchanged by a symbolic link above the files.
 */
export class FollowedFiles<Text, Value> {
  readonly #options: FollowedFilesOptions<Text, Value>;
  #seen: Text | undefined;
  #problem: string | undefined;
  #value: Value | undefined;
  #isChecking = false;

  constructor(options: FollowedFilesOptions<Text, Value>) {
    this.#options = options;
  }

  /** What was loaded last without a mistake. */
  get value(): Value | undefined {
    return this.#value;
  }

  /** Reads once; loads when the content has changed. Does nothing while an earlier check is still loading. */
  async check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const { read, load, onLoaded, onProblem } = this.#options;
    try {
      const text = read();
      if (this.#seen !== undefined && isDeepStrictEqual(text, this.#seen)) return;
      this.#seen = text;
      this.#value = await load(text);
      this.#problem = undefined;
      onLoaded(this.#value);
    } catch (error) {
      // Once for each problem, not once a second.
      const problem = messageOf(error);
      if (problem !== this.#problem) onProblem(problem);
      this.#problem = problem;
    } finally {
      this.#isChecking = false;
    }
  }

  /** Checks every `milliseconds` until the returned function is called. */
  follow(milliseconds: number): () => void {
    const timer = setInterval(() => void this.check(), milliseconds);
    return () => clearInterval(timer);
  }
}
