import { hostileData, HostileTexts } from '../hostile/hostile-texts.ts';
import type { Random } from '../template-recorder/random.ts';

const { words, plain } = hostileData;

/** A source of authors' texts: ordinary ones, hostile ones, and constants of the template. */
export class AuthorTexts {
  readonly #random: Random;
  readonly #hostile: HostileTexts;

  constructor(random: Random) {
    this.#random = random;
    this.#hostile = new HostileTexts(random);
  }

  /** @param constants the constants that the template compares with or looks up */
  next(constants: readonly string[]): string {
    const random = this.#random;
    const choice = random.next();
    if (choice < 0.24) return random.pick(plain);
    if (choice < 0.43 && constants.length > 0) return this.#like(random.pick(constants));
    if (choice < 0.5) return this.#hostile.next().slice(0, 400);
    if (choice < 0.55) return random.pick(words) + random.pick(words);
    return random.pick(words);
  }

  /** Returns a text that equals a constant or nearly does. */
  #like(constant: string): string {
    const random = this.#random;
    switch (random.below(6)) {
      case 0:
        return `${constant}${random.pick(['x', ' ', '1', '-c'])}`;
      case 1:
        return `${random.pick(['x', ' ', '1', '-'])}${constant}`;
      case 2:
        return constant === constant.toUpperCase() ? constant.toLowerCase() : constant.toUpperCase();
      default:
        return constant;
    }
  }
}
