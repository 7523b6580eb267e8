/**
 * One task's whole life in one process, which dies where it is told to: created, asked or approved, run, read. Each thing
 * it was told by the server is a line on stdout, written before anything else happens.
 *
 *   live.ts <store> <folder> <amount> <point to die at, or "-"> <tool>
 *
 * With "-" it says at the end which points there are.
 */

import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Params, Store } from 'sluice'
import { cashier, openStore } from '../servers/payments.fixture.ts'
import { openTaskPayments, parkedCallOf } from '../servers/task-payments.fixture.ts'

const [kind = '', folder = '', amount = '0', deadly = '-', tool = 'asking'] = process.argv.slice(2)
const points = new Set<string>()
const seen = new Map<string, number>()

function at(point: string): void {
  const times = (seen.get(point) ?? 0) + 1
  seen.set(point, times)
  // How often a lease is renewed depends on how long a life takes.
  if (times > 1 && point.endsWith(' process')) return
  const name = times === 1 ? point : `${point} (${times})`
  points.add(name)
  if (name === deadly) process.kill(process.pid, 'SIGKILL')
}
const say = (what: object): void => {
  writeSync(1, `${JSON.stringify(what)}\n`)
}

/** `task completed`, `approvals state approved`: what is written, in words. */
function nameOf(key: Parameters<Store['get']>[0], value?: string): string {
  const [area, what] = key[0] === 'server' ? key.slice(2) : key
  const written = value?.startsWith('{') ? (JSON.parse(value) as { [name: string]: unknown }) : {}
  const { status, state, outcome, questions, answers, process: runner } = written
  const about =
    area === 'task' || area === 'parked'
      ? [
          ...[outcome && 'outcome', questions && Object.keys(questions).length > 0 && 'asked'],
          ...[answers && Object.keys(answers).length > 0 && 'answered', runner && 'run'],
        ]
      : [what === undefined || area === 'process' || area === 'once' ? '' : what, status, state]
  return [area, ...about].filter(Boolean).join(' ')
}
let unanswered = 0
async function around<T>(what: string, work: () => Promise<T>): Promise<T> {
  at(`before ${what}`)
  unanswered++
  const done = await work().finally(() => unanswered--)
  at(`after ${what}`)
  return done
}
/** A write can be read before it is answered, so what a life reads may come before the last points. */
async function end(): Promise<never> {
  while (unanswered > 0) await setTimeout(1)
  if (deadly === '-') say({ points: [...points] })
  process.exit(0)
}

const inner = openStore(kind, folder)
const store: Store = {
  ...inner,
  set: (key, value, ttlMs) => around(`set ${nameOf(key, value)}`, () => inner.set(key, value, ttlMs)),
  swap(key, from, to, ttlMs) {
    const work = (): Promise<boolean> => inner.swap(key, from, to, ttlMs)
    // How often the time is marked depends on how long a life takes.
    return key[1] === 'time' ? work() : around(`swap ${nameOf(key, to)}`, work)
  },
  delete: (key) => around(`delete ${nameOf(key)}`, () => inner.delete(key)),
}
const { send, reach, approvals } = openTaskPayments(store, { folder, at })
if (tool.startsWith('parked')) {
  const { call, options } = parkedCallOf(tool, Number(amount))
  if (call.name === 'approved-parking') {
    const { _meta } = await send('tools/call', call, options)
    const required = (_meta as Params)['dev.sluice/approval'] as { request_id: string }
    await approvals.decide(required.request_id, { approved: true }, cashier)
  }
  const asked = await send('tools/call', call, options)
  if (asked['requestState'] === undefined) throw new Error(`Nothing was asked: ${JSON.stringify(asked)}`)
  say({ created: asked['requestState'] })
  const inputResponses = { 'sure.1': { action: 'accept', content: { yes: true } } }
  const paid = await send('tools/call', { ...call, inputResponses, requestState: asked['requestState'] }, options)
  say({ answered: JSON.stringify(paid['content']) })
  await end()
}
const created = await send('tools/call', { name: tool, arguments: { amount: Number(amount) } })
if (created['taskId'] === undefined) throw new Error(`No task was created: ${JSON.stringify(created)}`)
const taskId = String(created['taskId'])
say({ created: taskId })
if (tool === 'asking') {
  await reach(taskId, 'input_required')
  await send('tasks/update', { taskId, inputResponses: { 'sure.1': { action: 'accept', content: { yes: true } } } })
  say({ updated: true })
} else {
  const ticket = (await approvals.list({ status: 'pending', limit: 200 })).tickets.find(({ task }) => task === taskId)
  await approvals.decide(ticket?.id ?? '', { approved: true }, cashier)
  say({ decided: ticket?.id })
}
const ended = await reach(taskId, 'completed')
say({ answered: JSON.stringify(ended['result']) })
await end()
