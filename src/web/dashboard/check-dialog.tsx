import { useEffect, useRef, useState } from 'preact/hooks';
import type { DashboardCheck } from '../../api/dashboard-reports.ts';
import { DecisionSteps } from '../page/decision.tsx';
import type { ReportsClient } from '../reports-client.ts';
import type { WorkloadRow } from '../workload-rows.ts';
import { CopiedCommand, Notes } from './parts.tsx';

interface CheckDialogProps {
  readonly client: ReportsClient;
  readonly row: WorkloadRow;
  readonly close: () => void;
}

type Answer = { readonly check: DashboardCheck } | { readonly failure: string };

/** Explains a new pod of a workload, as `injector check` does. */
export function CheckDialog({ client, row: { namespace, workload, causes }, close }: CheckDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const stop = new AbortController();
    const query = new URLSearchParams({ namespace, workload });
    client.get<DashboardCheck>(`/check?${query.toString()}`, stop.signal).then(
      (check) => setAnswer({ check }),
      (error: unknown) => {
        if (!stop.signal.aborted) setAnswer({ failure: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => stop.abort();
  }, [client, namespace, workload]);
  return (
    <dialog ref={dialog} aria-labelledby="title-check" onClose={close}>
      <div class="dialog-head">
        <h2 id="title-check">
          {workload} in namespace {namespace}
        </h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {causes.length > 0 && <p>Running pods: {causes.join('; ')}.</p>}
      {answer === undefined && <p role="status">Asking the cluster…</p>}
      {answer !== undefined && 'failure' in answer && (
        <p role="alert" class="failure">
          {answer.failure}
        </p>
      )}
      {answer !== undefined && 'check' in answer && <CheckView check={answer.check} />}
    </dialog>
  );
}

const results: Readonly<Record<DashboardCheck['result'], string>> = {
  Injected: 'A new pod is injected',
  NotInjected: 'A new pod is not injected',
  Refused: 'A new pod is refused',
  Unknown: 'The result is unknown',
};

function CheckView({ check }: { readonly check: DashboardCheck }) {
  const { result, message, command, advice, existing, rollouts, notes, webhooks } = check;
  return (
    <div class="results">
      <p id="check-result" data-result={result}>
        <strong class={result.toLowerCase()}>{results[result]}</strong>: {message}.
      </p>
      {existing !== undefined && <p>Now: {existing.message}.</p>}
      {rollouts.map(({ message: part }) => (
        <p key={part}>{part}.</p>
      ))}
      {command !== undefined && <CopiedCommand text={command} />}
      {advice.map(({ sentence, commands }) => (
        <div key={sentence}>
          <p>To{sentence.slice(2, sentence.indexOf(':') + 1)}</p>
          {commands.map((each) => (
            <CopiedCommand key={each} text={each} />
          ))}
        </div>
      ))}
      <Notes notes={notes} />
      <DecisionSteps webhooks={webhooks} />
    </div>
  );
}
