/**
 * A gateway that only keeps processes, to be killed by tests. For each line of its input it starts the upstream of that
 * scope key and prints the pid. Arguments: how the upstreams start, and a mark for their command lines.
 */

import { createInterface } from 'node:readline'
import { connect } from '../../../packages/sluice/src/client/client.ts'
import { systemClock } from '../../../packages/sluice/src/core/clock.ts'
import { silentLogger } from '../../../packages/sluice/src/core/log.ts'
import { createStop } from '../../../packages/sluice/src/core/stop.ts'
import { createProcessConnections } from '../../../packages/sluice/src/gateway/node/process-connections.ts'
import { createProcessHost } from '../../../packages/sluice/src/gateway/node/process-host.ts'

const [start = '', mark = ''] = process.argv.slice(2)
const host = createProcessHost({ clock: systemClock, logger: silentLogger })
const connections = createProcessConnections(
  { name: 'files', command: process.execPath, args: [`${import.meta.dirname}/upstream.fixture.ts`, start, mark] },
  { host, connect: (transport) => connect(transport, { clock: systemClock }) },
)

createInterface(process.stdin).on('line', (text) => {
  Promise.resolve(connections.acquire({ text, tenant: undefined }, createStop()))
    .then(async ({ client }) => {
      await client.callTool('do', { how: 'fork' })
      const pid = connections.states().find(({ key }) => key === text)?.pid
      process.stdout.write(`${pid}\n`)
    })
    .catch((thrown: unknown) => process.stdout.write(`failed ${String(thrown)}\n`))
})
