/** What the worker was started with. */
export const workerData: unknown = JSON.parse(process.argv[2] ?? 'null');

type Method = (...args: never[]) => unknown;

/** Answers the calls of a worker's owner, until that ends. Must be called in a worker. */
export function serveWorker(methods: object): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ id, method, args }: WorkerCall) => {
    const found = (methods as Record<string, Method>)[method];
    void Promise.resolve()
      .then(() => found?.(...(args as never[])))
      .then(
        (result) => {
          post({ id, result });
        },
        (error: unknown) => {
          post({ id, error: error instanceof Error ? error.message : String(error) });
        },
      );
  });
}

/** Tells the owner something without having been asked. */
export function announce(event: string, data: unknown): void {
  post({ event, data });
}

function post(answer: WorkerAnswer): void {
  process.send?.(answer);
}

/** What a worker and its owner say to each other. */
export interface WorkerCall {
  id: number;
  method: string;
  args: unknown[];
}

export type WorkerAnswer = { id: number; result?: unknown; error?: string } | { event: string; data: unknown };
