/**
 * Cross-process notifications by LISTEN and NOTIFY, on one connection, so that a process receives what it publishes after
 * it subscribed, in order.
 *
 * PostgreSQL takes payloads of less than 8,000 bytes and no zero byte, so a message is sent as Base64 in as many parts as it
 * needs, in one transaction: all of them arrive, next to each other, or none.
 */

import { createHash, randomUUID } from 'node:crypto'
import type { Bus } from '../core/bus.ts'
import { systemClock } from '../core/clock.ts'
import { checkedValue } from './memory.ts'
import { notifySafely } from './memory-bus.ts'
import type { Statement } from './postgres-connection.ts'
import type { PostgresOptions } from './postgres-pool.ts'
import { createPool, schemaOf } from './postgres-pool.ts'

/** A bus that processes share. */
export interface PostgresBus extends Bus {
  close(): Promise<void>
}

/** A connection that is open but dead delivers nothing and does not notice, so it is used this often. */
const heartbeatMs = 1000
const maxPartLength = 7900

/** Not synced to the disk: a notification is a hint, and every other commit would wait for it. */
const notify: Statement = {
  name: 'notify',
  text: `SELECT pg_notify($1, part) FROM (SELECT set_config('synchronous_commit', 'off', true)) AS quick, unnest($2::text[]) AS part`,
}
const ping: Statement = { name: 'ping', text: 'SELECT 1' }

interface Channel {
  readonly listeners: Set<(message: string) => void>
  readonly parts: PartialMessage
}

/** Publish and subscribe over PostgreSQL. A receiver that was disconnected reads the store. */
export function postgresBus(options: PostgresOptions): PostgresBus {
  const clock = options.clock ?? systemClock
  const schema = schemaOf(options)
  const channels = new Map<string, Channel>()
  const pool = createPool(options, {
    connections: 1,
    async opened(connection) {
      // The rest of a message whose first parts came on the connection before will not come.
      for (const { parts } of channels.values()) parts.clear()
      if (channels.size > 0) await connection.script([...channels.keys()].map((name) => `LISTEN ${name}`).join('; '))
    },
    notified(name, payload) {
      const channel = channels.get(name)
      const message = channel?.parts.add(payload)
      if (message === undefined) return
      for (const each of [...(channel?.listeners ?? [])]) notifySafely(each, message)
    },
  })
  let cancelTimer: (() => void) | undefined
  const beat = (): void => {
    cancelTimer = clock.after(heartbeatMs, () => {
      // While the server is unavailable, this also reconnects and then subscribes again.
      pool.run(ping).catch(() => {})
      beat()
    })
  }
  const rest = (): void => {
    cancelTimer?.()
    cancelTimer = undefined
  }
  /** LISTEN takes no parameter and a name no more than 63 bytes. */
  const nameOf = (channel: string): string =>
    `sluice_${createHash('sha256').update(`${schema} ${channel}`).digest('hex').slice(0, 48)}`
  return {
    async publish(channel, message) {
      await pool.run(notify, [nameOf(channel), toParts(checkedValue(message))])
    },
    subscribe(channel, receive) {
      const name = nameOf(channel)
      const listener = (message: string): void => receive(message)
      let known = channels.get(name)
      if (!known) {
        known = { listeners: new Set(), parts: partialMessage() }
        channels.set(name, known)
        // On the connection that publishes, so that this process receives what it publishes next.
        pool.run({ name: '', text: `LISTEN ${name}` }).catch(() => {})
      }
      const { listeners } = known
      listeners.add(listener)
      if (!cancelTimer) beat()
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return
        channels.delete(name)
        pool.run({ name: '', text: `UNLISTEN ${name}` }).catch(() => {})
        if (channels.size === 0) rest()
      }
    },
    async close() {
      rest()
      channels.clear()
      await pool.close()
    },
  }
}

/** `id index count Base64`: the id keeps equal messages apart, which PostgreSQL would join within a transaction. */
function toParts(message: string): readonly string[] {
  const [id, text] = [randomUUID(), Buffer.from(message).toString('base64')]
  const count = Math.max(1, Math.ceil(text.length / maxPartLength))
  return Array.from(
    { length: count },
    (_, index) => `${id} ${index} ${count} ${text.slice(index * maxPartLength, (index + 1) * maxPartLength)}`,
  )
}

interface PartialMessage {
  /** The message, once this is its last part. */
  add(payload: string): string | undefined
  clear(): void
}

/** Parts of one message arrive next to each other. One whose beginning was missed is dropped. */
function partialMessage(): PartialMessage {
  let current = ''
  let parts: string[] = []
  return {
    add(payload) {
      const [id = '', index, count, text = ''] = payload.split(' ')
      if (index === '0') {
        current = id
        parts = []
      }
      if (id !== current || Number(index) !== parts.length) return undefined
      parts.push(text)
      if (parts.length < Number(count)) return undefined
      const message = Buffer.from(parts.join(''), 'base64').toString()
      parts = []
      return message
    },
    clear() {
      current = ''
      parts = []
    },
  }
}
