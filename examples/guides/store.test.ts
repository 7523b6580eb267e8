import { memoryStore } from 'sluice'
import { storeContract } from 'sluice/store-contract'
import { fakeClock } from 'sluice/testing'
import { timed } from './store.ts'

storeContract('timed', () => {
  const clock = fakeClock(1_800_000_000_000)
  const store = timed(memoryStore(clock), () => {})
  return { store, advance: (ms) => clock.advance(ms), close: async () => {} }
})
