import { constants, setPriority } from 'node:os';

// Linux sets the priority of the calling thread alone (setpriority(2), "C library/kernel differences"): the thread that answers goes first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
