/** Servers with tasks on one store, as several processes, and the tools that become tasks. */

import type { Bus, Caller, Clock, Params, Plugin, Server, Store, Tool, Verifier } from 'sluice'
import { ask, authenticate, defineServer, fail, memoryStore, RpcError, tool } from 'sluice'
import type { Approvals, Decider } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import type { TasksOptions } from 'sluice/plugins'
import { log, tasks } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { z } from 'zod'

export const extension = 'io.modelcontextprotocol/tasks'
export const withTasks: Params = { extensions: { [extension]: {} }, elicitation: { form: {} } }

/** Work that ends when a test says so. */
export interface Work {
  readonly began: Promise<void>
  end(text: string): void
  fail(thrown: unknown): void
  readonly signal: AbortSignal | undefined
}

export interface TaskTools {
  readonly tools: readonly Tool[]
  /** Every run, in order. */
  readonly runs: readonly string[]
  /** The work of the next call of `slow`. */
  next(): Work
}

interface SlowTool {
  readonly task: 'auto' | 'always'
  readonly taskAfterMs?: number
  readonly approval?: 'always'
  readonly stateless?: true
}

export function taskTools(): TaskTools {
  const runs: string[] = []
  const open: { began: PromiseWithResolvers<void>; end: PromiseWithResolvers<string>; signal?: AbortSignal }[] = []
  let at = 0
  const slot = (index: number): (typeof open)[number] => {
    while (open.length <= index) open.push({ began: Promise.withResolvers(), end: Promise.withResolvers() })
    return open[index] as (typeof open)[number]
  }
  let taken = 0
  const slow = (name: string, more: SlowTool): Tool =>
    tool({
      ...{ name, description: 'Takes as long as the test says', ...more },
      run(_input, { signal, progress }) {
        runs.push(name)
        const mine = slot(at++)
        mine.signal = signal
        mine.began.resolve()
        progress(1, 2, 'half way')
        return mine.end.promise
      },
    })
  const named = z.object({ name: z.string() })
  const tools = [
    slow('slow', { task: 'always' }),
    slow('auto', { task: 'auto', taskAfterMs: 1_000 }),
    slow('gated', { task: 'always', approval: 'always', stateless: true }),
    tool({
      name: 'pay',
      description: 'Pays, after an approval',
      input: z.object({ amount: z.number() }),
      approval: 'always',
      stateless: true,
      run({ amount }) {
        runs.push(`pay ${amount}`)
        return `Paid ${amount}`
      },
    }),
    tool({
      name: 'plain',
      description: 'Never a task',
      run() {
        runs.push('plain')
        return 'plain'
      },
    }),
    tool({
      name: 'asking',
      description: 'Asks while it works, twice',
      task: 'always',
      async run(_input, context) {
        runs.push('asking')
        const { who } = await context.ask({ who: ask.form('Who?', named) })
        const { where, when } = await context.ask({ where: ask.form('Where?', named), when: ask.form('When?', named) })
        return `${who.name}, ${where.name}, ${when.name}`
      },
    }),
    tool({
      name: 'first',
      description: 'Asks first, then is a task',
      task: 'always',
      ask: () => ({ who: ask.form('Who?', named) }),
      run: (_input, { answers }) => `Hello, ${answers.who.name}`,
    }),
    tool({
      name: 'failing',
      description: 'Fails',
      task: 'always',
      run: () => Promise.reject(fail('No seats are left')),
    }),
    tool({
      name: 'broken',
      description: 'Throws a JSON-RPC error',
      task: 'always',
      run: () => Promise.reject(new RpcError('forbidden', 'Not today')),
    }),
  ]
  return {
    tools,
    runs,
    next() {
      const mine = slot(taken++)
      return {
        began: mine.began.promise,
        end: (text) => mine.end.resolve(text),
        fail: (thrown) => mine.end.reject(thrown),
        get signal() {
          return mine.signal
        },
      }
    },
  }
}

