/** The official Inspector's command line, which people try first when a server does not answer. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { HttpServing } from 'sluice/node'
import { serveHttp } from 'sluice/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEverything } from '../kit/servers/everything.fixture.ts'

const run = promisify(execFile)
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
const inspector = join(dirname(manifest), 'clients/launcher/build/index.js')
const program = fileURLToPath(new URL('../kit/servers/everything.fixture.ts', import.meta.url))

let serving: HttpServing
let home: string
beforeAll(async () => {
  serving = await serveHttp(createEverything(), { port: 0 })
  home = await mkdtemp(join(tmpdir(), 'inspector-'))
})
afterAll(async () => {
  await serving.close()
  await rm(home, { recursive: true })
})

const table = (['http', 'stdio'] as const).flatMap((over) =>
  (['legacy', 'modern'] as const).map((era) => ({ over, era })),
)

const rows: readonly { readonly does: string; readonly args: readonly string[]; readonly prints: object }[] = [
  {
    // With `--strict` it also fails on schemas that some models or clients do not accept.
    does: 'lists all pages of the tools and finds no fault in their schemas',
    args: ['tools/list', '--strict'],
    prints: { tools: expect.arrayContaining([named('say'), named('weather'), named('change')]) },
  },
  {
    does: 'calls a tool',
    args: ['tools/call', '--tool-name', 'weather', '--tool-arg', 'city=Oslo'],
    prints: { structuredContent: { city: 'Oslo', celsius: 21.5, dry: true }, isError: false },
  },
  {
    does: 'lists the resources',
    args: ['resources/list'],
    prints: { resources: expect.arrayContaining([named('text'), named('bytes'), named('world')]) },
  },
  {
    does: 'reads a resource',
    args: ['resources/read', '--uri', 'note://text'],
    prints: { contents: [expect.objectContaining({ uri: 'note://text', text: 'Words' })] },
  },
  {
    does: 'lists the prompts',
    args: ['prompts/list'],
    prints: { prompts: [named('greet'), named('media'), named('short')] },
  },
]

describe.each(table)('the Inspector over $over, $era', ({ over, era }) => {
  const target = (): readonly string[] =>
    over === 'http'
      ? ['--transport', 'http', '--server-url', serving.url]
      : ['--', process.execPath, program, '--stdio']
  /** Its home is a folder of the test, because it stores a catalogue there. */
  async function inspect(args: readonly string[]): Promise<unknown> {
    const command = [inspector, '--cli', '--protocol-era', era, '--format', 'json', '--method', ...args, ...target()]
    const { stdout } = await run(process.execPath, command, { env: { ...process.env, HOME: home } })
    return JSON.parse(stdout)
  }

  test.concurrent.each(rows)('$does', async ({ args, prints }) => {
    expect(await inspect(args)).toMatchObject({ result: prints })
  })
  test.concurrent('sees the failure of a tool', async () => {
    await expect(inspect(['tools/call', '--tool-name', 'refuse'])).rejects.toMatchObject({
      code: 5,
      stdout: expect.stringContaining('Only 3 seats are left'),
    })
  })
})

function named(name: string): object {
  return expect.objectContaining({ name })
}
