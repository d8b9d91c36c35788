/** What a thread and its owner say to each other. */
export interface WorkerCall {
  id: number;
  method: string;
  args: unknown[];
}

export type WorkerAnswer = { id: number; result?: unknown; error?: string } | { event: string; data: unknown };
