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
import { getOrCreate } from '../core/get-or-create.ts'
import { checkedValue } from './memory.ts'
import type { Statement } from './postgres-connection.ts'
import type { PostgresOptions } from './postgres-pool.ts'
import { createPool, schemaOf } from './postgres-pool.ts'
import { createRemoteBus } from './remote-bus.ts'

/** A bus that processes share. */
export interface PostgresBus extends Bus {
  close(): Promise<void>
}

const maxPartLength = 7900

/** Not synced to the disk: a notification is a hint, and every other commit would wait for it. */
const notify: Statement = {
  name: 'notify',
  text: `SELECT pg_notify($1, part) FROM (SELECT set_config('synchronous_commit', 'off', true)) AS quick, unnest($2::text[]) AS part`,
}
const ping: Statement = { name: 'ping', text: 'SELECT 1' }

/** Publish and subscribe over PostgreSQL. A receiver that was disconnected reads the store. */
export function postgresBus(options: PostgresOptions): PostgresBus {
  const schema = schemaOf(options)
  const partial = new Map<string, AddPart>()
  const pool = createPool(options, {
    connections: 1,
    async opened(connection) {
      // The rest of a message whose first parts came on the connection before will not come.
      partial.clear()
      if (bus.channels.size > 0)
        await connection.script([...bus.channels.keys()].map((name) => `LISTEN ${name}`).join('; '))
    },
    notified(name, payload) {
      const channel = bus.channels.get(name)
      const message = channel && getOrCreate(partial, name, joinParts)(payload)
      if (message !== undefined) channel?.deliver(message)
    },
  })
  const bus = createRemoteBus({
    clock: options.clock ?? systemClock,
    publish: async (name, message) => pool.run(notify, [name, toParts(checkedValue(message))]),
    listen: (name) => pool.run({ name: '', text: `LISTEN ${name}` }),
    unlisten(name) {
      partial.delete(name)
      return pool.run({ name: '', text: `UNLISTEN ${name}` })
    },
    ping: () => pool.run(ping),
    close: () => pool.close(),
  })
  /** LISTEN takes no parameter and a name no more than 63 bytes. */
  const nameOf = (channel: string): string =>
    `sluice_${createHash('sha256').update(`${schema} ${channel}`).digest('hex').slice(0, 48)}`
  return {
    publish: (channel, message) => bus.publish(nameOf(channel), message),
    subscribe: (channel, listener) => bus.subscribe(nameOf(channel), listener),
    close: bus.close,
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

/** Takes the next part. Returns the message, once this is its last part. */
type AddPart = (payload: string) => string | undefined

/** Parts of one message arrive next to each other. One whose beginning was missed is dropped. */
function joinParts(): AddPart {
  let current = ''
  let parts: string[] = []
  return (payload) => {
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
  }
}