export interface TasksFixture {
  readonly server: Server
  /** Ends the process without a word: it reaches the store no more. */
  kill(): void
  /** The result, or the error, of a request. */
  send(method: string, params?: Params, options?: SendOptions): Promise<Params>
  call(name: string, args?: Params, options?: SendOptions): Promise<Params>
  get(taskId: unknown, options?: SendOptions): Promise<Params>
}
export interface SendOptions {
  readonly as?: string
  readonly capabilities?: Params
  readonly meta?: Params
  readonly send?: (message: object) => void
  readonly more?: Params
  readonly signal?: AbortSignal
}
export interface TasksFixtureOptions {
  readonly store?: Store
  readonly bus?: Bus
  readonly clock?: Clock
  readonly tools?: readonly Tool[]
  /** Further plugins, on the store as this process sees it. */
  readonly use?: (store: Store) => readonly Plugin[]
  readonly tasks?: TasksOptions
  /** Verifies the tokens. By default a token is the name of its caller. */
  readonly verifier?: Verifier
}

/** One process. */
export function openTasks({
  clock = fakeClock(1_700_000_000_000),
  store = memoryStore(clock),
  tools = taskTools().tools,
  use = () => [],
  bus,
  tasks: options,
  verifier = { verify: async (token) => callerOf(token) },
}: TasksFixtureOptions = {}): TasksFixture {
  const mortal = mortalStore(store)
  const server = createServer(defineServer({ name: 'work', version: '1', tools }), {
    ...{ store: mortal.store, bus, clock, secret: 'a secret that all processes share' },
    use: [log({ info() {}, warn() {}, error() {} }), authenticate(verifier), tasks(options), ...use(mortal.store)],
  })
  let ids = 0
  async function send(method: string, params: Params = {}, options: SendOptions = {}): Promise<Params> {
    const { as = 'ann', capabilities = withTasks, meta = {}, send: hear, signal } = options
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      ...meta,
    }
    const message = { jsonrpc: '2.0', id: ++ids, method, params: { ...params, token: as, _meta } }
    const response: Params = {
      ...(await server.handle(message, { ...(hear && { send: hear }), ...(signal && { signal }) })),
    }
    return (response['result'] ?? response['error']) as Params
  }
  return {
    server,
    kill: mortal.kill,
    send,
    call: (name, args = {}, options = {}) => send('tools/call', { name, arguments: args, ...options.more }, options),
    get: (taskId, options) => send('tasks/get', { taskId }, options),
  }
}

/** One process with approvals, which the person `olga` decides. */
export function openGatedTasks(options: TasksFixtureOptions & { readonly clock: Clock }): GatedTasksFixture {
  let approvals: Approvals | undefined
  const use = (store: Store): readonly Approvals[] => {
    approvals = createApprovals({ store, clock: options.clock, approver: 'other' })
    return [approvals]
  }
  const fixture = openTasks({ ...options, use })
  if (!approvals) throw new Error('The plugins were not asked for')
  return { ...fixture, approvals }
}
export interface GatedTasksFixture extends TasksFixture {
  readonly approvals: Approvals
}
export const olga: Decider = { subject: 'olga', via: 'console', tenants: 'all', operator: true }

/** The tenant is the part after the dot: `ann.acme`. */
const callerOf = (subject: string): Caller => ({
  ...{ subject, credential: `token of ${subject}`, scopes: new Set(), claims: { org: subject.split('.')[1] } },
  expires: Number.POSITIVE_INFINITY,
})

/** A dead process never hears back from its store. */
export function mortalStore(store: Store): { readonly store: Store; kill(): void } {
  let dead = false
  const mortal =
    <A extends readonly unknown[], T>(verb: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      if (dead) return new Promise(() => {})
      const result = await verb(...args)
      return dead ? new Promise(() => {}) : result
    }
  return {
    store: {
      ...(store.inProcess && { inProcess: true }),
      get: mortal(store.get),
      set: mortal(store.set),
      swap: mortal(store.swap),
      delete: mortal(store.delete),
      take: mortal(store.take),
      append: mortal(store.append),
      list: mortal(store.list),
    },
    kill() {
      dead = true
    },
  }
}
