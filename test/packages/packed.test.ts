/** The published packages are complete: packed, installed into an empty folder, and used there as the README says. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { published } from '../../scripts/published.ts'
import type { OfficialClient, ServerLocation } from '../kit/clients/official.client.ts'
import { connectV1 } from '../kit/clients/official-v1.client.ts'
import { connectV2 } from '../kit/clients/official-v2.client.ts'
import { addressOf } from '../kit/processes/listening-address.ts'

const root = new URL('../../', import.meta.url).pathname
const bin = join(root, 'node_modules/.bin')
const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
const patient = { timeout: 120_000 }
/** For servers: a machine that runs many tests at once lags, and a server that notices refuses requests. */
const unhurried = { ...env, SLUICE_ADMISSION: 'null' }
const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', [...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

interface Packed {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}
let work = ''
let packed: readonly Packed[] = []
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
  packed = published().flatMap(
    ({ folder }) =>
      JSON.parse(npm(folder, 'pack', '--ignore-scripts', '--json', '--pack-destination', work)) as Packed[],
  )
  const dependencies = Object.fromEntries(packed.map(({ name, filename }) => [name, `file:${filename}`]))
  const manifest = { private: true, name: 'mine', version: '1.0.0', type: 'module' }
  // Of the packages that a README names besides, the version that we test with.
  const { zod } = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { devDependencies: { zod: string } })
    .devDependencies
  writeFileSync(join(work, 'package.json'), JSON.stringify({ ...manifest, dependencies: { ...dependencies, zod } }))
  npm(work, 'install', '--no-audit', '--no-fund', '--prefer-offline')
}, 300_000)
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** A binary of the installed packages, as a command that needs no particular Node on the PATH. */
const installed = (name: string, ...args: readonly string[]): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [join(work, 'node_modules/.bin', name), ...args],
})

/** Every official client, one after the other. */
async function eachClient(place: ServerLocation, then: (peer: OfficialClient) => Promise<void>): Promise<void> {
  const clients = [
    () => connectV1(place),
    () => connectV2(place, 'legacy'),
    () => connectV2(place, { pin: '2026-07-28' }),
  ]
  for (const connect of clients) {
    const peer = await connect()
    try {
      await then(peer)
    } finally {
      await peer.close()
    }
  }
}

describe('a package', () => {
  test('has types, a README and the licence; has no tests or build records; is small', () => {
    expect(packed.length).toBe(9)
    for (const { name, files, size } of packed) {
      const paths = files.map(({ path }) => path)
      expect(paths, name).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']))
      expect(
        paths.filter((path) => /^(src|dist|lib)\/.*\.test\.|tsbuildinfo/.test(path)),
        name,
      ).toEqual([])
      expect(
        paths.some((path) => path.endsWith('.d.ts')),
        name,
      ).toBe(true)
      // The library holds the gateway and the client, knowledge holds these documents.
      const limits: { readonly [name: string]: number } = {
        sluice: 1_600_000,
        '@sluice/knowledge': 400_000,
        '@sluice/cli': 400_000,
      }
      expect(size, name).toBeLessThan(limits[name] ?? 250_000)
    }
  })
  test('maps every line that runs to its source, inside the package', () => {
    for (const { name, files } of packed) {
      const folder = join(work, 'node_modules', name)
      const paths = new Set(files.map(({ path }) => join(folder, path)))
      for (const map of [...paths].filter((path) => /\.(js|d\.ts)\.map$/.test(path))) {
        const {
          sources,
          sourceRoot = '',
          sourcesContent = [],
        } = JSON.parse(readFileSync(map, 'utf8')) as {
          sources: readonly string[]
          sourceRoot?: string
          sourcesContent?: readonly (string | null)[]
        }
        // The map of an inlined package contains its text.
        for (const [at, source] of sources.entries())
          if (typeof sourcesContent[at] !== 'string')
            expect(paths, map).toContain(join(dirname(map), sourceRoot, source))
      }
    }
  })
})

/** The first program in a document. */
const programIn = (document: string): string =>
  /^```ts\n(?:\/\/ \S+\n)?(.*?)^```$/ms.exec(readFileSync(join(root, document), 'utf8'))?.[1] ?? ''

describe.each(['README.md', 'packages/sluice/README.md'])('the server of %s', (document) => {
  const mine = (): string => {
    const folder = join(work, document.replace(/\W/g, '-'))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', version: '1.0.0' }))
    writeFileSync(join(folder, 'server.ts'), programIn(document))
    return folder
  }
  const shouts = async (peer: OfficialClient): Promise<void> => {
    expect(peer.info).toMatchObject({ name: 'hello', version: '1.0.0' })
    expect(await peer.call('shout', { text: 'hi' })).toMatchObject({ content: [{ type: 'text', text: 'HI' }] })
  }

  test('has its types', patient, () => {
    const folder = mine()
    const options = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, skipLibCheck: false }
    const compilerOptions = { ...options, types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['server.ts'] }))
    execFileSync(join(bin, 'tsc'), ['-p', folder], { env, stdio: 'pipe' })
  })
  test('answers every official client over stdio', patient, async () => {
    const args = [join(mine(), 'server.ts'), '--stdio']
    await eachClient({ transport: 'stdio', command: process.execPath, args, stderr: 'ignore' }, shouts)
  })
  test('answers every official client over HTTP, started by itself', patient, async () => {
    const folder = mine()
    const child = spawn(process.execPath, ['server.ts', '--port', '0'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    const { url } = await addressOf(child)
    await eachClient({ transport: 'http', url }, shouts)
  })
  test('answers every official client over HTTP and WebSocket, served by the command', patient, async () => {
    const folder = mine()
    // Without the line that serves the file by itself, which the test above covers.
    writeFileSync(join(folder, 'server.ts'), programIn(document).replace(/^.*await serve\(hello\)$/m, ''))
    const { command, args } = installed('sluice', 'serve', './server.ts', '--watch', '--ws', '--port', '0')
    const child = spawn(command, args, { cwd: folder, env: unhurried, stdio: ['ignore', 'ignore', 'pipe'] })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    const { url } = await addressOf(child)
    await eachClient({ transport: 'http', url }, shouts)
    await eachClient({ transport: 'websocket', url: url.replace('http:', 'ws:').replace(/mcp$/, 'ws') }, shouts)
  })
})

