import { onSignals, serveHttp, serveStdio } from 'sluice/node'
import { server } from './server.ts'

const { PORT = '3000', HOSTS } = process.env

if (process.argv.includes('--stdio')) serveStdio(server)
else {
  const serving = await serveHttp(server, {
    port: Number(PORT),
    path: '/NAME/mcp',
    ...(HOSTS && { hosts: HOSTS.split(',') }),
  })
  onSignals(serving)
  console.error(`NAME on ${serving.url}`)
}
