/** `/metrics` of a port with several servers. */

import { defineServer } from 'sluice'
import { createServer, serveMany } from 'sluice/node'
import { metrics } from 'sluice/plugins'
import { expect, onTestFinished, test } from 'vitest'

const named = (name: string) => createServer(defineServer({ name, version: '1' }), { use: [metrics()] })

test('several servers on one port share one page, on which every series names its server', async () => {
  const [a, b] = [named('a'), named('b')]
  const { urls, close } = await serveMany({ '/a': { server: a }, '/b': { server: b } }, { port: 0 })
  onTestFinished(() => close())
  for (const server of [a, a, b]) await server.handle({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const page = await fetch(new URL('/metrics', urls['/a']))
  const text = await page.text()
  expect(page.headers.get('content-type')).toContain('version=0.0.4')
  expect(text).toContain('sluice_requests_total{server="a",method="ping",outcome="complete"} 2\n')
  expect(text).toContain('sluice_requests_total{server="b",method="ping",outcome="complete"} 1\n')
  const heads = text.split('\n').filter((line) => line.startsWith('# TYPE '))
  expect(new Set(heads).size).toBe(heads.length)
  for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^(#|\w+\{server="[ab]")/)
  // Samples of a family are contiguous, below its head.
  const families = text.split('\n').flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
  let last = -1
  for (const line of text
    .trimEnd()
    .split('\n')
    .filter((each) => !each.startsWith('#'))) {
    const name = (/^\w+/.exec(line)?.[0] ?? '').replace(/_(bucket|sum|count)$/, '')
    const at = families.indexOf(name)
    expect(at).toBeGreaterThanOrEqual(last)
    last = Math.max(last, at)
  }
  const own = await (await fetch(new URL('/a/metrics', urls['/a']))).text()
  expect(own).not.toContain('server="b"')
})
