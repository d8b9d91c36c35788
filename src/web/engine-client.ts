import type { Explained, Problem, Texts } from './engine/evaluate.ts';

/** A message to the engine's worker. */
export interface Question {
  readonly id: number;
  readonly texts: Texts;
}

/** A part of the worker's answer. The explanation comes first, because lint tries many pods. */
export type Answer = { readonly id: number } & (
  { readonly explained: Explained } | { readonly problems: readonly Problem[] } | { readonly failure: string }
);

/** The parts of a Web Worker that the client uses. */
export interface EngineWorker {
  postMessage(question: Question): void;
  terminate(): void;
  onmessage: ((event: { readonly data: Answer }) => void) | null;
  onerror: ((event: { readonly message?: string }) => void) | null;
}

/**
 * Asks the engine in a worker. Only the newest question counts. At the deadline, and when a newer
 * question comes before the answer, the worker is terminated: no text can block the page.
 */
export class EngineClient {
  readonly #start: () => EngineWorker;
  readonly #deadline: number;
  #worker: EngineWorker | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #id = 0;

  /** @param deadline the time for each part of an answer, in milliseconds */
  constructor(start: () => EngineWorker, deadline: number) {
    this.#start = start;
    this.#deadline = deadline;
  }

  /** @param told is called for each part of the answer, in order */
  ask(texts: Texts, told: (answer: Answer | { readonly stopped: number }) => void): void {
    if (this.#timer !== undefined) this.#stop();
    this.#id += 1;
    const id = this.#id;
    const worker = (this.#worker ??= this.#start());
    const wait = (): void => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => {
        this.#stop();
        told({ stopped: this.#deadline });
      }, this.#deadline);
    };
    worker.onmessage = ({ data }) => {
      if (data.id !== id) return;
      if ('explained' in data) wait();
      else this.#rest();
      told(data);
    };
    // For example, the worker's heap is full.
    worker.onerror = ({ message = 'the engine failed' }) => {
      this.#stop();
      told({ id, failure: message });
    };
    wait();
    worker.postMessage({ id, texts });
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #stop(): void {
    this.#rest();
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
