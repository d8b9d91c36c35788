// Executes the named bombs with the default limits; the parent process sets a small heap.
import { functionsOfFamily } from '../functions/go/function-families.ts';
import { compileTemplate } from '../template.ts';
import { TemplateError } from '../template-error.ts';
import { bombs } from './bombs.ts';

const functions = functionsOfFamily('istio');
for (const name of process.argv.slice(2)) {
  try {
    compileTemplate(String(bombs[name]), { name: 't', functions }).execute({}, {});
    throw new Error(`${name} did not exceed a limit`);
  } catch (error) {
    if (!(error instanceof TemplateError) || error.kind !== 'limit') throw error;
  }
}
