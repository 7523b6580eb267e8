/**
 * `sluice/client` against random servers: whatever is sent, every request ends, no promise is left unhandled and no
 * timer stays behind.
 */

import fc from 'fast-check'
import type { Message, Transport } from 'sluice/client'
import { ClientError, connect, ServerError } from 'sluice/client'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'

type Send = (message: Message) => void

/** A channel whose server is a function. */
function channel(serve: (message: Message, send: Send, close: () => void) => void): Transport {
  let receiver: Parameters<Transport['open']>[0] | undefined
  return {
    server: 'fuzz',
    mirrorsHeaders: false,
    open(to) {
      receiver = to
      return Promise.resolve()
    },
    send(message) {
      if (!receiver) return Promise.reject(new ClientError('closed', 'closed', { mayHaveRun: false }))
      serve(
        message,
        (sent) => receiver?.message(sent),
        () => {
          const open = receiver
          receiver = undefined
          open?.closed(new ClientError('closed', 'closed'))
        },
      )
      return Promise.resolve()
    },
    agreed() {},
    close() {
      receiver = undefined
      return Promise.resolve()
    },
  }
}

const id = fc.oneof(fc.constant('$id'), fc.integer({ min: -2, max: 9 }), fc.string({ maxLength: 3 }), fc.constant(null))
const json = fc.jsonValue({ maxDepth: 4 })
const params = fc.dictionary(
  fc.constantFrom('progressToken', 'requestId', '_meta', 'mode', 'uri', 'notifications', '__proto__', 'x'),
  fc.oneof(json, id),
)
const result = fc.oneof(
  json,
  fc.record(
    {
      resultType: fc.constantFrom('complete', 'input_required', 'task', 'future'),
      inputRequests: fc.oneof(
        json,
        fc.dictionary(
          fc.string({ maxLength: 3 }),
          fc.record({ method: fc.constantFrom('roots/list', 'x'), params: json }),
        ),
      ),
      requestState: json,
      supportedVersions: fc.oneof(json, fc.constant(['2026-07-28'])),
      protocolVersion: fc.oneof(json, fc.constant('2025-11-25')),
      taskId: fc.oneof(json, fc.constant('t')),
      status: fc.constantFrom('working', 'completed', 'failed', 'input_required', 'cancelled', 'x'),
      tools: json,
      nextCursor: fc.oneof(json, fc.constant('c')),
      ttlMs: json,
    },
    { requiredKeys: [] },
  ),
)
const message = fc.oneof(
  fc.record({ id, result }),
  fc.record({ id, error: json }),
  fc.record({ id, method: fc.constantFrom('ping', 'roots/list', 'elicitation/create', 'x'), params }),
  fc.record({
    method: fc.constantFrom(
      'notifications/progress',
      'notifications/cancelled',
      'notifications/tools/list_changed',
      'notifications/subscriptions/acknowledged',
    ),
    params,
  }),
)
const burst = fc.array(message, { maxLength: 4 })
/** What the server does with each message it receives, in turn. */
const script = fc.array(fc.record({ burst, closes: fc.integer({ min: 0, max: 20 }).map((roll) => roll === 0) }), {
  minLength: 1,
  maxLength: 8,
})

test('every request ends, whatever the server sends', async () => {
  await fc.assert(
    fc.asyncProperty(script, async (steps) => {
      const clock = fakeClock()
      let step = 0
      const transport = channel((asked, send, close) => {
        const { burst: sent, closes } = steps[step++ % steps.length] ?? { burst: [], closes: true }
        if (step > 200) return close()
        for (const each of sent)
          send(JSON.parse(JSON.stringify({ jsonrpc: '2.0', ...each }).replaceAll('"$id"', String(asked.id ?? 0))))
        if (closes) close()
      })
      const work = (async () => {
        const client = await connect(transport, {
          clock,
          tasks: true,
          handlers: { roots: () => ({ roots: [] }), form: () => ({ action: 'decline' }) },
        })
        const list = async (): Promise<void> => {
          for await (const _tool of client.tools());
        }
        const outcomes = await Promise.allSettled([
          client.callTool('a', {}, { onProgress: () => {} }),
          client.request('x'),
          list(),
          client.subscribe({ toolsListChanged: true }, { notification: () => {} }).then((open) => open.close()),
        ])
        for (const outcome of outcomes)
          if (outcome.status === 'rejected')
            expect(outcome.reason instanceof ClientError || outcome.reason instanceof ServerError).toBe(true)
        await client.close()
      })()
      let isOver = false
      const over = work.then(
        () => {
          isOver = true
        },
        (thrown: unknown) => {
          isOver = true
          if (!(thrown instanceof ClientError || thrown instanceof ServerError)) throw thrown
        },
      )
      for (let minutes = 0; minutes < 500 && !isOver; minutes++) await clock.advance(60_000)
      await over
      expect(clock.pending).toBe(0)
    }),
    { numRuns: 300 },
  )
})
