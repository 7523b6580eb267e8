/**
 * Breakpoints and stepping. Swank has no breakpoints for SBCL, so a breakpoint wraps the function (SBCL's
 * `encapsulate`): a call of it stops in the debugger, from where Swank steps.
 */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { approvalArguments } from 'sluice/approvals'
import * as z from 'zod'
import type { App } from '../app.ts'
import { isMissingSymbol, withSymbol } from '../look-up.ts'
import { debuggerData, describeDebugger, describeValue } from '../session.ts'
import type { Sexp } from '../sexp.ts'
import { isSym, lisp, listOf, sym, textOf } from '../sexp.ts'
import { debuggerEffect, programThread, thread } from './debugger.ts'
import { gatedTool, imageEffect, packageOption, readOnlyTool, sessionOf, symbolNotFound } from './repl.ts'

const input = z.object({
  function: z.string().min(1).max(500).describe('The name of a function of the program'),
  package: z.string().min(1).max(200).optional().describe('The package to look the name up in'),
})
type Input = z.infer<typeof input>

/** Binds SBCL's functions, or returns `:sluice-unsupported` in another Lisp. */
const withEncapsulation = (form: Sexp): Sexp => lisp`
  (cl:if (cl:find-package "SB-INT")
    (cl:let ((sluice-wrap (cl:find-symbol "ENCAPSULATE" "SB-INT"))
             (sluice-unwrap (cl:find-symbol "UNENCAPSULATE" "SB-INT"))
             (sluice-wrapped-p (cl:find-symbol "ENCAPSULATED-P" "SB-INT"))
             (sluice-locked-p (cl:find-symbol "PACKAGE-LOCKED-P" "SB-EXT")))
      (cl:declare (cl:ignorable sluice-wrap sluice-unwrap sluice-wrapped-p sluice-locked-p))
      ${form})
    :sluice-unsupported)`

/** A breakpoint in Common Lisp itself, or in Swank, would stop the server's own work. */
const setForm = withEncapsulation(lisp`
  (cl:cond ((cl:or (cl:not (cl:fboundp sluice-symbol)) (cl:macro-function sluice-symbol)
                   (cl:special-operator-p sluice-symbol))
            :sluice-no-function)
           ((cl:or (cl:funcall sluice-locked-p (cl:symbol-package sluice-symbol))
                   (cl:eql 0 (cl:search "SWANK" (cl:package-name (cl:symbol-package sluice-symbol)))))
            :sluice-locked)
           (t (cl:funcall sluice-wrap sluice-symbol (cl:quote sluice-breakpoint)
                (cl:lambda (sluice-function cl:&rest sluice-arguments)
                  (cl:break "Breakpoint: ~S" (cl:cons sluice-symbol sluice-arguments))
                  (cl:apply sluice-function sluice-arguments)))
              :sluice-set))`)
const removeForm = withEncapsulation(lisp`
  (cl:if (cl:and (cl:fboundp sluice-symbol) (cl:funcall sluice-wrapped-p sluice-symbol (cl:quote sluice-breakpoint)))
    (cl:progn (cl:funcall sluice-unwrap sluice-symbol (cl:quote sluice-breakpoint)) :sluice-removed)
    :sluice-none)`)
const listForm = withEncapsulation(lisp`
  (cl:let ((sluice-found nil))
    (cl:do-all-symbols (sluice-each)
      (cl:when (cl:and (cl:fboundp sluice-each) (cl:not (cl:macro-function sluice-each))
                       (cl:not (cl:special-operator-p sluice-each))
                       (cl:funcall sluice-wrapped-p sluice-each (cl:quote sluice-breakpoint)))
        (cl:pushnew sluice-each sluice-found)))
    (cl:mapcar (cl:lambda (sluice-each)
                 (cl:format nil "~A::~A" (cl:package-name (cl:symbol-package sluice-each)) (cl:symbol-name sluice-each)))
               sluice-found))`)

