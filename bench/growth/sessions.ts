/** A call in one of many open sessions of an earlier revision. */
import { createServer } from 'sluice'
import { sessions, toFetch } from 'sluice/fetch'
import { define } from '../contenders/sluice/server.ts'
import { callMessage, echoText, httpHeaders, openingMessages } from '../lib/messages.ts'
import type { Growth } from './growth.ts'

const revision = '2025-11-25'
const [initialize = ''] = openingMessages(revision)
const body = callMessage(revision)
const fetch = toFetch(createServer(define(1)), { sessions: sessions({ max: 200_000 }) })
const post = (text: string, session?: string): Promise<Response> =>
  fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: { ...httpHeaders('tools/call', revision), ...(session !== undefined && { 'mcp-session-id': session }) },
      body: text,
    }),
  )

const ids: string[] = []
let next = 0

export const growth: Growth = {
  what: 'sessions',
  measured: 'tools/call in each in turn',
  sizes: [1, 1_000, 10_000, 100_000],
  async growTo(size) {
    while (ids.length < size) {
      const id = (await post(initialize)).headers.get('mcp-session-id')
      if (id === null) throw new Error('no session')
      ids.push(id)
    }
  },
  call: async () => (await post(body, ids[next++ % ids.length])).text(),
  expect: echoText,
}
