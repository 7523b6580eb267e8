/** Error −32042 of an upstream: pages must be visited before it takes the call. */

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js'
import type { QuestionHandlers } from 'sluice/client'
import { fromSdk } from 'sluice/gateway-node'
import { expect, test } from 'vitest'
import { clientOf, eras, servedAlone } from './kit.ts'
import type { Members } from './raw-upstream.ts'

/** A server whose tool wants a page visited until it was. */
async function guarded(page: string): Promise<{ readonly url: string; visit(): void; readonly ran: () => number }> {
  let isVisited = false
  let ran = 0
  const create = (): McpServer => {
    const server = new McpServer({ name: 'old', version: '1.0.0' })
    server.registerTool('mail', { description: 'Reads mail' }, () => {
      const elicitation = { mode: 'url' as const, elicitationId: 'e1', url: page, message: 'Sign in' }
      if (!isVisited) throw new UrlElicitationRequiredError([elicitation])
      ran++
      return { content: [{ type: 'text', text: 'Dear Ada' }] }
    })
    return server
  }
  const { url } = await servedAlone(fromSdk({ name: 'files', scope: 'shared', create }))
  return {
    url,
    ran: () => ran,
    visit() {
      isVisited = true
    },
  }
}

const page = 'https://id.example.com/sign-in'
const message = 'files asks to open a page of id.example.com: Sign in'
const params = (key?: string): Members => ({
  name: 'mail',
  arguments: {},
  ...(key !== undefined && { _meta: { 'dev.sluice/idempotencyKey': key } }),
})

test.each(eras.flatMap((revision) => [undefined, crypto.randomUUID()].map((key) => ({ revision, key }))))(
  'a client of $revision is asked to open the page, then the call runs once, with the idempotency key $key',
  async ({ revision, key }) => {
    const { url, visit, ran } = await guarded(page)
    const asked: unknown[] = []
    const handlers: QuestionHandlers = {
      url(question) {
        asked.push(question)
        visit()
        return { action: 'accept' }
      },
    }
    const client = await clientOf(url, { revision, handlers })
    expect(await client.request('tools/call', params(key))).toMatchObject({ content: [{ text: 'Dear Ada' }] })
    expect(asked).toMatchObject([{ message, url: page }])
    expect(ran()).toBe(1)
  },
)

test.each(eras)('a person who does not open it ends the call, for a client of %s', async (revision) => {
  const { url, ran } = await guarded(page)
  let asked = 0
  const handlers: QuestionHandlers = {
    url() {
      asked++
      return { action: 'decline' }
    },
  }
  const client = await clientOf(url, { revision, handlers })
  const outcome = await client.callTool('mail').then(
    ({ isError }) => isError,
    ({ code }: { code: number }) => code,
  )
  expect(outcome).toBe(revision === '2026-07-28' ? true : -32042)
  expect([asked, ran()]).toEqual([1, 0])
})

test.each(eras)('a client of %s that cannot open pages is told what to do', async (revision) => {
  const { url } = await guarded(page)
  const client = await clientOf(url, { revision })
  const refusal = await client.callTool('mail').then(
    (result) => result,
    (thrown: { data: unknown; message: string }) => ({ message: thrown.message, data: thrown.data }),
  )
  expect(JSON.stringify(refusal)).toMatch(revision === '2026-07-28' ? /elicitation/ : /page of id.example.com/)
})

test.each(eras)('an address that is not a plain https page is refused, for a client of %s', async (revision) => {
  const { url } = await guarded('javascript:alert(1)')
  const handlers: QuestionHandlers = { url: () => ({ action: 'accept' }) }
  const client = await clientOf(url, { revision, handlers })
  expect(await client.callTool('mail')).toMatchObject({ isError: true })
})
