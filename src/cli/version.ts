/** A copy of the version in package.json, because the bundle does not contain package.json. */
export const programVersion = '0.1.0';
