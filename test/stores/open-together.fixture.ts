/**
 * Opens one new file after the other, each at the same moment as the other processes. Started by sqlite-faults.test.ts.
 */

import { join } from 'node:path'
import { sqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'

const timer = new Int32Array(new SharedArrayBuffer(4))
const [, , folder = '', begin = '0', files = '0'] = process.argv
for (let i = 0; i < Number(files); i++) {
  const at = Number(begin) + i * 40
  // Sleeps until shortly before, because processes that spin would take the processor from the one that holds the lock.
  Atomics.wait(timer, 0, 0, Math.max(0, at - Date.now() - 2))
  while (Date.now() < at);
  await sqliteStore(join(folder, `${i}.db`)).close()
}
