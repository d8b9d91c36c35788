import { exitCodes, type Terminal, UsageError } from '../terminal.ts';

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
 * @param isAgreed whether -y was given, so that the function does not ask
 * @throws UsageError when standard input is not a terminal
 */
export async function agrees(terminal: Terminal, concerns: readonly string[], isAgreed: boolean): Promise<boolean> {
  for (const concern of concerns) terminal.error(concern);
  if (isAgreed) return true;
  const answer = await terminal.ask('Continue? [y/N] ');
  if (answer === undefined)
    throw new UsageError('cannot ask for confirmation without a terminal: use -y to agree; nothing was changed');
  if (/^y(es)?$/i.test(answer.trim())) return true;
  terminal.error('nothing was changed');
  terminal.setExitCode(exitCodes.failure);
  return false;
}
