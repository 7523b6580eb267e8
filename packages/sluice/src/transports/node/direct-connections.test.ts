import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { FakeClock } from '../../testing/clock.ts'
import { fakeClock } from '../../testing/clock.ts'
import type { HttpReply } from '../http/message.ts'
import type { DirectConnections } from './direct-connections.ts'
import { createDirectConnections } from './direct-connections.ts'
import { createUnsentTracker } from './unsent-tracker.ts'

/** A socket whose idle timer follows the test's clock. As in Node, each read and write starts it again. */
class TimedSocket extends Socket {
  readonly #clock: FakeClock
  readonly written: string[] = []
  #idleMs = 0
  #cancelTimer = (): void => {}
  constructor(clock: FakeClock) {
    super()
    this.#clock = clock
  }
  override setTimeout(ms: number): this {
    this.#idleMs = ms
    this.#restartTimer()
    return this
  }
  override write(text: string): boolean {
    this.written.push(text)
    this.#restartTimer()
    return true
  }
  override destroy(): this {
    this.#cancelTimer()
    return super.destroy()
  }
  receive(text: string): void {
    this.#restartTimer()
    this.emit('data', Buffer.from(text))
  }
  #restartTimer(): void {
    this.#cancelTimer()
    if (this.#idleMs > 0) this.#cancelTimer = this.#clock.after(this.#idleMs, () => this.emit('timeout'))
  }
}

const request = 'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}'

interface Opened {
  readonly clock: FakeClock
  readonly socket: TimedSocket
  readonly connections: DirectConnections
  /** The replies to the requests so far, which the test sends. */
  readonly replies: readonly HttpReply[]
  readonly handedOver: readonly Socket[]
}

/** Opens a connection whose client is told that it may be idle for 5 s. */
function openConnection(): Opened {
  const clock = fakeClock()
  const replies: HttpReply[] = []
  const handedOver: Socket[] = []
  const connections = createDirectConnections({
    routes: new Map([
      [
        '/mcp',
        async (_request, reply) => {
          replies.push(reply)
        },
      ],
    ]),
    unsent: createUnsentTracker({ clock }),
    idleMs: 5_000,
    handOver: (socket) => handedOver.push(socket),
    isEnding: () => false,
  })
  const socket = new TimedSocket(clock)
  connections.accept(socket)
  return { clock, socket, connections, replies, handedOver }
}

const pass = ({ clock }: Opened, ms: number): Promise<void> => clock.advance(ms)

test('an idle connection is closed a second later than its client was told', async () => {
  const opened = openConnection()
  const { socket, replies } = opened
  socket.receive(request)
  replies[0]?.send(200, {}, 'done')
  expect(socket.written[0]).toContain('keep-alive: timeout=5\r\n')
  await pass(opened, 5_999)
  expect(socket.destroyed).toBe(false)
  await pass(opened, 1)
  expect(socket.destroyed).toBe(true)
  expect(opened.clock.pending).toBe(0)
})

test('a connection that never sends a request is closed after the same time', async () => {
  const opened = openConnection()
  await pass(opened, 5_999)
  expect(opened.socket.destroyed).toBe(false)
  await pass(opened, 1)
  expect(opened.socket.destroyed).toBe(true)
})

test('a call that takes longer than the idle time keeps its connection, and the time begins with its answer', async () => {
  const opened = openConnection()
  const { socket, replies } = opened
  socket.receive(request)
  await pass(opened, 60_000)
  expect(socket.destroyed).toBe(false)
  replies[0]?.send(200, {}, 'done')
  await pass(opened, 5_999)
  expect(socket.destroyed).toBe(false)
  await pass(opened, 1)
  expect(socket.destroyed).toBe(true)
})

test('a request that arrives after this process was stopped is served, although the idle time is over', async () => {
  const opened = openConnection()
  const { clock, socket, replies } = opened
  socket.receive(request)
  replies[0]?.send(200, {}, 'done')
  clock.jump(60_000)
  await pass(opened, 999)
  socket.receive(request)
  expect(replies).toHaveLength(2)
  replies[1]?.send(200, {}, 'done')
  await pass(opened, 5_999)
  expect(socket.destroyed).toBe(false)
  await pass(opened, 1)
  expect(socket.destroyed).toBe(true)
})

test('a connection that was passed on has no idle time here', async () => {
  const opened = openConnection()
  const { socket, handedOver } = opened
  socket.receive('GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n')
  expect(handedOver).toEqual([socket])
  expect(opened.clock.pending).toBe(0)
  await pass(opened, 60_000)
  expect(socket.destroyed).toBe(false)
})

test('a request whose body is late is passed on, and closed when node:http says so', async () => {
  const opened = openConnection()
  const { socket, handedOver, replies } = opened
  const head = request.slice(0, -2)
  socket.receive(head)
  await pass(opened, 5_000)
  expect(handedOver).toEqual([socket])
  expect(String(socket.read())).toBe(head)
  await pass(opened, 60_000)
  expect(socket.destroyed).toBe(false)
  expect(replies).toHaveLength(0)
})
