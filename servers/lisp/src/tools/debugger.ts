/** Tools for stopped threads: show the stack and the restarts, invoke one, or abort. */

import type { Effect, Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { approvalArguments } from 'sluice/approvals'
import * as z from 'zod'
import type { App } from '../app.ts'
import { debuggerData, describeDebugger, describeValue, truncate } from '../session.ts'
import type { Sexp } from '../sexp.ts'
import { isSym, lisp, listOf, sym, textOf } from '../sexp.ts'
import type { Debugger } from '../swank.ts'
import { framesOf } from '../swank.ts'
import { gatedTool, readOnlyTool, sessionOf } from './repl.ts'

export const thread = z.int().min(0).optional().describe('Which thread; required if several are in the debugger')

function restartOf({ restarts }: Debugger, index: number): Debugger['restarts'][number] {
  const found = restarts[index]
  if (!found) throw fail(`Restart ${index} does not exist; there are ${restarts.length}, counted from 0.`)
  return found
}

/** Said after a thread continued that no call waits for. */
export const programThread = 'It is a thread of the program; repl_status shows whether it stops again.'

/** Names the stop of a thread. A thread that stops again for another reason needs another approval. */
export const debuggerEffect = ({ thread, level, condition, type }: Debugger): Effect => ({
  Thread: thread,
  Level: level,
  Condition: truncate(`${condition} [${type}]`),
})

/** An error in here would open another debugger in the thread, on top of the one that is looked at. */
const localsForm = (frame: number): Sexp => lisp`
  (cl:handler-case (swank:frame-locals-and-catch-tags ${frame})
    (cl:error () :sluice-no-frame))`

export function debuggerTools(sessions: App): readonly Tool[] {
  return [
    tool({
      name: 'debugger_frames',
      description: 'The stack of a thread in the debugger; with a frame, also its local variables.',
      input: z.object({
        thread,
        count: z.int().min(1).max(200).default(20),
        frame: z.int().min(0).max(100_000).optional().describe('Show the variables of this frame'),
      }),
      annotations: readOnlyTool,
      async run({ thread, count, frame }, { call, signal }) {
        const session = sessionOf(sessions, call.tenant.id)
        const at = { thread: session.debuggerOf(thread).thread }
        if (frame !== undefined) {
          const found = await session.evaluate(localsForm(frame), signal, at)
          if (isSym(found, ':sluice-no-frame'))
            throw fail(`Frame ${frame} cannot be shown. debugger_frames without a frame lists the frames.`)
          const [locals] = listOf(found)
          const variables = listOf(locals).map((each) => {
            const fields = listOf(each)
            const of = (name: string): string => {
              const index = fields.findIndex(
                (field) => typeof field === 'object' && 'name' in field && field.name.toLowerCase() === name,
              )
              return textOf(fields[index + 1])
            }
            return { name: of(':name'), value: truncate(of(':value')) }
          })
          const text = variables.map(({ name, value }) => `${name} = ${value}`).join('\n') || 'No variables.'
          return { content: [{ type: 'text', text }], structuredContent: { frame, variables } }
        }
        const frames = framesOf(await session.evaluate([sym('swank:backtrace'), 0, count], signal, at))
        const text = frames.map(({ index, description }) => `${index}: ${description}`).join('\n')
        return { content: [{ type: 'text', text: truncate(text) }], structuredContent: { frames } }
      },
    }),
    tool({
      name: 'debugger_restarts',
      description: 'Why a thread stopped, and its restarts.',
      input: z.object({ thread }),
      annotations: readOnlyTool,
      run({ thread }, { call }) {
        const here = sessionOf(sessions, call.tenant.id).debuggerOf(thread)
        return { content: [{ type: 'text', text: describeDebugger(here) }], structuredContent: debuggerData(here) }
      },
    }),
    tool({
      name: 'debugger_invoke_restart',
      description: 'Continue with one of the restarts that debugger_restarts shows.',
      input: z.object({ restart: z.int().min(0).max(1000).describe('Its number'), thread }),
      approval: 'always',
      effect({ restart, thread }, { call }) {
        const here = sessionOf(sessions, call.tenant.id).debuggerOf(thread)
        const { name, description } = restartOf(here, restart)
        return { Restart: `[${name}] ${description}`, ...debuggerEffect(here) }
      },
      approvalArguments,
      annotations: gatedTool,
      async run({ restart, thread }, { call, signal }) {
        const session = sessionOf(sessions, call.tenant.id)
        const here = session.debuggerOf(thread)
        const choice = restartOf(here, restart)
        const form = [sym('swank:invoke-nth-restart-for-emacs'), here.level, restart]
        const ended = await session.resume(here, form, signal)
        const went = `Continued with ${choice.name}: ${choice.description}`
        if (!ended) return `${went}\n${programThread}`
        if (ended.kind === 'debugger') throw fail(describeDebugger(ended.debugger))
        if (ended.kind === 'aborted') return `${went}\nThe evaluation was aborted.`
        return `${went}\n${describeValue(ended.value)}`
      },
    }),
    tool({
      name: 'repl_abort',
      description: 'Abort the work of a thread in the debugger.',
      input: z.object({ thread }),
      // It only ends work that was approved before, so it needs no approval.
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      async run({ thread }, { call, signal }) {
        const session = sessionOf(sessions, call.tenant.id)
        const here = session.debuggerOf(thread)
        await session.outcome([sym('swank:throw-to-toplevel')], signal, { thread: here.thread })
        return `Aborted: ${here.condition}`
      },
    }),
  ]
}
