/**
 * Installs the programs that tests need, together and before the first test. One by one they would wait for each
 * other's lock, and for downloads, inside tests with a time limit.
 */

import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { installFolders } from './npm-packages.ts'
import { installPackages } from './programs.ts'

const onPath = (command: string): boolean =>
  (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, command)))

const needed: { readonly [debianPackage: string]: () => boolean } = {
  'redis-server': () => onPath('redis-server'),
  haproxy: () => onPath('haproxy') || existsSync('/usr/sbin/haproxy'),
  e2fsprogs: () => onPath('mkfs.ext4') || existsSync('/usr/sbin/mkfs.ext4'),
  chromium: () => onPath('chromium'),
  sbcl: () => onPath('sbcl'),
  tmux: () => onPath('tmux'),
  'cl-swank': () => existsSync('/usr/share/common-lisp/source/slime/swank-loader.lisp'),
  postgresql: () => globSync('/usr/lib/postgresql/*/bin/initdb').length > 0,
}

export default function installPrograms(): void {
  installFolders()
  const missing = Object.keys(needed).filter((name) => !needed[name]?.())
  if (missing.length === 0) return
  process.stderr.write(
    `The tests need ${missing.join(', ')}. Installing with apt-get, which needs root. "npm run test:quick" needs none of them.\n`,
  )
  try {
    installPackages(missing)
  } catch {
    // Not Debian, or no rights: each test that needs a program says what to install.
  }
}
