import { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import { certsCreateCommand } from './certs-create.ts';
import { certsExportCommand } from './certs-export.ts';
import { certsPatchCommand } from './certs-patch.ts';
import { certsRotateCommand } from './certs-rotate.ts';
import { certsStatusCommand } from './certs-status.ts';

/** `injector certs`: what is served and trusted, a renewal by hand, and certificates for `injector serve`. */
export function certsCommand(terminal: Terminal): Command {
  const certs = new Command('certs').description('the certificates of webhooks: look, renew, export, make');
  for (const command of [
    certsStatusCommand(terminal),
    certsRotateCommand(terminal),
    certsExportCommand(terminal),
    certsCreateCommand(terminal),
    certsPatchCommand(terminal),
  ]) {
    certs.addCommand(command);
  }
  return certs;
}
