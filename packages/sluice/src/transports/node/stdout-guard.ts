/**
 * Keeps stdout for the protocol. One stray line there ends the conversation with most clients, so whatever else writes
 * to it goes to stderr: `console.log`, a library's `process.stdout.write`, a child process that inherits the stream.
 */

type Write = typeof process.stdout.write

/** Returns the real writer, for the protocol alone. For good: a process that speaks MCP on stdout does nothing else there. */
export function guardStdout(): Write {
  const write: Write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr) as Write
  guardChildren()
  return write
}

/** Every asynchronous way to start a child ends in this method of the class. */
interface ChildProcessPrototype {
  spawn(options: { stdio?: unknown }): unknown
}

function guardChildren(): void {
  // Not imported: most processes serve something else, and these modules take a while to load.
  const childProcess = process.getBuiltinModule('node:child_process')
  const { syncBuiltinESMExports } = process.getBuiltinModule('node:module')
  const prototype: ChildProcessPrototype = childProcess.ChildProcess.prototype as unknown as ChildProcessPrototype
  const { spawn } = prototype
  prototype.spawn = function guarded(this: ChildProcessPrototype, options) {
    return spawn.call(this, { ...options, stdio: redirectStdio(options.stdio) })
  }
  const { spawnSync, execFileSync, execSync } = childProcess
  Object.assign(childProcess, {
    spawnSync: (file: string, ...rest: unknown[]) =>
      Reflect.apply(spawnSync, childProcess, [file, ...rest.map(guardOptions)]),
    execFileSync: (file: string, ...rest: unknown[]) =>
      Reflect.apply(execFileSync, childProcess, [file, ...rest.map(guardOptions)]),
    execSync: (command: string, ...rest: unknown[]) =>
      Reflect.apply(execSync, childProcess, [command, ...rest.map(guardOptions)]),
  })
  // Named imports of built-in modules see the change only after this.
  syncBuiltinESMExports()
}

const guardOptions = (argument: unknown): unknown =>
  typeof argument === 'object' && argument !== null && 'stdio' in argument
    ? { ...argument, stdio: redirectStdio(argument.stdio) }
    : argument

/** And away from stdin: a child that reads it takes requests that nobody will answer then. */
function redirectStdio(stdio: unknown): unknown {
  if (stdio === 'inherit') return ['ignore', 2, 'inherit']
  if (!Array.isArray(stdio)) return stdio
  return stdio.map((target: unknown, fd) => {
    if (target === 0 || target === process.stdin || (target === 'inherit' && fd === 0)) return 'ignore'
    return target === 1 || target === process.stdout || (target === 'inherit' && fd === 1) ? 2 : target
  })
}
