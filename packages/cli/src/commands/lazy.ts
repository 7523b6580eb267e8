/**
 * The commands, each loaded when it runs. A client that starts `sluice serve … --stdio` waits for the process, and
 * loading the other commands with it (the client, the console, OAuth) would take longer than the server itself.
 */

type RunCommand<Args extends unknown[]> = (...args: Args) => number | Promise<number>

const lazy =
  <Args extends unknown[]>(load: () => Promise<RunCommand<Args>>) =>
  async (...args: Args): Promise<number> =>
    (await load())(...args)

export const approvalsDecide = lazy(async () => (await import('./approvals.ts')).approvalsDecide)
export const approvalsList = lazy(async () => (await import('./approvals.ts')).approvalsList)
export const approvalsRules = lazy(async () => (await import('./approvals.ts')).approvalsRules)
export const approvalsShow = lazy(async () => (await import('./approvals.ts')).approvalsShow)
export const auditExport = lazy(async () => (await import('./audit.ts')).auditExport)
export const auditPrune = lazy(async () => (await import('./audit.ts')).auditPrune)
export const auditSearch = lazy(async () => (await import('./audit.ts')).auditSearch)
export const auditVerify = lazy(async () => (await import('./audit.ts')).auditVerify)
export const bench = lazy(async () => (await import('./bench.ts')).bench)
export const call = lazy(async () => (await import('./call.ts')).call)
export const card = lazy(async () => (await import('./card.ts')).card)
export const configPrint = lazy(async () => (await import('./config.ts')).configPrint)
export const configSchemaPrint = lazy(async () => (await import('./config.ts')).configSchemaPrint)
export const connect = lazy(async () => (await import('./connect.ts')).connect)
export const consoleLink = lazy(async () => (await import('./console.ts')).consoleLink)
export const doctor = lazy(async () => (await import('./doctor.ts')).doctor)
export const keysCreate = lazy(async () => (await import('./keys.ts')).keysCreate)
export const keysList = lazy(async () => (await import('./keys.ts')).keysList)
export const keysRevoke = lazy(async () => (await import('./keys.ts')).keysRevoke)
export const peopleAdd = lazy(async () => (await import('./people.ts')).peopleAdd)
export const peopleList = lazy(async () => (await import('./people.ts')).peopleList)
export const peopleRemove = lazy(async () => (await import('./people.ts')).peopleRemove)
export const serve = lazy(async () => (await import('./serve.ts')).serve)
export const start = lazy(async () => (await import('./start.ts')).start)
export const tenants = lazy(async () => (await import('./audit.ts')).tenants)
export const upstreamsDecide = lazy(async () => (await import('./upstreams-review.ts')).upstreamsDecide)
export const upstreamsDiff = lazy(async () => (await import('./upstreams-review.ts')).upstreamsDiff)
export const upstreamsList = lazy(async () => (await import('./upstreams.ts')).upstreamsList)
export const upstreamsLogs = lazy(async () => (await import('./upstreams.ts')).upstreamsLogs)
export const upstreamsRestart = lazy(async () => (await import('./upstreams.ts')).upstreamsRestart)
export const wrap = lazy(async () => (await import('./wrap.ts')).wrap)
