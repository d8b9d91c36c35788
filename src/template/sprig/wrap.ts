import { cost } from '../meter.ts';
import type { Meter } from '../meter.ts';

/**
 * goutils.WrapCustom: breaks a text at spaces so that no line is longer than `width` bytes. Works on a string of bytes.
 *
 * @param breakWords Whether words longer than the width are broken; otherwise they get a line of their own.
 */
export function wrap(meter: Meter, text: string, width: number, newline: string, breakWords: boolean): string {
  const limit = Math.max(width, 1);
  const separator = newline === '' ? '\n' : newline;
  let result = '';
  let offset = 0;
  while (text.length - offset > limit) {
    if (text[offset] === ' ') {
      offset += 1;
      continue;
    }
    meter.spend(cost.element + separator.length);
    const at = text.slice(offset, offset + limit + 1).lastIndexOf(' ');
    const next = at >= 0 || breakWords ? -1 : text.indexOf(' ', offset + limit);
    if (at >= 0) {
      result += text.slice(offset, offset + at) + separator;
      offset += at + 1;
    } else if (breakWords) {
      result += text.slice(offset, offset + limit) + separator;
      offset += limit;
    } else if (next >= 0) {
      result += text.slice(offset, next) + separator;
      offset = next + 1;
    } else {
      return result + text.slice(offset);
    }
  }
  return result + text.slice(offset);
}
