import { expect, test } from 'vitest'
import { memoryBus } from '../stores/memory-bus.ts'
import { fakeClock } from '../testing/clock.ts'
import { createLocalRuns } from './local-runs.ts'

const openRuns = () =>
  createLocalRuns({
    ...{ name: 'bank', noun: 'tasks', bus: memoryBus(), clock: fakeClock(), inProcess: true },
    caps: { perCaller: 2, perTenant: 3, perProcess: 4 },
  })

test('callers, tenants and the process have their places, and a place that is freed can be used again', () => {
  const runs = openRuns()
  const freeFirst = runs.reserve('acme', 'ann')
  runs.reserve('acme', 'ann')
  expect(() => runs.reserve('acme', 'ann')).toThrow('Too many tasks')
  const freeThird = runs.reserve('acme', 'bob')
  expect(() => runs.reserve('acme', 'eve')).toThrow('Too many tasks')
  runs.reserve('globex', 'ann')
  expect(() => runs.reserve('globex', 'bob')).toThrow('Too many tasks')
  expect([runs.size, runs.quota.of('acme')?.used, runs.quota.of('globex')?.used]).toEqual([4, 3, 1])
  freeFirst()
  freeThird()
  expect([runs.size, runs.quota.of('acme')?.used]).toEqual([2, 1])
  runs.reserve('acme', 'ann')
  expect(() => runs.reserve('acme', 'ann')).toThrow('Too many tasks')
})

test('a tenant whose calls have all ended begins again at none', () => {
  const runs = openRuns()
  for (let n = 0; n < 10; n++) runs.reserve('acme', 'ann')()
  expect([runs.size, runs.quota.of('acme')?.used]).toEqual([0, 0])
})
