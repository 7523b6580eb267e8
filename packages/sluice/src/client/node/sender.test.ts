import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createNodeSender } from './sender.ts'

test('a name with a private address is reached only if the operator named it', async () => {
  const server = createServer((_request, response) => response.end('reached'))
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const sender = createNodeSender()
  onTestFinished(() => {
    sender.close()
    server.close()
  })
  const url = `http://localhost:${(server.address() as AddressInfo).port}/`
  const get = (mayBePrivate: boolean) => sender.send({ method: 'GET', url, headers: {}, mayBePrivate }).response
  await expect(get(false)).rejects.toMatchObject({ reason: 'refusedAddress', mayHaveRun: false })
  expect(await (await get(true)).text(100)).toBe('reached')
  // The connection that is kept now is not used for the others.
  await expect(get(false)).rejects.toMatchObject({ reason: 'refusedAddress' })
})
test('an address at which nothing listens is unreachable, and nothing was sent', async () => {
  const sender = createNodeSender()
  const { response } = sender.send({ method: 'POST', url: 'http://127.0.0.1:1/', headers: {}, body: '{}' })
  await expect(response).rejects.toMatchObject({ reason: 'unreachable', mayHaveRun: false })
})
