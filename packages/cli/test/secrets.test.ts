/** Secrets by reference: they reach the upstreams, and nothing else of a full run has them. */

import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo, textOf } from '../../../test/kit/clients/binary.client.ts'
import { startChromium } from '../../../test/kit/processes/chromium.ts'
import { startKeyring } from '../../../test/kit/processes/keyring.ts'
import { freePort } from '../../../test/kit/processes/programs.ts'
import { startResourceServer, startSignInIssuer } from '../../../test/kit/servers/sign-in-issuer.ts'
import { aFolder, sluice, startAll } from './command.ts'

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const canary = (where: string): string => `canary-${where}-${randomBytes(9).toString('hex')}`
const fixture = join(import.meta.dirname, '../../../test/kit/processes/secret-upstream.fixture.ts')

/** An HTTP upstream of 2026-07-28 with one tool. It notes the headers that came. */
async function headerUpstream(): Promise<{ readonly url: string; readonly headers: string[] }> {
  const headers: string[] = []
  const server = createServer((request, response) => {
    headers.push(`${request.headers.authorization} ${request.headers['x-api-key']}`)
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on('end', () => {
      const { id, method } = JSON.parse(text === '' ? '{}' : text) as { id?: number; method?: string }
      const results: { readonly [method: string]: object } = {
        'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
        'tools/list': { tools: [{ name: 'ping', inputSchema: { type: 'object' } }], ttlMs: 0, cacheScope: 'private' },
        'tools/call': { content: [{ type: 'text', text: 'pong' }] },
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...results[method ?? ''] } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, headers }
}

/** Returns every file below a folder as text of its bytes. */
const filesIn = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path, 'latin1')] as const)

/** Returns the command lines of all processes on this machine. */
const commandLines = (): string =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      } catch {
        return ''
      }
    })
    .join('\n')

test('after a full run no log, audit, console answer, file or command line has a secret', {
  timeout: 120_000,
}, async () => {
  const cwd = aFolder()
  const outside = aFolder()
  const secrets = {
    env: canary('env'),
    file: canary('file'),
    keychain: canary('keychain'),
    header: canary('header'),
    apiKey: canary('api-key'),
  }
  writeFileSync(join(outside, 'secret'), `${secrets.file}\n`)
  writeFileSync(join(outside, 'header'), secrets.header)
  const keyring = await startKeyring({ 'sluice-test/ada': secrets.keychain })
  const far = await headerUpstream()
  const port = await freePort()
  const redirect = `http://127.0.0.1:${port}/notes/sign-in/callback`
  const issuer = await startSignInIssuer([redirect])
  const notes = await startResourceServer(issuer.url)
  onTestFinished(async () => {
    await notes.close()
    issuer.close()
  })
  const servers = {
    careless: {
      command: process.execPath,
      args: [fixture],
      env: {
        FROM_ENV: `\${env:CANARY_ENV}`,
        FROM_FILE: `\${file:${join(outside, 'secret')}}`,
        FROM_KEYCHAIN: `\${keychain:sluice-test/ada}`,
      },
    },
    far: {
      url: far.url,
      headers: { authorization: `Bearer \${file:${join(outside, 'header')}}`, 'x-api-key': `\${env:CANARY_API_KEY}` },
    },
    notes: {
      url: notes.url,
      auth: { signIn: { client: { id: issuer.client.id, secret: `\${env:CANARY_CLIENT}` } } },
    },
  }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ port, servers }))
  const env = {
    ...keyring.env,
    CANARY_ENV: secrets.env,
    CANARY_API_KEY: secrets.apiKey,
    CANARY_CLIENT: issuer.client.secret,
    SLUICE_LOG__LEVEL: 'debug',
  }
  const running = await startAll(cwd, ['--port', String(port)], env)
  const you = running.keys['you']

  // Every secret arrives where it is meant to.
  const careless = await connectTo(running.url('careless'), you)
  expect(await textOf(careless, 'hashes', {})).toBe([secrets.env, secrets.file, secrets.keychain].map(hashOf).join(' '))
  const distant = await connectTo(running.url('far'), you)
  expect(await textOf(distant, 'ping', {})).toBe('pong')
  expect(far.headers.at(-1)).toBe(`Bearer ${secrets.header} ${secrets.apiKey}`)
  const own = await connectTo(running.url('notes'), you)
  const link = /http:\S+/.exec(await textOf(own, 'sign_in', {}))?.[0] ?? ''
  const browser = await startChromium()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(link)
  await page.locator('input[name=login]').fill('ada')
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  await page.locator('button[type=submit]', { hasText: 'Continue' }).click()
  const code = /\d{4} \d{4}/.exec((await page.locator('h1').textContent()) ?? '')?.[0] ?? ''
  expect(await textOf(own, 'sign_in', { code })).toContain('Signed in')
  await own.close()
  const signedIn = await connectTo(running.url('notes'), you)
  expect(await textOf(signedIn, 'whoami', {})).toBe('ada')

  // What operators see.
  await page.goto(running.console)
  await page.getByRole('navigation').waitFor()
  const answers: string[] = []
  for (const path of ['session', 'servers', 'live', 'audit', 'tickets', 'tenants', 'keys', 'openapi.json'])
    answers.push(await page.evaluate(`fetch('/api/${path}').then((response) => response.text())`))
  expect(answers.join('')).toContain('upstream signed in')
  const commands = [
    ['config', 'print'],
    ['config', 'print', '--json'],
    ['upstreams', 'list', '--json'],
    ['upstreams', 'logs', 'careless'],
    ['audit', 'search', '--tenant', 'default'],
    ['doctor'],
  ]
  const printed: string[] = []
  for (const args of commands) {
    const { out, err } = await sluice(cwd, args, env)
    printed.push(`${args.join(' ')}\n${out}\n${err}`)
  }
  const logs = printed.find((text) => text.startsWith('upstreams logs')) ?? ''
  expect(logs).toContain('"FROM_KEYCHAIN":"(hidden)"')
  const lines = commandLines()
  expect(lines).toContain(fixture)
  expect(await running.stop()).toBe(0)

  const files = filesIn(cwd)
  expect(files.map(([path]) => path)).toContain(join(cwd, '.sluice', 'sluice.log'))
  expect(issuer.tokens.size).toBeGreaterThan(1)
  const searched: readonly (readonly [string, string])[] = [
    ...files,
    ...printed.map((text) => [text.split('\n')[0] ?? '', text] as const),
    ['console', answers.join('\n')],
    ['command lines', lines],
    ['stderr', running.stderr()],
  ]
  const wanted = [...Object.values(secrets), issuer.client.secret, ...issuer.tokens]
  const found = searched.flatMap(([where, text]) =>
    wanted.filter((secret) => text.includes(secret)).map((secret) => `${where}: ${secret}`),
  )
  expect(found).toEqual([])
})

