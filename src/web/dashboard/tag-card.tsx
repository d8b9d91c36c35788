import type { ComponentChildren } from 'preact';
import type { DashboardTag, StepMark } from '../../api/dashboard-reports.ts';
import type { RestartStatus, RolloutPodCounts, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { Bar, Notes, PodNumbers } from './parts.tsx';

const toneOfPhase: Readonly<Record<string, string>> = {
  RolledBack: 'bad',
  Waiting: 'doubtful',
  Paused: 'doubtful',
  WaitingForPods: 'doubtful',
  Progressing: 'active',
  Shadowing: 'active',
};

interface TagCardProps {
  readonly tag: DashboardTag;
  /** What to show at the end. */
  readonly children?: ComponentChildren;
}

/** A tag: where its pods go, and its rollout as a picture. */
export function TagCard({ tag, children }: TagCardProps) {
  const { phase, state, steps, news, advice, restartState, namespaces } = tag;
  const id = `tag-${tag.tag}`;
  return (
    <article class="card" aria-labelledby={id} data-tag={tag.tag} data-phase={phase}>
      <h3 id={id}>
        {tag.tag} <span class={`pill ${toneOfPhase[phase] ?? 'good'}`}>{phase}</span>
      </h3>
      <Route tag={tag} />
      {steps.length > 0 && <Steps steps={steps} />}
      {state !== undefined && <Shares state={state} />}
      <p class="news">{news}</p>
      {advice !== undefined && <Notes notes={[advice]} />}
      {restartState !== undefined && <Restarts restarts={restartState} />}
      <p class="muted">
        {namespaces.length} {namespaces.length === 1 ? 'namespace' : 'namespaces'}; pods: <PodNumbers {...tag.pods} />
      </p>
      {children}
    </article>
  );
}

function Route({ tag: { revision, stableRevision, state } }: { readonly tag: DashboardTag }) {
  const canary = state?.canary?.revision ?? (stableRevision === revision ? undefined : revision);
  return (
    <p class="route">
      <code>{stableRevision ?? 'no revision yet'}</code>
      {canary !== undefined && (
        <>
          {' '}
          → <code>{canary}</code>
        </>
      )}
    </p>
  );
}

const markTexts: Readonly<Record<StepMark, string>> = {
  done: 'done',
  current: 'current step',
  rolledBack: 'rolled back here',
  skipped: 'skipped',
  coming: 'to come',
};

function Steps({ steps }: Pick<DashboardTag, 'steps'>) {
  return (
    <ol class="steps" aria-label="Steps">
      {steps.map(({ mark, weight, shadow, pause }, index) => (
        <li key={index} class={`step-${mark}`} aria-current={mark === 'current' ? 'step' : undefined}>
          <span class="track" />
          <strong>{shadow ? 'shadow' : `${weight} %`}</strong>
          <span>{markTexts[mark]}</span>
          {pause !== undefined && <span>{pause === 'UntilResumed' ? 'pause until resumed' : `pause ${pause}`}</span>}
        </li>
      ))}
    </ol>
  );
}

function Shares({ state }: { readonly state: RolloutState }) {
  const { stable, canary, rolledBackFrom, phase, pods, weight, canaryWorkloads, knownWorkloads } = state;
  const { shadow, injectionErrors, shadowReport } = state;
  const other = canary ?? (phase === 'RolledBack' ? rolledBackFrom : undefined);
  return (
    <dl class="shares">
      {canary !== undefined && !shadow && (
        <>
          <dt>Share of {canary.revision}</dt>
          <dd>
            <Bar
              total={100}
              parts={[
                { kind: 'canary', count: weight },
                { kind: 'stable', count: 100 - weight },
              ]}
            />
            {weight} %: {canaryWorkloads} of {knownWorkloads} workloads
          </dd>
        </>
      )}
      <Pods label={`Stable ${stable.revision}`} pods={pods.stable} />
      {other !== undefined && <Pods label={`Canary ${other.revision}`} pods={pods.canary} />}
      {injectionErrors > 0 && (
        <>
          <dt>Injection</dt>
          <dd class="refused">{injectionErrors} injections of the canary failed</dd>
        </>
      )}
      {shadowReport !== undefined && (
        <>
          <dt>Shadow</dt>
          <dd>
            {shadowReport.compared} pods compared, {shadowReport.failed} failed, {shadowReport.differing} differ
            {shadowReport.error !== undefined && <span class="why">{shadowReport.error}</span>}
          </dd>
        </>
      )}
    </dl>
  );
}

function Pods({ label, pods: { ready, failing, total } }: { readonly label: string; readonly pods: RolloutPodCounts }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {total > 0 && (
          <Bar
            total={total}
            parts={[
              { kind: 'ready', count: ready },
              { kind: 'failing', count: failing },
            ]}
          />
        )}
        {total === 0 ? 'no pods' : `${ready} of ${total} pods ready`}
        {failing > 0 && (
          <>
            , <strong class="refused">{failing} failing</strong>
          </>
        )}
      </dd>
    </>
  );
}

function Restarts({
  restarts: { phase, message, stale, inProgress, waiting, untouched },
}: {
  readonly restarts: RestartStatus;
}) {
  const listed = [...waiting, ...untouched];
  return (
    <details>
      <summary>
        Restarts: {phase}, {stale} workloads stale, {inProgress} restarting
      </summary>
      <p>{message}</p>
      <ul>
        {listed.map(({ namespace, kind, name, message: why }) => (
          <li key={`${namespace}/${kind}/${name}`}>
            {namespace}/{kind}/{name}: {why}
          </li>
        ))}
      </ul>
    </details>
  );
}
