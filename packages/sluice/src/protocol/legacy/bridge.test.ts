import { expect, test } from 'vitest'
import type { Params } from '../../core/json.ts'
import { aCall } from '../../testing/call.ts'
import { sample } from '../questions.ts'
import type { RevisionName } from '../revisions.ts'
import { bridge } from './bridge.ts'

const text = { type: 'text', text: 'Compare these' }
const sound = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }
const note = { type: 'text', text: "[audio, audio/wav: this client's protocol revision has no audio]" }
const question = sample({ messages: [{ role: 'user', content: [text, { ...sound, _meta: { a: 1 } }] }], maxTokens: 5 })

/** Returns the messages that a client of the revision is asked with. */
async function askedOf(revision: RevisionName): Promise<unknown> {
  const asked: Params[] = []
  const answers = [{ resultType: 'input_required', inputRequests: { question } }, { content: [] }]
  const call = aCall({
    revision,
    async request(_, params) {
      asked.push(params)
      return {}
    },
  })
  await bridge(() => answers.shift() ?? {})(call)
  return asked[0]?.['messages']
}

test.each([
  [
    '2024-11-05',
    [
      { role: 'user', content: text },
      { role: 'user', content: note },
    ],
  ],
  [
    '2025-03-26',
    [
      { role: 'user', content: text },
      { role: 'user', content: sound },
    ],
  ],
  [
    '2025-06-18',
    [
      { role: 'user', content: text },
      { role: 'user', content: { ...sound, _meta: { a: 1 } } },
    ],
  ],
  ['2025-11-25', [{ role: 'user', content: [text, { ...sound, _meta: { a: 1 } }] }]],
] as const)('a sampling request to a client of %s has only what its revision has', async (revision, messages) => {
  expect(await askedOf(revision)).toEqual(messages)
})
