/** `node --import ./scripts/typescript/register.js FILE.ts` runs TypeScript as it stands. */
import { register } from 'node:module';

register('./hooks.js', import.meta.url);
