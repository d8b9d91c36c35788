import type { ComponentChildren } from 'preact';
import type { DashboardCheck, DashboardDiff } from '../../api/dashboard-reports.ts';
import { DecisionSteps } from '../page/decision.tsx';
import type { ReportsClient } from '../reports-client.ts';
import type { WorkloadRow } from '../workload-rows.ts';
import { LookUp } from './look-up.tsx';
import { CopiedCommand, Dialog, Notes } from './parts.tsx';
import { PredictedDiff } from './predicted-diff.tsx';

interface CheckDialogProps {
  readonly client: ReportsClient;
  readonly row: WorkloadRow;
  readonly close: () => void;
}

/** Explains a new pod of a workload, and how it would differ from a running one. */
export function CheckDialog({ client, row: { namespace, workload, causes }, close }: CheckDialogProps) {
  const query = new URLSearchParams({ namespace, workload }).toString();
  return (
    <Dialog title={`${workload} in namespace ${namespace}`} close={close}>
      {causes.length > 0 && <p>Running pods: {causes.join('; ')}.</p>}
      <LookUp client={client} path={`/check?${query}`}>
        {(check: DashboardCheck) => (
          <CheckView check={check}>
            <LookUp client={client} path={`/diff?${query}`}>
              {(diff: DashboardDiff) => <PredictedDiff diff={diff} />}
            </LookUp>
          </CheckView>
        )}
      </LookUp>
    </Dialog>
  );
}

const results: Readonly<Record<DashboardCheck['result'], string>> = {
  Injected: 'A new pod is injected',
  NotInjected: 'A new pod is not injected',
  Refused: 'A new pod is refused',
  Unknown: 'The result is unknown',
};

/** The part of an advice before its commands, without the word `to`. */
const aimOf = (sentence = ''): string => sentence.slice(2, sentence.indexOf(':'));

interface CheckViewProps {
  readonly check: DashboardCheck;
  /** What to show before the decision. */
  readonly children: ComponentChildren;
}

function CheckView({ check, children }: CheckViewProps) {
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
      {advice.map(({ sentence, commands }, index) => (
        <div key={sentence}>
          <p>{aimOf(sentence) === aimOf(advice[index - 1]?.sentence) ? 'Or:' : `To${aimOf(sentence)}:`}</p>
          {commands.map((each) => (
            <CopiedCommand key={each} text={each} />
          ))}
        </div>
      ))}
      <Notes notes={notes} />
      {children}
      <DecisionSteps webhooks={webhooks} />
    </div>
  );
}
