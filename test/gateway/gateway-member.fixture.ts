/** One gateway process of several: shares a store, and is in front of the same upstreams. Prints its address. */

import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { openShared } from '../kit/processes/shared-store.ts'

const { STORE_URL = '', UPSTREAMS = '', PORT = '', HOSTS = '' } = process.env
const { store, bus } = openShared(STORE_URL)
const upstreams = (JSON.parse(UPSTREAMS) as { name: string; url: string; prefix?: string }[]).map((each) =>
  upstream({ ...each, scope: 'shared', allowHosts: ['127.0.0.1'] }),
)
const server = createServer(gateway({ name: 'team', version: '1.0.0', upstreams }), {
  ...{ store, bus, secret: 'a secret that all processes share' },
  use: [log({ info() {}, warn() {}, error() {} })],
})
const serving = await serveHttp(server, {
  ...{ port: Number(PORT), hosts: HOSTS.split(' ') },
  ...{ sse: sse(), websocket: websocket() },
})
process.stdout.write(`${serving.url}\n`)
