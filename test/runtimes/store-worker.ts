/** A worker whose store is elsewhere: each operation takes a while. On workerd, what a request began ends with it. */

import type { Store } from 'sluice'
import { audit, createServer, defineServer, memoryStore, rateLimit, tool } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { bunSockets } from 'sluice/websocket-edge'

const kept = memoryStore()
let isHanging = false
const remote =
  <A extends readonly unknown[], T>(verb: (...args: A) => Promise<T>) =>
  async (...args: A): Promise<T> => {
    // A timer belongs to its request, as a connection does.
    await new Promise((resolve) => setTimeout(resolve, isHanging ? 3_600_000 : 5))
    return verb(...args)
  }
const store: Store = {
  get: remote(kept.get),
  set: remote(kept.set),
  swap: remote(kept.swap),
  delete: remote(kept.delete),
  take: remote(kept.take),
  append: remote(kept.append),
  list: remote(kept.list),
}
const echo = tool({ name: 'echo', description: 'Answers', run: () => 'hello' })
const handler = toFetch(
  createServer(defineServer({ name: 'remote', version: '1', tools: [echo] }), {
    store,
    secret: 'a secret that all isolates share',
    use: [rateLimit(), audit()],
  }),
)

export default {
  async fetch(...given: Parameters<typeof handler>): Promise<Response> {
    const { pathname } = new URL(given[0].url)
    if (pathname === '/mcp') return handler(...given)
    if (pathname === '/hang') isHanging = true
    const rows = await kept.list(['audit', 'rows'], { limit: 1000 })
    return Response.json(rows.flatMap(({ value }) => value.split('\n')).length)
  },
  websocket: bunSockets,
}
