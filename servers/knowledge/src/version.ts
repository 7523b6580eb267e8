/** As in package.json, which cannot be read on the edge; a test holds the two together. */
export const version = '0.1.0'
