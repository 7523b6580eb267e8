/** A call of one tool among many. */
import { toTransportServer } from 'sluice/extend'
import { createServer } from 'sluice/node'
import { define } from '../contenders/sluice/server.ts'
import { callMessage, echoText } from '../lib/messages.ts'
import type { Growth } from './growth.ts'

const message = callMessage('2026-07-28')
let server = toTransportServer(createServer(define(1)))

export const growth: Growth = {
  what: 'tools',
  measured: 'tools/call',
  sizes: [1, 100, 10_000],
  async growTo(size) {
    server = toTransportServer(createServer(define(size)))
  },
  call: () => server.handleText(JSON.parse(message)),
  expect: echoText,
}
