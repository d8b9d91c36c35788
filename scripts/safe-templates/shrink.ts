import type { Author } from './author.ts';
import type { Leak } from './trial.ts';

/** The maximum number of smaller templates to try. */
const mostTrials = 1500;

/**
 * Removes lines, actions and operands, then author's texts, while the leak remains a leak.
 * @param leaks returns a leak of the template for the authors, if any
 */
export function shrink(leak: Leak, leaks: (template: string, authors: readonly Author[]) => Leak | undefined): Leak {
  let trials = 0;
  let best = leak;
  const better = (template: string, authors: readonly Author[]): boolean => {
    trials += 1;
    const smaller = leaks(template, authors);
    if (smaller !== undefined) best = smaller;
    return smaller !== undefined;
  };
  const authorsOf = ({ other, author }: Leak): Author[] => (other === undefined ? [author] : [other, author]);
  for (let progress = true; progress && trials < mostTrials;) {
    progress = [...smallerTemplates(best.template)].some(
      (template) => trials < mostTrials && better(template, authorsOf(best)),
    );
    progress ||= [...smallerAuthors(authorsOf(best))].some((authors) => better(best.template, authors));
  }
  return best;
}

function* smallerTemplates(template: string): Generator<string> {
  const lines = template.split('\n');
  for (let count = 4; count > 0; count -= 1) {
    for (let at = 0; at + count <= lines.length; at += 1) {
      yield [...lines.slice(0, at), ...lines.slice(at + count)].join('\n');
    }
  }
  for (const action of template.matchAll(/\{\{[^]*?\}\}/g)) {
    const [before, after] = [template.slice(0, action.index), template.slice(action.index + action[0].length)];
    yield `${before}${after}`;
  }
  // A whole block, from an opening action to an end.
  const actions = [...template.matchAll(/\{\{-? *(if|with|range|end|else)[^]*?\}\}/g)];
  for (const opening of actions.filter(([, word]) => word !== 'end' && word !== 'else')) {
    for (const end of actions.filter((one) => one[1] === 'end' && one.index > opening.index).slice(0, 2)) {
      const inner = template.slice(opening.index + opening[0].length, end.index);
      const [before, after] = [template.slice(0, opening.index), template.slice(end.index + end[0].length)];
      yield `${before}${after}`;
      for (const branch of inner.split(/\{\{-? *else *-?\}\}/)) yield `${before}${branch}${after}`;
    }
  }
  for (const [start, end] of groups(template)) {
    const inner = template.slice(start + 1, end);
    const parts = [...groups(inner)].map(([from, to]) => inner.slice(from, to + 1));
    const simple = ['"x"', '(index $.ObjectMeta.Annotations "example.com/a")', ...parts];
    for (const one of simple) {
      if (one.length < end + 1 - start) yield template.slice(0, start) + one + template.slice(end + 1);
    }
  }
}

/** Returns the offsets of expressions in parentheses. */
function* groups(text: string): Generator<[start: number, end: number]> {
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') open.push(at);
    if (text[at] === ')') {
      const start = open.pop();
      if (start !== undefined) yield [start, at];
    }
  }
}

function* smallerAuthors(authors: readonly Author[]): Generator<Author[]> {
  for (const [index, author] of authors.entries()) {
    const replaced = (changed: Author): Author[] => authors.map((one, at) => (at === index ? changed : one));
    for (const map of ['annotations', 'labels'] as const) {
      for (const [name, text] of Object.entries(author[map])) {
        const others = Object.fromEntries(Object.entries(author[map]).filter(([key]) => key !== name));
        yield replaced({ ...author, [map]: others });
        for (const simple of ['', 'a', 'x', 'shop', text.slice(0, text.length / 2)]) {
          if (simple.length < text.length) yield replaced({ ...author, [map]: { ...author[map], [name]: simple } });
        }
      }
    }
  }
}
