import type { ApiClient } from '../kube/api-client.ts';
import { ApiError } from '../kube/api-error.ts';
import { exitCodes, type Terminal, UsageError } from './terminal.ts';

/**
 * Checks cluster-wide rights with SelfSubjectAccessReviews (authorization.k8s.io/v1) before any
 * change.
 * @param rights verbs with a resource: `list pods`
 * @throws Error that lists the missing rights
 */
export async function checkRights(client: Pick<ApiClient, 'request'>, rights: readonly string[]): Promise<void> {
  const answers = await Promise.all(rights.map((right) => isMissing(client, right)));
  const missing = rights.filter((_, index) => answers[index]);
  if (missing.length === 0) return;
  const what = `the user of this kubeconfig lacks the right to ${missing.join(' and to ')}; nothing was changed`;
  throw new Error(`${what}; ask for the right, or name another user's context with --context`);
}

async function isMissing(client: Pick<ApiClient, 'request'>, right: string): Promise<boolean> {
  const [, verb, resource, group = ''] = /^(\w+) (\w+)(?:\.(.+))?$/.exec(right) ?? [];
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb, group, resource } },
  };
  try {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const { status } = (await client.request('POST', path, { body: JSON.stringify(review) })) as {
      status?: { allowed?: boolean };
    };
    return status?.allowed === false;
  } catch (error) {
    // If the user may not create access reviews, the change reports a missing right.
    if (error instanceof ApiError && error.code === 403) return false;
    throw error;
  }
}

/** Returns the rights to change a tag and to read its followers. */
export function tagRights(...verbs: readonly string[]): string[] {
  return [
    'list injectorconfigs.sidecar-injector.io',
    'list mutatingwebhookconfigurations.admissionregistration.k8s.io',
    'list namespaces',
    'list pods',
    ...verbs.map((verb) => `${verb} revisiontags.sidecar-injector.io`),
  ];
}

/**
 * Prints consequences and asks for confirmation. If the user declines, sets exit status 1.
 * @param isAgreed whether -y or --yes was given, so that the function does not ask
 * @throws UsageError when standard input is not a terminal
 */
export async function agrees(terminal: Terminal, concerns: readonly string[], isAgreed: boolean): Promise<boolean> {
  for (const concern of concerns) terminal.error(concern);
  if (isAgreed) return true;
  const answer = await terminal.ask('Continue? [y/N] ');
  if (answer === undefined)
    throw new UsageError(
      'cannot ask for confirmation without a terminal: use -y or --yes to agree; nothing was changed',
    );
  if (/^y(es)?$/i.test(answer.trim())) return true;
  terminal.error('nothing was changed');
  terminal.setExitCode(exitCodes.failure);
  return false;
}
