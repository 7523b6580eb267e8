/** A gateway on stdio in front of one upstream: `node gateway-over-stdio.fixture.ts <url>`, or a program and its argument. */

import type { Upstream } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveStdio } from 'sluice/node'
import { log } from 'sluice/plugins'

const [target = '', ...args] = process.argv.slice(2)
const settings = { name: 'asking', scope: 'shared', prefix: '' } as const
const asking: Upstream = target.startsWith('http:')
  ? upstream({ ...settings, url: target, allowHosts: ['127.0.0.1'] })
  : upstream({ ...settings, command: process.execPath, args: [target, ...args] })
const definition = gateway({ name: 'team', version: '1.0.0', upstreams: [asking] })
await serveStdio(createServer(definition, { use: [log({ info() {}, warn() {}, error() {} })] }))
