import { render } from 'preact';
import type { DashboardSnapshot } from '../../api/dashboard-reports.ts';
import { openSession, snapshotClient } from '../reports-client.ts';
import { Closed, Dashboard } from './app.tsx';

const home = document.getElementById('app');
const snapshot = document.getElementById('snapshot')?.textContent;

/** Opens the session with the token of the address, and removes it: the token has one use. */
function openLive() {
  const { hash } = location;
  if (hash.startsWith('#token=')) history.replaceState(null, '', location.pathname);
  return openSession((path, init) => fetch(path, init), sessionStorage, hash);
}

// A new link that is opened in this tab changes only the fragment.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) location.reload();
});
const opened =
  snapshot === undefined ? openLive() : Promise.resolve(snapshotClient(JSON.parse(snapshot) as DashboardSnapshot));
opened.then(
  (client) => home && render(<Dashboard client={client} />, home),
  (error: unknown) => home && render(<Closed reason={error instanceof Error ? error.message : String(error)} />, home),
);
