/** The files that docs/deploy.md quotes are the files that are run. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { startHaproxy } from '../kit/processes/haproxy.ts'
import { freePort } from '../kit/processes/programs.ts'
import { startRedis } from '../kit/processes/redis.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test.each(['examples/fleet.ts', 'docs/deploy/haproxy.cfg', 'docs/deploy/redis.conf', 'docs/deploy/mcp@.service'])(
  'docs/deploy.md quotes %s unchanged',
  (file) => {
    expect(read('docs/deploy.md')).toContain(`\n${read(file).trimEnd()}\n\`\`\``)
  },
)

test('the process of the recipe runs on a Redis of the recipe, is ready, and exits with 0', {
  timeout: 60_000,
}, async () => {
  const settings = read('docs/deploy/redis.conf').match(/^(?:append|save|maxmemory)\S* .*$/gm) ?? []
  const redis = await startRedis(
    settings.flatMap((line) =>
      line
        .replaceAll('"', '')
        .split(' ')
        .map((word, i) => (i === 0 ? `--${word}` : word)),
    ),
  )
  onTestFinished(() => redis.stop())
  const port = await freePort()
  const program = new URL('../../examples/fleet.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, PORT: String(port), REDIS_URL: redis.url, SLUICE_SECRET: 'sixteen characters' },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const ready = (): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      (page) => page.text(),
      () => 'not yet',
    )
  await expect.poll(ready, { timeout: 20_000 }).toBe('ready\n')
  child.kill('SIGINT')
  expect(await exited).toEqual([0, null])
})

test('HAProxy without a process answers with JSON-RPC, a time to retry, and a code that every revision allows', async () => {
  const haproxy = await startHaproxy([await freePort(), await freePort(), await freePort()], await freePort())
  onTestFinished(() => haproxy.stop())
  const post = (): Promise<Response> => fetch(haproxy.url, { method: 'POST', body: '{}' })
  await expect
    .poll(() =>
      post().then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(503)
  const response = await post()
  expect(response.headers.get('content-type')).toContain('application/json')
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.json()).toMatchObject({
    jsonrpc: '2.0',
    error: { code: 50300, data: { reason: 'overloaded' } },
  })
})

test('no answer of HAProxy uses a code from -32099 to -32000', () => {
  const codes = [...read('docs/deploy/haproxy.cfg').matchAll(/"code":(-?\d+)/g)].map(([, code]) => Number(code))
  expect(codes).toHaveLength(2)
  expect(codes.filter((code) => code <= -32_000 && code >= -32_099)).toEqual([])
})
