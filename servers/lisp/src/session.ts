/**
 * A tenant's image: opened when it is first needed, opened again when it was lost, and asked in a way that a deadline or a
 * cancelled call really stops the Lisp thread.
 */

import { fail } from 'sluice'
import type { Image, ImageOptions } from './image.ts'
import { joinImage, missingHere, startImage } from './image.ts'
import type { Sexp } from './sexp.ts'
import { listOf, sym, textOf } from './sexp.ts'
import type { Debugger, Outcome, Request } from './swank.ts'

export interface Session {
  /** The value; where the work stops in the debugger or is aborted, a failure that says what to do next. */
  ask(form: Sexp, signal: AbortSignal, options?: { readonly package?: string; readonly thread?: number }): Promise<Sexp>
  /** For who wants to see the debugger too. */
  outcome(
    form: Sexp,
    signal: AbortSignal,
    options?: { readonly package?: string; readonly thread?: number },
  ): Promise<Outcome>
  /** Takes one of the ways on; what then became of the work that had stopped. */
  restart(at: Debugger, index: number, signal: AbortSignal): Promise<Outcome>
  /** The one that is named, or the only one there is. */
  debuggerOf(thread: number | undefined): Debugger
  debuggers(): readonly Debugger[]
  status(): Status
  connect(to?: { readonly host: string; readonly port: number }): Promise<Status>
  disconnect(): Promise<void>
  /** An image is open, or on its way. */
  readonly isHeld: boolean
}

export interface Status {
  readonly connected: boolean
  readonly origin?: Image['origin']
  readonly address?: string
  /** How many times an image was opened: above one, definitions of the earlier ones are gone. */
  readonly opened: number
}

/** `allow` throws where no further image may be opened. */
export function createSession(options: ImageOptions, allow: () => void): Session {
  let image: Image | undefined
  let opening: Promise<Image> | undefined
  let opened = 0
  const { SWANK_PORT: port, SWANK_HOST: host = '127.0.0.1' } = options.env
  let target = port ? { host, port: Number(port) } : undefined

  const open = async (): Promise<Image> => {
    // Not the caller's signal: the next call wants the image too.
    const made = target
      ? await joinImage(target.host, target.port)
      : await startImage(options, new AbortController().signal)
    opened++
    image = made
    const forget = (): void => {
      if (image === made) image = undefined
    }
    made.swank.closed.then(forget, forget)
    return made
  }
  async function imageNow(): Promise<Image> {
    if (image?.swank.isOpen) return image
    if (!opening) allow()
    opening ??= open().finally(() => {
      opening = undefined
    })
    return opening
  }

  async function outcomeOf(request: Request, signal: AbortSignal): Promise<Outcome> {
    const stop = (): void => request.interrupt()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      return await request.outcome
    } catch {
      throw fail('The Lisp image went away. The next call opens it again; what was defined in it is gone.')
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
  const outcome: Session['outcome'] = async (form, signal, asked) => {
    const { swank } = await imageNow()
    return outcomeOf(swank.rex(form, asked), signal)
  }
  const debuggers = (): readonly Debugger[] => [...(image?.swank.debuggers.values() ?? [])]

  return {
    outcome,
    async ask(form, signal, asked) {
      const ended = await outcome(form, signal, asked)
      if (ended.kind === 'value') return ended.value
      throw fail(ended.kind === 'aborted' ? `Aborted: ${ended.reason}` : describeDebugger(ended.debugger))
    },
    async restart({ thread, level }, index, signal) {
      const { swank } = await imageNow()
      const after = swank.after(thread)
      swank.rex([sym('swank:invoke-nth-restart-for-emacs'), level, index], { thread }).outcome.catch(() => {})
      return outcomeOf(after, signal)
    },
    get isHeld() {
      return image !== undefined || opening !== undefined
    },
    debuggers,
    debuggerOf(thread) {
      const all = debuggers()
      const found = thread === undefined && all.length === 1 ? all[0] : all.find((each) => each.thread === thread)
      if (found) return found
      if (all.length === 0) throw fail('No thread is in the debugger.')
      throw fail(`Say which thread: ${all.map(({ thread, condition }) => `${thread} (${condition})`).join('; ')}`)
    },
    status: () => ({
      connected: image?.swank.isOpen === true,
      ...(image?.swank.isOpen && { origin: image.origin, address: image.address }),
      opened,
    }),
    async connect(to) {
      if (to) {
        await image?.close()
        image = undefined
        target = to
      }
      await imageNow()
      return this.status()
    },
    async disconnect() {
      const before = image
      image = undefined
      target = port ? { host, port: Number(port) } : undefined
      await before?.close()
    },
  }
}

export function describeDebugger({ thread, level, condition, type, restarts }: Debugger): string {
  const ways = restarts.map(({ name, description }, index) => `${index}: [${name}] ${description}`)
  return [
    `${condition} [${type}]`,
    `Thread ${thread} is in the debugger (level ${level}). Restarts:`,
    ...ways,
    'Look with debugger_frames; go on with debugger_invoke_restart, or give up with repl_abort.',
  ].join('\n')
}

/** One image for each tenant: what one defines, another must not see. */
export interface Sessions {
  of(tenant: string): Session
  readonly missing: string | undefined
  close(): Promise<void>
}

/** Each image takes some hundred megabytes. */
const usualImages = 8

export function createSessions(options: ImageOptions & { readonly maxImages?: number }): Sessions {
  const { maxImages = usualImages } = options
  const sessions = new Map<string, Session>()
  function allow(): void {
    if ([...sessions.values()].filter(({ isHeld }) => isHeld).length >= maxImages)
      throw fail('Too many Lisp images run here; try again when another tenant has disconnected.')
  }
  return {
    get missing() {
      return options.env['SWANK_PORT'] ? undefined : missingHere(options.env)
    },
    of(tenant) {
      const known = sessions.get(tenant)
      if (known) return known
      const made = createSession(options, allow)
      sessions.set(tenant, made)
      return made
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.disconnect()))
    },
  }
}

/** `(output (value …))`: what was printed, and each value as Lisp prints it. */
export const evaluating = (code: string): Sexp => [
  sym('cl:let*'),
  [
    [sym('sluice-out'), [sym('cl:make-string-output-stream')]],
    [
      sym('sluice-values'),
      [
        sym('cl:let'),
        [
          [sym('cl:*standard-output*'), sym('sluice-out')],
          [sym('cl:*trace-output*'), sym('sluice-out')],
        ],
        [sym('swank::with-buffer-syntax'), [], [sym('swank::eval-region'), code]],
      ],
    ],
  ],
  [
    sym('cl:list'),
    [sym('cl:get-output-stream-string'), sym('sluice-out')],
    [
      sym('swank::with-buffer-syntax'),
      [],
      [sym('cl:mapcar'), [sym('cl:function'), sym('cl:prin1-to-string')], sym('sluice-values')],
    ],
  ],
]

/** More than this a model does not read; it is told what is missing. */
const maxShown = 50_000

export interface Evaluated {
  readonly output: string
  readonly values: readonly string[]
}

export function toEvaluated(value: Sexp): Evaluated {
  const [output, values] = listOf(value)
  return { output: cut(textOf(output)), values: listOf(values).map((each) => cut(textOf(each))) }
}

export const cut = (text: string): string =>
  text.length <= maxShown
    ? text
    : `${text.slice(0, maxShown).toWellFormed()}… (${text.length - maxShown} characters more)`