test('a secret that is written into the configuration is hidden, and doctor names it', async () => {
  const cwd = aFolder()
  const servers = {
    careless: {
      command: process.execPath,
      args: [fixture, '--token', 'literal-one', '--api-key=literal-two', '--verbose'],
      env: { API_KEY: 'literal-three', NOTES_FILE: '/srv/notes', PLAIN: `ghp_${'a'.repeat(30)}` },
    },
    far: { url: 'http://127.0.0.1:9/mcp?token=literal-four&page=1' },
  }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers }))
  for (const args of [
    ['config', 'print'],
    ['config', 'print', '--json'],
  ]) {
    const { out } = await sluice(cwd, args)
    expect(out).not.toMatch(/literal-|ghp_/)
    expect(out).toContain('/srv/notes')
    expect(out).toContain('--verbose')
  }
  const { out } = await sluice(cwd, ['doctor', '--json'])
  const findings = JSON.parse(out) as readonly { state: string; found: string }[]
  const named = findings.flatMap(({ found }) => /^"servers\.(.+)" seems to contain a secret/.exec(found)?.[1] ?? [])
  expect(named).toEqual([
    'careless.env.API_KEY',
    'careless.env.PLAIN',
    'careless.args[2]',
    'careless.args[3]',
    'far.url',
  ])
})

test('a keychain that cannot be read says what to do', async () => {
  const cwd = aFolder()
  const servers = {
    careless: { command: process.execPath, args: [fixture], env: { KEY: `\${keychain:nothing/here}` } },
  }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers }))
  const keyring = await startKeyring({})
  const findingOf = async (env: Record<string, string>): Promise<string> =>
    (await sluice(cwd, ['doctor', '--json'], env)).out
  expect(await findingOf(keyring.env)).toContain('secret-tool store')
  expect(await findingOf({ PATH: aFolder() })).toContain('the command secret-tool, which is missing')
})
