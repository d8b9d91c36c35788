/** The version of package.json; a test holds the two together, so that the bundle needs no file beside it. */
export const version = '0.1.0';
