/** One gateway process of several: shares a store, and is in front of the upstreams `v1` and `v2`. Prints its address. */

import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { openShared } from '../kit/processes/shared-store.ts'

const { STORE_URL = '', UPSTREAM_URLS = '', PORT = '', HOSTS = '' } = process.env
const { store, bus } = openShared(STORE_URL)
const upstreams = UPSTREAM_URLS.split(' ').map((url, index) =>
  upstream({ name: `v${index + 1}`, scope: 'shared', url, allowHosts: ['127.0.0.1'] }),
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
