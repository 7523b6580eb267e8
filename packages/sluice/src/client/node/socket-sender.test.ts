import type { AddressInfo, Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { NodeSenderOptions } from './sender.ts'
import { createSocketSender } from './socket-sender.ts'

interface Peer {
  readonly url: string
  readonly sockets: Socket[]
  readonly requests: string[]
}

/** A server on bare sockets: `answer` gets each request as text. */
async function peer(answer: (text: string, socket: Socket, count: number) => void): Promise<Peer> {
  const sockets: Socket[] = []
  const requests: string[] = []
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.setEncoding('utf8').on('data', (text) => {
      requests.push(String(text))
      answer(String(text), socket, requests.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?a=1`, sockets, requests }
}
const answerOf = (body: string, more = ''): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

function sender(options?: NodeSenderOptions): ReturnType<typeof createSocketSender> {
  const made = createSocketSender(options)
  onTestFinished(() => made.close())
  return made
}
const post = (url: string, body = 'hello', isRepeatable = false) => ({
  ...({ method: 'POST', url, headers: { 'x-a': 'b' }, body, mayBePrivate: true, isRepeatable } as const),
})

test('a request is one text, and its connection is used again', async () => {
  const { url, requests, sockets } = await peer((text, socket) => socket.write(answerOf(text.slice(-5))))
  const { send } = sender()
  for (const body of ['héllo'.slice(-4), 'again']) {
    const response = await send(post(url, body)).response
    expect([response.status, response.header('content-type')]).toEqual([200, 'text/plain'])
    expect(await response.text(100)).toContain(body.slice(-4))
  }
  expect(sockets).toHaveLength(1)
  const { host } = new URL(url)
  expect(requests[1]).toBe(`POST /mcp?a=1 HTTP/1.1\r\nhost: ${host}\r\nx-a: b\r\ncontent-length: 5\r\n\r\nagain`)
})

test('a header value with a line break is not sent', async () => {
  const { url, requests } = await peer((_, socket) => socket.write(answerOf('x')))
  const { send } = sender()
  await expect(send({ ...post(url), headers: { 'x-a': 'b\r\nx-evil: 1' } }).response).rejects.toThrow()
  expect(requests).toEqual([])
})

test('a header that the sender writes itself is sent once', async () => {
  const { url, requests } = await peer((_, socket) => socket.write(answerOf('x')))
  const { send } = sender()
  await (await send({ ...post(url), headers: { host: 'other.example', 'content-length': '1' } }).response).text(10)
  const text = requests.join('').toLowerCase()
  expect(text.match(/^host: .*$/gm)).toEqual(['host: other.example'])
  expect(text.match(/^content-length: .*$/gm)).toEqual(['content-length: 5'])
})

test('requests beyond the limit of connections wait for one', async () => {
  let most = 0
  let now = 0
  const { url, sockets } = await peer((_, socket) => {
    most = Math.max(most, ++now)
    setImmediate(() => {
      now--
      socket.write(answerOf('ok'))
    })
  })
  const { send } = sender({ maxConnections: 2 })
  const texts = await Promise.all(Array.from({ length: 10 }, async () => (await send(post(url)).response).text(10)))
  expect(texts).toEqual(Array(10).fill('ok'))
  expect(sockets).toHaveLength(2)
  expect(most).toBeLessThanOrEqual(2)
})

test('a kept connection that the server closed is replaced, but a request that may have run is not repeated', async () => {
  const { url, requests } = await peer((_, socket, count) => {
    if (count % 2 === 1) socket.write(answerOf('ok'))
    else socket.destroy()
  })
  const { send } = sender()
  await (await send(post(url)).response).text(10)
  expect(await (await send(post(url, 'again', true)).response).text(10)).toBe('ok')
  expect(requests).toHaveLength(3)
  await expect(send(post(url)).response).rejects.toMatchObject({ mayHaveRun: true })
  expect(requests).toHaveLength(4)
})

test('a request that is in flight when the sender is closed is not repeated', async () => {
  const { url, requests } = await peer((_, socket, count) => {
    if (count % 2 === 1) socket.write(answerOf('ok'))
  })
  // A GET is sent over `node:http`.
  for (const method of ['POST', 'GET'] as const) {
    const { send, close } = sender()
    await (await send({ ...post(url, 'first', true), method }).response).text(10)
    const sent = requests.length
    const failed = expect(send({ ...post(url, 'again', true), method }).response).rejects.toThrow()
    await expect.poll(() => requests.length).toBe(sent + 1)
    close()
    await failed
  }
  expect(requests).toHaveLength(4)
})

test('a connection is not used longer than the server keeps it', async () => {
  const { url, sockets } = await peer((_, socket) => socket.write(answerOf('ok', 'keep-alive: timeout=1\r\n')))
  const { send } = sender()
  for (let i = 0; i < 3; i++) await (await send(post(url)).response).text(10)
  expect(sockets).toHaveLength(3)
})

test('nothing was sent if the server cannot be reached', async () => {
  const { url } = await peer(() => {})
  const gone = url.replace(/:\d+/, ':1')
  await expect(sender().send(post(gone)).response).rejects.toMatchObject({ reason: 'unreachable', mayHaveRun: false })
})

test('bytes after the response end the connection, and are not the next response', async () => {
  const { url, sockets } = await peer((_, socket, count) =>
    socket.write(count === 1 ? answerOf('ok') + answerOf('evil') : answerOf('mine')),
  )
  const { send } = sender()
  expect(await (await send(post(url)).response).text(10)).toBe('ok')
  expect(await (await send(post(url)).response).text(10)).toBe('mine')
  expect(sockets).toHaveLength(2)
})

test('bytes on an idle connection end it', async () => {
  const { url, sockets } = await peer((_, socket, count) => {
    socket.write(answerOf(`answer ${count}`), () => {
      if (count === 1) setImmediate(() => socket.write(answerOf('evil')))
    })
  })
  const { send } = sender()
  expect(await (await send(post(url)).response).text(10)).toBe('answer 1')
  await new Promise((resolve) => sockets[0]?.once('close', resolve))
  expect(await (await send(post(url)).response).text(10)).toBe('answer 2')
})

test('a long body is refused, by its announcement or while it is read', async () => {
  const { url } = await peer((_, socket, count) => {
    if (count === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\nx')
    else
      socket.write(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${`400\r\n${'x'.repeat(1024)}\r\n`.repeat(64)}`,
      )
  })
  const { send } = sender()
  for (let i = 0; i < 2; i++) {
    const response = await send(post(url)).response
    await expect(response.text(10_000)).rejects.toMatchObject({ reason: 'tooLarge' })
  }
})

