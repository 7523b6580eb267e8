import { openPipe } from './lib/pipe.ts'
import { median } from './lib/figures.ts'
const scripts = process.argv.slice(2)
const pipes = await Promise.all(scripts.map((s) => openPipe(new URL(s, 'file:///'), '2026-07-28', 64)))
for (const p of pipes) await p.drive(2000)
const out = pipes.map(() => [] as {perSecond:number,cpuUs:number|undefined}[])
const n = Number(process.env['ROUNDS'] ?? 15)
for (let r = 0; r < n; r++) for (const [i, p] of pipes.entries()) out[i]!.push(await p.drive(500))
for (const [i, s] of scripts.entries()) console.log(s, Math.round(median(out[i]!.map((x) => x.perSecond))), 'cpu', median(out[i]!.map((x) => x.cpuUs!)).toFixed(2), 'min', Math.min(...out[i]!.map((x) => x.cpuUs!)).toFixed(2))
for (const p of pipes) p.close()
