/** Sluice in process through its two entry points, `handle` and `text`, with few and with many tools. */
import { createServer } from 'sluice/node'
import { callMessage, echoText, listMessage } from '../../lib/messages.ts'
import { type Case, serveCases } from '../cases.ts'
import { define } from './server.ts'

const call = callMessage('2026-07-28')
const list = listMessage('2026-07-28')
const cases: Record<string, Case> = {}

for (const count of [1, 50, 200]) {
  const server = createServer(define(count))
  cases[`handle-${count}`] = { expect: echoText, call: () => server.handle(JSON.parse(call)) }
  cases[`text-${count}`] = { expect: echoText, call: () => server.handleText(JSON.parse(call)) }
  if (count === 200) cases['list-200'] = { expect: 'neighbour_199', call: () => server.handleText(JSON.parse(list)) }
}

await serveCases(cases)
