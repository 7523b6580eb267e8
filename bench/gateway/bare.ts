/** The gateway with its defaults: Host and Origin checks and the log line per request are on. */
import { gateway, upstream } from 'sluice/gateway-node'
import { serveHttp } from 'sluice/node'
import { reportUrl } from '../contenders/served.ts'
import { upstreamTarget } from './upstream-target.ts'

const one = upstream({ name: 'bench', ...upstreamTarget(), scope: 'shared' })
const { endpoints } = gateway({ name: 'bench', version: '1.0.0', upstreams: [one] })
const http = await serveHttp(endpoints['bench'] ?? { name: 'none', version: '1' }, { port: 0 })
reportUrl(http.url)
