/** Calls of many upstreams in turn, each over a separate HTTP connection. One server plays all of them. */
import { toTransportServer } from 'sluice/extend'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { define } from '../contenders/sluice/server.ts'
import { callMessage, echoText } from '../lib/messages.ts'
import { silentLog } from '../lib/silent-log.ts'
import type { Growth } from './growth.ts'

const silent = { use: [silentLog] }
const { url } = await serveHttp(createServer(define(10), silent), { port: 0 })

function open(size: number) {
  const upstreams = Array.from({ length: size }, (_, index) =>
    upstream({ name: `u${index}`, scope: 'shared', trust: 'always', url, allowHosts: ['127.0.0.1'] }),
  )
  return createServer(gateway({ name: 'team', version: '1.0.0', upstreams, startMs: 300_000 }), silent)
}

let [size, next, server] = [1, 0, open(1)]
const callOf = (index: number): unknown =>
  toTransportServer(server).handleText(JSON.parse(callMessage('2026-07-28').replace('"echo"', `"u${index}_echo"`)))

export const growth: Growth = {
  what: 'upstreams with ten tools',
  measured: 'tools/call of each in turn, over HTTP',
  sizes: [1, 10, 1_000],
  async growTo(wanted) {
    await server.close()
    size = wanted
    server = open(size)
    await server.ready()
    // The connection of each is opened by its first call.
    for (let index = 0; index < size; index++) await callOf(index)
  },
  call: () => callOf(next++ % size),
  expect: echoText,
}
