/** The gateway with its defaults in front of a command, one process for all callers. */
import { fileURLToPath } from 'node:url'
import { gateway, upstream } from 'sluice/gateway-node'
import { serveHttp } from 'sluice/node'
import { scriptOf } from '../lib/contenders.ts'

const args = [fileURLToPath(scriptOf('sluice', 'stdio'))]
const one = upstream({ name: 'bench', command: process.execPath, args, scope: 'shared' })
const { endpoints } = gateway({ name: 'bench', version: '1.0.0', upstreams: [one] })
await serveHttp(endpoints['bench'] ?? { name: 'none', version: '1' }, { port: Number(process.argv[2]) })
