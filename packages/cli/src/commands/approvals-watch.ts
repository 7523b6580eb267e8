/**
 * `sluice approvals watch`: the waiting tickets at a terminal, decided by a key. Without a terminal it prints each new
 * ticket as a line.
 */

import type { Approvals, Decider, TicketView } from 'sluice/approvals'
import { effectLines, markedText } from 'sluice/approvals'
import { owner } from '../host/identities.ts'
import { exitCodes } from '../output.ts'
import { drawScreen } from '../watch/screen.ts'
import type { WatchAction, WatchState } from '../watch/state.ts'
import { emptyWatch, pressKey, settleMs, withTickets } from '../watch/state.ts'
import { openTerminalSession } from '../watch/terminal-session.ts'
import { withApprovals } from './approvals.ts'
import type { CommandContext } from './context.ts'
import type { StoreCommandOptions } from './with-store.ts'

export interface WatchOptions extends StoreCommandOptions {
  readonly as?: string
}

/** SQLite tells other processes nothing, so the store is also read at this interval. */
const pollMs = 1_000
const maxTickets = 200

export const approvalsWatch = (context: CommandContext, options: WatchOptions): Promise<number> =>
  withApprovals(context, options, async (approvals) => {
    const isInteractive = process.stdin.isTTY && process.stdout.isTTY && !options.json
    if (isInteractive) await watchAtTerminal(context, approvals, options.as ?? owner)
    else await printNew(context, approvals, options)
    return exitCodes.ok
  })

/** Calls `changed` with the pending tickets: at once, after each change, and at an interval. Resolves on Ctrl-C. */
async function follow(
  approvals: Approvals,
  signal: AbortSignal,
  changed: (tickets: readonly TicketView[]) => void,
  failed: (thrown: unknown) => void,
): Promise<void> {
  let wake = (): void => {}
  const unwatch = approvals.watch(() => wake())
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  while (!signal.aborted) {
    let timer: NodeJS.Timeout | undefined
    const woken = new Promise<void>((resolve) => {
      wake = resolve
      timer = setTimeout(resolve, pollMs)
    })
    await approvals.list({ status: 'pending', limit: maxTickets }).then(({ tickets }) => changed(tickets), failed)
    await Promise.race([woken, stopped])
    clearTimeout(timer)
  }
  unwatch()
}

async function printNew(
  { terminal, signal }: CommandContext,
  approvals: Approvals,
  { json }: WatchOptions,
): Promise<void> {
  let known = new Set<string>()
  const print = (tickets: readonly TicketView[]): void => {
    for (const ticket of tickets)
      if (!known.has(ticket.id)) terminal.out(json ? JSON.stringify(ticket) : lineOf(ticket))
    known = new Set(tickets.map(({ id }) => id))
  }
  await follow(approvals, signal, print, (thrown) => terminal.err(messageOf(thrown)))
}

/** One line with the complete arguments. */
function lineOf({ id, server, tool, caller, tenant, effect, arguments: args }: TicketView): string {
  const who = caller.subject === tenant ? tenant : `${caller.subject}@${tenant}`
  return markedText([id, `${server}/${tool}`, who, ...effectLines(effect), args].join('  ')).replaceAll('\n', ' ')
}

async function watchAtTerminal(
  { terminal, signal }: CommandContext,
  approvals: Approvals,
  subject: string,
): Promise<void> {
  const by: Decider = { subject, via: 'command', tenants: 'all', operator: true }
  const left = new AbortController()
  const stop = AbortSignal.any([signal, left.signal])
  let state: WatchState = { ...emptyWatch, selectedAt: Date.now() }
  let settling: NodeJS.Timeout | undefined
  let isDeciding = false

  const drawn = (): ReturnType<typeof drawScreen> => drawScreen(state, session.size(), Date.now(), terminal)
  function show(next: WatchState): void {
    // The keys that decide appear when they work.
    if (next.selectedAt !== state.selectedAt) {
      clearTimeout(settling)
      settling = setTimeout(() => show(state), settleMs + 1)
    }
    state = next
    if (!stop.aborted) session.draw(drawn().lines)
  }
  async function decide({ id, approved, note }: Extract<WatchAction, { kind: 'decide' }>): Promise<string> {
    const ticket = await approvals.decide(id, { approved, ...(note !== '' && { note }) }, by)
    const name = markedText(`${ticket.tool} for ${ticket.caller.subject}`)
    if (ticket.status === 'pending') return `Counted. ${name} needs ${ticket.needed} approvals.`
    if (!approved) return `Denied ${name}.`
    // A task goes on by itself.
    return `Approved ${name}. It runs ${ticket.task === undefined ? 'when its agent calls again' : 'now'}.`
  }
  async function perform(action: WatchAction): Promise<void> {
    if (action.kind === 'leave') return left.abort()
    if (isDeciding) return
    isDeciding = true
    try {
      const message = await decide(action).catch(messageOf)
      const tickets = state.tickets.filter(({ id }) => id !== action.id || message.startsWith('Counted'))
      show({ ...withTickets(state, tickets, Date.now()), message, note: '' })
    } finally {
      isDeciding = false
    }
  }
  const session = openTerminalSession({
    key(key, isPasted) {
      if (isPasted && (!state.isTyping || key.name === 'return')) return
      const { state: next, action } = pressKey(state, key, Date.now(), drawn().shown)
      show(next)
      if (action) perform(action).catch((thrown: unknown) => show({ ...state, message: messageOf(thrown) }))
    },
    resized: () => show(state),
  })
  try {
    await follow(
      approvals,
      stop,
      (tickets) => show(withTickets(state, tickets, Date.now())),
      (thrown) => show({ ...state, message: `The tickets cannot be read: ${messageOf(thrown)}` }),
    )
  } finally {
    clearTimeout(settling)
    session.close()
  }
}

const messageOf = (thrown: unknown): string =>
  markedText(thrown instanceof Error ? thrown.message : String(thrown)).replaceAll('\n', ' ')
