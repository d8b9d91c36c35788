import { render } from 'preact';
import { openSession } from '../reports-client.ts';
import { Dashboard, Closed } from './app.tsx';

const home = document.getElementById('app');
const { hash } = location;
// The token has one use. It should not stay in the address that the user may copy.
history.replaceState(null, '', location.pathname);
openSession((path, init) => fetch(path, init), sessionStorage, hash).then(
  (client) => home && render(<Dashboard client={client} />, home),
  (error: unknown) => home && render(<Closed reason={error instanceof Error ? error.message : String(error)} />, home),
);
