/**
 * A tenant's image. It is opened at the first use and reopened after a loss. A deadline or a cancelled call really
 * stops the Lisp thread.
 */

import { fail } from 'sluice'
import type { Image, ImageOptions } from './image.ts'
import { joinImage, startImage } from './image.ts'
import { inPackage, isMissingPackage } from './look-up.ts'
import type { Sexp } from './sexp.ts'
import { isList, lisp, listOf, textOf } from './sexp.ts'
import type { Debugger, EvaluationOutcome, SwankRequest } from './swank.ts'

export interface Session {
  /**
   * Returns the value. If the evaluation stops in the debugger or is aborted, throws a failure that says what to do
   * next.
   */
  evaluate(
    form: Sexp,
    signal: AbortSignal,
    options?: { readonly package?: string; readonly thread?: number },
  ): Promise<Sexp>
  /** Also returns the debugger as an outcome. */
  outcome(
    form: Sexp,
    signal: AbortSignal,
    options?: { readonly package?: string; readonly thread?: number },
  ): Promise<EvaluationOutcome>
  /**
   * Runs a form in the debugger of a thread, such as a restart; returns the outcome of the work that had stopped.
   * `undefined` if it was not the work of a call, but a thread of the program.
   */
  resume(at: Debugger, form: Sexp, signal: AbortSignal): Promise<EvaluationOutcome | undefined>
  /** Returns the debugger of this thread, or the only one. */
  debuggerOf(thread: number | undefined): Debugger
  debuggers(): readonly Debugger[]
  status(): ImageStatus
  /** Opens an image if there is none. With a target, moves there; if the target does not answer, nothing changes. */
  connect(to?: ImageAddress): Promise<ImageStatus>
  disconnect(): Promise<void>
  /** The image that calls act on, open or not; an approval names it. */
  readonly image: string
  /** Whether an image is open or starting. */
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
  /** How often an image was opened. Above one, the definitions of the earlier images are lost. */
  readonly opened: number
}

