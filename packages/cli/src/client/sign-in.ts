/** Sign-in for `sluice call`: the browser is opened, or the address printed; tokens are kept sealed in the user's folder. */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Authorization, HttpSender } from 'sluice/client'
import { createLoopbackRedirect } from 'sluice/client-node'
import { createOAuth, sealedTokens, type TextStore } from 'sluice/client-oauth'
import type { Environment } from 'sluice/node'

export interface SignInOptions {
  readonly url: string
  readonly sender: HttpSender
  readonly env: Environment
  readonly signal: AbortSignal
  /** Opens the page in a browser, besides printing its address. */
  readonly opensBrowser: boolean
  print(text: string): void
}

/** Returns the credentials for a server, and what closes the page that browsers come back to. */
export async function createSignIn(options: SignInOptions): Promise<{ authorization: Authorization; close(): void }> {
  const { url, sender, env, signal, opensBrowser, print } = options
  const redirect = await createLoopbackRedirect({
    signal,
    show(page) {
      print(`Sign in at ${page}`)
      if (opensBrowser) openBrowser(page)
    },
  })
  const folder = join(env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config'), 'sluice')
  const { redirectUrl, authorize } = redirect
  const authorization = createOAuth({
    url,
    sender,
    redirectUrl,
    authorize,
    clientName: 'sluice call',
    tokens: sealedTokens(fileTexts(join(folder, 'sign-ins.json')), await secretIn(folder)),
  })
  return { authorization, close: redirect.close }
}

function openBrowser(page: string): void {
  const [command, ...args] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['explorer'] : ['xdg-open']
  if (command === undefined) return
  // Without a browser the printed address is enough.
  spawn(command, [...args, page], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}

/** Only this user may read the files. */
const mode = 0o600

async function secretIn(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'sign-ins.key')
  // The first of two commands that start at once makes it.
  await writeFile(path, randomBytes(32).toString('base64url'), { mode, flag: 'wx' }).catch(() => undefined)
  return readFile(path, 'utf8')
}

function fileTexts(path: string): TextStore {
  const read = async (): Promise<Record<string, string>> => {
    try {
      return JSON.parse(await readFile(path, 'utf8')) as Record<string, string>
    } catch {
      return {}
    }
  }
  async function write(texts: Record<string, string>): Promise<void> {
    const draft = `${path}.${process.pid}`
    await writeFile(draft, JSON.stringify(texts), { mode })
    await rename(draft, path)
  }
  return {
    get: async (key) => (await read())[key],
    set: async (key, text) => write({ ...(await read()), [key]: text }),
    async delete(key) {
      const { [key]: _gone, ...rest } = await read()
      await write(rest)
    },
  }
}
