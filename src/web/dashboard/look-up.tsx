import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ReportsClient } from '../reports-client.ts';

interface LookUpProps<Body> {
  readonly client: ReportsClient;
  /** For example `/check?namespace=shop&workload=Deployment/web`. */
  readonly path: string;
  readonly children: (body: Body) => ComponentChildren;
}

type Answer<Body> = { readonly body: Body } | { readonly failure: string };

/** Shows what the command answers. */
export function LookUp<Body>({ client, path, children }: LookUpProps<Body>) {
  const [answer, setAnswer] = useState<Answer<Body>>();
  useEffect(() => {
    const stop = new AbortController();
    client.get<Body>(path, stop.signal).then(
      (body) => setAnswer({ body }),
      (error: unknown) => {
        if (!stop.signal.aborted) setAnswer({ failure: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => stop.abort();
  }, [client, path]);
  if (answer === undefined) return <p role="status">Asking the cluster…</p>;
  if ('body' in answer) return <>{children(answer.body)}</>;
  return (
    <p role="alert" class="failure">
      {answer.failure}
    </p>
  );
}
