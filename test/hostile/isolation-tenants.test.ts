import { expect, test } from 'vitest'
import { hammer } from './isolation-hammer.ts'
import { canariesIn, canaryOf, createWorld, tenants } from './isolation-world.ts'

test('two tenants on every way in, with the same ids, keys and texts: nobody gets a byte of the other', async () => {
  const world = await createWorld({ audited: true })
  const { answers, canaries, changes, lost } = await hammer(world, 10_000)
  expect(lost).toEqual([])
  expect(answers).toBeGreaterThanOrEqual(10_000)
  expect(canaries).toBeGreaterThan(answers)
  expect(changes).toBeGreaterThan(1000)
  // What is left behind lies below its tenant, audit and idempotency records included.
  for (const tenant of tenants) {
    const own = new Set([...Array(400).keys(), 'tool'].map((text) => canaryOf(tenant, String(text))))
    const elsewhere = (await world.store.list([], { limit: 100_000 })).filter(({ key }) => !key.includes(tenant))
    const stray = elsewhere.filter(({ key, value }) => canariesIn(key.join() + value).some((each) => own.has(each)))
    expect(stray).toEqual([])
  }
}, 180_000)
