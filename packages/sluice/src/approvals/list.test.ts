import { expect, test } from 'vitest'
import { createPendingCount } from './list.ts'

/** An index of this many tickets, every second of another tenant. */
function anIndex(size: number) {
  let read = 0
  const count = createPendingCount({
    async listIndex(_, limit, after = '0') {
      const from = Number(after)
      const length = Math.min(limit, size - from)
      read += length
      return Array.from({ length }, (_, i) => ({
        ...{ id: `${from + i}`, server: 'shop', tool: 'pay', cursor: `${from + i + 1}` },
        tenant: i % 2 === 0 ? 'acme' : 'zeta',
      }))
    },
  })
  return { count, read: () => read }
}

test('pending tickets are counted exactly up to 10 000', async () => {
  expect(await anIndex(9_999).count()).toBe(9_999)
  expect(await anIndex(9_999).count(['acme'])).toBe(5_000)
})

test('more pending tickets cost a count no more than 10 000 do', async () => {
  const { count, read } = anIndex(100_000)
  expect(await count()).toBe(10_000)
  expect(read()).toBe(10_000)
})
