/** Values as PostgreSQL's text, which holds every character but U+0000. */

/** U+0000 becomes U+0001 U+0002, and U+0001 becomes U+0001 U+0003. JSON has neither, so most values stay as they are. */
export const toColumn = (value: string): string =>
  special.test(value) ? value.replace(specials, (char) => (char === '\0' ? '\u0001\u0002' : '\u0001\u0003')) : value

export const fromColumn = (text: string): string =>
  text.includes('\u0001') ? text.replace(escaped, (pair) => (pair.charCodeAt(1) === 2 ? '\0' : '\u0001')) : text

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the two that are escaped
const special = /[\u0000\u0001]/
const specials = /* @__PURE__ */ new RegExp(special, 'g')
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const escaped = /\u0001[\u0002\u0003]/g
