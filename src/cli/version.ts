/** The version in package.json, which a test compares; the bundle has no package.json. */
export const version = '0.1.0';
