/**
 * A connection to a Lisp image by the Swank protocol: packets of six hexadecimal digits and an S-expression, requests
 * with continuations, and the debuggers of stopped threads.
 *
 * https://github.com/slime/slime — swank.lisp and swank/rpc.lisp define the protocol.
 */

import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { Sexp } from './sexp.ts'
import { isList, isSym, listOf, print, read, Sym, sym, textOf } from './sexp.ts'

/** The condition that stopped a thread, and its restarts. */
export interface Debugger {
  readonly thread: number
  readonly level: number
  readonly condition: string
  readonly type: string
  readonly restarts: readonly { readonly name: string; readonly description: string }[]
  readonly frames: readonly { readonly index: number; readonly description: string }[]
}

/** How a request ended. In the debugger it is still in flight, and continues after a restart. */
export type EvaluationOutcome =
  | { readonly kind: 'value'; readonly value: Sexp }
  | { readonly kind: 'aborted'; readonly reason: string }
  | { readonly kind: 'debugger'; readonly debugger: Debugger }

export interface SwankRequest {
  /** Settles with the first of a value, an abort or the debugger. Rejects when the connection is lost. */
  readonly outcome: Promise<EvaluationOutcome>
  /** Interrupts the thread of this request, and leaves the debugger that the interrupt opens. */
  interrupt(): void
}

export interface Swank {
  /** Runs a form on a new thread, or on one that is in the debugger. */
  rex(form: Sexp, options?: { readonly thread?: number }): SwankRequest
  /** Returns the request in the debugger of this thread, for its next outcome after a restart, if there is one. */
  after(thread: number): SwankRequest | undefined
  /** Threads in the debugger, with the deepest level of each. */
  readonly debuggers: ReadonlyMap<number, Debugger>
  readonly closed: Promise<void>
  readonly isOpen: boolean
  close(): void
}

interface Pending {
  thread: number | undefined
  stopping: boolean
  /** The promise of the current caller: a new one after each stop in the debugger. */
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
    socket.destroy(new Error('No answer in time'))
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

  function receive(message: Sexp): void {
    const [kind, ...rest] = listOf(message)
    if (!(kind instanceof Sym)) return
    const react = reactions[kind.name.toLowerCase()]
    react?.(rest)
  }
  /** No user can type here: input ends at once, questions are answered with no, and nothing is evaluated. */
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
    // The thread left the debugger; Swank reports that too, but later.
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
    // The form first reports its thread; without it the request could not be interrupted.
    const reporting =
      thread === undefined
        ? [
            sym('cl:progn'),
            [sym('swank::background-message'), `${tag}~a ~a`, id, [sym('swank::current-thread-id')]],
            form,
          ]
        : form
    const followed = follow(id, request)
    // Always this package: Swank passes the name of an unknown package to the Lisp reader, which evaluates it.
    send([sym(':emacs-rex'), reporting, 'COMMON-LISP-USER', thread ?? sym('t'), id])
    return followed
  }
  function after(thread: number): SwankRequest | undefined {
    // The first request of that thread; later ones were made inside its debugger.
    const [id, request] = [...pending].find(([, each]) => each.thread === thread) ?? []
    return id === undefined || !request ? undefined : follow(id, request)
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
  readPackets(socket, receive)
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
  if (bytes.length > 0xffffff) throw new RangeError('A message to Swank may have at most 16 MiB')
  return Buffer.concat([Buffer.from(bytes.length.toString(16).padStart(6, '0')), bytes])
}

/** Closes the connection on an invalid packet, because the other side is not Swank. */
function readPackets(socket: Socket, receive: (message: Sexp) => void): void {
  let waiting: Buffer[] = []
  let size = 0
  let expected = 6
  let isHeader = true
  socket.on('data', (chunk: Buffer) => {
    waiting.push(chunk)
    size += chunk.length
    while (size >= expected) {
      const all = waiting.length === 1 && waiting[0] ? waiting[0] : Buffer.concat(waiting)
      const part = all.subarray(0, expected)
      waiting = all.length > expected ? [all.subarray(expected)] : []
      size -= expected
      try {
        if (isHeader) {
          const header = part.toString('latin1')
          if (!/^[0-9a-f]{6}$/i.test(header)) throw new SyntaxError('no packet')
          expected = Number.parseInt(header, 16)
        } else {
          receive(read(part.toString('utf8')))
          expected = 6
        }
        isHeader = !isHeader
      } catch {
        socket.destroy()
        return
      }
    }
  })
}
