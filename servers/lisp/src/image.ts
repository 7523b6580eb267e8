/**
 * A Lisp image with Swank in it: SBCL started by us, listening on this machine alone and only for who knows its secret, or
 * one that runs already and is joined.
 */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from 'sluice'
import { childEnvironment } from 'sluice/node'
import { openCompileCache } from './compile-cache.ts'
import { sym } from './sexp.ts'
import type { Swank } from './swank.ts'
import { connectSwank } from './swank.ts'

export interface Image {
  readonly swank: Swank
  /** Ours, or somebody else's that we joined. */
  readonly origin: 'started' | 'joined'
  readonly address: string
  close(): Promise<void>
}

export interface ImageOptions {
  /** For compiled Swank, so that only the first start takes its time. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const loaders = ['/usr/share/common-lisp/source/slime/swank-loader.lisp']

/** What is missing on this machine, as a sentence with what to do; `undefined` where all is there. */
export function missingPrograms(env: ImageOptions['env']): string | undefined {
  const parts = [findSbcl(env) ? undefined : 'sbcl', findLoader(env) ? undefined : 'cl-swank'].filter((part) => part)
  if (parts.length === 0) return undefined
  return `install ${parts.join(' and ')} to enable (Debian and Ubuntu: apt-get install sbcl cl-swank)`
}

const findSbcl = (env: ImageOptions['env']): string | undefined =>
  [env['SBCL'], ...(env['PATH'] ?? '').split(':').map((folder) => join(folder, 'sbcl'))].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  )
const findLoader = (env: ImageOptions['env']): string | undefined =>
  [env['SWANK_LOADER'], ...loaders].find((path) => path !== undefined && existsSync(path))

/**
 * The secret comes as the first line of its input: a command line can be read by everybody on the machine, and the
 * environment by the code that runs in the image. Debian's loader compiles
 * into the cache of the account wherever it is told to; several images that start at once would read each other's halves.
 * Its set-up is left out: it compiles what only Emacs uses, for longer than all the rest. Sockets send at once: a request is
 * answered by two small messages, and the second would wait 40 ms for the other side's acknowledgement.
 */
const startUpForm = (loader: string, fasls: string): string => `
(progn
  (load ${JSON.stringify(loader)})
  (setf (symbol-value (find-symbol "*FASL-DIRECTORY*" "SWANK-LOADER")) (pathname ${JSON.stringify(`${fasls}/`)})
        (symbol-function (find-symbol "BINARY-PATHNAME" "SWANK-LOADER"))
        (lambda (source folder)
          (merge-pathnames (make-pathname :name (pathname-name source) :type "fasl" :version nil) folder)))
  (funcall (find-symbol "INIT" "SWANK-LOADER") :setup nil)
  (funcall (find-symbol "INIT" "SWANK"))
  (let ((secret (read-line *standard-input*)))
    (setf (symbol-function (find-symbol "SLIME-SECRET" "SWANK")) (lambda () secret)))
  (let ((create (fdefinition (find-symbol "CREATE-SOCKET" "SWANK/BACKEND")))
        (no-delay (fdefinition (list 'setf (find-symbol "SOCKOPT-TCP-NODELAY" "SB-BSD-SOCKETS")))))
    (setf (fdefinition (find-symbol "CREATE-SOCKET" "SWANK/BACKEND"))
          (lambda (&rest arguments)
            (let ((socket (apply create arguments)))
              (funcall no-delay t socket)
              socket))))
  (let ((port (funcall (find-symbol "CREATE-SERVER" "SWANK") :port 0 :dont-close t :interface "127.0.0.1")))
    (format t "~&SLUICE-PORT ~d~%" port)
    (finish-output))
  (loop while (read-line *standard-input* nil)))`

export async function startImage({ folder, env }: ImageOptions, signal: AbortSignal): Promise<Image> {
  const sbcl = findSbcl(env)
  const loader = findLoader(env)
  if (!sbcl || !loader) throw fail(`Lisp is not here: ${missingPrograms(env) ?? ''}`)
  const visible = childEnvironment(env, { SBCL_HOME: env['SBCL_HOME'] })
  const compiled = await openCompileCache(folder, sbcl, loader, visible)
  const secret = randomBytes(24).toString('hex')
  const child = spawn(
    sbcl,
    ['--noinform', '--disable-debugger', '--no-userinit', '--eval', startUpForm(loader, compiled.folder), '--quit'],
    {
      // Its input stays open as long as we live: when we are gone, it reads the end and goes too.
      stdio: ['pipe', 'pipe', 'pipe'],
      env: visible,
    },
  )
  child.stdin.on('error', () => {})
  child.stdin.write(`${secret}\n`)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  const stop = (): void => {
    child.kill('SIGKILL')
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const port = await portOf(child)
    const swank = await connectSwank(port, '127.0.0.1', { secret })
    compiled.commit()
    const close = (): void => swank.close()
    exited.then(close, close)
    return { swank, origin: 'started', address: `127.0.0.1:${port}`, close: kill }
  } catch (thrown) {
    await kill()
    compiled.discard()
    throw signal.aborted ? fail('The image was disconnected while it started.') : thrown
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function portOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.resume()
    child.stdout?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4096)
      const port = /SLUICE-PORT (\d+)/.exec(said)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`sbcl ended with ${code} before Swank listened`)))
  })
}

/** Long enough for an image that is busy; one that wants a secret never answers, nor does a host that drops packets. */
const connectTimeoutMs = 10_000

export async function joinImage(host: string, port: number): Promise<Image> {
  const address = `${host}:${port}`
  const tooLate = AbortSignal.timeout(connectTimeoutMs)
  const swank = await connectSwank(port, host, { signal: tooLate }).catch(() => {
    throw fail(
      `No Swank answers at ${address}. Start it in the image: (swank:create-server :port ${port} :dont-close t)`,
    )
  })
  // A connection that closes settles the greeting, too.
  const close = (): void => swank.close()
  tooLate.addEventListener('abort', close, { once: true })
  try {
    await swank.rex([sym('swank:connection-info')]).outcome
  } catch {
    swank.close()
    throw fail(`What listens at ${address} does not answer as Swank does. Does it want a secret (~/.slime-secret)?`)
  } finally {
    tooLate.removeEventListener('abort', close)
  }
  return { swank, origin: 'joined', address, close: async () => swank.close() }
}
