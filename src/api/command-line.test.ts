import assert from 'node:assert/strict';
import { commandLine, inSequence } from './command-line.ts';

describe('commandLine', () => {
  it('writes no command with unprintable characters, and tells its form', () => {
    for (const character of [
      '\n',
      '\t',
      '\0',
      '\u001B',
      '\u0085',
      '\u00AD',
      '\u202E',
      '\u2028',
      '\u{E0001}',
      '\uD800',
    ]) {
      const line = commandLine`kubectl get pod/${`a${character}b`} -n ${'shop'}`;
      assert.match(line, /^# kubectl get pod\/… -n …: type the values yourself/);
      const both = `# kubectl get pods; then ${line.slice(2)}`;
      assert.equal(inSequence([commandLine`kubectl get ${'pods'}`, line]), both);
    }
  });

  it('quotes only where it is necessary', () => {
    const label = commandLine`kubectl label namespace ${'shop'} ${'istio.io/rev'}=${'1-25'}`;
    const all = inSequence([label, commandLine`injector tag watch ${''}`, commandLine`kubectl get ${"it's"} ${'=a'}`]);
    const expected = String.raw`kubectl label namespace shop istio.io/rev=1-25 && injector tag watch '' && kubectl get 'it'\''s' '=a'`;
    assert.equal(all, expected);
  });
});
