/** One process from its start to its end: its place, its handshake, the calls that use it, and its idle time. */

import { ClientError } from '../../client/errors.ts'
import type { Transport } from '../../client/transport.ts'
import type { Client } from '../../client/types.ts'
import { monotonicNow } from '../../core/clock.ts'
import type { Mutable } from '../../core/mutable.ts'
import type { ScopeKey } from '../connections.ts'
import type { ProcessConnectionsOptions } from './process-connections.ts'
import type { PlaceHolder } from './process-host.ts'
import type { ProcessSpec, ProcessTransportOptions } from './process-transport.ts'
import { createProcessTransport } from './process-transport.ts'

export type ConnectUpstream = (transport: Transport) => Promise<Client>

export interface ProcessRunOptions
  extends Required<ProcessConnectionsOptions>,
    Pick<ProcessTransportOptions, 'ring' | 'skipped'> {
  readonly key: ScopeKey
  /** The process ended by itself after its handshake. `isCrash` is false for an idle process that exits with 0. */
  died(error: ClientError, isCrash: boolean): void
  ended(): void
}

export interface ProcessRun extends PlaceHolder {
  /** Resolves after the handshake. */
  readonly ready: Promise<Client>
  /** The client, from the end of the handshake until the process ends. */
  readonly client: Client | undefined
  readonly pid: number | undefined
  readonly startedAt: number
  /** The monotonic time of the end of the handshake. */
  readonly readyAt: number | undefined
  /** Set when the end has begun. Resolves when the process is gone. */
  readonly ending: Promise<void> | undefined
  /** Calls that use the process or wait for its handshake. */
  users: number
  unused(): void
}

/** How often a process is looked at: whether its session is over, or its idle time. */
const watchMs = 1000

export function startRun(spec: ProcessSpec, options: ProcessRunOptions): ProcessRun {
  const { host, connect, key, ring, idleMs, startMs, maxMessageBytes } = options
  const { clock, guard } = host
  const now = (): number => monotonicNow(clock)
  let releasePlace = (): void => {}
  let cancelTimer = (): void => {}
  let idleSince = now()
  const transport = createProcessTransport(spec, {
    guard,
    clock,
    ring,
    maxMessageBytes,
    skipped: options.skipped,
    closed(error, isClean) {
      // During the handshake the negotiation may open the transport again; if not, it fails.
      if (!run.client || run.ending) return
      options.died(error, run.users > 0 || !isClean)
      run.end().catch(() => {})
    },
  })

  async function begin(): Promise<Client> {
    try {
      releasePlace = await host.takePlace(run)
      if (run.ending) throw new ClientError('closed', `${spec.name} was ended`, { mayHaveRun: false })
      cancelTimer = clock.after(startMs, () =>
        transport.fail(
          new ClientError('unreachable', `${spec.name} did not finish its handshake within ${startMs} ms`, {
            mayHaveRun: false,
          }),
        ),
      )
      const connected = await connect(transport)
      cancelTimer()
      if (run.ending || !transport.isOpen) throw new ClientError('closed', `${spec.name} ended during its handshake`)
      run.client = connected
      run.readyAt = idleSince = now()
      watchIdle(Math.min(idleMs, watchMs))
      return connected
    } catch (thrown) {
      await finish()
      throw thrown
    }
  }

  /** One timer that looks from time to time, because a timer per call would cost as much as the call. */
  function watchIdle(ms: number): void {
    cancelTimer = clock.after(ms, () => {
      const leftMs = key.isOver?.() === true ? 0 : idleSince + idleMs - now()
      if (run.users > 0) watchIdle(watchMs)
      else if (leftMs > 0) watchIdle(Math.min(leftMs, watchMs))
      else run.end().catch(() => {})
    })
  }

  /** The handshake fails, and its failure ends the process. */
  function abandon(): Promise<void> {
    transport.fail(new ClientError('unreachable', `${spec.name} was ended`, { mayHaveRun: false }))
    return ready.then(
      () => {},
      () => {},
    )
  }
  async function finish(): Promise<void> {
    cancelTimer()
    const last = run.client
    run.client = undefined
    try {
      await (last ? last.close() : transport.close())
    } finally {
      releasePlace()
      options.ended()
    }
  }

  const run: Mutable<ProcessRun> = {
    ...{ tenant: key.tenant, startedAt: clock.now(), users: 0 },
    ...{ client: undefined, readyAt: undefined, ending: undefined },
    get pid() {
      return transport.pid
    },
    get idleSince() {
      return run.users === 0 && run.readyAt !== undefined ? idleSince : undefined
    },
    get ready() {
      return ready
    },
    unused() {
      idleSince = now()
    },
    end() {
      run.ending ??= run.client ? finish() : abandon()
      return run.ending
    },
  }
  const ready = begin()
  ready.catch(() => {})
  return run
}
