import type { AdmissionRoute } from './admission-handler.ts';
import { textAnswer } from './http-answer.ts';

/** `GET /readyz` on the webhook's own port, for a server without a second one. */
export function readyRoute(problem: () => string | undefined): AdmissionRoute {
  const page = () => {
    const missing = problem();
    return missing === undefined ? textAnswer(200, 'ok') : textAnswer(503, missing);
  };
  return { kind: 'ready', resolve: (path) => (path === '/readyz' ? { page } : undefined) };
}
