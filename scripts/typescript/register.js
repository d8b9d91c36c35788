/** `node --import ./scripts/typescript/register.js FILE.ts` runs TypeScript without a build. */
import { register } from 'node:module';

register('./hooks.js', import.meta.url);
