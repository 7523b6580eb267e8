/** Sluice on Bun: the same definition, served by Bun's HTTP server through the `fetch` handler. */
import { createServer } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { reportUrl } from '../../contenders/served.ts'
import { define } from '../sluice-definition.ts'

interface BunServer {
  readonly port: number
}
declare const Bun: {
  serve(options: { port: number; hostname: string; fetch: (request: Request) => Promise<Response> }): BunServer
}

const handler = toFetch(createServer(await define()))
const { port } = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => handler(request) })
reportUrl(`http://127.0.0.1:${port}/mcp`)
