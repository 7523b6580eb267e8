/**
 * Clients that request a flood and read nothing of it: progress is dropped, each is disconnected, and the process stays
 * small.
 */

import { stallUntilClosed } from '../../kit/clients/connection-churn.client.ts'
import { startMeasuredServer } from '../../kit/processes/measured-server.ts'
import type { Soak } from '../soak.ts'

/** A mebibyte each for a hundred of them, and garbage that was not collected yet. */
const most = 200

export const run: Soak = async ({ times }) => {
  const count = times(100)
  const door = await startMeasuredServer()
  try {
    const before = await door.measure()
    let peak = 0
    let over = false
    const cut = Promise.all(Array.from({ length: count }, () => stallUntilClosed(door.port))).finally(() => {
      over = true
    })
    while (!over) {
      const { rss } = await door.measure()
      peak = Math.max(peak, rss - before.rss)
    }
    await cut
    const after = await door.until(({ underway }) => underway === 0)
    const added = Math.ceil(peak / 1024 / 1024)
    const lost = []
    if (after.underway > 0) lost.push(`${after.underway} floods are still running`)
    if (added > most) lost.push(`${added} MB were added, and ${most} are allowed`)
    return { counted: { 'stalled readers': count, 'cut off': after.cut - before.cut, 'MB added': added }, lost }
  } finally {
    await door.stop()
  }
}
