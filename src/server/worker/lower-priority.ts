import { constants, setPriority } from 'node:os';

// Linux sets the priority of the calling thread only (setpriority(2), "C library/kernel
// differences"), so the main thread keeps its priority.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