/** `allow` throws if no further image may be opened. */
export function createSession(options: ImageOptions, allow: () => void): Session {
  let image: Image | undefined
  let opening: Promise<Image> | undefined
  let opened = 0
  const { SWANK_PORT: port, SWANK_HOST: host = '127.0.0.1' } = options.env
  const configured: ImageAddress | undefined = port ? { host, port: Number(port) } : undefined
  let target = configured
  /** Ends an image that is still starting. */
  let abortStart = new AbortController()

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
    // Not the caller's signal, because the next call needs the image too.
    if (!to) return hold(await startImage(options, abortStart.signal))
    try {
      return hold(await joinImage(to.host, to.port))
    } catch (thrown) {
      // Otherwise an image that was joined once and has ended would fail every later call.
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
  /** Leaves the current image only after the other one has answered: a wrong port must not lose its definitions. */
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
      throw fail('The Lisp image was lost. The next call opens a new one, without the earlier definitions.')
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
  const outcome: Session['outcome'] = async (form, signal, { package: name, thread } = {}) => {
    const { swank } = await imageNow()
    const asked = name === undefined ? form : inPackage(name, form)
    const ended = await outcomeOf(swank.rex(asked, thread === undefined ? {} : { thread }), signal)
    if (ended.kind === 'value' && isMissingPackage(ended.value)) throw fail(`Package not found: "${name}".`)
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
    async resume({ thread }, form, signal) {
      const { swank } = await imageNow()
      const after = swank.after(thread)
      const request = swank.rex(form, { thread })
      if (!after) {
        await outcomeOf(request, signal)
        return undefined
      }
      request.outcome.catch(() => {})
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
      throw fail(`Name the thread: ${all.map(({ thread, condition }) => `${thread} (${condition})`).join('; ')}`)
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
      abortStart.abort()
      abortStart = new AbortController()
      await opening?.catch(() => undefined)
      const before = image
      image = undefined
      target = configured
      await before?.close()
    },
  }
}

export function describeDebugger({ thread, level, condition, type, restarts }: Debugger): string {
  const lines = restarts.map(({ name, description }, index) => `${index}: [${name}] ${description}`)
  return [
    `${condition} [${type}]`,
    `Thread ${thread} is in the debugger (level ${level}). Restarts:`,
    ...lines,
    debuggerHint,
  ].join('\n')
}

/** Everything that `describeDebugger` says, as data. */
export const debuggerData = (stopped: Debugger): Record<string, unknown> => ({
  debugger: { ...stopped, restarts: stopped.restarts.map((restart, index) => ({ index, ...restart })) },
  hint: debuggerHint,
})

const debuggerHint = 'Inspect it with debugger_frames; continue with debugger_invoke_restart, or abort with repl_abort.'

/** A model does not read more than this; the answer says what is missing. */
const maxShownCharacters = 50_000
/** More values than this are only counted. */
const maxShownValues = 50

/**
 * Shortens the text of a form in the image, because Swank cannot send more than 16 MiB: it closes the connection, and
 * the image is lost. Leaves room for the words that say so, which `truncate` must not cut. A circular value is printed
 * up to that length, and not until the memory is full.
 */
export const shortened = (form: Sexp): Sexp => lisp`
  (cl:let* ((sluice-text (cl:let ((cl:*print-length* (cl:or cl:*print-length* ${maxShownCharacters / 2}))
                                  (cl:*print-level* (cl:or cl:*print-level* 1000)))
                           ${form}))
            (sluice-more (cl:- (cl:length sluice-text) ${maxShownCharacters - 100})))
    (cl:if (cl:plusp sluice-more)
      (cl:format nil "~A… (~D characters more)" (cl:subseq sluice-text 0 ${maxShownCharacters - 100}) sluice-more)
      sluice-text))`

/**
 * Returns `(output (value …))`: the printed output, and each value as Lisp prints it. Input ends at once, because no
 * user can type, and the input of the process would keep the call waiting.
 */
export const evaluationForm = (code: string): Sexp => lisp`
  (cl:let* ((sluice-out (cl:make-string-output-stream))
            (sluice-values
              (cl:let ((cl:*standard-output* sluice-out) (cl:*trace-output* sluice-out)
                       (cl:*standard-input* (cl:make-concatenated-stream))
                       (cl:*query-io* (cl:make-two-way-stream (cl:make-concatenated-stream) sluice-out)))
                (swank::with-buffer-syntax () (swank::eval-region ${code})))))
    (cl:list ${shortened(lisp`(cl:get-output-stream-string sluice-out)`)}
             (swank::with-buffer-syntax ()
               (cl:loop for sluice-value in sluice-values
                        for sluice-index from 0
                        when (cl:= sluice-index ${maxShownValues})
                          collect (cl:format nil "… (~D values more)" (cl:- (cl:length sluice-values) ${maxShownValues}))
                          and do (cl:loop-finish)
                        collect ${shortened(lisp`(cl:prin1-to-string sluice-value)`)}))))`

export interface EvaluationResult {
  readonly output: string
  readonly values: readonly string[]
}

export function toEvaluationResult(value: Sexp): EvaluationResult {
  const [output, values] = listOf(value)
  return { output: truncate(textOf(output)), values: listOf(values).map((each) => truncate(textOf(each))) }
}

/** Describes the values of an evaluation in words; another value as Lisp prints it. */
export function describeValue(value: Sexp): string {
  const [output, values] = listOf(value)
  if (typeof output !== 'string' || !isList(values)) return truncate(textOf(value))
  return describeResult(toEvaluationResult(value))
}

export function describeResult({ output, values }: EvaluationResult): string {
  const shown = values.map((value) => `=> ${value}`).join('\n') || 'No values.'
  return output === '' ? shown : `${output.replace(/\n?$/, '\n')}${shown}`
}

export const truncate = (text: string): string =>
  text.length <= maxShownCharacters
    ? text
    : `${text.slice(0, maxShownCharacters).toWellFormed()}… (${text.length - maxShownCharacters} characters more)`
