/** The suite's tools of the tasks extension. */

import type { Tool } from 'sluice'
import { ask, fail, RpcError, tool } from 'sluice'
import { z } from 'zod'

/** The suite sends the same members to every form, so forms must take members that they do not know. */
const confirmed = z.looseObject({ confirm: z.boolean() })
const named = z.looseObject({ name: z.string() })

/** Ends early when the task is cancelled. Nothing of Node: this runs on every runtime. */
const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

export const taskTools: readonly Tool[] = [
  tool({
    name: 'greet',
    description: 'Greets at once',
    input: z.object({ name: z.string() }),
    run: ({ name }) => `Hello, ${name}!`,
  }),
  tool({
    name: 'slow_compute',
    description: 'Computes for as many seconds as asked for',
    input: z.object({ seconds: z.number().min(0).max(3600), label: z.string().optional() }),
    task: 'auto',
    taskAfterMs: 0,
    async run({ seconds, label = '' }, { signal, progress }) {
      progress(0, seconds, `Computing ${label}`)
      await delay(seconds * 1000, signal)
      return `Computed ${label} for ${seconds} s`
    },
  }),
  tool({
    name: 'failing_job',
    description: 'Fails after a second',
    task: 'always',
    async run(_input, { signal }) {
      await delay(1000, signal)
      throw fail('The job failed')
    },
  }),
  tool({
    name: 'protocol_error_job',
    description: 'Ends with a JSON-RPC error',
    task: 'always',
    async run(_input, { signal }) {
      await delay(100, signal)
      throw new RpcError('internalError', 'The job cannot be done')
    },
  }),
  tool({
    name: 'confirm_delete',
    description: 'Asks for a confirmation while it works',
    input: z.object({ filename: z.string() }),
    task: 'always',
    async run({ filename }, context) {
      const { confirm } = await context.ask({ confirm: ask.form(`Delete ${filename}?`, confirmed) })
      return confirm.confirm ? `Deleted ${filename}` : `Kept ${filename}`
    },
  }),
  tool({
    name: 'multi_input',
    description: 'Asks two things at once while it works',
    task: 'always',
    async run(_input, context) {
      const { who, sure } = await context.ask({
        who: ask.form('What is your name?', named),
        sure: ask.form('Are you sure?', confirmed),
      })
      return `${who.name}: ${sure.confirm}`
    },
  }),
  tool({
    name: 'test_tool_with_task',
    description: 'Asks first, then works as a task',
    task: 'always',
    ask: () => ({ user_name: ask.form('What is your name?', named) }),
    run: (_input, { answers }) => `Hello, ${answers.user_name.name}!`,
  }),
]
