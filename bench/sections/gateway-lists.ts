/** `tools/list` of a gateway with ten upstreams of 50 tools, beside a server that has 500 tools itself. */
import { toTransportServer } from 'sluice/extend'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { measure } from '../contenders/cases.ts'
import { define } from '../contenders/sluice/server.ts'
import { formatNumber, interleave, median, ratio, type Section } from '../lib/figures.ts'
import { listMessage } from '../lib/messages.ts'
import { silentLog } from '../lib/silent-log.ts'

const names = ['own tools', 'ten upstreams'] as const
const message = listMessage('2026-07-28')
const rounds = 15
const roundMs = 200

export async function gatewayLists(): Promise<Section> {
  const serving = await serveHttp(createServer(define(50), { use: [silentLog] }), { port: 0 })
  const upstreams = Array.from({ length: 10 }, (_, number) => upstream({ name: `u${number}`, url: serving.url }))
  const servers = {
    'own tools': createServer(define(500), { use: [silentLog] }),
    'ten upstreams': createServer(gateway({ name: 'bench', version: '1.0.0', upstreams }), { use: [silentLog] }),
  }
  try {
    await servers['ten upstreams'].ready()
    const list = (name: (typeof names)[number]) => toTransportServer(servers[name]).handleText(JSON.parse(message))
    for (const name of names) {
      const count = String(await list(name)).split('"inputSchema"').length - 1
      if (count !== 500) throw new Error(`${name} lists ${count} tools`)
    }
    const taken = await interleave(names, rounds + 1, (name) => measure(() => list(name), roundMs))
    const us = (name: (typeof names)[number]) => median((taken.get(name) ?? []).slice(1))
    return {
      figures: Object.fromEntries(names.map((name) => [name, us(name)])),
      tables: [
        {
          title: 'gateway: tools/list with 500 tools in process, CPU µs per call',
          notes: [`median of ${rounds} rounds of ${roundMs / 1_000} s`],
          columns: ['', 'µs'],
          rows: names.map((name) => [name, formatNumber(us(name))]),
        },
      ],
      goals: [
        {
          figure: 'tools/list of ten upstreams, of a server with the same number',
          atMost: 1.15,
          unit: '×',
          measured: ratio(us('ten upstreams'), us('own tools')),
        },
      ],
    }
  } finally {
    await Promise.all([servers['own tools'].close(), servers['ten upstreams'].close(), serving.close()])
  }
}
