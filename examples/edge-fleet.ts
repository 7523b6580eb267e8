/** One of several processes on Deno or Bun that share Redis: each can serve the sessions of earlier revisions. */

import { ask, createServer, defineServer, form, tool } from 'sluice'
import { sessions, sharedSessions, toFetch } from 'sluice/fetch'
import { redisBus, redisStore } from 'sluice/redis'
import { sse } from 'sluice/sse'
import * as z from 'zod'

const greet = tool({
  name: 'greet',
  description: 'Ask for a name, and greet it',
  ask: () => ({ who: form('Who are you?', z.object({ name: z.string() })) }),
  run: (_, { answers }) => `Hello ${answers.who.name}`,
})

const redis = { url: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379' }
const server = createServer(defineServer({ info: { name: 'greeter', version: '1.0.0' }, tools: [greet] }), {
  store: redisStore(redis),
  bus: redisBus(redis),
  secret: process.env['SLUICE_SECRET'],
  ask: ask(),
})

const fetch: ReturnType<typeof toFetch> = toFetch(server, { sessions: sessions(), share: sharedSessions, sse: sse() })

export default { fetch }
