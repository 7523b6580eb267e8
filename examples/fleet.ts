/** One of several processes behind a load balancer. All its state is in Redis, and it stops without losing a call. */

import type { HttpServing } from 'sluice/node'
import { createServer, onSignals, secretFromEnvironment, serveHttp } from 'sluice/node'
import { redisBus, redisStore } from 'sluice/redis'
import { hello } from './hello.ts'

/** Reads PORT, REDIS_URL, PUBLIC_HOST, and SLUICE_SECRET or SLUICE_SECRET_FILE, which is the same in all processes. */
export async function serveFleet(env: NodeJS.ProcessEnv = process.env): Promise<HttpServing> {
  const url = env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'
  const [store, bus] = [redisStore({ url }), redisBus({ url })]
  const server = createServer(hello, { store, bus, secret: secretFromEnvironment() })
  const serving = await serveHttp(server, {
    port: Number(env['PORT'] ?? 3001),
    hosts: [env['PUBLIC_HOST'] ?? 'localhost'],
  })
  onSignals(serving, {
    noticeMs: 5_000,
    graceMs: 20_000,
    flush: () => Promise.all([bus.close(), store.close()]),
  })
  return serving
}

if (import.meta.main) await serveFleet()
