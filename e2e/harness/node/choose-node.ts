import { nodeLacks } from './node-lacks.ts';

/**
 * Decides whether pods run on a real node, by NODE=real or NODE=fake, or by what this machine has.
 *
 * @throws Error if NODE asks for a real node that this machine cannot run
 */
export function choosesRealNode(report: (line: string) => void): boolean {
  const { NODE: chosen = '' } = process.env;
  // Other programs may use a variable of this name.
  if (!['', 'real', 'fake'].includes(chosen))
    report(`the variable NODE is ignored, because ${JSON.stringify(chosen)} is neither real nor fake`);
  if (chosen === 'fake') return false;
  const lacking = nodeLacks();
  if (lacking === undefined) return true;
  if (chosen === 'real') throw new Error(lacking);
  report(`the pods are simulated by KWOK: ${lacking}`);
  return false;
}
