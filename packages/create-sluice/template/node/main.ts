import { onSignals, serveHttp, serveStdio } from 'sluice/node'
import { server } from './server.ts'

if (process.argv.includes('--stdio')) serveStdio(server)
else {
  const serving = await serveHttp(server, { port: Number(process.env['PORT'] ?? 3000) })
  onSignals(serving)
  console.error(`Listening on ${serving.url}`)
}
