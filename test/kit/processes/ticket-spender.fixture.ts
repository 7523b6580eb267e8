/**
 * One of several processes that repeatedly spend the same approved tickets, all at once.
 *
 * spend.ts <store> <folder> <retries> <first id> <second id> …     the n-th id is the ticket for paying n
 *
 * Prints that it is ready, waits for a line, and prints the counts of its answers.
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
      // Every second call has no id and finds its ticket by binding; after it ran, such a call requests a new ticket.
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
