import { expect, test } from 'vitest'
import type { Call, Handler } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { createServices } from '../services.ts'
import { memoryStore } from '../stores/memory.ts'
import { aCall } from '../testing/call.ts'
import { fakeClock } from '../testing/clock.ts'
import { rateLimit } from './rate-limit.ts'

function openServers(...names: readonly string[]): readonly Handler[] {
  const clock = fakeClock()
  const store = memoryStore(clock)
  return names.map((name) => {
    const { layer } = rateLimit({ burst: 1, perSecond: 1 }).create(createServices({ name, store, clock }))
    if (!layer) throw new Error('rateLimit has no layer')
    return layer(async () => ({ content: [] }))
  })
}
const ann = aCall({ caller: { ...anonymous, subject: 'ann', credential: 'jwt' } })
const refused = { reason: 'rateLimited' }
const withPolicy = (policy: Partial<Call['target']['policy']>): Call => ({
  ...ann,
  target: { ...ann.target, policy: { ...ann.target.policy, ...policy } },
})

test('two servers on one store have separate buckets, and processes of one server share theirs', async () => {
  const [notes, otherNotes, mail] = openServers('notes', 'notes', 'mail')
  await notes?.(ann)
  await expect(otherNotes?.(ann)).rejects.toMatchObject(refused)
  await expect(mail?.(ann)).resolves.toEqual({ content: [] })
  await expect(mail?.(ann)).rejects.toMatchObject(refused)
})

test('names that a caller may not know are limited per server too', async () => {
  const [notes, mail] = openServers('notes', 'mail')
  const hidden = withPolicy({ scopes: ['secret'] })
  await notes?.(hidden)
  await expect(notes?.(hidden)).rejects.toMatchObject(refused)
  await expect(mail?.(hidden)).resolves.toEqual({ content: [] })
})

test('a rate that a target brings with it is shared by all servers', async () => {
  const [notes, mail] = openServers('notes', 'mail')
  const shared = withPolicy({ rate: { name: 'upstream/echo', burst: 1, perSecond: 1 } })
  await notes?.(shared)
  await expect(mail?.(shared)).rejects.toMatchObject(refused)
})