/** The words for each answer of the forms; an answer that is not here is a failure. */
const failures: { readonly [answer: string]: string } = {
  ':sluice-unsupported': 'Breakpoints need SBCL; this image is another Lisp.',
  ':sluice-no-function': 'It is not a function.',
  ':sluice-locked':
    'It belongs to Lisp itself, where a breakpoint would stop this server. Choose a function of the program.',
  ':sluice-none': 'It has no breakpoint.',
}

/** Swank's functions for a step, which also start stepping after a breakpoint. */
const steps = { into: 'swank::sldb-step', next: 'swank::sldb-next', out: 'swank::sldb-out' } as const

export function breakpointTools(sessions: App): readonly Tool[] {
  async function change(asked: Input, form: Sexp, tenant: string, signal: AbortSignal): Promise<void> {
    const session = sessionOf(sessions, tenant)
    const answer = await session.evaluate(withSymbol(asked.function, form), signal, packageOption(asked.package))
    if (isMissingSymbol(answer)) throw fail(symbolNotFound(asked.function))
    const failure = failures[textOf(answer).toLowerCase()]
    if (failure !== undefined) throw fail(`${asked.function}: ${failure}`)
  }
  const gated = { input, approval: 'always', approvalArguments, annotations: gatedTool } as const
  const effect = (asked: Input, context: Parameters<ReturnType<typeof imageEffect>>[1]) => ({
    Function: asked.function,
    ...imageEffect(sessions)(asked, context),
  })
  return [
    tool({
      name: 'breakpoint_set',
      description: 'Stop in the debugger whenever a function is called. Then look around, and step with debugger_step.',
      ...gated,
      effect,
      async run(asked, { call, signal }) {
        await change(asked, setForm, call.tenant.id, signal)
        return `The next call of ${asked.function} stops in the debugger. breakpoint_remove takes the breakpoint away.`
      },
    }),
    tool({
      name: 'breakpoint_remove',
      description: 'Remove the breakpoint of a function.',
      ...gated,
      effect,
      async run(asked, { call, signal }) {
        await change(asked, removeForm, call.tenant.id, signal)
        return `The breakpoint of ${asked.function} is removed.`
      },
    }),
    tool({
      name: 'breakpoint_list',
      description: 'The functions with a breakpoint.',
      annotations: readOnlyTool,
      async run(_, { call, signal }) {
        const found = await sessionOf(sessions, call.tenant.id).evaluate(listForm, signal)
        if (isSym(found, ':sluice-unsupported')) throw fail(failures[':sluice-unsupported'] ?? '')
        const breakpoints = listOf(found).map(textOf)
        const text = breakpoints.join('\n') || 'No breakpoint is set.'
        return { content: [{ type: 'text', text }], structuredContent: { breakpoints } }
      },
    }),
    tool({
      name: 'debugger_step',
      description:
        'Step a thread that is in the debugger: into the next form, next (over it), or out of the function. Works at a breakpoint, in code that was compiled with (declaim (optimize (debug 3))).',
      input: z.object({ how: z.enum(['into', 'next', 'out']).default('next'), thread }),
      approval: 'always',
      effect: ({ how, thread }, { call }) => ({
        Step: how,
        ...debuggerEffect(sessionOf(sessions, call.tenant.id).debuggerOf(thread)),
      }),
      approvalArguments,
      annotations: gatedTool,
      async run({ how, thread }, { call, signal }) {
        const session = sessionOf(sessions, call.tenant.id)
        const here = session.debuggerOf(thread)
        if (!here.restarts.some(({ name }) => /^\*?(?:CONTINUE|STEP-)/.test(name)))
          throw fail('This stop cannot be stepped: it has no restart CONTINUE. Set a breakpoint first.')
        const ended = await session.resume(here, [sym(steps[how]), 0], signal)
        if (!ended) return `Stepped. ${programThread}`
        if (ended.kind === 'aborted') return 'The evaluation was aborted.'
        if (ended.kind === 'debugger')
          return {
            content: [{ type: 'text', text: describeDebugger(ended.debugger) }],
            structuredContent: debuggerData(ended.debugger),
          }
        return `The evaluation ended.\n${describeValue(ended.value)}`
      },
    }),
  ]
}
