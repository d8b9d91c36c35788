import { Command } from 'commander';
import { backCommand } from '../adopt/back.ts';
import { moveCommand } from '../adopt/move.ts';
import { planCommand } from '../adopt/plan.ts';
import { proveCommand } from '../adopt/prove.ts';
import { finishCommand, standbyCommand } from '../adopt/standby.ts';
import type { Terminal } from '../terminal.ts';

/** `injector adopt`: moves a cluster from Istio's injector to this one, and back. */
export function adoptCommand(terminal: Terminal): Command {
  return new Command('adopt')
    .description("move pods from Istio's injector to this one, with a proof, and back")
    .addCommand(planCommand(terminal))
    .addCommand(proveCommand(terminal))
    .addCommand(standbyCommand(terminal))
    .addCommand(moveCommand(terminal))
    .addCommand(backCommand(terminal))
    .addCommand(finishCommand(terminal));
}
