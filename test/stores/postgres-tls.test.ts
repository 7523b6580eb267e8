/** PostgreSQL on the network: over TLS, with a password. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PostgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import { postgresBus, postgresDatabase, postgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import type { PostgresServer } from '../kit/processes/postgres.ts'
import { startPostgres } from '../kit/processes/postgres.ts'
import { requireProgram } from '../kit/processes/programs.ts'

/** An address of the loopback range, so that the usual port is free. */
const host = '127.0.0.54'
const password = 'a?b/c@d'
const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'))

let server: PostgresServer
beforeAll(async () => {
  makeCertificate('server', host)
  makeCertificate('other', host)
  server = await startPostgres([`listen_addresses=${host}`])
  const client = new pg.Client(server.url)
  await client.connect()
  const data = String((await client.query('SHOW data_directory')).rows[0]?.data_directory)
  const accounts = ['local all all trust', 'hostssl all all 127.0.0.0/8 scram-sha-256']
  // The server writes its own files, so that they belong to its account.
  for (const [name, text] of [
    ['server.crt', readFileSync(join(folder, 'server.crt'), 'utf8')],
    ['server.key', readFileSync(join(folder, 'server.key'), 'utf8')],
    ['pg_hba.conf', accounts.join('\n')],
  ] as const)
    await client.query(`COPY (SELECT unnest(string_to_array('${text}', E'\\n')))
      TO PROGRAM 'umask 077; cat > ${join(data, name)}'`)
  await client.query(`CREATE ROLE app LOGIN PASSWORD '${password}'; GRANT CREATE ON DATABASE postgres TO app`)
  await client.query('ALTER SYSTEM SET ssl = on')
  await client.end()
  await server.restart()
}, 180_000)
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true })
})

function makeCertificate(name: string, address: string): void {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=IP:${address}`]
  const openssl = requireProgram('openssl', 'openssl', 'version')
  execFileSync(openssl, ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...files, ...subject], {
    stdio: 'ignore',
  })
}
const urlOf = (trusted: string, secret = password): string =>
  `postgresql://app:${encodeURIComponent(secret)}@${host}/postgres?sslmode=verify-full&sslrootcert=${join(folder, `${trusted}.crt`)}`

async function withStore<T>(url: string, use: (store: PostgresStore) => Promise<T>): Promise<T> {
  const store = postgresStore({ url, deadlineMs: 20_000 })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

test('store, bus and tables work over TLS, if the certificate is trusted', async () => {
  const url = urlOf('server')
  await withStore(url, async (store) => {
    await store.set(['greeting'], 'hello')
    expect(await store.get(['greeting'])).toBe('hello')
  })
  const bus = postgresBus({ url })
  const received = new Promise<string>((resolve) => bus.subscribe('news', resolve))
  await bus.publish('news', 'spring')
  expect(await received).toBe('spring')
  await bus.close()
  const database = postgresDatabase({ url })
  const text = 'SELECT count(*) FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()'
  expect((await database.query(text)).rows).toEqual([{ count: 1 }])
  await database.close()
})

/** What the store throws, and the error behind it. */
async function refusalAt(url: string): Promise<readonly [refusal: unknown, cause: unknown]> {
  const refusal: unknown = await withStore(url, (store) => store.get(['greeting'])).catch((thrown: unknown) => thrown)
  return [refusal, refusal instanceof Error ? refusal.cause : undefined]
}

test('a server whose certificate is not trusted is not used', async () => {
  const [refusal, cause] = await refusalAt(urlOf('other'))
  expect(refusal).toMatchObject({ reason: 'storeUnavailable' })
  expect(cause).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
})

test('a wrong password is refused, and no error contains it', async () => {
  const [refusal, cause] = await refusalAt(urlOf('server', 'wrong-one'))
  expect(refusal).toMatchObject({ reason: 'storeUnavailable' })
  expect(cause).toMatchObject({ code: '28P01' })
  expect(inspect([refusal, cause], { depth: null })).not.toContain('wrong-one')
})

test('a server that wants TLS refuses a connection without it', async () => {
  const [refusal, cause] = await refusalAt(urlOf('server').replace(/\?.*/, ''))
  expect(refusal).toMatchObject({ reason: 'storeUnavailable' })
  expect(cause).toMatchObject({ code: '28000', message: expect.stringContaining('no encryption') })
})