test('the program for the edge in the README of knowledge serves its index', patient, async () => {
  const folder = join(work, 'edge')
  mkdirSync(join(folder, 'docs'), { recursive: true })
  writeFileSync(join(folder, 'docs/tea.md'), '# Tea\n\nWater at 80 °C.\n')
  const { command, args } = installed('sluice-knowledge', 'build', './docs', '--title', 'My product')
  execFileSync(command, [...args, '--out', 'knowledge.json'], { cwd: folder, stdio: 'pipe' })
  const text = readFileSync(join(root, 'servers/knowledge/README.md'), 'utf8')
  writeFileSync(join(folder, 'edge.js'), /^```js\n(.*?)^```$/ms.exec(text)?.[1] ?? '')
  const { default: edge } = (await import(join(folder, 'edge.js'))) as {
    default: { fetch(request: Request): Promise<Response> }
  }
  const params = { name: 'search_articles', arguments: { query: 'tea' } }
  const response = await edge.fetch(
    new Request('https://docs.example.com/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    }),
  )
  expect(await response.text()).toContain('Tea')
})

/** Loads the page with its script, and signs in as the page does. */
async function expectConsole(link: string): Promise<void> {
  const { origin, hash } = new URL(link)
  const page = await (await fetch(origin)).text()
  const script = / src="\.\/(assets\/[\w-]+\.js)"/.exec(page)?.[1]
  expect((await fetch(`${origin}/${script}`)).status).toBe(200)
  const signedIn = await fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ link: hash.replace('#/sign-in/', '') }),
  })
  expect(await signedIn.json()).toMatchObject({ operator: { scopes: expect.arrayContaining(['approvals:decide']) } })
}

test('a program with @sluice/console serves the console', patient, async () => {
  const program = `
    import { memoryStore } from 'sluice'
    import { createConsole } from '@sluice/console'
    const consoleApp = createConsole({ store: memoryStore() })
    await consoleApp.listen({ port: 0 })
    console.log(await consoleApp.link())`
  writeFileSync(join(work, 'console.js'), program)
  const child = spawn(process.execPath, ['console.js'], { cwd: work, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += String(chunk)
    if (printed.endsWith('\n')) break
  }
  await expectConsole(printed.trim())
})

describe('the command', () => {
  test('starts the five servers and the console, and each answers', patient, async () => {
    const { command, args } = installed('sluice', 'start', '--port', '0', '--console-port', '0', '--json')
    const data = join(work, 'started')
    const child = spawn(command, [...args, '--data', data], {
      cwd: work,
      env: unhurried,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    let printed = ''
    for await (const chunk of child.stdout) {
      printed += String(chunk)
      if (printed.trimEnd().endsWith('\n}')) break
    }
    const {
      servers,
      keys,
      console: link,
    } = JSON.parse(printed) as {
      servers: readonly { name: string; url: string }[]
      keys: string
      console: string
    }
    const { you } = JSON.parse(readFileSync(keys, 'utf8')) as { you: string }
    expect(servers.map(({ name }) => name)).toEqual(['knowledge', 'memory', 'fitness', 'lisp', 'routes'])
    for (const { name, url } of servers) {
      const { command, args } = installed('sluice', 'call', url, '--token', you, '--json')
      expect(execFileSync(command, args, { env, encoding: 'utf8' }), name).toContain('inputSchema')
    }
    await expectConsole(link)
  })
  test('includes what it needs for Redis', patient, () => {
    const { command, args } = installed('sluice', 'doctor', '--json')
    const nobody = { ...env, SLUICE_STORE: '{"redis":"redis://127.0.0.1:1"}' }
    const found = spawnSync(command, args, { cwd: work, env: nobody, encoding: 'utf8' })
    expect(found.stdout).toContain('The store is unavailable')
  })
  test('serves one of the five over stdio', patient, async () => {
    const place = installed('sluice', 'serve', 'routes', '--stdio', '--data', join(work, 'data'))
    await eachClient({ transport: 'stdio', ...place, stderr: 'ignore' }, async (peer) => {
      const route = await peer.call('calculate_route', { origin: 'Hanoi', destination: 'Hue' })
      expect(route).toMatchObject({ isError: false })
    })
  })
})

test.each(['knowledge', 'memory', 'fitness', 'lisp', 'routes'])(
  'the client configuration in the README of %s works',
  patient,
  async (name) => {
    const { command, args } = installed(`sluice-${name}`, ...(name === 'knowledge' ? [join(root, 'docs')] : []))
    const own = { XDG_DATA_HOME: join(work, `data-${name}`), PATH: env.PATH }
    const peer = await connectV2({ transport: 'stdio', command, args, env: own, stderr: 'ignore' }, 'auto')
    onTestFinished(() => peer.close())
    expect((await peer.list('tools')).length).toBeGreaterThan(0)
  },
)
