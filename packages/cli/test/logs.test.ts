/** A log that cannot be written loses lines, but no calls, and the process runs on. The soak run `full-log-disk` is longer. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo, textOf } from '../../../test/kit/clients/binary.client.ts'
import { addressOf } from '../../../test/kit/processes/listening-address.ts'
import { terminalLogger } from '../src/host/terminal-log.ts'
import { aFolder, main, sluice } from './command.ts'

test('with a full log disk calls are answered, health is good, and SIGTERM ends the process', async () => {
  const cwd = aFolder()
  writeFileSync(
    join(cwd, 'sluice.config.json'),
    JSON.stringify({ log: { file: '/dev/full' }, admission: null, drain: { noticeMs: 1 } }),
  )
  const args = [main, 'serve', 'knowledge', '--http', '--port', '0']
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const { url } = await addressOf(child)
  const client = await connectTo(url)
  for (let n = 0; n < 20; n++) expect(await textOf(client, 'list_articles', { limit: 1 })).not.toBe('')
  expect((await fetch(new URL('healthz', url))).status).toBe(200)
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
})

test('a log file that is a FIFO without a reader is refused at once', async () => {
  const cwd = aFolder()
  const file = join(cwd, 'fifo')
  execFileSync('mkfifo', [file])
  const { code, err } = await sluice(cwd, ['serve', 'knowledge', '--http', '--port', '0'], { SLUICE_LOG__FILE: file })
  expect([code, err]).toEqual([1, `${file} cannot be written (ENXIO). Choose another file with "log.file".\n`])
})

test('at a terminal a log line is for people, on one line, with the stack of a bug below it', () => {
  let written = ''
  const logger = terminalLogger({
    isTty: false,
    write: (text) => {
      written += text
    },
    now: () => new Date(2026, 10, 17, 8, 5, 9),
  })
  const call = { event: 'request', server: 'shop', tool: 'refund', caller: 'ann', tenant: 'acme', durationMs: 11.6 }
  logger.info({ ...call, outcome: 'complete', traceId: 'c0aeaf' })
  logger.error({
    ...call,
    outcome: 'internalError',
    reference: '49bc',
    errorMessage: 'no \u001b[2J',
    stack: 'Error\n at x',
  })
  logger.warn({ event: 'storeSlow', store: 'redis', ms: 900 })
  logger.warn({ ...call, caller: 'anonymous', tenant: '', outcome: 'unauthorized' })
  expect(written).toBe(
    [
      '08:05:09 info  shop/refund  ann@acme  complete  12 ms',
      '08:05:09 error shop/refund  ann@acme  internalError  12 ms  no \\u001b[2J  reference 49bc',
      '  Error',
      '   at x',
      '08:05:09 warn  storeSlow  store=redis  ms=900',
      '08:05:09 warn  shop/refund  anonymous  unauthorized  12 ms',
      '',
    ].join('\n'),
  )
})
