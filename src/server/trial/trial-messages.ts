import type { ConfigurationFiles } from '../../api/configuration-files.ts';

/** To the process that tries configurations: one at a time. */
export interface ToTrial {
  readonly files: ConfigurationFiles;
  readonly maxAnswerBytes: number;
}

/** From the process that tries configurations. */
export type FromTrial =
  /** It has started; sent once, before anything else. */
  | { readonly kind: 'ready' }
  /** A `ReadConfiguration`, serialized: its size is known before it is read. */
  | { readonly kind: 'fine'; readonly configuration: Uint8Array }
  /** A ConfigurationError; `isCostly` when it is a TooCostlyError. */
  | { readonly kind: 'refused'; readonly field: string; readonly message: string; readonly isCostly: boolean };
