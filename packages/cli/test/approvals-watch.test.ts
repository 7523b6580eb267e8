/** `sluice approvals watch` in a real terminal, and in a pipe, on the store of a server. */

import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { defineServer, tool } from 'sluice'
import type { Approvals } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import { createServer } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import { testClient } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openTmux } from '../../../test/kit/processes/tmux.ts'
import { aFolder, main } from './command.ts'

const slowTest = { timeout: 180_000 }

interface Shop {
  readonly folder: string
  readonly approvals: Approvals
  /** Calls the gated tool, and returns the text of the result. */
  refund(args: object): Promise<string>
}

/** A server whose store the command reads from another process. */
async function openShop(): Promise<Shop> {
  const folder = join(aFolder(), 'data')
  mkdirSync(folder)
  const store = sqliteStore(join(folder, 'sluice.db'))
  const audit = createAudit({ store })
  const approvals = createApprovals({ store, audit, approver: 'client' })
  const refund = tool({
    name: 'refund',
    description: 'Money back',
    input: z.looseObject({}),
    approval: 'always',
    effect: () => ({ Account: 'main' }),
    run: () => 'done',
  })
  const server = createServer(defineServer({ name: 'shop', version: '1.0.0', tools: [refund] }), {
    store,
    use: [approvals, audit],
  })
  onTestFinished(async () => {
    await server.close()
    await store.close()
  })
  const client = await testClient(server)
  return {
    folder,
    approvals,
    async refund(args) {
      const result = await client.request('tools/call', { name: 'refund', arguments: args })
      return (result['content'] as readonly { readonly text: string }[])[0]?.text ?? ''
    },
  }
}
const idIn = (text: string): string => (JSON.parse(text) as { request_id: string }).request_id

test('tickets appear by themselves, and keys choose, show, approve and deny them', slowTest, async () => {
  const { folder, approvals, refund } = await openShop()
  const terminal = openTmux([process.execPath, main, 'approvals', 'watch', '--data', folder], folder)
  await terminal.until((screen) => screen.includes('No calls wait'))

  const first = idIn(await refund({ order: 1, text: '\u001b[2J\u001b]0;evil\u0007\u009b31m' }))
  const second = idIn(await refund({ order: 2, text: `begin ${'x'.repeat(3_000)} end` }))
  // The keys that decide are offered only when they work.
  const list = await terminal.until((screen) => screen.includes('2 waiting') && screen.includes('a approve'))
  expect(list).toContain(`> ${first.slice(0, 8)}`)
  expect(list).toContain('Account: "main"')
  // Escape sequences of arguments are text.
  expect(list).toContain('\\u001b[2J\\u001b]0;evil\\u0007[U+009B]31m')
  expect(list.trimEnd().split('\n')).toHaveLength(24)

  terminal.press('j')
  await terminal.until((screen) => screen.includes(`> ${second.slice(0, 8)}`) && screen.includes('a approve'))
  // Long arguments must be read to their end. Half of a screen may have been seen above, and then the key is too early.
  await terminal.until((screen) => {
    if (!screen.includes('Read it to the end first')) terminal.press('a')
    return screen.includes('Read it to the end first') && screen.includes('begin')
  })
  expect(await approvals.get(second)).toMatchObject({ status: 'pending' })
  terminal.press('Space', 'Space', 'Space', 'Space')
  await terminal.until((screen) => screen.includes(' end"'))
  terminal.press('n')
  await terminal.until((screen) => screen.includes('Enter keeps the note'))
  terminal.type('quite fine')
  terminal.press('Enter', 'a')
  await terminal.until((screen) => screen.includes('Approved refund') && screen.includes('1 waiting'))
  expect(await approvals.get(second)).toMatchObject({
    status: 'approved',
    decisions: [{ by: 'you', via: 'command', approved: true, note: 'quite fine' }],
  })
  expect(await refund({ order: 2, text: `begin ${'x'.repeat(3_000)} end` })).toBe('done')

  terminal.resize(60, 15)
  const small = await terminal.until(
    (screen) => screen.trimEnd().split('\n').length === 15 && screen.includes('d deny'),
  )
  expect(Math.max(...small.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60)
  terminal.press('d')
  await terminal.until((screen) => screen.includes('Denied refund') && screen.includes('No calls wait'))
  expect(await approvals.get(first)).toMatchObject({ status: 'denied' })

  // A pasted text decides nothing.
  const third = idIn(await refund({ order: 3 }))
  await terminal.until((screen) => screen.includes('1 waiting') && screen.includes('a approve'))
  terminal.type('\u001b[200~aq\u001b[201~')
  terminal.press('Enter')
  await terminal.until((screen) => screen.includes('Esc list'))
  expect(await approvals.get(third)).toMatchObject({ status: 'pending' })
  terminal.press('q')
  await terminal.until((screen) => screen.includes('ended 0'))
})

test('in a pipe it prints each new ticket as one line, and ends on a signal', slowTest, async () => {
  const { folder, refund } = await openShop()
  const before = idIn(await refund({ order: 1, text: 'a\u202eb' }))
  const child = spawn(process.execPath, [main, 'approvals', 'watch', '--data', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe(
    `${before}  shop/refund  anonymous@default  Account: "main"  {"order":1,"text":"a[U+202E RLO]b"}`,
  )
  const after = idIn(await refund({ order: 2 }))
  expect((await lines.next()).value).toContain(after)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  expect(await exited).toBe(0)
  expect((await lines.next()).done).toBe(true)
})
