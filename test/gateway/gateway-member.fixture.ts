/** One gateway process of several: shares a Redis, and is in front of one upstream. Prints its address. */

import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { openShared } from '../kit/processes/shared-store.ts'

const { STORE_URL = '', UPSTREAM_URL = '', PORT = '', HOSTS = '' } = process.env
const { store, bus } = openShared(STORE_URL)
const asking = upstream({ name: 'asking', scope: 'shared', prefix: '', url: UPSTREAM_URL, allowHosts: ['127.0.0.1'] })
const server = createServer(gateway({ name: 'team', version: '1.0.0', upstreams: [asking] }), {
  ...{ store, bus, secret: 'a secret that all processes share' },
  use: [log({ info() {}, warn() {}, error() {} })],
})
const serving = await serveHttp(server, { port: Number(PORT), hosts: HOSTS.split(' ') })
process.stdout.write(`${serving.url}\n`)
