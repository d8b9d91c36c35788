import { useState } from 'preact/hooks';
import type { DashboardQuestion, DashboardTag, DashboardVerb } from '../../api/dashboard-reports.ts';
import type { ReportsClient } from '../reports-client.ts';
import { LookUp } from './look-up.tsx';
import { Dialog, Notes } from './parts.tsx';

const titles: Readonly<Record<DashboardVerb, string>> = {
  resume: 'Resume',
  promote: 'Promote',
  abort: 'Abort',
  retry: 'Retry',
};

interface ActionButtonsProps {
  readonly client: ReportsClient;
  readonly tag: DashboardTag;
}

/** The actions that are possible now. A dialog stays when its action is no longer possible. */
export function ActionButtons({ client, tag: { tag, actions } }: ActionButtonsProps) {
  const [verb, setVerb] = useState<DashboardVerb>();
  return (
    <div class="choices">
      {actions.map((each) => (
        <button
          key={each}
          type="button"
          data-verb={each}
          aria-label={`${titles[each]} the rollout of ${tag}`}
          onClick={() => setVerb(each)}
        >
          {titles[each]}…
        </button>
      ))}
      {verb !== undefined && (
        <Dialog title={`${titles[verb]} the rollout of RevisionTag ${tag}?`} close={() => setVerb(undefined)}>
          <LookUp client={client} path={`/question?${new URLSearchParams({ tag, verb }).toString()}`}>
            {(question: DashboardQuestion) => <Question client={client} question={question} />}
          </LookUp>
        </Dialog>
      )}
    </div>
  );
}

type Result = { readonly isDone: boolean; readonly message: string };

interface QuestionProps {
  readonly client: ReportsClient;
  readonly question: DashboardQuestion;
}

/** Asks, and carries out the action after a click. */
function Question({ client, question: { id, verb, effect, evidence } }: QuestionProps) {
  const [isAgreed, setAgreed] = useState(false);
  const [result, setResult] = useState<Result>();
  const act = (): void => {
    setAgreed(true);
    client.post<{ readonly message: string }>(`/action?question=${id}`).then(
      ({ message }) => setResult({ isDone: true, message }),
      (error: unknown) => setResult({ isDone: false, message: error instanceof Error ? error.message : String(error) }),
    );
  };
  return (
    <>
      <p id="effect">
        <strong>{effect}</strong>
      </p>
      <Notes notes={evidence} />
      {!isAgreed && (
        <button type="button" id="agree" onClick={act}>
          {titles[verb]} now
        </button>
      )}
      <p role="status" id="action-result" class={result?.isDone === false ? 'failure' : 'injected'}>
        {result === undefined ? isAgreed && 'Waiting for the operator…' : result.message}
      </p>
    </>
  );
}
