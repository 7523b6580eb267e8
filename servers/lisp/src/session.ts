/**
 * A tenant's image: opened when it is first needed, opened again when it was lost, and asked in a way that a deadline or a
 * cancelled call really stops the Lisp thread.
 */

import { fail } from 'sluice'
import type { Image, ImageOptions } from './image.ts'
import { joinImage, startImage } from './image.ts'
import { inPackage, isMissingPackage } from './look-up.ts'
import type { Sexp } from './sexp.ts'
import { lisp, listOf, sym, textOf } from './sexp.ts'
import type { Debugger, EvaluationOutcome, SwankRequest } from './swank.ts'

export interface Session {
  /** The value; where the work stops in the debugger or is aborted, a failure that says what to do next. */
  evaluate(
    form: Sexp,
    signal: AbortSignal,
    options?: { readonly package?: string; readonly thread?: number },
  ): Promise<Sexp>
  /** For who wants to see the debugger too. */
  outcome(
    form: Sexp,
    signal: AbortSignal,
    options?: { readonly package?: string; readonly thread?: number },
  ): Promise<EvaluationOutcome>
  /** Takes one of the ways on; what then became of the work that had stopped. */
  restart(at: Debugger, index: number, signal: AbortSignal): Promise<EvaluationOutcome>
  /** The one that is named, or the only one there is. */
  debuggerOf(thread: number | undefined): Debugger
  debuggers(): readonly Debugger[]
  status(): ImageStatus
  /** Opens an image if there is none. With a target, moves there; if nothing answers there, all stays as it is. */
  connect(to?: ImageAddress): Promise<ImageStatus>
  disconnect(): Promise<void>
  /** Which image calls act on, open or not: an approval names it. */
  readonly image: string
  /** An image is open, or on its way. */
  readonly hasImage: boolean
}

export interface ImageAddress {
  readonly host: string
  readonly port: number
}

export interface ImageStatus {
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
  const configured: ImageAddress | undefined = port ? { host, port: Number(port) } : undefined
  let target = configured
  /** Ends an image that is still starting. */
  let giveUp = new AbortController()

  function hold(made: Image): Image {
    opened++
    image = made
    const forget = (): void => {
      if (image === made) image = undefined
    }
    made.swank.closed.then(forget, forget)
    return made
  }
  async function open(): Promise<Image> {
    const to = target
    // Not the caller's signal: the next call wants the image too.
    if (!to) return hold(await startImage(options, giveUp.signal))
    try {
      return hold(await joinImage(to.host, to.port))
    } catch (thrown) {
      // Otherwise an image that was joined once and has ended would fail every call from then on.
      if (target === to) target = configured
      throw thrown
    }
  }
  async function imageNow(): Promise<Image> {
    if (image?.swank.isOpen) return image
    if (!opening) allow()
    opening ??= open().finally(() => {
      opening = undefined
    })
    return opening
  }
  /** Leaves the image there is only when the other one has answered: a wrong port must not cost what is defined in it. */
  async function moveTo(to: ImageAddress): Promise<void> {
    await opening?.catch(() => undefined)
    if (!image) allow()
    const joined = await joinImage(to.host, to.port)
    const before = image
    target = to
    hold(joined)
    await before?.close()
  }

  async function outcomeOf(request: SwankRequest, signal: AbortSignal): Promise<EvaluationOutcome> {
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
  const outcome: Session['outcome'] = async (form, signal, { package: name, thread } = {}) => {
    const { swank } = await imageNow()
    const asked = name === undefined ? form : inPackage(name, form)
    const ended = await outcomeOf(swank.rex(asked, thread === undefined ? {} : { thread }), signal)
    if (ended.kind === 'value' && isMissingPackage(ended.value)) throw fail(`There is no package "${name}".`)
    return ended
  }
  const debuggers = (): readonly Debugger[] => [...(image?.swank.debuggers.values() ?? [])]

  return {
    outcome,
    async evaluate(form, signal, asked) {
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
    get image() {
      return target ? `Swank server at ${target.host}:${target.port}` : 'SBCL started by this server'
    },
    get hasImage() {
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
      await (to ? moveTo(to) : imageNow())
      return this.status()
    },
    async disconnect() {
      giveUp.abort()
      giveUp = new AbortController()
      await opening?.catch(() => undefined)
      const before = image
      image = undefined
      target = configured
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

/** `(output (value …))`: what was printed, and each value as Lisp prints it. */
export const evaluationForm = (code: string): Sexp => lisp`
  (cl:let* ((sluice-out (cl:make-string-output-stream))
            (sluice-values
              (cl:let ((cl:*standard-output* sluice-out) (cl:*trace-output* sluice-out))
                (swank::with-buffer-syntax () (swank::eval-region ${code})))))
    (cl:list (cl:get-output-stream-string sluice-out)
             (swank::with-buffer-syntax () (cl:mapcar (cl:function cl:prin1-to-string) sluice-values))))`

/** More than this a model does not read; it is told what is missing. */
const maxShownCharacters = 50_000

export interface EvaluationResult {
  readonly output: string
  readonly values: readonly string[]
}

export function toEvaluationResult(value: Sexp): EvaluationResult {
  const [output, values] = listOf(value)
  return { output: truncate(textOf(output)), values: listOf(values).map((each) => truncate(textOf(each))) }
}

export const truncate = (text: string): string =>
  text.length <= maxShownCharacters
    ? text
    : `${text.slice(0, maxShownCharacters).toWellFormed()}… (${text.length - maxShownCharacters} characters more)`
