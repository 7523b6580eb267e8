/** `sluice call` against a server with everything in it, over the transports it reaches. */

import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { expect, onTestFinished, test } from 'vitest'
import { rawTool, rawUpstream, textResult } from '../../../test/gateway/raw-upstream.ts'
import { openTmux } from '../../../test/kit/processes/tmux.ts'
import { createEverything } from '../../../test/kit/servers/everything.fixture.ts'
import { aFolder, main, sluice } from './command.ts'

async function served(): Promise<string> {
  const { url, close } = await serveHttp(createEverything(), { port: 0, sse: sse(), websocket: websocket() })
  onTestFinished(() => close())
  return url
}
const program = fileURLToPath(new URL('../../../test/kit/servers/everything.fixture.ts', import.meta.url))
const command = `${process.execPath} ${program} --stdio`

test.each([
  ['HTTP', (url: string) => url],
  ['HTTP+SSE', (url: string) => url.replace(/mcp$/, 'sse')],
  ['WebSocket', (url: string) => url.replace(/^http(.*)mcp$/, 'ws$1ws')],
  ['a command', () => command],
])('a tool is called over %s', async (_over, target) => {
  const called = await sluice(aFolder(), ['call', target(await served()), 'say', 'text=hello'])
  expect(called).toMatchObject({ out: 'hello\n', code: 0 })
})

test('resources, prompts and completions are shown', async () => {
  const [url, cwd] = [await served(), aFolder()]
  expect((await sluice(cwd, ['call', url, '--resources'])).out).toMatch(/note:\/\/text\n +Words to read/)
  expect((await sluice(cwd, ['call', url, '--read', 'note://text'])).out).toBe('Words\n')
  expect((await sluice(cwd, ['call', url, '--prompts'])).out).toMatch(/greet name tone\?\n +Greets/)
  const prompted = await sluice(cwd, ['call', url, '--prompt', 'greet', 'name=Ada', 'tone=warm'])
  expect(prompted.out).toBe('user: Greet Ada, warm\nassistant: Gladly\n')
  const completed = await sluice(cwd, ['call', url, '--complete', 'note://{year}/{slug}', 'year=2024', 'slug='])
  expect(completed.out).toBe('old\n')
  expect(await sluice(cwd, ['call', url, '--read', 'note://nowhere'])).toMatchObject({ code: 1 })
})

test('a session of many calls goes on after a mistake', async () => {
  const child = spawn(process.execPath, [main, 'call', command, '--repl'], { cwd: aFolder() })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  child.stdin.end('call say text="two words"\nnonsense\ncall nothing\nread note://text\n')
  const code = await new Promise((resolve) => child.once('exit', resolve))
  expect(out).toBe('two words\nWords\n')
  expect(err).toContain('Unknown: nonsense')
  expect(err).toContain('has no tool "nothing"')
  expect(code).toBe(0)
})

test('a server that asks for a sign-in gets one, and the next call needs none', async () => {
  const paths: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin())
    paths.push(url.pathname)
    const json = (value: object, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
        json({ resource: `${origin()}/mcp`, authorization_servers: [origin()] })
      else if (url.pathname === '/.well-known/oauth-authorization-server')
        json({
          issuer: origin(),
          authorization_endpoint: `${origin()}/authorize`,
          token_endpoint: `${origin()}/token`,
          registration_endpoint: `${origin()}/register`,
          code_challenge_methods_supported: ['S256'],
        })
      else if (url.pathname === '/register') json({ client_id: 'c' }, 201)
      else if (url.pathname === '/token') json({ access_token: 'good', token_type: 'Bearer' })
      else if (request.headers.authorization !== 'Bearer good') response.writeHead(401).end()
      else {
        const { id, method } = JSON.parse(body) as { id: number; method: string }
        const result =
          method === 'server/discover' ? { supportedVersions: ['2026-07-28'], capabilities: {} } : { tools: [] }
        json({ jsonrpc: '2.0', id, result })
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const cwd = aFolder()
  const args = [main, 'call', `${origin()}/mcp`, '--sign-in', '--json']
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, XDG_CONFIG_HOME: cwd } })
  const page = await new Promise<URL>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const found = /Sign in at (\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(new URL(found))
    })
  })
  const back = new URL(page.searchParams.get('redirect_uri') ?? '')
  back.searchParams.set('code', 'c')
  back.searchParams.set('state', page.searchParams.get('state') ?? '')
  expect(await (await fetch(back)).text()).toContain('Signed in')
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)

  paths.length = 0
  const again = await sluice(cwd, ['call', `${origin()}/mcp`, '--sign-in', '--json'], { XDG_CONFIG_HOME: cwd })
  expect(again).toMatchObject({ out: '[]\n', code: 0 })
  expect(new Set(paths)).toEqual(new Set(['/mcp']))
  const without = await sluice(cwd, ['call', `${origin()}/mcp`])
  expect(without.err).toContain('requires a credential')
})

test('what a started command writes to stderr is shown only if it fails', async () => {
  const cwd = aFolder()
  const program = (rest: string): string => `"${process.execPath}" -e "console.error('from the child');${rest}"`
  const failed = await sluice(cwd, ['call', program('process.exit(3)')])
  expect(failed.code).toBe(1)
  expect(failed.err).toContain('from the child')
  const good = await sluice(cwd, ['call', `"${process.execPath}" "${main}" serve routes --stdio`])
  expect([good.code, good.err]).toEqual([0, ''])
})

test('the status of a task is printed when it changes, not each time it is looked at', async () => {
  const raw = await rawUpstream({ tools: [rawTool('order')] })
  const task = { taskId: 't', createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z', ttlMs: null }
  const statuses = ['Waiting for approval', 'Waiting for approval', 'Packing']
  let looks = 0
  raw.respond = ({ method }) => {
    const statusMessage = statuses[looks++]
    const working = { ...task, status: 'working', pollIntervalMs: 1, statusMessage }
    if (method === 'tools/call') return { resultType: 'task', ...working }
    return { resultType: 'complete', ...(statusMessage ? working : { ...task, status: 'completed', result }) }
  }
  const result = textResult('ordered')
  const { out, err } = await sluice(aFolder(), ['call', raw.url, 'order'])
  expect({ out, err }).toEqual({ out: 'ordered\n', err: '… Waiting for approval\n… Packing\n' })
})

test('a form shows the choices of a field, and asks again after a wrong word', { timeout: 120_000 }, async () => {
  const cwd = aFolder()
  const shop = fileURLToPath(new URL('../../../test/kit/servers/gated-module.fixture.ts', import.meta.url))
  const served = `${process.execPath} ${main} serve ${shop} --stdio --data ${join(cwd, 'data')}`
  const call = [process.execPath, main, 'call', served, 'pay', `ran=${join(cwd, 'ran')}`, 'amount=5']
  const terminal = openTmux(call, cwd)
  await terminal.until((screen) => screen.includes('decision (approve, deny):'))
  terminal.type('yes')
  terminal.press('Enter')
  await terminal.until((screen) => screen.split('decision (approve, deny):').length === 3)
  terminal.type('approve')
  terminal.press('Enter')
  await terminal.until((screen) => screen.includes('note:'))
  terminal.press('Enter')
  await terminal.until((screen) => screen.includes('Paid 5') && screen.includes('ended 0'))
})
