import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  createPrivateFile,
  isReadableByOthers,
  makePrivateFile,
  makePrivateFolder,
  readPrivateFile,
  replacePrivateFile,
  restrictToOwner,
} from './private-files.ts'
import { sqliteStore } from './sqlite.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-private-'))
  const before = process.umask(0)
  onTestFinished(() => {
    process.umask(before)
    rmSync(folder, { recursive: true, force: true })
  })
})
const modeOf = (path: string): number => statSync(path).mode & 0o777

test('only this account may read folders and files, whatever the umask', async () => {
  const deep = join(folder, 'a/b')
  makePrivateFolder(deep)
  makePrivateFile(join(deep, 'x.db'))
  replacePrivateFile(join(deep, 'y'), 'text')
  createPrivateFile(join(deep, 'z'), () => 'text')
  expect([modeOf(join(folder, 'a')), modeOf(deep)]).toEqual([0o700, 0o700])
  expect(['x.db', 'y', 'z'].map((name) => modeOf(join(deep, name)))).toEqual([0o600, 0o600, 0o600])
  const store = sqliteStore(join(deep, 'store.db'))
  await store.set(['a'], 'b')
  for (const name of readdirSync(deep)) expect(isReadableByOthers(join(deep, name)), name).toBe(false)
  await store.close()
})

test('a database that this process has open stays locked', () => {
  const path = join(folder, 'store.db')
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  database.exec('BEGIN EXCLUSIVE')
  makePrivateFile(path)
  const write = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('CREATE TABLE mine (n)')`
  const other = spawnSync(process.execPath, ['-e', write, path], { encoding: 'utf8' })
  expect(other.stderr).toContain('database is locked')
})

test('opening a database removes the permissions of other accounts', async () => {
  const path = join(folder, 'store.db')
  await sqliteStore(path).close()
  chmodSync(path, 0o664)
  await sqliteStore(path).close()
  expect(modeOf(path)).toBe(0o600)
  chmodSync(path, 0o644)
  expect([restrictToOwner(path), modeOf(path)]).toEqual([true, 0o600])
})

test('a path that is not a regular file is refused at once', () => {
  const fifo = join(folder, 'fifo')
  execFileSync('mkfifo', [fifo])
  expect(() => sqliteStore(fifo)).toThrow('is not a regular file')
  expect(() => readPrivateFile(fifo)).toThrow('is not a regular file')
  expect(() => createPrivateFile(fifo, () => 'x')).toThrow('is not a regular file')
  expect(() => replacePrivateFile(fifo, 'x')).toThrow('is not a regular file')
  mkdirSync(join(folder, 'folder.db'))
  expect(() => sqliteStore(join(folder, 'folder.db'))).toThrow('is not a regular file')
})

test('a folder that cannot be created is refused at once, even if the kernel says that its parent is missing', () => {
  expect(() => makePrivateFolder('/proc/sluice/data')).toThrow()
  writeFileSync(join(folder, 'file'), '')
  expect(() => makePrivateFolder(join(folder, 'file'))).toThrow('is not a folder')
})

test('a file that is created once stays unchanged, and an empty one, as after a kill, counts as missing', () => {
  const path = join(folder, 'secret')
  writeFileSync(path, '')
  expect(createPrivateFile(path, () => 'first')).toBe('first')
  expect(createPrivateFile(path, () => 'second')).toBe('first')
  replacePrivateFile(path, 'third')
  expect(readFileSync(path, 'utf8')).toBe('third')
  expect(readdirSync(folder)).toEqual(['secret'])
})

test('a file is replaced whole: a program that has it open still reads the text before', () => {
  const path = join(folder, 'keys.json')
  replacePrivateFile(path, 'before')
  const reader = openSync(path, 'r')
  onTestFinished(() => closeSync(reader))
  replacePrivateFile(path, 'after')
  expect([readFileSync(reader, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['before', 'after'])
})
