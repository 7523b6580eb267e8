/** The runs of `npm run soak`. Each is loaded, and started at its smallest scale unless that takes long. */

import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = new URL('../../scripts/soak.ts', import.meta.url).pathname
const folder = new URL('runs/', import.meta.url)
const runs = readdirSync(folder).map((file) => basename(file, '.ts'))

/** The smallest scale at which a run still proves something. All of them together take less than a minute. */
const scales: { readonly [run: string]: number } = {
  'approval-audit': 0.01,
  'approval-model': 0.0001,
  // Fewer rows are not enough to prune.
  'audit-turns': 0.02,
  connections: 0.00001,
  'crash-once': 0.001,
  'crash-postgres': 0.001,
  'crash-redis': 0.001,
  'crash-sqlite': 0.001,
  'cross-process-changes': 0.001,
  'gateway-isolation': 0.001,
  'gateway-processes': 0.001,
  'held-lock': 0.001,
  'idle-streams': 0.001,
  'limits-sqlite': 0.001,
  // Fewer clients are never queued.
  'queued-give-ups': 0.1,
  'retained-streams': 0.001,
  'rolling-restart': 0.001,
}

/** Runs of at least ten seconds, however small. */
const slow: readonly string[] = [
  ...['amplification', 'approval-crashes', 'approval-races', 'console', 'full-log-disk', 'fuzz', 'isolation'],
  ...['limits-postgres', 'limits-redis', 'longest-turn', 'redis-failover', 'stalled-reader', 'task-kills'],
  'unread-answers',
]

/** Runs that an account may be forbidden. The short form of this one is in `test/stores/crash.test.ts`. */
const privileged: readonly string[] = ['power-cut']

test('each run is started here, or has a reason not to be', () => {
  expect([...Object.keys(scales), ...slow, ...privileged].sort()).toEqual(runs)
})

test.each(runs)('%s can be loaded', async (name) => {
  expect(await import(new URL(`${name}.ts`, folder).href)).toMatchObject({ run: expect.any(Function) })
})

test.each(Object.entries(scales))('%s runs, at a scale of %d', async (name, scale) => {
  const args = [script, name, '--scale', String(scale), '--seed', '7']
  // A run that hangs may not take a signal that it handles.
  const limits = { timeout: 50_000, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 } as const
  const { stdout } = await promisify(execFile)(process.execPath, args, limits)
  expect(stdout).toMatch(new RegExp(`^${name}: .*, 0 lost, \\d+ s, seed 7$`, 'm'))
})
