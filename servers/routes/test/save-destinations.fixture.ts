/**
 * Saves destinations in a folder that another process uses, and counts the failed calls. Started by `storage.test.ts`.
 */

import { createServer, nodeClock } from 'sluice/node'
import { customLayer, log } from 'sluice/plugins'
import { open } from '../src/index.ts'

const [folder = '', name = '', count = '0'] = process.argv.slice(2)
const logger = { info() {}, warn() {}, error() {} }
const { definition, layers = [], close } = await open({ folder, env: {}, clock: nodeClock, logger })
const server = createServer(definition, { clock: nodeClock, use: [log(logger), ...layers.map(customLayer)] })
let failed = 0
for (let n = 0; n < Number(count); n++) {
  const args = { name: `${name} ${n}`, address: '16,108' }
  const call = { jsonrpc: '2.0', id: n, method: 'tools/call', params: { name: 'save_destination', arguments: args } }
  const answer = (await server.handle(call)) as { result?: { isError?: boolean } }
  if (answer.result?.isError !== false) failed++
}
await close()
process.stdout.write(`${Number(count) - failed} saved, ${failed} failed\n`)
