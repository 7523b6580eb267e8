/** Unhandled errors of a tool, in a real process: they do not end it, and they are never silent. */

import { afterEach, expect, test } from 'vitest'
import { callOf, headersFor } from '../kit/clients/valid-messages.ts'
import type { Child } from '../kit/processes/child.ts'
import { killAll, startChild } from '../kit/processes/child.ts'

afterEach(killAll)

async function open(
  policy: 'serve' | 'end',
): Promise<{ child: Child; url: string; call(name: string): Promise<number> }> {
  const child = startChild('unhandled-errors.fixture.ts', policy)
  const { url } = (await child.next()) as { readonly url: string }
  return {
    child,
    url,
    async call(name) {
      const message = callOf(1, name)
      const headers = { 'content-type': 'application/json', ...headersFor(message) }
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) })).status
    },
  }
}

test('an unhandled error is logged with the name of its tool and counted, and serving continues', async () => {
  const { child, url, call } = await open('serve')
  const strays = ['reject', 'later', 'timer', 'immediate', 'tick', 'not-an-error']
  for (const tool of strays) {
    expect(await call(tool)).toBe(200)
    expect(await child.next()).toMatchObject({ event: 'strayError', tool })
  }
  expect(await call('quiet')).toBe(200)
  const page = await (await fetch(new URL('/metrics', url))).text()
  expect(page).toMatch(new RegExp(`^sluice_stray_errors_total(\\{.*\\})? ${strays.length}$`, 'm'))
})

test('if the operator chooses so, the process drains and exits with 1', async () => {
  const { child, call } = await open('end')
  expect(await call('timer')).toBe(200)
  expect(await child.next()).toMatchObject({
    event: 'strayError',
    kind: 'exception',
    tool: 'timer',
    errorMessage: 'left behind',
  })
  expect(await child.exit).toMatchObject({ code: 1 })
})

test('over stdio each unhandled error has the name of its own tool, also among calls that arrive together', async () => {
  const child = startChild('unhandled-errors.fixture.ts', 'stdio')
  const names = ['timer', 'quiet', 'reject', 'timer', 'later']
  await child.write(names.map((name, id) => `${JSON.stringify(callOf(id, name))}\n`).join(''))
  for (const name of ['timer', 'reject', 'later'])
    await child.stderrMatches(new RegExp(`"event":"strayError"[^\\n]*"tool":"${name}"`))
  child.process.stdin.end()
  const { stderr, left } = await child.exit
  expect(left).toHaveLength(names.length)
  expect(stderr.match(/"tool":"timer"/g)).toHaveLength(2)
  expect(stderr).not.toContain('"tool":"quiet"')
})
