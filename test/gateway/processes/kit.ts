/** A host and connections to the fixture, closed after each test, and questions about the processes of this machine. */

import { join } from 'node:path'
import type { Params } from 'sluice'
import { connect } from 'sluice/client'
import type { FakeClock } from 'sluice/testing'
import { fakeClock } from 'sluice/testing'
import { onTestFinished } from 'vitest'
import { createStop } from '../../../packages/sluice/src/core/stop.ts'
import type { ConnectionLease, Connections, ScopeKey } from '../../../packages/sluice/src/gateway/connections.ts'
import { createProcessConnections } from '../../../packages/sluice/src/gateway/node/process-connections.ts'
import type { ProcessHost, ProcessHostOptions } from '../../../packages/sluice/src/gateway/node/process-host.ts'
import { createProcessHost } from '../../../packages/sluice/src/gateway/node/process-host.ts'
import type { ProcessSpec } from '../../../packages/sluice/src/gateway/node/process-transport.ts'
import { toUpstreamError } from '../../../packages/sluice/src/gateway/upstream-error.ts'
import { recordingLogger } from '../../kit/servers/recording-logger.ts'

export const fixture = join(import.meta.dirname, 'upstream.fixture.ts')
export const node = join(import.meta.dirname, '../../../node_modules/.bin/node')

export const keyOf = (text: string, tenant?: string): ScopeKey => ({ text, tenant })

interface OpenOptions extends Partial<Omit<ProcessHostOptions, 'logger'>> {
  /** The argument of the fixture, which decides how it starts. */
  readonly start?: string
  readonly spec?: Partial<ProcessSpec>
  readonly idleMs?: number
  readonly startMs?: number
  /** The host of other connections. The test that opened it closes it. */
  readonly host?: ProcessHost
}

interface Opened {
  readonly connections: Connections
  readonly host: ProcessHost
  readonly clock: FakeClock
  readonly lines: ReturnType<typeof recordingLogger>['lines']
  /** Acquires, calls the fixture's tool once and releases. Fails as a call through the gateway does. */
  call(how?: string, key?: ScopeKey, more?: Params): Promise<unknown>
  acquire(key?: ScopeKey): Promise<ConnectionLease>
}

/** Opens connections to the fixture with a clock that stands still. */
export function open(options: OpenOptions = {}): Opened {
  const { start = '', spec = {}, idleMs, startMs, clock, ...hostOptions } = options
  const { logger, lines } = recordingLogger()
  const fake = fakeClock()
  const host = options.host ?? createProcessHost({ clock: clock ?? fake, logger, ...hostOptions })
  const connections = createProcessConnections(
    { name: 'files', command: node, args: [fixture, start], ...spec },
    {
      host,
      connect: (transport) => connect(transport, { clock: clock ?? fake }),
      ...(idleMs !== undefined && { idleMs }),
      ...(startMs !== undefined && { startMs }),
    },
  )
  onTestFinished(async () => {
    const closed = connections.close()
    await advanceUntil(fake, closed)
    if (!options.host) await host.close()
  })
  const acquire = async (key = keyOf('shared')): Promise<ConnectionLease> => connections.acquire(key, createStop())
  return {
    ...{ connections, host, clock: fake, lines, acquire },
    async call(how = 'facts', key = keyOf('shared'), more = {}) {
      const { client, release } = await acquire(key)
      try {
        return textOf(await client.callTool('do', { how, ...more }))
      } catch (thrown) {
        throw toUpstreamError(thrown, 'files')
      } finally {
        release()
      }
    },
  }
}

/** The fixture answers with one text block that holds JSON. */
function textOf({ content }: Params): unknown {
  const [{ text }] = content as [{ text: string }]
  return JSON.parse(text)
}

/** Moves the clock in steps of a second until the promise settles. The processes end in real time meanwhile. */
export async function advanceUntil(clock: FakeClock, promise: Promise<unknown>): Promise<void> {
  let isSettled = false
  const done = (): void => {
    isSettled = true
  }
  promise.then(done, done)
  for (let turn = 0; !isSettled; turn++) {
    if (turn % 20 === 19) await clock.advance(1000)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
