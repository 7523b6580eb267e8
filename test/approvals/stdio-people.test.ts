/**
 * Approvals of a server that a client starts: the official clients ask their user by a form, and every other client is
 * told the command line that approves. All with `sluice serve --stdio` as people run it.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'

const main = fileURLToPath(new URL('../../packages/cli/bin/sluice.js', import.meta.url))
const module = fileURLToPath(new URL('../kit/servers/gated-module.fixture.ts', import.meta.url))

/** Each test starts processes. */
const slowTest = { timeout: 180_000 }

/** What a test's person does with a question. */
type Person = (question: Question) => Reply
interface Question {
  readonly message: string
  readonly requestedSchema: { readonly properties: object; readonly required?: readonly string[] }
}
interface Reply {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: { [field: string]: string }
}
interface Opened {
  /** The data folder of the server. Its name has a space, because the line that is told must still work. */
  readonly data: string
  /** The file that the tool writes to. */
  readonly ran: string
  readonly asked: Question[]
  call(args: object): Promise<{ readonly text: string; readonly isError: boolean }>
}
type Connect = (place: Place, revision: string, person: Person | undefined) => Promise<Opened['call']>
interface Place {
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
}

/** Asks for an older revision than the newest that the client knows. */
function withRevision<T extends { send(message: never): Promise<void> }>(transport: T, revision: string): T {
  const send = transport.send.bind(transport) as (message: object) => Promise<void>
  transport.send = (message: { method?: string; params?: object }) =>
    send(
      message.method === 'initialize'
        ? { ...message, params: { ...message.params, protocolVersion: revision } }
        : message,
    )
  return transport
}

const resultOf = ({ content, isError }: { readonly [name: string]: unknown }): Awaited<ReturnType<Opened['call']>> => ({
  text: (content as readonly { readonly text: string }[])[0]?.text ?? '',
  isError: isError === true,
})

const v1: Connect = async (place, revision, person) => {
  const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities: person ? { elicitation: {} } : {} })
  if (person)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...person(params as unknown as Question) }))
  await client.connect(withRevision(new StdioV1({ ...place, stderr: 'ignore' }), revision))
  onTestFinished(() => client.close())
  return async (args) => resultOf(await client.callTool({ name: 'pay', arguments: { ...args } }))
}
const v2: Connect = async (place, revision, person) => {
  const isModern = revision === '2026-07-28'
  const client = new ClientV2(
    { name: 'v2', version: '1' },
    {
      capabilities: person ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: isModern ? { pin: revision } : 'legacy' },
    },
  )
  if (person)
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...person(params as unknown as Question) }))
  const transport = new StdioV2({ ...place, stderr: 'ignore' })
  await client.connect(isModern ? transport : withRevision(transport, revision))
  onTestFinished(() => client.close())
  return async (args) => resultOf(await client.callTool({ name: 'pay', arguments: { ...args } }))
}

async function open(connect: Connect, revision: string, person?: Person): Promise<Opened> {
  const data = mkdtempSync(join(tmpdir(), 'sluice people-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true, maxRetries: 5 }))
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => !entry[0].startsWith('SLUICE_') && entry[1] !== undefined,
    ),
  )
  const place = { command: process.execPath, args: [main, 'serve', module, '--stdio', '--data', data], env }
  const asked: Question[] = []
  const answering: Person | undefined =
    person &&
    ((question) => {
      asked.push(question)
      return person(question)
    })
  return { data, ran: join(data, 'ran'), asked, call: await connect(place, revision, answering) }
}
const effectsOf = ({ ran }: Opened): readonly string[] =>
  existsSync(ran) ? readFileSync(ran, 'utf8').trim().split('\n') : []

const approve: Person = () => ({ action: 'accept', content: { decision: 'approve' } })

const withForms = [
  ['v1', '2025-06-18', v1],
  ['v1', '2025-11-25', v1],
  ['v2', '2025-06-18', v2],
  ['v2', '2025-11-25', v2],
  ['v2', '2026-07-28', v2],
] as const

