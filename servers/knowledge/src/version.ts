/** Equals the version in package.json, which cannot be read on the edge; a test compares the two. */
export const version = '0.1.0'
