/**
 * One of several processes that spend the same approved tickets, each again and again, all at once.
 *
 *   spend.ts <store> <folder> <retries> <first id> <second id> …     the n-th id is the ticket for paying n
 *
 * Says it is ready, waits for a line, and says what it was answered, counted.
 */

import { once } from 'node:events'
import { openPaymentServer, openStore } from '../servers/payments.fixture.ts'

const [kind = '', folder = '', retries = '1', ...ids] = process.argv.slice(2)
const store = openStore(kind, folder)
const { pay, server } = openPaymentServer(store, { folder })
await store.get(['warm'])
process.stdout.write('ready\n')
await once(process.stdin, 'data')

const counts: { [answer: string]: number } = {}
const texts = new Map<number, Set<string>>()
await Promise.all(
  ids.flatMap((id, amount) =>
    Array.from({ length: Number(retries) }, async (_, n) => {
      // Every other one is found by what it is bound to; after it ran, such a one asks for a new ticket.
      const answer = await pay(amount, n % 2 === 0 ? id : undefined)
      const what = answer.text
        ? 'result'
        : answer.required
          ? 'required'
          : `${answer.reason} ${answer.state ?? ''}`.trim()
      counts[what] = (counts[what] ?? 0) + 1
      if (answer.text !== undefined) texts.set(amount, (texts.get(amount) ?? new Set()).add(answer.text))
    }),
  ),
)
process.stdout.write(`${JSON.stringify({ counts, texts: [...texts].map(([amount, said]) => [amount, [...said]]) })}\n`)
await server.close()
await store.close?.()
process.exit(0)
