/**
 * A connection to a Lisp image by the Swank protocol: packets of six hexadecimal digits and an S-expression, requests with
 * continuations, and the debugger of every thread that is in it.
 *
 * https://github.com/slime/slime — swank.lisp and swank/rpc.lisp are the protocol's definition.
 */

import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { Sexp } from './sexp.ts'
import { isList, isSym, listOf, print, read, Sym, sym, textOf } from './sexp.ts'

/** What stopped a thread, and the ways on. */
export interface Debugger {
  readonly thread: number
  readonly level: number
  readonly condition: string
  readonly type: string
  readonly restarts: readonly { readonly name: string; readonly description: string }[]
  readonly frames: readonly { readonly index: number; readonly description: string }[]
}

/** How a request ended, or where it stands: in the debugger it is not over, and goes on after a restart. */
export type EvaluationOutcome =
  | { readonly kind: 'value'; readonly value: Sexp }
  | { readonly kind: 'aborted'; readonly reason: string }
  | { readonly kind: 'debugger'; readonly debugger: Debugger }

export interface SwankRequest {
  /** Settles with the first of: a value, an abort, the debugger. Rejects when the connection is lost. */
  readonly outcome: Promise<EvaluationOutcome>
  /** Stops the thread that works on it, wherever it is, and takes it out of the debugger that this opens. */
  interrupt(): void
}

export interface Swank {
  /** Runs a form on a thread of its own, or on one that is in the debugger. */
  rex(form: Sexp, options?: { readonly thread?: number }): SwankRequest
  /** The request that is in the debugger on this thread, once it goes on: how it then ends, or where it stops next. */
  after(thread: number): SwankRequest
  /** Threads in the debugger, the deepest level of each. */
  readonly debuggers: ReadonlyMap<number, Debugger>
  readonly closed: Promise<void>
  readonly isOpen: boolean
  close(): void
}

interface Pending {
  thread: number | undefined
  stopping: boolean
  /** Who wants to know what becomes of it: a new one after each stop in the debugger. */
  waiting: { resolve(outcome: EvaluationOutcome): void; reject(why: Error): void }[]
}

const tag = 'sluice-thread:'

