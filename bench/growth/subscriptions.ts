/** A change of one resource, while other clients are subscribed to other resources. */
import { setImmediate as turn } from 'node:timers/promises'
import { createServer, defineServer, resource } from 'sluice'
import { toTransportServer } from 'sluice/extend'
import type { Growth } from './growth.ts'

const server = createServer(
  defineServer({
    name: 'bench',
    version: '1.0.0',
    resources: [resource({ uri: 'note://{id}', name: 'note', description: 'A note', read: () => 'text' })],
  }),
)
const transport = toTransportServer(server)
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
let [size, notified] = [0, 0]

async function subscribe(id: number): Promise<void> {
  const params = { notifications: { resourceSubscriptions: [`note://${id}`] }, _meta }
  await new Promise<void>((resolve, reject) => {
    const answered = transport.handleText(
      { jsonrpc: '2.0', id, method: 'subscriptions/listen', params },
      {
        via: { transport: 'memory', peer: 'bench', header: () => undefined },
        send: () => {
          notified++
        },
        stayOpen: resolve,
      },
    )
    Promise.resolve(answered).then((answer) => reject(new Error(`ended: ${answer}`)), reject)
  })
}

export const growth: Growth = {
  what: 'subscriptions',
  measured: 'one resource changes, one client is told',
  sizes: [1, 100, 10_000],
  async growTo(wanted) {
    for (; size < wanted; size++) await subscribe(size)
  },
  async call() {
    const before = notified
    server.resourceUpdated('note://0')
    await turn()
    if (notified !== before + 1) throw new Error(`${notified - before} clients were told`)
  },
}
