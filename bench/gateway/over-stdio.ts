/** The gateway on stdio in front of a server at a URL, as a client starts it that only starts commands. */
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveStdio } from 'sluice/node'

const one = upstream({ name: 'bench', url: process.argv[2] ?? '', scope: 'shared' })
const { endpoints } = gateway({ name: 'bench', version: '1.0.0', upstreams: [one] })
await serveStdio(createServer(endpoints['bench'] ?? { name: 'none', version: '1' }))
