/** `npm run check:packages`: runs publint and attw over every published package, as it would be packed. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { published } from './published.ts'

const tools = join(import.meta.dirname, '../node_modules/.bin')
const failed: string[] = []
for (const { folder, name, exports } of published()) {
  const checks = [
    ['publint', folder, '--strict'],
    // A package without exports has no types to check.
    ...(exports === undefined ? [] : [['attw', '--pack', folder, '--profile', 'esm-only', '--format', 'ascii']]),
  ]
  for (const [tool = '', ...args] of checks) {
    const { status, stdout, stderr } = spawnSync(join(tools, tool), args, { encoding: 'utf8' })
    console.log(`${status === 0 ? 'ok    ' : 'failed'}  ${tool.padEnd(7)}  ${name}`)
    if (status === 0) continue
    console.log(stdout + stderr)
    failed.push(`${tool} ${name}`)
  }
}
process.exitCode = failed.length === 0 ? 0 : 1