test.each(withForms)(
  '%s on %s shows its user the complete call, and runs it once after the answer',
  slowTest,
  async (_, revision, connect) => {
    const answers: Reply[] = [
      { action: 'accept', content: { decision: 'approve' } },
      { action: 'accept', content: { decision: 'deny', note: 'not today' } },
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'accept', content: {} },
    ]
    const opened = await open(connect, revision, () => answers.shift() ?? { action: 'cancel' })
    const { ran, asked, call } = opened
    const long = `${'x'.repeat(20_000)}\u202e\u001b[31m![a](https://evil.example)`
    expect(await call({ ran, amount: 7, memo: long })).toEqual({ text: 'Paid 7', isError: false })
    const message = asked[0]?.message ?? ''
    expect(message).toContain('shop/pay')
    expect(message).toContain('    Account: "main"')
    expect(message).toContain('      "amount": 7')
    // Long arguments are complete, and hidden characters are visible.
    expect(message).toContain('x'.repeat(20_000))
    expect(message).toContain('[U+202E RLO]\\u001b[31m![a](https://evil.example)')
    for (const hidden of ['\u202e', '\u001b']) expect(message).not.toContain(hidden)
    // Every line of the call is code for a client that renders Markdown.
    for (const line of message.slice(message.indexOf('Arguments:')).split('\n').slice(1))
      expect(line === '' || line.startsWith('    ')).toBe(true)
    expect(asked[0]?.requestedSchema.required).toEqual(['decision'])
    expect(JSON.stringify(asked[0]?.requestedSchema)).not.toContain('default')

    const denied = await call({ ran, amount: 8 })
    expect(denied).toMatchObject({ isError: true, text: expect.stringContaining('Their note: not today') })
    expect(await call({ ran, amount: 9 })).toMatchObject({ isError: true, text: expect.stringContaining('denied') })
    for (const amount of [10, 11])
      expect(await call({ ran, amount })).toMatchObject({
        isError: true,
        text: expect.stringContaining('without a decision'),
      })
    expect(asked).toHaveLength(5)
    expect(effectsOf(opened)).toEqual(['7'])
  },
)

const withoutForms = [
  ['v1 without elicitation on 2025-11-25', v1, '2025-11-25', undefined],
  ['v2 without elicitation on 2026-07-28', v2, '2026-07-28', undefined],
  // These revisions have no elicitation, whatever a client declares.
  ['v1 on 2024-11-05', v1, '2024-11-05', approve],
  ['v1 on 2025-03-26', v1, '2025-03-26', approve],
] as const

test.each(withoutForms)(
  '%s is told the line that approves, and that line works',
  slowTest,
  async (_, connect, revision, person) => {
    const opened = await open(connect, revision, person)
    const { ran, data, asked, call } = opened
    const first = await call({ ran, amount: 7 })
    const { approval_required, request_id, command, next_step } = JSON.parse(first.text) as Record<string, string>
    expect(approval_required).toBe(true)
    expect(command).toBe(`${process.execPath} ${main} approvals approve ${request_id} --data '${data}'`)
    expect(next_step).toContain('call the tool again with the same arguments')
    // Before the decision a repeated call makes no second ticket.
    expect(JSON.parse((await call({ ran, amount: 7 })).text)).toMatchObject({ request_id })
    expect(effectsOf(opened)).toEqual([])
    // In another folder, as a person's terminal is.
    expect(execFileSync('sh', ['-c', command ?? ''], { cwd: tmpdir(), encoding: 'utf8' })).toContain('approved pay')
    expect(await call({ ran, amount: 7 })).toEqual({ text: 'Paid 7', isError: false })
    expect(effectsOf(opened)).toEqual(['7'])
    // The approval is spent.
    expect((await call({ ran, amount: 7 })).text).toContain('approval_required')
    expect(effectsOf(opened)).toEqual(['7'])
    expect(asked).toEqual([])
  },
)
