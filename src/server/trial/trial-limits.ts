/** Bounds of trying one configuration. Times in milliseconds. */
export interface TrialLimits {
  /** CPU time of a first try, and of a second one that comes after everything else that waits. */
  readonly processorTimes: readonly [first: number, second: number];
  /** A try that has not had its CPU time by then says something of the machine, not of the configuration. */
  readonly patience: number;
  /** Of the heap of the process, in MiB. */
  readonly heapMebibytes: number;
  /** Of its stack, in KiB: less than the main thread has, so that what fits here fits there. */
  readonly stackKibibytes: number;
  /** What has been read of one configuration, in bytes, as it is handed over. */
  readonly maxAnswerBytes: number;
  /** A process without work is ended after this time. */
  readonly idle: number;
}

export const defaultTrialLimits: TrialLimits = {
  processorTimes: [1_000, 4_000],
  patience: 60_000,
  heapMebibytes: 192,
  stackKibibytes: 700,
  maxAnswerBytes: 8 * 1024 * 1024,
  idle: 15_000,
};
