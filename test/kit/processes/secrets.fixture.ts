/**
 * A server with a secret, an approved call sealed with it, and a tool that dumps everything it can see: its
 * environment, that of a child process, and the memory of a worker and a child process.
 *
 * secrets.ts <folder for the memory dumps>
 */

import { execFileSync } from 'node:child_process'
import { once as event } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Worker } from 'node:worker_threads'
import { defineServer, memoryStore, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createServer, secretFromEnvironment, stderrLogger } from 'sluice/node'
import { elicitation, idempotency, log } from 'sluice/plugins'
import { cashier } from '../servers/payments.fixture.ts'

const secret = secretFromEnvironment()
if (secret?.[0] !== secretFromEnvironment()?.[0]) throw new Error('Asked again, it is another')
const [folder = ''] = process.argv.slice(2)

const holding = "globalThis.held = { env: { ...process.env }, marker: ['put', 'there'].join(' ') };"

/** Dumps the memory of a worker, as a tool would start one. */
async function dumpWorker(): Promise<void> {
  const worker = new Worker(
    `${holding} require('node:worker_threads').parentPort.on('message', () => {}).postMessage('up')`,
    {
      eval: true,
    },
  )
  await event(worker, 'message')
  await pipeline(await worker.getHeapSnapshot(), createWriteStream(join(folder, 'worker')))
  await worker.terminate()
}
/** Dumps the memory of a child process. */
function dumpProgram(): void {
  const path = JSON.stringify(join(folder, 'program'))
  execFileSync(process.execPath, ['--eval', `${holding} require('node:v8').writeHeapSnapshot(${path})`])
}

const spy = tool({
  name: 'spy',
  description: 'Tells what it sees',
  approval: 'always',
  stateless: true,
  timeoutMs: 120_000,
  async run() {
    await dumpWorker()
    dumpProgram()
    return `${JSON.stringify({ ran: true, env: process.env })} ${execFileSync('env', { encoding: 'utf8' })}`
  },
})
const store = memoryStore()
const desk = createApprovals({ store, url: 'https://console.example' })
const server = createServer(defineServer({ name: 'spied', version: '1', tools: [spy] }), {
  ...{ store, secret, use: [desk, idempotency(), elicitation(), log(stderrLogger())] },
})
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
}
interface Answer {
  readonly result?: { readonly requestState?: string; readonly content?: readonly { readonly text: string }[] }
}
const call = async (params: object): Promise<Answer> => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'spy', _meta, ...params } }
  return (await server.handle(message)) as Answer
}
const { result } = await call({})
const [ticket] = (await desk.list()).tickets
await desk.decide(ticket?.id ?? '', { approved: true }, cashier)
const answer = await call({ requestState: result?.requestState })
console.log(result?.requestState, answer.result?.content?.[0]?.text)
await server.close()
