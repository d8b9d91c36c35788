/** The data that the owner passed to this process. */
export const workerData: unknown = JSON.parse(process.argv[2] ?? 'null');

type Method = (...args: never[]) => unknown;

/** Answers the owner's calls until the owner ends. */
export function serveWorker(methods: object): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ id, method, args }: WorkerCall) => {
    const found = (methods as Record<string, Method>)[method];
    void Promise.resolve()
      .then(() => found?.(...(args as never[])))
      .then(
        (result) => post({ id, result }),
        (error: unknown) => post({ id, error: error instanceof Error ? error.message : String(error) }),
      );
  });
}

/** Sends an event to the owner. */
export function announce(event: string, data: unknown): void {
  post({ event, data });
}

function post(answer: WorkerAnswer): void {
  process.send?.(answer);
}

/** A message from the owner to the worker. */
export interface WorkerCall {
  id: number;
  method: string;
  args: unknown[];
}

export type WorkerAnswer = { id: number; result?: unknown; error?: string } | { event: string; data: unknown };
