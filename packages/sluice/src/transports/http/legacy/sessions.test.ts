/** The session tables of one process: the number, the owners and the lifetime of sessions. */

import { expect, test } from 'vitest'
import type { Verifier } from '../../../layers/identities/authenticate-credential.ts'
import { authenticate } from '../../../plugins/authenticate.ts'
import { defineServer } from '../../../protocol/definition.ts'
import { createServer } from '../../../server.ts'
import { fakeClock } from '../../../testing/clock.ts'
import type { Session, Sessions } from './sessions.ts'
import { createSessions } from './sessions.ts'

const verify: Verifier['verify'] = async () => undefined
const stranger = '192.0.2.66'

function open(max: number, authenticates = true) {
  const clock = fakeClock()
  const definition = defineServer({ name: 'x', version: '1' })
  const server = createServer(definition, { clock, use: [authenticates && authenticate({ verifiers: [{ verify }] })] })
  return { clock, sessions: createSessions(server, { idleMs: 30 * 60_000, max }) }
}
async function begin(sessions: Sessions, peer: string, owner?: string): Promise<Session> {
  const session = sessions.create(peer)
  if (owner !== undefined) await session.connection.claimOwnership(owner)
  await sessions.register(session)
  return session
}
const isOpen = (sessions: Sessions, { id }: Session): Promise<boolean> =>
  sessions.get(id).then(
    () => true,
    () => false,
  )

test('a flood of handshakes ends no session of a signed-in caller, and is bounded in number', async () => {
  const { sessions } = open(10)
  const ann = await begin(sessions, '192.0.2.1', 'ann')
  for (let i = 0; i < 5000; i++) await begin(sessions, `192.0.2.${i % 250}`)
  expect(await isOpen(sessions, ann)).toBe(true)
  expect(sessions.size).toBeLessThanOrEqual(1001)
})

test('a network that opens endless sessions costs another anonymous caller neither its session nor its handshake', async () => {
  const { sessions } = open(10)
  for (let i = 0; i < 5000; i++) await begin(sessions, stranger)
  const other = await begin(sessions, '192.0.2.1')
  for (let i = 0; i < 5000; i++) await begin(sessions, stranger)
  expect(await isOpen(sessions, other)).toBe(true)
})

test('a guest becomes a member when its caller signs in, and otherwise ends after minutes', async () => {
  const { clock, sessions } = open(10)
  const [signsIn, stays] = [await begin(sessions, stranger), await begin(sessions, stranger)]
  await signsIn.connection.claimOwnership('ann')
  expect(await isOpen(sessions, signsIn)).toBe(true)
  await clock.advance(7 * 60_000)
  expect(await isOpen(sessions, stays)).toBe(false)
  expect(await isOpen(sessions, signsIn)).toBe(true)
})

test('without authentication all sessions are members, and a full table ends the one that was silent longest', async () => {
  const { clock, sessions } = open(10, false)
  const first = await begin(sessions, '192.0.2.1')
  await clock.advance(20 * 60_000)
  expect(await isOpen(sessions, first)).toBe(true)
  const second = await begin(sessions, '192.0.2.2')
  expect(await isOpen(sessions, first)).toBe(true)
  for (let i = 0; i < 9; i++) await begin(sessions, `192.0.3.${i}`)
  expect(await isOpen(sessions, second)).toBe(false)
  expect(await isOpen(sessions, first)).toBe(true)
})

test('a session whose client listens is not evicted for a new one', async () => {
  const { sessions } = open(2, false)
  const writer = { write() {}, close() {}, closed: false }
  const listening = await begin(sessions, '192.0.2.1')
  await listening.resume(() => writer)
  for (let i = 0; i < 5; i++) await begin(sessions, '192.0.2.2')
  expect(await isOpen(sessions, listening)).toBe(true)
})

test('a session forgets the streams that ended minutes ago, although the session lives on', async () => {
  const { clock, sessions } = open(10, false)
  const session = await begin(sessions, '192.0.2.1')
  const stream = session.openStream(1)
  stream.write('"answer"')
  stream.close()
  const writer = { write() {}, close() {}, closed: false }
  await clock.advance(5 * 60_000)
  expect(await session.resume(() => writer, `${stream.id}.0`)).toBe(true)
  await clock.advance(15 * 60_000)
  expect(await session.resume(() => writer, `${stream.id}.0`)).toBe(false)
  expect(await isOpen(sessions, session)).toBe(true)
})
