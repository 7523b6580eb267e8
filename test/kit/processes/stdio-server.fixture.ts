/** A server on the process's own stdin and stdout, with tools that misbehave. Runs on the built package. */

import type { StdioOptions } from 'node:child_process'
import { execFileSync, execSync, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { defineServer, tool } from 'sluice'
import { serveStdio } from 'sluice/node'
import * as z from 'zod'

const print = ['-e', 'console.log("STRAY from a child")']
const noisy = new URL('noisy-child.fixture.ts', import.meta.url).pathname
const greedy = new URL('greedy-child.fixture.ts', import.meta.url).pathname

/** Everything that writes to stdout by accident. */
const writers: { readonly [writer: string]: () => unknown } = {
  'console.log': () => console.log('STRAY'),
  'console.info': () => console.info('STRAY'),
  'console.table': () => console.table([{ STRAY: 1 }]),
  'console.dir': () => console.dir({ STRAY: 1 }),
  'process.stdout.write': () => process.stdout.write('STRAY\n'),
  'process.stdout.write without a newline': () => process.stdout.write('STRAY'),
  'process.stdout.write of bytes': () => process.stdout.write(Buffer.from('STRAY\n')),
  'process.stdout.write with a callback': () =>
    new Promise((resolve) => process.stdout.write('STRAY\n', () => resolve(undefined))),
  'something that looks like an answer': () => console.log('{"jsonrpc":"2.0","id":1,"result":"STRAY"}'),
  'spawn, inherit': () => once(spawn(process.execPath, print, { stdio: 'inherit' }), 'close'),
  'spawn, each inherited': () =>
    once(spawn(process.execPath, print, { stdio: ['ignore', 'inherit', 'inherit'] }), 'close'),
  'spawn, by number': () => once(spawn(process.execPath, print, { stdio: ['ignore', 1, 2] }), 'close'),
  'spawn, by stream': () =>
    once(spawn(process.execPath, print, { stdio: ['ignore', process.stdout, process.stderr] }), 'close'),
  'spawn, stdout as stderr': () =>
    once(spawn(process.execPath, ['-e', 'console.error("STRAY")'], { stdio: ['ignore', 'ignore', 1] }), 'close'),
  'spawn through a shell': () => once(spawn('echo STRAY', { shell: true, stdio: 'inherit' }), 'close'),
  'spawnSync, inherit': () => spawnSync(process.execPath, print, { stdio: 'inherit' }),
  'spawnSync, by number': () => spawnSync(process.execPath, print, { stdio: [0, 1, 2] }),
  'spawnSync, without arguments': () => spawnSync('date', { stdio: 'inherit' }),
  'execSync, inherit': () => execSync('echo STRAY', { stdio: 'inherit' }),
  'execFileSync, inherit': () => execFileSync('echo', ['STRAY'], { stdio: 'inherit' }),
  'require, spawnSync': () =>
    createRequire(import.meta.url)('child_process').spawnSync('echo', ['STRAY'], { stdio: 'inherit' }),
  'fork, as it is': () => once(fork(noisy), 'close'),
  'fork, inherit': () => once(fork(noisy, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }), 'close'),
  worker: () => once(new Worker('console.log("STRAY"); process.stdout.write("STRAY\\n")', { eval: true }), 'exit'),
}

const options: { readonly graceMs?: number } = JSON.parse(process.argv[2] ?? '{}')

const server = defineServer({
  name: 'misbehaving',
  version: '1.0.0',
  tools: [
    tool({
      name: 'stray',
      description: 'Writes to stdout',
      input: z.object({ writer: z.string() }),
      async run({ writer }) {
        await writers[writer]?.()
        return `did ${writer}`
      },
    }),
    tool({
      name: 'reader',
      description: 'Lets a child read stdin while the call is running',
      input: z.object({ how: z.enum(['inherit', 'by number', 'by stream', 'fork']) }),
      async run({ how }, { signal }) {
        const stdio = {
          inherit: 'inherit',
          'by number': [0, 'ignore', 2],
          'by stream': [process.stdin, 'ignore', 2],
        } as const
        const child =
          how === 'fork' ? fork(greedy) : spawn(process.execPath, [greedy], { stdio: stdio[how] as StdioOptions })
        signal.addEventListener('abort', () => child.kill())
        await once(child, 'close')
        return 'read'
      },
    }),
    tool({
      name: 'echo',
      description: 'Returns the text',
      input: z.object({ text: z.string() }),
      run: ({ text }) => text,
    }),
    tool({
      name: 'large',
      description: 'A long text',
      input: z.object({ size: z.int() }),
      run: ({ size }) => 'x'.repeat(size),
    }),
    tool({
      name: 'wait',
      description: 'Runs until it is cancelled',
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          // Keeps the process alive, as an open socket would.
          const hold = setInterval(() => {}, 60_000)
          process.stderr.write('WAITING\n')
          signal.addEventListener('abort', () => {
            process.stderr.write('STOPPED\n')
            clearInterval(hold)
            reject(signal.reason)
          })
        }),
    }),
    tool({
      name: 'deaf',
      description: 'Never ends, even when cancelled',
      run: () =>
        new Promise(() => {
          setInterval(() => {}, 60_000)
          process.stderr.write('WAITING\n')
        }),
    }),
    tool({
      name: 'turns',
      description: 'Answers after some turns of the event loop',
      input: z.object({ turns: z.int() }),
      async run({ turns }) {
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
        return 'done'
      },
    }),
    tool({
      name: 'held',
      description: 'Allocates memory that stays in use',
      run() {
        setFlagsFromString('--expose-gc')
        runInNewContext('gc')()
        const { heapUsed, arrayBuffers } = process.memoryUsage()
        return { held: heapUsed + arrayBuffers }
      },
    }),
  ],
})

serveStdio(server, options)
