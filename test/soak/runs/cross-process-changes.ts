/**
 * Sessions on three processes with one Redis. Each message of a session goes to any process, while others change the
 * same session and the same resource. A client that reads after each notification ends with the newest version.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { initializeMessage } from '../../kit/clients/connection-churn.client.ts'
import { eventsOf, messagesOf, post } from '../../kit/clients/http-events.ts'
import type { Params } from '../../kit/clients/protocol.ts'
import type { Fleet } from '../../kit/processes/fleet.ts'
import { startFleet } from '../../kit/processes/fleet.ts'
import type { Soak } from '../soak.ts'

/** Longer than the poll that finds what the bus did not deliver. */
const patienceMs = 15_000
const resources = 4
const changes = 5

export const run: Soak = async ({ times, random, progress }) => {
  const sessions = times(100)
  const fleet = await startFleet()
  const any = (): string => fleet.members[Math.floor(random() * fleet.members.length)]?.url ?? ''
  const counted = { subscriptions: 0, changes: 0, notifications: 0 }
  const lost: string[] = []
  try {
    for (let session = 0; session < sessions; session++) {
      const outcome = await follow(fleet, `s${session}`, any)
      counted.subscriptions += resources
      counted.changes += outcome.changes
      counted.notifications += outcome.notifications
      lost.push(...outcome.lost)
      if (session % 25 === 24) progress(`${session + 1} sessions`)
    }
    return { counted: { sessions, ...counted }, lost }
  } finally {
    await fleet.stop()
  }
}

interface Outcome {
  readonly changes: number
  readonly notifications: number
  readonly lost: readonly string[]
}

async function follow(_fleet: Fleet, name: string, any: () => string): Promise<Outcome> {
  const opened = await post(any(), initializeMessage)
  await opened.text()
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  const keys = Array.from({ length: resources }, (_, index) => `${name}-${index}`)
  const send = async (method: string, params: Params): Promise<Params> => {
    const id = `${method} ${Math.random()}`
    const response = await post(any(), { jsonrpc: '2.0', id, method, params }, session)
    for await (const message of messagesOf(response))
      if ((message as Params)['result']) return (message as Params)['result'] as Params
    throw new Error(`${method} was refused with ${response.status}`)
  }
  const known = new Map<string, number>()
  async function read(uri: string): Promise<void> {
    const { contents } = (await send('resources/read', { uri })) as { contents: readonly { text: string }[] }
    known.set(uri, Math.max(known.get(uri) ?? 0, Number(contents[0]?.text)))
  }
  const leaving = new AbortController()
  const headers = { ...session, accept: 'text/event-stream' }
  const stream = await fetch(any(), { headers, signal: leaving.signal })
  let notifications = 0
  async function listen(): Promise<void> {
    for await (const { data } of eventsOf(stream)) {
      const { method, params }: Params = JSON.parse(data ?? '{}')
      if (method !== 'notifications/resources/updated') continue
      notifications++
      await read(String((params as Params)['uri']))
    }
  }
  const listening = listen().catch((thrown: unknown) => {
    if (!leaving.signal.aborted) throw thrown
  })
  // All at once, on any process: none may undo what another one acknowledged.
  await Promise.all(
    keys.flatMap((key) => [
      send('resources/subscribe', { uri: `memo://${key}` }),
      send('logging/setLevel', { level: 'info' }),
      send('resources/unsubscribe', { uri: 'memo://another' }),
    ]),
  )
  const versions = await Promise.all(
    keys.map(async (key) => {
      for (let change = 0; change < changes; change++) await send('tools/call', { name: 'change', arguments: { key } })
      return [`memo://${key}`, changes] as const
    }),
  )
  const isBehind = ([uri, version]: readonly [string, number]): boolean => (known.get(uri) ?? 0) < version
  for (let waited = 0; waited < patienceMs && versions.some(isBehind); waited += 20) await sleep(20)
  leaving.abort()
  await listening
  await (await fetch(any(), { method: 'DELETE', headers: session })).text()
  const lost = versions
    .filter(isBehind)
    .map(([uri, version]) => `${uri} is at ${version}, and its subscriber knows ${known.get(uri) ?? 'of no change'}`)
  return { changes: resources * changes, notifications, lost }
}
