import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Result } from '../core/answer.ts'
import { createEncoder } from './encode.ts'
import { modernRevision, revisions } from './revisions.ts'

const encoder = createEncoder({ name: 's', version: '1' })
const features = revisions[modernRevision]

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '"', '\\', '\n', '\u2028', 'ok'))
/** Each subset of the members, equally often. */
const someOf = (members: { readonly [name: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<Result> =>
  fc
    .subarray(Object.keys(members))
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, members[name] ?? text]))))
const block = fc.oneof(someOf({ type: fc.constant('text'), text, uri: text }), fc.constantFrom(null, 'text', []))
const content = fc.array(block, { minLength: 1, maxLength: 2 })
const result = someOf({ content, isError: fc.boolean(), structuredContent: text })

test('the text of an answer is the JSON of its object, whatever the result contains', () => {
  fc.assert(
    fc.property(result, (answer) => {
      const reply = { id: 1, method: 'tools/call', features, answer }
      expect(JSON.parse(encoder.toText(reply))).toEqual(JSON.parse(JSON.stringify(encoder.toObject(reply))))
    }),
    { numRuns: 1_000 },
  )
})
