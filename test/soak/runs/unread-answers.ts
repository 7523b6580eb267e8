/** Clients that repeatedly request a mebibyte and read nothing: the bytes held for each byte they sent. */

import type { Socket } from 'node:net'
import { connectFrom, toolCallText } from '../../kit/clients/connection-churn.client.ts'
import { startMeasuredServer } from '../../kit/processes/measured-server.ts'
import type { Soak } from '../soak.ts'

/** The limit for unsent bytes on all connections of a port. */
const limit = 64 * 1024 * 1024
/** MB: the limit, as much again in transit, and garbage that was not collected yet. */
const most = 250
/** Requests that each client sends ahead. */
const ahead = 20

export const run: Soak = async ({ times }) => {
  const count = times(200)
  const door = await startMeasuredServer()
  const open: Socket[] = []
  try {
    const before = await door.measure()
    let sent = 0
    let held = 0
    let peak = 0
    const look = async (): Promise<void> => {
      const { unsent, rss } = await door.measure()
      held = Math.max(held, unsent)
      peak = Math.max(peak, rss - before.rss)
    }
    for (let client = 0; client < count; client++) {
      const socket = await connectFrom(door.port, client)
      socket.pause()
      const bytes = toolCallText(door.port, 'long').repeat(ahead)
      sent += bytes.length
      socket.write(bytes)
      open.push(socket)
      if (client % 20 === 0) await look()
    }
    await look()
    const after = await door.until(({ unsent, underway }) => unsent === 0 && underway === 0)
    const added = Math.ceil(peak / 1024 / 1024)
    const lost = []
    if (held > limit) lost.push(`${held} bytes waited, and ${limit} are allowed`)
    if (added > most) lost.push(`${added} MB were added, and ${most} are allowed`)
    if (after.unsent > 0) lost.push(`${after.unsent} bytes still wait`)
    return {
      counted: {
        clients: count,
        'bytes sent': sent,
        'bytes held at most': held,
        'bytes held per byte sent': Math.round((10 * held) / sent) / 10,
        'MB added': added,
        'cut off': after.cut - before.cut,
      },
      lost,
    }
  } finally {
    for (const socket of open) socket.destroy()
    await door.stop()
  }
}
