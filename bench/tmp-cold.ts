import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { overStdio } from './cold/first-answer.ts'
const folder = mkdtempSync(join(tmpdir(), 'cold-'))
const N = Number(process.env['ROUNDS'] ?? 11)
const serve = (root: string) => { const env = { XDG_CACHE_HOME: join(folder, root.replace(/\W/g, '_')) }; const args = [join(root, 'packages/cli/bin/sluice.js'), 'serve', './server.ts', '--stdio', '--data', join(folder, 'd' + root.replace(/\W/g, '_'))]; return (endsItself = false) => overStdio(args, '2026-07-28', { cwd: join(root, 'bench/cold'), env, endsItself }) }
const cases: Record<string, () => Promise<number>> = {}
for (const root of process.argv.slice(2)) { const s = serve(root); await s(true); await s(true); cases[root] = s }
cases['sdk'] = () => overStdio(['/work/main/bench/contenders/sdk-v2/stdio.ts'], '2026-07-28')
cases['floor'] = () => overStdio(['/work/main/bench/contenders/floor/stdio.ts'], '2026-07-28')
const out = new Map<string, number[]>()
for (let i = 0; i < N; i++) for (const [n, f] of Object.entries(cases)) out.set(n, [...(out.get(n) ?? []), await f()])
for (const [n, v] of out) { v.sort((a, b) => a - b); console.log(n, 'median', v[v.length >> 1]!.toFixed(1), 'min', v[0]!.toFixed(1)) }
