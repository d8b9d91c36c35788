import { Fragment } from 'preact';
import type { DashboardDiff } from '../../api/dashboard-reports.ts';
import { Notes } from './parts.tsx';

type Comparison = NonNullable<DashboardDiff['compared']>;
type Restarts = NonNullable<Comparison['needsRestart']>;

/** How a new pod differs from the newest running pod, as `injector diff` shows a change. */
export function PredictedDiff({ diff: { compared, notes } }: { readonly diff: DashboardDiff }) {
  return (
    <section class="results" aria-labelledby="title-diff" id="predicted-diff">
      <h2 id="title-diff">If its pods were created now</h2>
      {compared !== undefined && <Compared {...compared} />}
      <Notes notes={notes} />
    </section>
  );
}

/** The fields that a running pod cannot get for one reason; often all for the same. */
const fieldsOf = (all: Restarts, reason: string): string =>
  all.flatMap((each) => (each.reason === reason ? each.field : [])).join(', ');

const outcomes = { Injected: 'injected', NotInjected: 'not injected', Refused: 'refused' } as const;

function Compared({ before, after, changes, unlistedChanges, needsRestart }: Comparison) {
  return (
    <>
      <dl class="shares">
        {[
          { title: 'Running pod', side: before },
          { title: 'New pod', side: after },
        ].map(({ title, side: { outcome, configuration, message } }) => (
          <Fragment key={title}>
            <dt>{title}</dt>
            <dd>
              <strong class={outcome.toLowerCase()}>{outcomes[outcome]}</strong>{' '}
              {configuration !== '' && <code>{configuration}</code>} <span class="why">{message}</span>
            </dd>
          </Fragment>
        ))}
      </dl>
      {changes.length === 0 && after.outcome !== 'Refused' && <p>No field changes.</p>}
      {needsRestart?.length === 0 && <p>The running pod can get these changes in place.</p>}
      {needsRestart !== undefined && needsRestart.length > 0 && (
        <>
          <p>The pod needs a restart to get these changes:</p>
          <ul>
            {[...new Set(needsRestart.map(({ reason }) => reason))].map((reason) => (
              <li key={reason}>
                {reason}: <code>{fieldsOf(needsRestart, reason)}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      <ul class="changes">
        {changes.map(({ path, before: old, after: now }) => (
          <li key={path}>
            <code>{path}</code>
            {old !== undefined && <del>{old}</del>}
            {now !== undefined && <ins>{now}</ins>}
          </li>
        ))}
      </ul>
      {unlistedChanges > 0 && (
        <p>
          {unlistedChanges} more changes: use <code>injector diff</code>.
        </p>
      )}
    </>
  );
}
