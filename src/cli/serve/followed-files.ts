import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../files.ts';

/** The functions that read and load the files, and report the result. */
export interface FollowedFilesOptions<Text, Value> {
  /** Reads the files; throws when one is missing or unreadable. */
  readonly read: () => Text;
  /** Loads the content; throws when it is invalid. */
  readonly load: (text: Text) => Value | Promise<Value>;
  /** Receives each new value. */
  readonly onLoaded: (value: Value) => void;
  /** Receives each new problem. */
  readonly onProblem: (problem: string) => void;
}

/**
 * A value loaded from files that may be replaced at any time, for example by the kubelet. Invalid
 * content does not replace a valid value, and is not loaded again until it changes. Checks compare
 * the content, because the kubelet replaces a symbolic link above the files.
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

  /** The last valid value. */
  get value(): Value | undefined {
    return this.#value;
  }

  /** Reads the files and loads changed content; does nothing while an earlier check is loading. */
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
      // Report each problem once, not every second.
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
