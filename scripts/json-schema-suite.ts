/**
 * Runs the official JSON-Schema-Test-Suite against `sluice/json-schema` and prints the counts per draft: `node
 * scripts/json-schema-suite.ts <folder>`. The folder contains `tests/draft7` and `tests/draft2020-12`; the suite is not
 * part of this repository. Exits with 1 if a verdict is wrong.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { jsonSchema } from 'sluice/json-schema'

interface Group {
  readonly description: string
  readonly schema: object | boolean
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const [folder, ...more] = process.argv.slice(2)
if (folder === undefined || more.length > 0) {
  console.error('Usage: node scripts/json-schema-suite.ts <folder of the JSON-Schema-Test-Suite>')
  process.exit(2)
}

const drafts = [
  { name: 'draft-07', folder: 'draft7', $schema: 'http://json-schema.org/draft-07/schema#' },
  { name: '2020-12', folder: 'draft2020-12', $schema: 'https://json-schema.org/draft/2020-12/schema' },
] as const
const parts = [
  { name: 'required', below: '', format: 'note' },
  { name: 'optional', below: 'optional', format: 'note' },
  { name: 'formats', below: 'optional/format', format: 'check' },
] as const

/** Not checked by this library: contents, and formats that need large tables (`json-schema/formats.ts`). */
const annotations = new Set(['idn-email.json', 'idn-hostname.json', 'iri.json', 'iri-reference.json'])

let wrongInAll = 0
for (const draft of drafts) {
  for (const part of parts) {
    const count = { right: 0, wrong: 0, refused: 0, annotation: 0 }
    const details: string[] = []
    const reasons = new Map<string, number>()
    for (const file of files(join(folder, 'tests', draft.folder, part.below))) {
      const groups: readonly Group[] = JSON.parse(readFileSync(file, 'utf8'))
      for (const group of groups) {
        const isContent = part.name === 'optional' && basename(file) === 'content.json'
        if (isContent || annotations.has(basename(file)) || group.description.includes('A-label')) {
          count.annotation += group.tests.length
          continue
        }
        const written = typeof group.schema === 'object' ? { $schema: draft.$schema, ...group.schema } : group.schema
        const { validate } = jsonSchema(written, { format: part.format })['~standard']
        for (const test of group.tests) {
          try {
            const isRight = (validate(test.data).issues === undefined) === test.valid
            count[isRight ? 'right' : 'wrong'] += 1
            if (!isRight) details.push(`  wrong: ${basename(file)}: ${group.description}: ${test.description}`)
          } catch (error) {
            count.refused += 1
            const reason = `${basename(file)}: ${String(error).replace(/^TypeError: JSON Schema at \S+: /, '')}`
            reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
          }
        }
      }
    }
    wrongInAll += count.wrong
    const all = count.right + count.wrong + count.refused + count.annotation
    console.log(
      `${draft.name} ${part.name}: ${count.right} of ${all} right, ${count.wrong} wrong, ${count.refused} refused at definition, ${count.annotation} not checked`,
    )
    for (const detail of details) console.log(detail)
    for (const [reason, times] of reasons) console.log(`  refused ${times}×: ${reason}`)
  }
}
process.exitCode = wrongInAll > 0 ? 1 : 0

function files(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [join(path, entry.name)] : []))
}
