/** Tools that act while they run: report, log, wait, fail, and change what clients are subscribed to. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { z } from 'zod'

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
const keyed = z.object({ key: z.string() })

/** `change` swaps the contents of one of the lists. */
export function longRunningTools(change: (list: 'tools' | 'prompts' | 'resources') => void): readonly Tool[] {
  return [
    ...counting(),
    tool({
      name: 'log',
      description: 'Logs once at every level',
      run(_input, { log }) {
        for (const level of levels) log(level, { level }, 'everything')
        return 'logged'
      },
    }),
    ...cancellable(),
    tool({
      name: 'detour',
      description: 'Lets the client come back for the answer, where that can be',
      run(_input, { detach }) {
        detach()
        return 'arrived'
      },
    }),
    tool({
      name: 'refuse',
      description: 'Fails with a text for the model',
      run() {
        throw fail('Only 3 seats are left')
      },
    }),
    tool({
      name: 'crash',
      description: 'Fails with a text that must not leave',
      run() {
        throw new Error('password=hunter2')
      },
    }),
    tool({
      name: 'touch',
      description: 'Says that a resource changed',
      input: z.object({ uri: z.string() }),
      run({ uri }, { resourceUpdated }) {
        resourceUpdated(uri)
        return `touched ${uri}`
      },
    }),
    tool({
      name: 'change',
      description: 'Changes one of the lists',
      input: z.object({ list: z.enum(['tools', 'prompts', 'resources']) }),
      run({ list }) {
        change(list)
        return `changed the ${list}`
      },
    }),
  ]
}

/**
 * `count` waits for "proceed" before it answers. The official clients drop progress that they read together with the
 * answer, from any server, and a pipe may deliver both at once.
 */
function counting(): readonly Tool[] {
  const waiting = keyedPromises()
  return [
    tool({
      name: 'count',
      description: 'Reports progress at every step, and answers after "proceed"',
      input: z.object({ key: z.string(), to: z.int() }),
      async run({ key, to }, { progress }) {
        for (let step = 1; step <= to; step++) progress(step, to, `step ${step}`)
        // Does not increase, so it is not sent.
        progress(to, to, 'again')
        await waiting(key).promise
        return `counted to ${to}`
      },
    }),
    tool({
      name: 'proceed',
      description: 'Lets the count of this key answer',
      input: keyed,
      run({ key }) {
        waiting(key).resolve()
        return 'proceeds'
      },
    }),
  ]
}

/** `slow` ends only by being cancelled; `ended` waits until the call of that key has seen its signal abort. */
function cancellable(): readonly Tool[] {
  const endings = keyedPromises()
  return [
    tool({
      name: 'slow',
      description: 'Reports that it began, and waits to be cancelled',
      input: keyed,
      run: ({ key }, { signal, progress }) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            endings(key).resolve()
            reject(signal.reason)
          })
          progress(1, 2, 'began')
        }),
    }),
    tool({
      name: 'ended',
      description: 'Waits until the slow call of this key was aborted',
      input: keyed,
      async run({ key }) {
        await endings(key).promise
        return `aborted ${key}`
      },
    }),
  ]
}

function keyedPromises(): (key: string) => PromiseWithResolvers<void> {
  const made = new Map<string, PromiseWithResolvers<void>>()
  return (key) => {
    const promise = made.get(key) ?? Promise.withResolvers<void>()
    made.set(key, promise)
    return promise
  }
}
