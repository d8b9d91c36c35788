import { Option } from 'commander';
import type { NativeSidecars } from '../../api/injection-settings.ts';

const modes = { auto: 'Auto', enabled: 'Enabled', disabled: 'Disabled' } as const;
export type NativeSidecarsChoice = keyof typeof modes;

/** `--native-sidecars auto|enabled|disabled`, as `serve` and the commands for files spell it. */
export function nativeSidecarsOption(): Option {
  return new Option(
    '--native-sidecars <mode>',
    'whether the proxy becomes an init container that keeps running; auto decides by the kubelets',
  )
    .choices(Object.keys(modes))
    .default('auto');
}

/** The setting that a choice stands for. */
export function nativeSidecarsOf(choice: NativeSidecarsChoice): NativeSidecars {
  return modes[choice];
}
