/** A server on stdio that loads the module for child processes only within a call. Runs on the built package. */

import { createRequire } from 'node:module'
import { defineServer, tool } from 'sluice'
import { serveStdio } from 'sluice/node'
import * as z from 'zod'

const require = createRequire(import.meta.url)
const print = (childProcess: typeof import('node:child_process')): unknown =>
  childProcess.spawnSync('echo', ['STRAY'], { stdio: 'inherit' })

/** Every way to get at the module. */
const doors: { readonly [door: string]: () => unknown } = {
  import: async () => print(await import('node:child_process')),
  require: () => print(require('node:child_process')),
  'the loader of require': () => print(require('node:module')._load('child_process')),
  getBuiltinModule: () => print(process.getBuiltinModule('child_process')),
  cluster: async () => {
    const { default: cluster } = await import('node:cluster')
    cluster.setupPrimary({ exec: new URL('noisy-child.fixture.ts', import.meta.url).pathname })
    const worker = cluster.fork()
    await new Promise((resolve) => worker.on('exit', resolve))
  },
}

serveStdio(
  defineServer({
    name: 'late',
    version: '1.0.0',
    tools: [
      tool({
        name: 'stray',
        description: 'Starts a child that writes to stdout',
        input: z.object({ door: z.string() }),
        async run({ door }) {
          await doors[door]?.()
          return `did ${door}`
        },
      }),
    ],
  }),
)
