import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Result } from '../core/answer.ts'
import { createEncoder } from './encode.ts'
import { modernRevision, revisions } from './revisions.ts'

const encoder = createEncoder({ name: 's', version: '1' })
const features = revisions[modernRevision]

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '"', '\\', '\n', '\u2028', 'ok'))
const block = fc.oneof(
  fc.record({ type: fc.constantFrom('text', 'other'), text, uri: text }, { requiredKeys: ['type'] }),
  fc.jsonValue(),
)
const result: fc.Arbitrary<Result> = fc.record(
  { content: fc.array(block, { minLength: 1, maxLength: 2 }), isError: fc.boolean(), structuredContent: text },
  { requiredKeys: ['content'] },
)

test('the text of an answer is the JSON of its object, whatever the result contains', () => {
  fc.assert(
    fc.property(result, (answer) => {
      const reply = { id: 1, method: 'tools/call', features, answer }
      expect(JSON.parse(encoder.toText(reply))).toEqual(JSON.parse(JSON.stringify(encoder.toObject(reply))))
    }),
    { numRuns: 2_000 },
  )
})
