import type { Scenario } from '../harness/scenario-context.ts';
import { checkOperatorCommands } from './certs-commands/operator-commands.ts';
import { checkServedWebhook } from './certs-commands/served-webhook.ts';

/** What people do to certificates with the program itself: beside an operator, and for a webhook without one. */
export const certsCommands: Scenario = {
  name: 'certs-commands',
  about:
    'injector certs status, rotate, export-ca against a living operator; certs create, serve and certs patch-ca-bundle without one',
  paired: true,
  destructive: 'its webhook takes pods of namespaces with its own label',
  run: async (context) => {
    const { leaf, authority, force } = await checkOperatorCommands(context);
    await checkServedWebhook(context);
    context.measured({ leafMilliseconds: leaf, authorityMilliseconds: authority, forcedMilliseconds: force });
    return `rotate --wait ${leaf} ms, --ca ${authority} ms, --ca --force ${force} ms; a pod injected by serve with certificates of certs create`;
  },
};
