/** Servers of the official SDK behind the gateway, over HTTP, for clients of both eras: the answers of a direct call. */

import type { ChildProcess } from 'node:child_process'
import { upstream } from 'sluice/gateway-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf, eras, namesOf, servedAlone, servedGateway, startForeign } from './kit.ts'

const rows = [
  ['SDK v1', 'sdk-v1'],
  ['SDK v2', 'sdk-v2'],
] as const

describe.each(rows)('%s', (_, program) => {
  let address = ''
  let child: ChildProcess
  beforeAll(async () => {
    ;[address, child] = await startForeign(program, 'http')
  })
  afterAll(() => child.kill())

  describe.each(eras)('for a client of %s', (revision) => {
    test('tools are listed and called as they are', async () => {
      const direct = await clientOf(address)
      const { url } = await servedAlone(upstream({ name: 'sdk', url: address, scope: 'shared' }))
      const client = await clientOf(url, { revision })
      expect(client.agreement.revision).toBe(revision)
      expect(await namesOf(client.tools())).toEqual(await namesOf(direct.tools()))
      const { content, isError } = await client.callTool('echo', { text: 'ü 👋' })
      expect({ content, isError }).toEqual({ content: [{ type: 'text', text: 'ü 👋' }], isError: undefined })
    })

    test('progress reaches the call that asked for it', async () => {
      const { url } = await servedAlone(upstream({ name: 'sdk', url: address, scope: 'shared' }))
      const client = await clientOf(url, { revision })
      const seen: unknown[] = []
      await client.callTool('steps', {}, { onProgress: ({ progress, total }) => seen.push([progress, total]) })
      expect(seen).toEqual([
        [1, 3],
        [2, 3],
        [3, 3],
      ])
    })

    test('a cancelled call is cancelled upstream', async () => {
      const { url, team } = await servedAlone(upstream({ name: 'sdk', url: address, scope: 'shared' }))
      const client = await clientOf(url, { revision })
      const controller = new AbortController()
      const waiting = client.callTool('wait', {}, { signal: controller.signal })
      const inFlight = (): number => team.states()[0]?.connections.find(({ key }) => key !== 'discovery')?.inFlight ?? 0
      await expect.poll(inFlight).toBe(1)
      controller.abort()
      await expect(waiting).rejects.toMatchObject({ reason: 'cancelled' })
      await expect.poll(inFlight).toBe(0)
    })

    test('on the endpoint for all, names begin with the name of the upstream', async () => {
      const { url } = await servedGateway([
        upstream({ name: 'one', url: address, scope: 'shared' }),
        upstream({ name: 'two', url: address, scope: 'shared' }),
      ])
      const client = await clientOf(url, { revision })
      expect(await namesOf(client.tools())).toEqual([
        ...['one_echo', 'one_steps', 'one_ask', 'one_wait'],
        ...['two_echo', 'two_steps', 'two_ask', 'two_wait'],
      ])
      const { content } = await client.callTool('two_echo', { text: 'a' })
      expect(content).toEqual([{ type: 'text', text: 'a' }])
    })
  })
})
