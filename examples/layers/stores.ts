/** The same seven operations on every store: here a file that survives the process. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'sluice/sqlite'

const folder = mkdtempSync(join(tmpdir(), 'stores-'))
const store = sqliteStore(join(folder, 'server.db'))

// One of two wins, even in different processes.
const claims = await Promise.all([
  store.swap(['claim'], undefined, 'mine'),
  store.swap(['claim'], undefined, 'no, mine'),
])
assert.deepEqual(claims.toSorted(), [false, true])

// A token bucket by the store's own clock: 0 means taken, otherwise the milliseconds until a token is available.
const bucket = { burst: 1, perSecond: 0.01 }
assert.equal(await store.take(['bucket'], bucket), 0)
assert.ok((await store.take(['bucket'], bucket)) > 0)

// Logs keep their order. Keys are arrays, so that no tenant's name can reach into another's data.
await store.append(['log', 'a'], 'first')
await store.append(['log', 'a'], 'second')
await store.append(['log', 'a:b'], 'of another')
const entries = await store.list(['log', 'a'], { limit: 10 })
assert.deepEqual(
  entries.map(({ value }) => value),
  ['first', 'second'],
)

await store.close()
rmSync(folder, { recursive: true })