export async function connectSwank(
  port: number,
  host: string,
  { secret, signal }: { readonly secret?: string; readonly signal?: AbortSignal } = {},
): Promise<Swank> {
  const socket = connect({ port, host })
  const giveUp = (): void => {
    socket.destroy(new Error('Nothing answered in time'))
  }
  signal?.addEventListener('abort', giveUp, { once: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  }).finally(() => signal?.removeEventListener('abort', giveUp))
  socket.setNoDelay(true)
  const pending = new Map<number, Pending>()
  const debuggers = new Map<number, Debugger>()
  let ids = 0
  let isOpen = true
  const send = (message: Sexp): void => {
    isOpen && socket.write(packet(print(message)))
  }
  if (secret !== undefined) socket.write(packet(secret))

  function hear(message: Sexp): void {
    const [kind, ...rest] = listOf(message)
    if (!(kind instanceof Sym)) return
    const react = reactions[kind.name.toLowerCase()]
    react?.(rest)
  }
  /** There is nobody to type: input ends at once, questions are answered with no, nothing is evaluated here. */
  const decline = ([thread = 0, tag = 0]: readonly Sexp[]): void => send([sym(':emacs-return'), thread, tag, []])
  const reactions: { readonly [kind: string]: ((rest: readonly Sexp[]) => void) | undefined } = {
    ':return': ([result, id]) => returned(result, Number(id)),
    ':debug': (rest) => stopped(rest),
    ':debug-return': ([thread]) => {
      debuggers.delete(Number(thread))
    },
    ':background-message': ([text]) => noteThread(textOf(text)),
    ':ping': ([thread = 0, tag = 0]) => send([sym(':emacs-pong'), thread, tag]),
    ':read-string': ([thread = 0, tag = 0]) => send([sym(':emacs-return-string'), thread, tag, '']),
    ':y-or-n-p': decline,
    ':read-from-minibuffer': decline,
    ':eval': decline,
  }
  function returned(result: Sexp | undefined, id: number): void {
    const request = pending.get(id)
    pending.delete(id)
    const [how, value = []] = listOf(result)
    const isOk = isSym(how, ':ok')
    // It left the debugger; Swank says so too, but later.
    if (!isOk && request?.thread !== undefined) debuggers.delete(request.thread)
    settle(request, isOk ? { kind: 'value', value } : { kind: 'aborted', reason: textOf(value) })
  }
  function stopped([thread, level, condition, restarts, frames, conts]: readonly Sexp[]): void {
    const [text, type] = listOf(condition)
    const here: Debugger = {
      thread: Number(thread),
      level: Number(level),
      condition: textOf(text),
      type: /\[Condition of type (.*)\]/.exec(textOf(type))?.[1] ?? textOf(type).trim(),
      restarts: listOf(restarts).map((each) => {
        const [name, description] = listOf(each)
        return { name: textOf(name), description: textOf(description) }
      }),
      frames: framesOf(frames),
    }
    debuggers.set(here.thread, here)
    for (const id of listOf(conts)) {
      const request = pending.get(Number(id))
      if (!request) continue
      request.thread = here.thread
      if (request.stopping) leave(here.thread)
      else settle(request, { kind: 'debugger', debugger: here })
    }
  }
  const leave = (thread: number): void => {
    rex([sym('swank:throw-to-toplevel')], { thread }).outcome.catch(() => {})
  }
  function noteThread(text: string): void {
    if (!text.startsWith(tag)) return
    const [id, thread] = text.slice(tag.length).split(' ').map(Number)
    const request = pending.get(id ?? 0)
    if (!request || thread === undefined) return
    request.thread = thread
    if (request.stopping) send([sym(':emacs-interrupt'), thread])
  }

  const settle = (request: Pending | undefined, outcome: EvaluationOutcome): void => {
    for (const { resolve } of request?.waiting.splice(0) ?? []) resolve(outcome)
  }
  const follow = (id: number, request: Pending): SwankRequest => ({
    outcome: new Promise((resolve, reject) => {
      if (isOpen) request.waiting.push({ resolve, reject })
      else reject(new Error('The connection to the Lisp image is closed'))
    }),
    interrupt() {
      if (!pending.has(id) || request.stopping) return
      request.stopping = true
      if (request.thread === undefined) return
      if (debuggers.has(request.thread)) leave(request.thread)
      else send([sym(':emacs-interrupt'), request.thread])
    },
  })
  function rex(form: Sexp, options: Parameters<Swank['rex']>[1] = {}): SwankRequest {
    const id = ++ids
    const { thread } = options
    const request: Pending = { thread, stopping: false, waiting: [] }
    pending.set(id, request)
    // Which thread took it up is told first: without it nobody could interrupt it.
    const told =
      thread === undefined
        ? [
            sym('cl:progn'),
            [sym('swank::background-message'), `${tag}~a ~a`, id, [sym('swank::current-thread-id')]],
            form,
          ]
        : form
    const followed = follow(id, request)
    // Always this package: Swank hands the name of one that does not exist to the Lisp reader, which evaluates.
    send([sym(':emacs-rex'), told, 'COMMON-LISP-USER', thread ?? sym('t'), id])
    return followed
  }
  function after(thread: number): SwankRequest {
    // The first of that thread: later ones are what was asked inside its debugger.
    const [id, request] = [...pending].find(([, each]) => each.thread === thread) ?? []
    if (id === undefined || !request) throw new Error(`No request is on thread ${thread}`)
    return follow(id, request)
  }

  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isOpen = false
      debuggers.clear()
      for (const { waiting } of pending.values())
        for (const { reject } of waiting.splice(0)) reject(new Error('The connection to the Lisp image was lost'))
      pending.clear()
      resolve()
    })
  })
  socket.on('error', () => socket.destroy())
  readPackets(socket, hear)
  return {
    rex,
    after,
    debuggers,
    closed,
    get isOpen() {
      return isOpen
    },
    close: () => socket.destroy(),
  }
}

export const framesOf = (frames: Sexp | undefined): Debugger['frames'] =>
  listOf(frames).flatMap((each) => {
    const [index, description] = listOf(each)
    return isList(each) ? [{ index: Number(index), description: textOf(description) }] : []
  })

function packet(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length > 0xffffff) throw new RangeError('A message to Swank has at most 16 MiB')
  return Buffer.concat([Buffer.from(bytes.length.toString(16).padStart(6, '0')), bytes])
}

/** Whoever sends what is no packet is no Swank: the connection ends. */
function readPackets(socket: Socket, hear: (message: Sexp) => void): void {
  let waiting: Buffer[] = []
  let size = 0
  let wanted = 6
  let isHeader = true
  socket.on('data', (chunk: Buffer) => {
    waiting.push(chunk)
    size += chunk.length
    while (size >= wanted) {
      const all = waiting.length === 1 && waiting[0] ? waiting[0] : Buffer.concat(waiting)
      const part = all.subarray(0, wanted)
      waiting = all.length > wanted ? [all.subarray(wanted)] : []
      size -= wanted
      try {
        if (isHeader) {
          const header = part.toString('latin1')
          if (!/^[0-9a-f]{6}$/i.test(header)) throw new SyntaxError('no packet')
          wanted = Number.parseInt(header, 16)
        } else {
          hear(read(part.toString('utf8')))
          wanted = 6
        }
        isHeader = !isHeader
      } catch {
        socket.destroy()
        return
      }
    }
  })
}
