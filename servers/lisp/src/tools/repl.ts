/**
 * The tools of the image itself: connect, evaluate, compile, inspect. Tools that run or change code wait for an
 * approval; reading does not.
 */

import type { Effect, EffectContext, Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { approvalArguments } from 'sluice/approvals'
import * as z from 'zod'
import type { App } from '../app.ts'
import { completionsForm, isMissingSymbol, withSymbol } from '../look-up.ts'
import type { ImageStatus, Session } from '../session.ts'
import {
  debuggerData,
  describeDebugger,
  describeResult,
  evaluationForm,
  shortened,
  toEvaluationResult,
  truncate,
} from '../session.ts'
import type { Sexp } from '../sexp.ts'
import { lisp, listOf, sym, textOf } from '../sexp.ts'

/** An approval shows at most 64 KiB of arguments as JSON. Longer code could be sent, but never approved. */
const maxCode = 64_000
const code = z
  .string()
  .min(1)
  .max(maxCode)
  .refine((text) => JSON.stringify(text).length <= maxCode, `At most ${maxCode} characters, written as JSON`)
  .describe('Lisp forms; the values of the last one are returned')
const inPackage = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe('The package to read and print in; COMMON-LISP-USER by default')
const symbol = z.string().min(1).max(500).describe('The name of a symbol, such as "mapcar" or "my-package:thing"')
export const readOnlyTool = { readOnlyHint: true, openWorldHint: false } as const
export const gatedTool = { destructiveHint: true, openWorldHint: true } as const

/** Returns the caller's session, or says what to install. */
export const sessionOf = (sessions: App, tenant: string): Session => {
  if (sessions.missing !== undefined) throw fail(`Lisp is not installed: ${sessions.missing}`)
  return sessions.sessionOf(tenant)
}
/** Names the image that the code acts on, for the person who approves it. */
export const imageEffect =
  (sessions: App) =>
  (input: { readonly package?: string | undefined }, { call }: EffectContext): Effect => ({
    Image: sessionOf(sessions, call.tenant.id).image,
    Package: input.package ?? 'COMMON-LISP-USER',
  })
export const packageOption = (name: string | undefined): { readonly package?: string } =>
  name === undefined ? {} : { package: name }

export function replTools(sessions: App): readonly Tool[] {
  return [
    tool({
      name: 'repl_connect',
      description:
        'Open the Lisp image: a new SBCL, or with a port a Swank server that already runs on this machine. Other tools open it by themselves.',
      input: z.object({
        port: z.int().min(1).max(65_535).optional().describe('The port of a running Swank server, usually 4005'),
      }),
      // A new image changes nothing; a running one may contain a person's work.
      approval: ({ port }) => port !== undefined,
      effect({ port }, { call }) {
        const { image, hasImage } = sessionOf(sessions, call.tenant.id)
        return { Leaves: hasImage ? image : 'no open image', Joins: port === undefined ? image : `127.0.0.1:${port}` }
      },
      approvalArguments,
      annotations: { openWorldHint: true },
      timeoutMs: 120_000,
      async run({ port }, { call }) {
        const to = port === undefined ? undefined : { host: '127.0.0.1', port }
        const status = await sessionOf(sessions, call.tenant.id).connect(to)
        const message = describeStatus(status)
        return { content: [{ type: 'text', text: message }], structuredContent: { ...status, message } }
      },
    }),
    tool({
      name: 'repl_disconnect',
      description: 'Disconnect from the image. One that was started here ends, with everything defined in it.',
      approval: 'always',
      effect(_, { call }) {
        const { image, status } = sessionOf(sessions, call.tenant.id)
        const { connected, opened } = status()
        return { Image: image, Open: connected, 'Opened so far': opened }
      },
      approvalArguments,
      annotations: gatedTool,
      async run(_, { call }) {
        await sessionOf(sessions, call.tenant.id).disconnect()
        return 'Disconnected.'
      },
    }),
    tool({
      name: 'repl_status',
      description: 'Whether an image is open, which one, and which threads are in the debugger.',
      annotations: readOnlyTool,
      run(_, { call }) {
        if (sessions.missing !== undefined)
          return {
            content: [{ type: 'text', text: `Lisp is not installed: ${sessions.missing}` }],
            structuredContent: { connected: false, missing: sessions.missing },
          }
        const session = sessions.sessionOf(call.tenant.id)
        const status = session.status()
        const message = describeStatus(status)
        const debuggers = session.debuggers().map(({ thread, condition }) => ({ thread, condition }))
        const stopped = debuggers.map(({ thread, condition }) => `Thread ${thread} is in the debugger: ${condition}`)
        return {
          content: [{ type: 'text', text: [message, ...stopped].join('\n') }],
          structuredContent: { ...status, message, debuggers },
        }
      },
    }),
    tool({
      name: 'repl_eval',
      description:
        'Evaluate Lisp code in the live image. Returns the printed output and the values; an error opens the debugger. To read a variable or simple expression without an approval, use repl_read.',
      input: z.object({ code, package: inPackage }),
      approval: 'always',
      effect: imageEffect(sessions),
      approvalArguments,
      annotations: gatedTool,
      async run({ code, package: name }, { call, signal }) {
        const session = sessionOf(sessions, call.tenant.id)
        const ended = await session.outcome(evaluationForm(code), signal, packageOption(name))
        if (ended.kind === 'aborted') throw fail(`Aborted: ${ended.reason}`)
        if (ended.kind === 'debugger')
          return {
            isError: true,
            content: [{ type: 'text', text: describeDebugger(ended.debugger) }],
            structuredContent: debuggerData(ended.debugger),
          }
        const result = toEvaluationResult(ended.value)
        return { content: [{ type: 'text', text: describeResult(result) }], structuredContent: { ...result } }
      },
    }),
    tool({
      name: 'repl_compile',
      description: 'Compile and load Lisp definitions. Returns the compiler’s notes and warnings.',
      input: z.object({ code, package: inPackage }),
      approval: 'always',
      effect: imageEffect(sessions),
      approvalArguments,
      annotations: gatedTool,
      async run({ code, package: name }, { call, signal }) {
        const form = [sym('swank:compile-string-for-emacs'), code, 'sluice', quoted([[sym(':position'), 1]]), [], []]
        const result = await sessionOf(sessions, call.tenant.id).evaluate(form, signal, packageOption(name))
        const [, notes, success] = listOf(result)
        const compiled = {
          success: !(Array.isArray(success) && success.length === 0),
          notes: listOf(notes).map(toCompilerNote),
        }
        const text = compiled.notes.map(({ severity, message }) => `${severity}: ${message}`).join('\n')
        return {
          content: [
            { type: 'text', text: [compiled.success ? 'Compiled.' : 'Not compiled.', text].filter(Boolean).join('\n') },
          ],
          structuredContent: compiled,
          isError: !compiled.success,
        }
      },
    }),
    tool({
      name: 'repl_describe',
      description: 'What a symbol is: function, variable, class, with its documentation.',
      input: z.object({ symbol, package: inPackage }),
      annotations: readOnlyTool,
      async run({ symbol, package: name }, { call, signal }) {
        const form = withSymbol(symbol, shortened(lisp`(swank::describe-to-string sluice-symbol)`))
        const found = await sessionOf(sessions, call.tenant.id).evaluate(form, signal, packageOption(name))
        if (isMissingSymbol(found)) throw fail(symbolNotFound(symbol))
        return truncate(textOf(found))
      },
    }),
    tool({
      name: 'repl_completions',
      description: 'Symbols that begin with a prefix.',
      input: z.object({ prefix: z.string().min(1).max(200), package: inPackage }),
      annotations: readOnlyTool,
      async run({ prefix, package: name }, { call, signal }) {
        const found = await sessionOf(sessions, call.tenant.id).evaluate(
          completionsForm(prefix),
          signal,
          packageOption(name),
        )
        const completions = listOf(found).map(textOf).slice(0, 200)
        return {
          content: [{ type: 'text', text: completions.join('\n') || 'None.' }],
          structuredContent: { completions },
        }
      },
    }),
    tool({
      name: 'repl_macroexpand',
      description: 'Expand a macro form. Expanding runs the macro, so it waits for an approval.',
      input: z.object({
        form: code,
        all: z.boolean().optional().describe('Expand everything inside too'),
        package: inPackage,
      }),
      approval: 'always',
      effect: imageEffect(sessions),
      approvalArguments,
      annotations: gatedTool,
      run: async ({ form, all, package: name }, { call, signal }) =>
        truncate(
          textOf(
            await sessionOf(sessions, call.tenant.id).evaluate(
              shortened([sym(all ? 'swank:swank-macroexpand-all' : 'swank:swank-macroexpand-1'), form]),
              signal,
              packageOption(name),
            ),
          ),
        ),
    }),
    tool({
      name: 'repl_inspect',
      description: 'Inspect a value: of a variable (no approval), or of an expression, which is evaluated (approval).',
      input: z.object({
        variable: symbol.optional(),
        expression: z.string().min(1).max(10_000).optional(),
        package: inPackage,
      }),
      approval: ({ expression }) => expression !== undefined,
      effect: imageEffect(sessions),
      approvalArguments,
      async run({ variable, expression, package: name }, { call, signal }) {
        if ((variable === undefined) === (expression === undefined))
          throw fail('Give either a variable or an expression.')
        const form =
          expression !== undefined ? [sym('swank:init-inspector'), expression] : withSymbol(variable ?? '', inspectForm)
        const found = await sessionOf(sessions, call.tenant.id).evaluate(form, signal, packageOption(name))
        if (isMissingSymbol(found)) throw fail(symbolNotFound(variable ?? ''))
        return truncate(toInspection(found))
      },
    }),
    tool({
      name: 'repl_threads',
      description: 'The threads of the image and their state.',
      annotations: readOnlyTool,
      async run(_, { call, signal }) {
        const [, ...rows] = listOf(
          await sessionOf(sessions, call.tenant.id).evaluate([sym('swank:list-threads')], signal),
        )
        const threads = rows.map((row) => {
          const [id, name, status] = listOf(row)
          return { id: Number(id), name: textOf(name), status: textOf(status) }
        })
        const text = threads.map(({ id, name, status }) => `${id} ${name}: ${status}`).join('\n')
        return { content: [{ type: 'text', text }], structuredContent: { threads } }
      },
    }),
  ]
}

function describeStatus({ connected, origin, address, opened }: ImageStatus): string {
  if (!connected)
    return opened === 0
      ? 'No image is open; the next call opens one.'
      : 'The image is closed; the next call opens a new one.'
  const which = origin === 'started' ? 'SBCL started by this server' : 'a running image'
  const again = opened > 1 ? ` It is image number ${opened}: the definitions of the earlier ones are lost.` : ''
  return `Connected to ${which} at ${address}.${again}`
}

export const quoted = (value: Sexp): Sexp => [sym('cl:quote'), value]

export const symbolNotFound = (name: string): string => `Symbol not found: "${name}". repl_completions finds names.`

const inspectForm = lisp`
  (cl:cond ((cl:boundp sluice-symbol)
            (swank::reset-inspector)
            (swank::inspect-object (cl:symbol-value sluice-symbol)))
           (t (cl:list :title "The symbol has no value: it is not a variable." :content nil)))`

function toCompilerNote(note: Sexp): { readonly severity: string; readonly message: string } {
  const fields = listOf(note)
  const at = (name: string): string => {
    const index = fields.findIndex(
      (field) => typeof field === 'object' && 'name' in field && field.name.toLowerCase() === name,
    )
    return index === -1 ? '' : textOf(fields[index + 1])
  }
  return { severity: at(':severity').replace(/^:/, '').toLowerCase(), message: at(':message') }
}

/** Reads `(:title … :content (parts length start end))`; a part is text, or `(:value text id)`. */
function toInspection(value: Sexp): string {
  const fields = listOf(value)
  const [title, content] = [':title', ':content'].map((name) => {
    const index = fields.findIndex(
      (field) => typeof field === 'object' && 'name' in field && field.name.toLowerCase() === name,
    )
    return fields[index + 1]
  })
  const [parts] = listOf(content)
  const lines = listOf(parts).map((part) => (typeof part === 'string' ? part : textOf(listOf(part)[1])))
  return `${textOf(title)}\n${lines.join('')}`.trimEnd()
}
