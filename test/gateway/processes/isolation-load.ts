/**
 * Two tenants with callers of the same names, in both eras, through process upstreams of every scope. An upstream answers
 * with the marks of all calls that its process has served. So a process or an answer that reaches the wrong caller shows
 * as a mark of another.
 */

import { randomUUID } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import type { Verifier } from 'sluice'
import { authenticate, concurrency, tenants } from 'sluice'
import type { Client } from 'sluice/client'
import { connect, httpTransport } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { running } from './running.ts'

export interface ScopeReport {
  answers: number
  /** Marks in answers that belong to the caller's group. */
  marks: number
  /** Descriptors of this process before and after. */
  readonly descriptors: number[]
  readonly problems: string[]
}

const scopes = ['session', 'caller', 'tenant', 'shared'] as const
type Scope = (typeof scopes)[number]

/** One client and the groups it belongs to. Marks begin with `tenant.caller.number.`. */
interface ScopedClient {
  readonly client: Client
  readonly mark: string
  /** The prefix of marks that this client may see, per scope. */
  readonly allowed: { readonly [scope in Scope]: RegExp }
}

/** Calls of one client at a time. More connections than the sender keeps would be opened again in each round. */
const concurrent = 6

/** Tokens are `tenant.subject`. */
const verifier: Verifier = {
  async verify(token) {
    const [tenant, subject = ''] = token.split('.')
    return { subject, credential: 'test', scopes: new Set(), claims: { tenant }, expires: Number.POSITIVE_INFINITY }
  },
}

/** Calls until this many answers were checked. */
export async function hammerScopes(answers: number, progress: (line: string) => void = () => {}): Promise<ScopeReport> {
  const report: ScopeReport = { answers: 0, marks: 0, descriptors: [], problems: [] }
  const base = randomUUID()
  const program = `${import.meta.dirname}/upstream.fixture.ts`
  report.descriptors.push(countDescriptors())
  const definition = gateway({
    ...{ name: 'isolation', version: '1.0.0' },
    upstreams: scopes.map((scope) =>
      upstream({ name: scope, scope, command: process.execPath, args: [program, '', base] }),
    ),
    processes: { maxProcesses: 40, maxPerTenant: 18 },
  })
  const server = createServer(definition, {
    use: [
      authenticate({ verifiers: [verifier] }),
      tenants({ claim: 'tenant' }),
      concurrency({ perTenant: 10_000, queue: 10_000 }),
      log({ info() {}, warn() {}, error() {} }),
    ],
  })
  const serving = await serveHttp(server, { port: 0 })
  const sender = createNodeSender()
  const clients = await openClients(serving.url, sender.send)
  try {
    let told = 0
    // Each client goes on by itself: a round of all of them would wait for the slowest.
    await Promise.all(
      clients.map(async (each) => {
        for (let round = 0; report.answers < answers && report.problems.length < 100; round++) {
          await callEveryScope(each, round, report)
          if (report.answers - told < 50_000) continue
          told = report.answers
          progress(`gateway-isolation: ${told.toLocaleString('en')} answers`)
        }
      }),
    )
  } finally {
    await Promise.all(clients.map(({ client }) => client.close()))
    sender.close()
    await serving.close()
  }
  for (const pid of running(base)) report.problems.push(`process ${pid} is left`)
  report.descriptors.push(countDescriptors())
  const [before = 0, after = 0] = report.descriptors
  if (after > before) report.problems.push(`${after - before} descriptors are left open`)
  return report
}

/** The same two callers in both tenants, in both eras; one has two sessions. */
async function openClients(
  url: string,
  sender: NonNullable<Parameters<typeof httpTransport>[1]>['sender'],
): Promise<readonly ScopedClient[]> {
  const rows = ['ants', 'bees'].flatMap((tenant) => [
    ...(['2025-11-25', '2025-11-25', '2026-07-28'] as const).map((revision) => ({ tenant, caller: 'ann', revision })),
    ...(['2025-11-25', '2026-07-28'] as const).map((revision) => ({ tenant, caller: 'bob', revision })),
  ])
  return Promise.all(
    rows.map(async ({ tenant, caller, revision }, number) => {
      const headers = { authorization: `Bearer ${tenant}.${caller}` }
      const transport = httpTransport(url, { headers, ...(sender && { sender }) })
      const client = await connect(transport, { revision })
      const mark = `${tenant}.${caller}.${number}.`
      const allowed = {
        // 2026-07-28 has no sessions: there the scope is the caller.
        session: new RegExp(`^${tenant}\\.${caller}\\.${number}\\.`),
        caller: new RegExp(`^${tenant}\\.${caller}\\.`),
        tenant: new RegExp(`^${tenant}\\.`),
        shared: /./,
      }
      return { client, mark, allowed }
    }),
  )
}

async function callEveryScope(client: ScopedClient, round: number, report: ScopeReport): Promise<void> {
  for (const scope of scopes) await callTogether(client, scope, round, report)
}

async function callTogether(
  { client, mark, allowed }: ScopedClient,
  scope: Scope,
  round: number,
  report: ScopeReport,
): Promise<void> {
  await Promise.all(
    Array.from({ length: concurrent }, async (_, index) => {
      const own = `${mark}${round * concurrent + index}`
      const wrong = (problem: string): void => {
        report.problems.push(`${scope}, ${own}: ${problem}`)
      }
      try {
        const { content } = await client.callTool(`${scope}_do`, { how: 'seen', mark: own })
        const [{ text = '[]' } = {}] = content as [{ readonly text?: string }?]
        const seen = JSON.parse(text) as readonly string[]
        if (seen.at(-1) !== own) wrong(`got the answer of ${seen.at(-1)}`)
        for (const each of seen)
          if (allowed[scope].test(each)) report.marks++
          else wrong(`saw ${each}`)
        report.answers++
      } catch (thrown) {
        wrong(`failed: ${String(thrown)}`)
      }
    }),
  )
}

/** Node opens `/dev/null` once, for the first process that ignores a stream, and keeps it. */
const countDescriptors = (): number =>
  readdirSync('/proc/self/fd').filter((descriptor) => targetOf(descriptor) !== '/dev/null').length

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    // The descriptor with which the folder was read.
    return ''
  }
}
