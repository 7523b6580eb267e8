/** The environment that code of a server, or a process it starts, can see. */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { aFolder, main, sluice } from './command.ts'

const slowTest = { timeout: 180_000 }
const marker = 'hunter2hunter2hunter2'

/** All documented variables that hold a credential, for the host and the five servers. */
const secrets = {
  SLUICE_SECRET: marker,
  SLUICE_WEBHOOK_SECRET: marker,
  SLUICE_REDIS_PASSWORD: marker,
  SLUICE_POSTGRES_PASSWORD: marker,
  SLUICE_MEMORY_EMBEDDINGS_KEY: marker,
  SLUICE_MEMORY_POSTGRES: `postgres://ann:${marker}@db/memory`,
  FITNESS_KEY: marker,
  FITNESS_POSTGRES: `postgres://ann:${marker}@db/fitness`,
  STRAVA_CLIENT_SECRET: marker,
  TOMTOM_API_KEY: marker,
  DATABASE_URL: `postgres://ann:${marker}@db/other`,
  REDIS_URL: `redis://:${marker}@db`,
  OPENAI_API_KEY: marker,
}

async function serving(target: string, cwd: string): Promise<Client> {
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  onTestFinished(() => client.close())
  const args = [main, 'serve', target, '--stdio', '--data', join(cwd, 'data')]
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, ...secrets }
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env, stderr: 'ignore' }))
  return client
}
const textOf = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> => {
  const { content } = await client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 })
  return JSON.stringify(content)
}

test.runIf(existsSync('/usr/bin/sbcl'))(
  'code in the Lisp image sees PATH and no secret of the server',
  slowTest,
  async () => {
    const cwd = aFolder()
    writeFileSync(
      join(cwd, 'sluice.config.json'),
      JSON.stringify({ approvals: { rules: [{ tool: '*', approval: 'never' }] } }),
    )
    const client = await serving('lisp', cwd)
    const seen = await textOf(client, 'repl_eval', { code: '(format nil "~{~a~%~}" (sb-ext:posix-environ))' })
    expect(seen).toContain('PATH=')
    expect(seen).not.toContain(marker)
    expect(seen).not.toMatch(/SLUICE_|FITNESS_|STRAVA_|TOMTOM_|DATABASE_URL|REDIS_URL|API_KEY/)
  },
)

test('a process that a tool starts inherits no variable that Sluice read', slowTest, async () => {
  const cwd = aFolder()
  const library = import.meta.resolve('sluice').replace('/src/index.ts', '/dist/index.js')
  writeFileSync(
    join(cwd, 'server.mjs'),
    `import { execFileSync } from 'node:child_process'
     import { defineServer, tool } from ${JSON.stringify(library)}
     const input = { '~standard': { version: 1, vendor: 'none', validate: (value) => ({ value }), jsonSchema: { input: () => ({ type: 'object' }) } } }
     export const open = async ({ env }) => ({
       definition: defineServer({ name: 'x', version: '1', tools: [
         tool({ name: 'child', description: 'd', input, run: () => execFileSync('env', { encoding: 'utf8' }) }),
         tool({ name: 'given', description: 'd', input, run: () => JSON.stringify(env) }),
       ] }),
       secrets: ['OPENAI_API_KEY'],
       state: 'ready',
       close: async () => {},
     })`,
  )
  const client = await serving('./server.mjs', cwd)
  const child = await textOf(client, 'child')
  expect(child).toContain('PATH=')
  expect(child).not.toMatch(/SLUICE_|OPENAI_API_KEY/)
  // The module keeps its own variables, and does not get the host's secrets.
  const given = await textOf(client, 'given')
  expect(given).toContain('OPENAI_API_KEY')
  expect(given).not.toMatch(/SLUICE_SECRET|SLUICE_WEBHOOK_SECRET|SLUICE_REDIS_PASSWORD|SLUICE_POSTGRES_PASSWORD/)
})

test('sluice call passes the variables of --env to the command it starts, and no others', async () => {
  const cwd = aFolder()
  const program = join(cwd, 'echo.mjs')
  // A server with one tool, whose name lists the variables it sees.
  writeFileSync(
    program,
    `import { createInterface } from 'node:readline'
     const name = Object.keys(process.env).filter((name) => /OWN|SLUICE|KEY|SECRET/.test(name)).map((name) => name + '=' + process.env[name]).sort().join(' ')
     createInterface({ input: process.stdin }).on('line', (line) => {
       const { id, method } = JSON.parse(line)
       if (id === undefined) return
       const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } } : { tools: [{ name: name || 'nothing', inputSchema: { type: 'object' } }] }
       console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
     })`,
  )
  const target = `${process.execPath} ${program}`
  const list = async (...flags: readonly string[]): Promise<string> =>
    (await sluice(cwd, ['call', target, '--era', 'legacy', '--json', ...flags], { ...secrets, SLUICE_TOKEN: marker }))
      .out
  expect(await list()).toContain('"nothing"')
  expect(await list('--env', 'OWN=a=b', '--env', 'OPENAI_API_KEY')).toContain(`"OPENAI_API_KEY=${marker} OWN=a=b"`)
  expect((await sluice(cwd, ['call', target, '--env', '=x'])).code).toBe(2)
})
