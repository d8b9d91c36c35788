import { exitCodes, type Terminal, UsageError } from '../terminal.ts';

/** What changing a tag needs: to see who follows it, and the verbs on the tag itself. */
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
 * Shows what somebody should know and asks whether to go on; anything but yes is no, which is exit status 1.
 * @param isAgreed -y was given: it is shown and not asked
 * @throws UsageError when nobody is there to be asked
 */
export async function agrees(terminal: Terminal, concerns: readonly string[], isAgreed: boolean): Promise<boolean> {
  for (const concern of concerns) terminal.error(concern);
  if (isAgreed) return true;
  const answer = await terminal.ask('Go on? [y/N] ');
  if (answer === undefined)
    throw new UsageError('nobody is at the terminal to be asked: -y says yes; nothing was changed');
  if (/^y(es)?$/i.test(answer.trim())) return true;
  terminal.error('nothing was changed');
  terminal.setExitCode(exitCodes.failure);
  return false;
}
