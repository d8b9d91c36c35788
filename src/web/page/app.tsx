import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConfigurationComparison, Explained, Explanation, Problem, Side, Texts } from '../engine/evaluate.ts';
import { type Answer, EngineClient, type EngineWorker } from '../engine-client.ts';
import { fragmentOf, textsOf } from '../link.ts';
import { DecisionSteps } from './decision.tsx';
import { Editor, type TextPlace } from './editor.tsx';
import { examples } from './examples.ts';

/** The pause after the last keystroke before the engine runs. */
const pauseMilliseconds = 250;
/** The engine bounds the work for a pod; lint tries hundreds of pods, on a slow machine. */
const deadlineMilliseconds = 10_000;

const titles: Readonly<Record<Side, string>> = {
  config: 'InjectorConfig',
  pod: 'Pod or workload',
  other: 'Other InjectorConfig',
};
const outcomes: Readonly<Record<Explanation['outcome'], string>> = {
  Injected: 'The pod is injected',
  NotInjected: 'The pod is not injected',
  Refused: 'The pod is refused',
  Unknown: 'The result is unknown',
};

interface Results {
  readonly explained?: Explained;
  readonly problems: readonly Problem[];
  /** Why the newest texts have no result. */
  readonly failure?: string | undefined;
  readonly isBusy: boolean;
}

const startWorker = (): EngineWorker => new Worker('engine.js') as EngineWorker;