test('a body that breaks off fails its reader', async () => {
  const { url } = await peer((_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nsome', () => socket.destroy())
  })
  const response = await sender().send(post(url)).response
  await expect(response.text(1000)).rejects.toMatchObject({ reason: 'closed' })
})

test('a slow reader slows the server down', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  let written = 0
  const { url } = await peer((_, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${chunk.length * 64}\r\n\r\n`)
    const more = (): void => {
      if (++written <= 64) socket.write(chunk, more)
    }
    more()
  })
  const response = await sender().send(post(url)).response
  const reading = response.chunks()[Symbol.asyncIterator]()
  await reading.next()
  await new Promise((resolve) => setImmediate(resolve))
  expect(written).toBeLessThan(60)
  let size = 0
  for (let next = await reading.next(); !next.done; next = await reading.next()) size += next.value.length
  expect(size).toBeGreaterThan(60 * chunk.length)
})

test('an aborted request ends its connection, and a waiting one is never sent', async () => {
  const { url, requests, sockets } = await peer(() => {})
  const { send } = sender({ maxConnections: 1 })
  const first = send(post(url, 'first'))
  const second = send(post(url, 'second'))
  const failed = expect(first.response).rejects.toMatchObject({ reason: 'cancelled' })
  const unsent = expect(second.response).rejects.toMatchObject({ reason: 'cancelled', mayHaveRun: false })
  await expect.poll(() => requests.length).toBe(1)
  second.abort()
  first.abort()
  await Promise.all([failed, unsent])
  await expect.poll(() => sockets[0]?.destroyed).toBe(true)
  expect(requests).toHaveLength(1)
})
