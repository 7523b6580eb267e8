/** Clients that fetch large results on resumable streams: the memory that the process retains. */

import { initializeMessage } from '../../kit/clients/connection-churn.client.ts'
import { post } from '../../kit/clients/http-events.ts'
import { startMeasuredServer } from '../../kit/processes/measured-server.ts'
import type { Soak } from '../soak.ts'

/** In MB: a session retains one mebibyte, and a process 32; the rest is garbage that was not collected yet. */
const most = { few: 15, many: 50 }

export const run: Soak = async ({ times }) => {
  const [few, calls, many] = [3, times(64), times(100)]
  const door = await startMeasuredServer()
  const url = `http://127.0.0.1:${door.port}/mcp`
  /** Referenced, because the garbage collector would end them. */
  const streams: Response[] = []
  async function visit(reports: number): Promise<void> {
    const opened = await post(url, initializeMessage)
    await opened.text()
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    // A connected client keeps its session, and with it everything the session retains.
    streams.push(await fetch(url, { headers: { ...headers, accept: 'text/event-stream' } }))
    for (let id = 0; id < reports; id++) {
      const params = { name: 'report', arguments: {}, _meta: { progressToken: id } }
      const response = await post(url, { jsonrpc: '2.0', id, method: 'tools/call', params }, headers)
      await response.text()
    }
  }
  try {
    const before = await door.measure()
    const added = async (): Promise<number> => Math.ceil(((await door.measure()).heap - before.heap) / 1024 / 1024)
    for (let session = 0; session < few; session++) await visit(calls)
    const byFew = await added()
    for (let session = 0; session < many; session++) await visit(1)
    const byAll = await added()
    const { listeners } = await door.measure()
    const lost = []
    if (listeners !== streams.length) lost.push(`${streams.length} sessions were opened and ${listeners} are held`)
    if (byFew > most.few) lost.push(`${few} sessions keep ${byFew} MB, and ${most.few} are allowed`)
    if (byAll > most.many) lost.push(`all sessions keep ${byAll} MB, and ${most.many} are allowed`)
    const count = few * calls + many
    return { counted: { 'streams of 0.7 MB': count, 'MB kept by 3 sessions': byFew, 'MB kept by all': byAll }, lost }
  } finally {
    await door.stop()
  }
}