/** Returns the results for the newest texts, which the engine computes after a pause. */
function useEngine(texts: Texts | undefined): Results {
  const [results, setResults] = useState<Results>({ problems: [], isBusy: true });
  const client = useRef<EngineClient>();
  client.current ??= new EngineClient(startWorker, deadlineMilliseconds);
  useEffect(() => {
    if (texts === undefined) return;
    setResults((before) => ({ ...before, isBusy: true }));
    const timer = setTimeout(() => {
      client.current?.ask(texts, (answer) => setResults((before) => resultsAfter(before, answer)));
    }, pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [texts]);
  return results;
}

function resultsAfter(shown: Results, answer: Answer | { stopped: number }): Results {
  const before = { ...shown, failure: undefined };
  if ('explained' in answer) return { ...before, explained: answer.explained };
  if ('problems' in answer) return { ...before, problems: answer.problems, isBusy: false };
  if ('failure' in answer) return { ...before, failure: `The engine failed: ${answer.failure}`, isBusy: false };
  const seconds = answer.stopped / 1000;
  const failure = `The engine was stopped after ${seconds} seconds. Make the templates simpler; the results below may be older.`;
  return { ...before, failure, isBusy: false };
}

export function App() {
  const [texts, setTexts] = useState<Texts>();
  /** The name of the loaded example; empty for the texts of a link. */
  const [example, setExample] = useState('');
  /** Counts the loaded texts, each of which begins with new editors. */
  const [generation, setGeneration] = useState(0);
  const [places, setPlaces] = useState<Partial<Record<Side, TextPlace>>>({});
  const [notice, setNotice] = useState('');
  const results = useEngine(texts);
  useEffect(() => {
    const load = async (): Promise<void> => {
      const fragment = location.hash.slice(1);
      const named = examples.find(({ name }) => fragment === `example=${name}`);
      const example = fragment === '' ? examples[0] : named;
      const linked = example ?? (await textsOf(fragment));
      setNotice(linked === undefined ? 'The link cannot be read; it may be incomplete.' : '');
      setExample(example?.name ?? '');
      setTexts((before) => linked ?? before ?? examples[0]);
      setGeneration((before) => before + 1);
      setPlaces({});
    };
    const follow = (): void => void load();
    follow();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const copyLink = async (): Promise<void> => {
    if (texts === undefined) return;
    history.replaceState(null, '', `#${await fragmentOf(texts)}`);
    setExample('');
    try {
      await navigator.clipboard.writeText(location.href);
      setNotice('The link is copied.');
    } catch {
      setNotice('The address of this page is the link.');
    }
  };
  if (texts === undefined) return <main />;
  const { other } = texts;
  const editorOf = (side: Side) => (
    <section aria-labelledby={`title-${side}`}>
      <h2 id={`title-${side}`}>{titles[side]}</h2>
      <Editor
        key={generation}
        label={`${titles[side]}, YAML`}
        text={texts[side] ?? ''}
        side={side}
        problems={results.problems}
        place={places[side]}
        onChange={(text) => setTexts((before) => ({ config: '', pod: '', ...before, [side]: text }))}
      />
    </section>
  );
  return (
    <>
      <header>
        <h1>Sidecar injector playground</h1>
        <label>
          Example{' '}
          <select
            id="example"
            value={example}
            onChange={({ currentTarget }) => (location.hash = `example=${currentTarget.value}`)}
          >
            <option value="" hidden>
              The texts of a link
            </option>
            {examples.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            id="compare"
            type="checkbox"
            checked={texts.other !== undefined}
            onChange={({ currentTarget: { checked } }) =>
              setTexts({ ...texts, other: checked ? texts.config : undefined })
            }
          />{' '}
          Compare with another configuration
        </label>
        <button type="button" id="link" onClick={() => void copyLink()}>
          Copy link
        </button>
        <span role="status" class="muted">
          {notice}
        </span>
      </header>
      <main>
        <div class="editors">
          {editorOf('config')}
          {editorOf('pod')}
          {other !== undefined && editorOf('other')}
        </div>
        <ResultView results={results} show={(side, place) => setPlaces({ [side]: place })} />
      </main>
      <footer>Everything runs in this browser: the page sends nothing. A link contains the texts.</footer>
    </>
  );
}

interface ResultProps {
  readonly results: Results;
  readonly show: (side: Side, place: TextPlace) => void;
}

function ResultView({ results: { explained, problems, failure, isBusy }, show }: ResultProps) {
  const explanation = explained !== undefined && 'explanation' in explained ? explained.explanation : undefined;
  const missing = explained !== undefined && 'missing' in explained ? explained.missing : undefined;
  return (
    <div class="results" aria-busy={isBusy}>
      {failure !== undefined && (
        <p role="alert" class="failure">
          {failure}
        </p>
      )}
      <section aria-labelledby="title-result">
        <h2 id="title-result">Result</h2>
        <div role="status" id="outcome" data-outcome={explanation?.outcome ?? ''}>
          {explanation !== undefined && (
            <p>
              <strong class={explanation.outcome.toLowerCase()}>{outcomes[explanation.outcome]}.</strong>{' '}
              {explanation.subject} in namespace {explanation.namespace}: {explanation.message}.
            </p>
          )}
          {missing !== undefined && <p class="failure">{missing}</p>}
        </div>
        {explanation?.advice.map((each) => (
          <p key={each}>{each}</p>
        ))}
        {explanation?.notes.map((each) => (
          <p key={each} class="muted">
            Note: {each}.
          </p>
        ))}
      </section>
      {problems.length > 0 && <ProblemList problems={problems} show={show} />}
      {explanation !== undefined && <DecisionSteps webhooks={explanation.webhooks} />}
      {explanation?.comparison !== undefined && <ComparisonView comparison={explanation.comparison} />}
      {explanation !== undefined && <PodView lines={explanation.pod} />}
      {explanation !== undefined && <Annotations annotations={explanation.annotations} />}
    </div>
  );
}

function ProblemList({
  problems,
  show,
}: {
  readonly problems: readonly Problem[];
  readonly show: ResultProps['show'];
}) {
  return (
    <section aria-labelledby="title-problems">
      <h2 id="title-problems">Findings</h2>
      <ul id="problems">
        {problems.map(({ side, line, column, level, message }) => (
          <li key={`${side} ${line} ${column} ${message}`}>
            <button type="button" onClick={() => show(side, { line, column })}>
              {titles[side]}, line {line}
            </button>{' '}
            <span class={level}>{level}</span>: {message}
          </li>
        ))}
      </ul>
    </section>
  );
}

const marks = {
  added: { element: 'ins', sign: '+' },
  removed: { element: 'del', sign: '-' },
  kept: { element: 'span', sign: ' ' },
} as const;

function PodView({ lines }: { readonly lines: Explanation['pod'] }) {
  const count = (change: string): number => lines.filter((line) => line.change === change).length;
  return (
    <section aria-labelledby="title-stored">
      <h2 id="title-stored">Pod</h2>
      <p class="muted">
        {count('added')} lines added, {count('removed')} removed, compared with the pod that the webhook receives.
      </p>
      <pre id="pod" tabIndex={0} aria-label="The pod after injection">
        <code>
          {lines.map(({ text, change }, index) => {
            const { element: Line, sign } = marks[change];
            return <Line key={index}>{`${sign} ${text}`}</Line>;
          })}
        </code>
      </pre>
    </section>
  );
}

function ComparisonView({ comparison }: { readonly comparison: ConfigurationComparison | string }) {
  if (typeof comparison === 'string')
    return (
      <section aria-labelledby="title-comparison">
        <h2 id="title-comparison">Other configuration</h2>
        <p class="failure">{comparison}</p>
      </section>
    );
  const { outcome, message, changes } = comparison;
  return (
    <section aria-labelledby="title-comparison">
      <h2 id="title-comparison">Other configuration</h2>
      <p>
        <strong class={outcome.toLowerCase()}>{outcomes[outcome]}.</strong> {message}.{' '}
        {changes.length === 0 ? 'The pods are equal.' : `${changes.length} fields differ:`}
      </p>
      <ul id="changes">
        {changes.map(({ path, before, after }) => (
          <li key={path}>
            <code>{path}</code>
            {before !== undefined && <del>{`- ${valueText(before)}`}</del>}
            {after !== undefined && <ins>{`+ ${valueText(after)}`}</ins>}
          </li>
        ))}
      </ul>
    </section>
  );
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function Annotations({ annotations }: Pick<Explanation, 'annotations'>) {
  return (
    <section aria-labelledby="title-annotations">
      <h2 id="title-annotations">What authors of pods may change (preset Safe)</h2>
      {annotations.length === 0 && <p>The templates read no annotations or labels.</p>}
      {typeof annotations === 'string' ? (
        <p class="failure">{annotations}</p>
      ) : (
        <ul id="annotations">
          {annotations.map(({ of, name, may, value }) => (
            <li key={`${of} ${name}`}>
              {of} <code>{name}</code>
              {value !== undefined && ` (in this pod: ${value})`}: authors may {may}.
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
