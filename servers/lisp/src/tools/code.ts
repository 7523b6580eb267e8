/** Tracing, profiling and loading change the image, so all tools but the report wait for an approval. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { approvalArguments } from 'sluice/approvals'
import * as z from 'zod'
import type { App } from '../app.ts'
import { isMissingSymbol, withSymbol } from '../look-up.ts'
import { evaluationForm, shortened, toEvaluationResult, truncate } from '../session.ts'
import { isList, lisp, sym, textOf } from '../sexp.ts'
import { gatedTool, imageEffect, packageOption, readOnlyTool, sessionOf, symbolNotFound } from './repl.ts'

const name = z.string().min(1).max(500)
const inPackage = z.string().min(1).max(200).optional().describe('The package to read names in')

/** An empty table, and no function that waits to be called. */
const isEmpty = (report: string): boolean => /^-+\n-+$/m.test(report) && !report.includes('not called')

/** Traces the symbol that was found. Swank's own function would pass the name to the Lisp reader. */
const toggleTrace = lisp`
  (cl:cond ((cl:not (cl:fboundp sluice-symbol)) nil)
           ((swank::tracedp sluice-symbol)
            (cl:eval (cl:list (quote cl:untrace) sluice-symbol))
            (cl:format nil "~S is now untraced." sluice-symbol))
           (t (cl:eval (cl:list (quote cl:trace) sluice-symbol))
              (cl:format nil "~S is now traced." sluice-symbol)))`
const traceDirection = lisp`(cl:if (swank::tracedp sluice-symbol) "stops" "starts")`

export function codeTools(sessions: App): readonly Tool[] {
  return [
    tool({
      name: 'trace_function',
      description: 'Trace a function, or stop tracing it. repl_eval then returns the traced calls in its output.',
      input: z.object({ function: name, package: inPackage }),
      approval: 'always',
      // The same arguments start a trace or stop it, so the approval says which.
      async effect(input, context) {
        const session = sessionOf(sessions, context.call.tenant.id)
        const action = await session.evaluate(
          withSymbol(input.function, traceDirection),
          context.signal,
          packageOption(input.package),
        )
        if (isMissingSymbol(action)) throw fail(symbolNotFound(input.function))
        return { Function: input.function, Tracing: textOf(action), ...imageEffect(sessions)(input, context) }
      },
      approvalArguments,
      annotations: gatedTool,
      async run(input, { call, signal }) {
        const form = withSymbol(input.function, toggleTrace)
        const traced = await sessionOf(sessions, call.tenant.id).evaluate(form, signal, packageOption(input.package))
        if (isMissingSymbol(traced)) throw fail(symbolNotFound(input.function))
        if (isList(traced)) throw fail(`${input.function} is not a function.`)
        return textOf(traced)
      },
    }),
    tool({
      name: 'profile_start',
      description: 'Count calls and time of every function of a package.',
      input: z.object({ package: name }),
      approval: 'always',
      effect: imageEffect(sessions),
      approvalArguments,
      annotations: gatedTool,
      async run(input, { call, signal }) {
        const form = lisp`(swank/backend:profile-package swank::*buffer-package* nil nil)`
        await sessionOf(sessions, call.tenant.id).evaluate(form, signal, packageOption(input.package))
        return `Profiling the functions of ${input.package}.`
      },
    }),
    tool({
      name: 'profile_stop',
      description: 'Stop profiling, and delete the counts.',
      approval: 'always',
      effect: (_, { call }) => ({ Image: sessionOf(sessions, call.tenant.id).image }),
      approvalArguments,
      annotations: gatedTool,
      async run(_, { call, signal }) {
        await sessionOf(sessions, call.tenant.id).evaluate([sym('swank/backend:unprofile-all')], signal)
        return 'Profiling has stopped.'
      },
    }),
    tool({
      name: 'profile_report',
      description: 'The counts since profile_start.',
      annotations: readOnlyTool,
      task: 'auto',
      async run(_, { call, signal }) {
        const form = shortened(lisp`
          (cl:with-output-to-string (cl:*trace-output*)
            (cl:let ((cl:*standard-output* cl:*trace-output*)) (swank/backend:profile-report)))`)
        const report = truncate(textOf(await sessionOf(sessions, call.tenant.id).evaluate(form, signal))).trim()
        return report === '' || isEmpty(report)
          ? 'Nothing was counted. profile_start chooses the package to count.'
          : report
      },
    }),
    tool({
      name: 'load_system',
      description: 'Load an ASDF system, compiling what is needed.',
      input: z.object({ system: name.regex(/^[A-Za-z0-9_.+/-]+$/, 'A system name, such as "alexandria"') }),
      approval: 'always',
      effect: ({ system }, { call }) => ({ System: system, Image: sessionOf(sessions, call.tenant.id).image }),
      approvalArguments,
      annotations: gatedTool,
      timeoutMs: 300_000,
      task: 'auto',
      async run({ system }, { call, signal, progress }) {
        progress(0, 1, `loading ${system}`)
        const session = sessionOf(sessions, call.tenant.id)
        const code = `(progn (require :asdf) (uiop:symbol-call :asdf :load-system "${system}") (values))`
        const { output } = toEvaluationResult(await session.evaluate(evaluationForm(code), signal))
        return `${output}Loaded ${system}.`
      },
    }),
  ]
}
