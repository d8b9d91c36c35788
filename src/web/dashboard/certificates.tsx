import type { DashboardCertificate } from '../../api/dashboard-reports.ts';
import type { ReportsClient } from '../reports-client.ts';
import { fromNow, placeOf, ticks } from '../time-line.ts';
import { LiveView } from './live-view.tsx';
import { useNow } from './parts.tsx';

/** The certificates of each InjectorConfig on a common time line. */
export function Certificates({ client }: { readonly client: ReportsClient }) {
  return (
    <LiveView client={client} name="certificates">
      {(all) => <CertificateCards all={all} />}
    </LiveView>
  );
}

function CertificateCards({ all }: { readonly all: readonly DashboardCertificate[] }) {
  const now = useNow(1000);
  const times = all.flatMap(({ notAfter, caNotAfter }) => [notAfter, caNotAfter]);
  const longest = Math.max(0, ...times.map((time) => Date.parse(time ?? '') - now).filter((ahead) => ahead > 0));
  return (
    <section aria-labelledby="title-certificates">
      <h2 id="title-certificates">Certificates</h2>
      {all.length === 0 && <p>There is no InjectorConfig.</p>}
      {all.map((each) => (
        <CertificateCard key={each.name} certificate={each} now={now} longest={longest} />
      ))}
    </section>
  );
}

interface CardProps {
  readonly certificate: DashboardCertificate;
  readonly now: number;
  readonly longest: number;
}

function CertificateCard({ certificate, now, longest }: CardProps) {
  const { name, phase, fingerprint, bundles, replicas, problems } = certificate;
  const serving = Object.values(replicas);
  const own = serving.filter((each) => fingerprint?.startsWith(each) === true).length;
  return (
    <article class="card" aria-labelledby={`certificate-${name}`} data-certificate={name} data-phase={phase}>
      <h3 id={`certificate-${name}`}>{name}</h3>
      <Phases phase={phase} />
      <TimeLine certificate={certificate} now={now} longest={longest} />
      <dl class="shares">
        <dt>Certificate</dt>
        <dd>{fingerprint === undefined ? 'none' : <code>{fingerprint.slice(0, 8)}</code>}</dd>
        <dt>Replicas</dt>
        <dd>
          {own} of {serving.length} serve it
        </dd>
        <dt>Webhooks</dt>
        <dd>
          {bundles.length === 0 && 'no webhook'}
          {bundles.map(({ configuration, authorities }) => (
            <div key={configuration}>
              {configuration} trusts {authorities.length === 0 ? 'no authority' : <code>{authorities.join(', ')}</code>}
            </div>
          ))}
        </dd>
      </dl>
      {problems.map((problem) => (
        <p key={problem} class="failure">
          {problem}
        </p>
      ))}
    </article>
  );
}

/** The phases in the order of a rotation. */
const phases = [
  { name: 'Publishing', what: 'a new authority is added to the webhooks' },
  { name: 'Confirming', what: 'all API servers must trust the new authority' },
  { name: 'Retiring', what: 'the old authority stays trusted until no certificate needs it' },
  { name: 'Stable', what: 'no rotation is under way' },
];

function Phases({ phase }: Pick<DashboardCertificate, 'phase'>) {
  const known = phases.find(({ name }) => name === phase);
  return (
    <>
      <ol class="phases" aria-label="Phases of a rotation">
        {phases.map(({ name }) => (
          <li key={name} aria-current={name === phase ? 'step' : undefined}>
            {name}
          </li>
        ))}
      </ol>
      <p class="muted">{known === undefined ? `Phase ${phase}.` : `${known.name}: ${known.what}.`}</p>
    </>
  );
}

/** The place beyond which the label of a tick does not fit. */
const lastTick = 0.95;

/** A line from now to the last expiry, on a logarithmic scale. The list below says the same. */
function TimeLine({ certificate: { notAfter, renewAt, caNotAfter }, now, longest }: CardProps) {
  const events = [
    { kind: 'renewal', text: 'Renewal', time: renewAt },
    { kind: 'expiry', text: 'Certificate expires', time: notAfter },
    { kind: 'authority', text: 'Authority expires', time: caNotAfter },
  ].flatMap(({ time, ...event }) =>
    time === undefined ? [] : [{ ...event, time: Date.parse(time), text: event.text }],
  );
  const percent = (time: number): string => `${100 * placeOf(time - now, longest)}%`;
  return (
    <>
      <div class="timeline" aria-hidden="true">
        {ticks
          .filter(({ ahead }) => placeOf(ahead, longest) < lastTick)
          .map(({ label, ahead }) => (
            <span key={label} class="tick" style={{ left: percent(now + ahead) }}>
              {label}
            </span>
          ))}
        {[...events].reverse().map(({ kind, time }) => (
          <span key={kind} class={`span-${kind}`} style={{ width: percent(time) }} />
        ))}
      </div>
      <ul class="times">
        {events.map(({ kind, text, time }) => (
          <li key={kind}>
            <span class={`key span-${kind}`} aria-hidden="true" /> {text} {fromNow(time, now)}{' '}
            <span class="muted">({new Date(time).toLocaleString()})</span>
          </li>
        ))}
      </ul>
    </>
  );
}
