import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ReportsClient } from '../reports-client.ts';
import { Certificates } from './certificates.tsx';
import { Overview } from './overview.tsx';
import { Problems } from './problems.tsx';
import { Workloads } from './workloads.tsx';

const title = 'Sidecar injector dashboard';

interface View {
  readonly name: string;
  readonly title: string;
  readonly show: ComponentType<{ readonly client: ReportsClient }>;
}

const first: View = { name: 'overview', title: 'Rollouts', show: Overview };
const views: readonly View[] = [
  first,
  { name: 'certificates', title: 'Certificates', show: Certificates },
  { name: 'workloads', title: 'Workloads', show: Workloads },
  { name: 'problems', title: 'Problems', show: Problems },
];

/** Says why there is no dashboard. */
export function Closed({ reason }: { readonly reason: string }) {
  return (
    <main>
      <h1>{title}</h1>
      <p role="alert" class="failure">
        {reason}
      </p>
    </main>
  );
}

/** Returns the view that the fragment of the address names. */
function useView(): View {
  const viewNow = (): View => views.find(({ name }) => location.hash === `#${name}`) ?? first;
  const [view, setView] = useState(viewNow);
  useEffect(() => {
    const change = (): void => setView(viewNow());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return view;
}

export function Dashboard({ client }: { readonly client: ReportsClient }) {
  const view = useView();
  useEffect(() => {
    document.title = `${view.title} – ${title}`;
  }, [view]);
  const Show = view.show;
  return (
    <>
      <header>
        <h1>{title}</h1>
        <nav aria-label="Views">
          {views.map(({ name, title: text }) => (
            <a key={name} href={`#${name}`} aria-current={name === view.name ? 'page' : undefined}>
              {text}
            </a>
          ))}
        </nav>
      </header>
      <Show client={client} />
      <footer>
        {client.snapshotAt === undefined
          ? 'This page has the rights of your kubeconfig.'
          : 'Written by injector dashboard --snapshot. This file connects to nothing.'}
      </footer>
    </>
  );
}
