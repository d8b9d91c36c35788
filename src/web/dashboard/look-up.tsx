import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ReportsClient } from '../reports-client.ts';

interface LookUpProps<Body> {
  readonly client: ReportsClient;
  /** `/check` or `/diff`. */
  readonly path: string;
  readonly namespace: string;
  readonly workload: string;
  readonly children: (body: Body) => ComponentChildren;
}

type Answer<Body> = { readonly body: Body } | { readonly failure: string };

/** Shows what the command answers about a workload. */
export function LookUp<Body>({ client, path, namespace, workload, children }: LookUpProps<Body>) {
  const [answer, setAnswer] = useState<Answer<Body>>();
  useEffect(() => {
    const stop = new AbortController();
    const query = new URLSearchParams({ namespace, workload });
    client.get<Body>(`${path}?${query.toString()}`, stop.signal).then(
      (body) => setAnswer({ body }),
      (error: unknown) => {
        if (!stop.signal.aborted) setAnswer({ failure: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => stop.abort();
  }, [client, path, namespace, workload]);
  if (answer === undefined) return <p role="status">Asking the cluster…</p>;
  if ('body' in answer) return <>{children(answer.body)}</>;
  return (
    <p role="alert" class="failure">
      {answer.failure}
    </p>
  );
}
