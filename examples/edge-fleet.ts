/** One of several processes on Deno or Bun that share Redis: each can serve the sessions of earlier revisions. */

import { ask, createServer, defineServer, tool } from 'sluice'
import { sessions, sharedSessions, toFetch } from 'sluice/fetch'
import { elicitation } from 'sluice/plugins'
import { redisBus, redisStore } from 'sluice/redis'
import { sse } from 'sluice/sse'
import * as z from 'zod'

const greet = tool({
  name: 'greet',
  description: 'Ask for a name, and greet it',
  ask: () => ({ who: ask.form('Who are you?', z.object({ name: z.string() })) }),
  run: (_, { answers }) => `Hello ${answers.who.name}`,
})

const redis = { url: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379' }
const server = createServer(defineServer({ name: 'greeter', version: '1.0.0', tools: [greet] }), {
  store: redisStore(redis),
  bus: redisBus(redis),
  secret: process.env['SLUICE_SECRET'],
  use: [elicitation()],
})

const fetch: ReturnType<typeof toFetch> = toFetch(server, { sessions: sessions(), share: sharedSessions, sse: sse() })

export default { fetch }
